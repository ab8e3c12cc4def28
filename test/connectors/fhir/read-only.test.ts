/** A server that says that nothing can be written to it costs no call. */
import { expect, test } from 'vitest';
import type { PeerOptions } from '../../support/fhir/peer.ts';
import { appointment, bench, read } from './bench.ts';

const WRITTEN = ['CoverageEligibilityRequest', 'CoverageEligibilityResponse', 'Provenance'];
const READ_ONLY: PeerOptions = {
  without: [...WRITTEN, 'DocumentReference', 'Communication', 'Task'],
};

test.each<[string, PeerOptions, Record<string, unknown>, true | undefined]>([
  ['that takes nothing', READ_ONLY, {}, true],
  ['that takes a document', { without: WRITTEN }, {}, undefined],
  ['that takes nothing where nothing is written', READ_ONLY, { write_back: 'none' }, undefined],
  ['that does not say what it takes', { ...READ_ONLY, has_metadata: false }, {}, undefined],
])('visits of a server %s', async (_, peer, config, is_unwritable) => {
  const world = await bench(peer, { attention: 'none', ...config });
  await world.offer(appointment(1));
  expect(read(await world.pull()).get('A-1')?.is_unwritable).toBe(is_unwritable);
});

test('check says that no calls are made', async () => {
  const world = await bench(READ_ONLY, { attention: 'none' });
  const lines = await world.connector.check(new AbortController().signal);
  expect(lines.filter(({ ok }) => !ok).map(({ what }) => what)).toContain(
    'No answer could be written to the server, so eligd makes no calls for its visits.',
  );
});
