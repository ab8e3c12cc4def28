/** The connector with a PMS that refuses, is unavailable, or sends invalid answers. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appointment, batchOf } from '../../../connectors/conformance/examples.ts';
import { makeSuiteEnv } from '../../../connectors/conformance/harness.ts';
import type { Connector, PullBatch } from '../../../connectors/contract.ts';
import template from '../../../connectors/template-cursor/index.ts';
import { type HttpPms, makePms } from './pms.ts';

const signal = new AbortController().signal;
let pms: HttpPms;
let connector: Connector;

beforeEach(async () => {
  pms = await makePms();
  connector = template.create(template.config.parse(pms.config), makeSuiteEnv().env);
});
afterEach(async () => {
  await connector.close?.();
  await pms.close?.();
});

test('a result that the PMS refuses waits for you and blocks no other', async () => {
  pms.refuse.set('/results/d-2-1', 422);
  expect(await connector.deliver(batchOf(1, [1, 2, 3]), signal)).toMatchObject([
    { key: 'd-1-1', outcome: 'delivered' },
    { key: 'd-2-1', outcome: 'failed', is_permanent: true },
    { key: 'd-3-1', outcome: 'delivered' },
  ]);
});

test('when the PMS becomes unavailable in the middle, the rest is delivered again', async () => {
  pms.refuse.set('/results/d-2-1', 503);
  expect(await connector.deliver(batchOf(1, [1, 2, 3]), signal)).toEqual([
    { key: 'd-1-1', outcome: 'delivered' },
  ]);
});

test.each([
  [401, 'permanent', 'ELIGD_SUITE_TOKEN'],
  [503, 'transient', 'Wait.'],
  [404, 'transient', 'base_url'],
])('status %i of the changes is %s, and quotes nothing of the reply', async (status, ...told) => {
  pms.refuse.set('/changes', status);
  const [failure, next] = told;
  const pulled = pull();
  await expect(pulled).rejects.toMatchObject({ failure, next: expect.stringContaining(next) });
  await expect(pulled).rejects.not.toThrow('Quillfeather');
  expect(await connector.check(signal)).toMatchObject([{ ok: false }]);
});

test('a page and its cursor are one commit, and the last change of a visit counts', async () => {
  const cancelled = { ...appointment(1), status: 'cancelled' as const };
  await pms.offer({ name: 'a', appointments: [appointment(1), appointment(2), cancelled] });
  const [batch, ...others] = await pull();
  expect(others).toEqual([]);
  expect(batch).toMatchObject({ cancelled_ids: ['A-1'], cursor: '3' });
  expect(batch?.appointments.map(({ source_id }) => source_id)).toEqual(['A-2']);
});

test.each([
  ['http://pms.example', false],
  ['http://localhost.example', false],
  ['https://pms.example', true],
  ['http://127.0.0.1', true],
  ['http://localhost:8080/api', true],
])('base_url %s is allowed: %j', (base_url, is_allowed) => {
  expect(template.config.safeParse({ base_url }).success).toBe(is_allowed);
});

async function pull(): Promise<PullBatch[]> {
  const batches: PullBatch[] = [];
  await connector.pull?.({
    cursor: null,
    signal,
    isAccepted: async () => false,
    accept: async (batch) => {
      batches.push(batch);
    },
  });
  return batches;
}
