/** eligd makes no call for a server that accepts no answer. */
import { expect, test } from 'vitest';
import type { PullBatch } from '../../../connectors/contract.ts';
import { HOUR_MS } from '../../../src/domain/time.ts';
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
])('eligd makes no call for visits of a server %s', async (_, peer, config, is_unwritable) => {
  const world = await bench(peer, { attention: 'none', ...config });
  await world.offer(appointment(1));
  expect(read(await world.pull()).get('A-1')?.is_unwritable).toBe(is_unwritable);
});

test('eligd reads visits again when the server starts or stops accepting answers', async () => {
  const world = await bench({}, { attention: 'none' });
  const unwritable = async () => read(await world.pull()).get('A-1')?.is_unwritable;
  await world.offer(appointment(1));
  expect(await unwritable()).toBeUndefined();
  world.peer.options.without = READ_ONLY.without ?? [];
  await world.pass(HOUR_MS);
  expect(await unwritable()).toBe(true);
  // After a restart, eligd still knows how it read the visits.
  world.peer.options.without = [];
  const batches: PullBatch[] = [];
  await world.restart().pull?.({
    cursor: world.cursor(),
    accept: async (batch) => {
      batches.push(batch);
    },
    isAccepted: async () => false,
    signal: new AbortController().signal,
  });
  expect(read(batches).get('A-1')).not.toHaveProperty('is_unwritable');
});

test.each([
  ['that it grants for reading alone', 'system/*.rs', true],
  ['that it grants for answers', 'system/*.rs system/CoverageEligibilityResponse.cru', undefined],
  ['that are none of SMART', 'fhir', undefined],
])('eligd treats scopes %s of a server correctly', async (_, scope, is_unwritable) => {
  const world = await bench(
    { smart: { client_id: 'eligd', client_secret: 'SECRET', grants: scope } },
    { attention: 'none', auth: 'client_secret', client_id: 'eligd' },
    { client_secret: 'SECRET' },
  );
  await world.offer(appointment(1));
  expect(read(await world.pull()).get('A-1')?.is_unwritable).toBe(is_unwritable);
});

test('check says that eligd makes no calls', async () => {
  const world = await bench(READ_ONLY, { attention: 'none' });
  const lines = await world.connector.check(new AbortController().signal);
  expect(lines.filter(({ ok }) => !ok).map(({ what }) => what)).toContain(
    'No answer could be written to the server, so eligd makes no calls for its visits.',
  );
});
