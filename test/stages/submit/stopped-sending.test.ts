/** What ends a send early: a stop request, an account that refuses everything, a comparison. */
import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { demandReconciliation, submitStep } from '../../../src/stages/submit/index.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { type Installation, install, SETTLE_MS, send } from '../installation.ts';
import { about, haltsOf, loseCreates } from './lost-calls.ts';

const PATH = '/api/v0/dental/inquiries';

/** Visits of other patients are planned. */
async function plan(clinic: Installation, name: string, count: number): Promise<void> {
  const labels = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  await clinic.read(...labels.map((label) => clinic.visit(label, about(label))));
  await clinic.planNow();
}

/** Runs `during` while the service answers the create with this number. */
function duringCreate({ client }: Installation, number: number, during: () => void): void {
  const { create } = client;
  let count = 0;
  client.create = async (...given) => {
    count += 1;
    if (count === number) during();
    return await create(...given);
  };
}

/** The service answers this many creates with this status. */
async function rejectCreates({ service }: Installation, times: number, status: number) {
  const action = 'status';
  await service.fault({ method: 'POST', path: PATH, times, when: 'before', action, status });
}

const statesOf = async (clinic: Installation) =>
  Object.fromEntries(
    [...Map.groupBy(await clinic.inquiries(), ({ state }) => state)].map(([state, rows]) => [
      state,
      rows.length,
    ]),
  );

const creates = async ({ service }: Installation) =>
  (await service.traffic()).by_route[`POST ${PATH}`] ?? 0;

/** What the only entry of the attention list says to do. */
async function adviceOf({ store }: Installation): Promise<string> {
  const entries = await openAttention(store.db);
  expect(entries.map(({ reason }) => reason)).toEqual(['submission_stopped']);
  return entries[0]!.next;
}

const times = ({ events }: Installation, name: string) =>
  events.filter((event) => event === name).length;

test('after a stop request, no further call leaves, and none is in doubt (G2)', async () => {
  const clinic = await install({ settings: { concurrency: 1 } });
  await plan(clinic, 'A', 5);
  const stop = new AbortController();
  duringCreate(clinic, 2, () => stop.abort());
  await submitStep(clinic.submit, {
    external_id_template: '{appointment}',
    signal: stop.signal,
  });
  expect(await clinic.service.ledger()).toHaveLength(2);
  expect(await statesOf(clinic)).toEqual({ open: 2, planned: 3 });
  await clinic.submitNow();
  expect(await statesOf(clinic)).toEqual({ open: 5 });
});

test('after a stop request, no further lookup is made', async () => {
  const clinic = await install();
  await plan(clinic, 'A', 3);
  await loseCreates(clinic, 3);
  await clinic.submitNow();
  expect(await statesOf(clinic)).toEqual({ uncertain: 3 });
  clinic.pass(SETTLE_MS + 1);
  await clinic.service.advance({ seconds: SETTLE_MS / 1000 });
  const stop = new AbortController();
  const { list } = clinic.client;
  let lookups = 0;
  clinic.client.list = async (specialty, filter, how) => {
    if (filter.external_id !== undefined) {
      lookups += 1;
      stop.abort();
    }
    return await list(specialty, filter, how);
  };
  await submitStep(clinic.submit, {
    external_id_template: '{appointment}',
    signal: stop.signal,
  });
  expect(lookups).toBe(1);
});

test('after a rejected login, no further create is tried: some lock an account', async () => {
  const clinic = await install({ settings: { concurrency: 1 } });
  await plan(clinic, 'A', 5);
  let tried = 0;
  const failure = {
    class: 'unsent',
    cause: 'unauthorized',
    status: 401,
    retry_after_ms: null,
  } as const;
  clinic.client.create = async () => {
    tried += 1;
    return { ok: false, failure };
  };
  await clinic.submitNow();
  expect(tried).toBe(1);
  expect(await haltsOf(clinic)).toEqual(['account']);
  expect(await adviceOf(clinic)).toContain('ELIGD_SERVICE_');
  expect(await statesOf(clinic)).toEqual({ planned: 5 });
});

/** Counts the logins that eligd begins again. */
function countLogins({ client }: Installation): () => number {
  const { forgetToken } = client;
  let logins = 0;
  client.forgetToken = () => {
    logins += 1;
    forgetToken();
  };
  return () => logins;
}

test('with nothing to send, a stopped account costs one login for each try', async () => {
  const clinic = await install();
  const visit = clinic.visit('A-1', about('A-1'));
  await rejectCreates(clinic, 1, 402);
  await send(clinic, visit);
  await clinic.read({ ...visit, status: 'cancelled' });
  await clinic.planNow();
  const logins = countLogins(clinic);
  clinic.pass(16 * MINUTE_MS);
  await clinic.submitNow();
  await clinic.submitNow();
  expect(logins()).toBe(1);
});

test('a stopped account is tried with one call every 15 minutes', async () => {
  const clinic = await install({ settings: { concurrency: 1 } });
  await send(clinic, clinic.visit('B-0', about('B-0')));
  await plan(clinic, 'A', 3);
  const logins = countLogins(clinic);
  await rejectCreates(clinic, 2, 402);
  await clinic.submitNow();
  expect(await creates(clinic)).toBe(2);
  expect(await haltsOf(clinic)).toEqual(['account']);
  expect(await adviceOf(clinic)).toContain('service.base_url');
  expect(times(clinic, 'submission_stopped')).toBe(1);
  clinic.pass(14 * MINUTE_MS);
  await clinic.submitNow();
  expect([await creates(clinic), logins()]).toEqual([2, 0]);
  clinic.pass(2 * MINUTE_MS);
  await clinic.submitNow();
  expect([await creates(clinic), logins()]).toEqual([3, 1]);
  expect(await haltsOf(clinic)).toEqual(['account']);
  expect(times(clinic, 'submission_resumed')).toBe(0);
  clinic.pass(16 * MINUTE_MS);
  await clinic.submitNow();
  expect([await creates(clinic), logins()]).toEqual([4, 2]);
  expect(await haltsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).toEqual([]);
  expect(times(clinic, 'submission_resumed')).toBe(1);
  while ((await clinic.submitNow()).did > 0);
  expect(await statesOf(clinic)).toEqual({ open: 4 });
  expect(await creates(clinic)).toBe(6);
});

test.each([
  ['demanded', (clinic: Installation) => demandReconciliation(clinic.submit)],
  ['due', (clinic: Installation) => clinic.pass(DAY_MS)],
])('a comparison that is %s during a send comes before the next one', async (_, during) => {
  const clinic = await install({ settings: { mode: 'bulk', batch_size: 3 } });
  await send(clinic, clinic.visit('B-0', about('B-0')));
  await plan(clinic, 'A', 9);
  const { createBulk } = clinic.client;
  let bulks = 0;
  clinic.client.createBulk = async (...given) => {
    bulks += 1;
    if (bulks === 2) during(clinic);
    return await createBulk(...given);
  };
  await clinic.submitNow();
  expect(bulks).toBe(2);
  while ((await clinic.submitNow()).did > 0);
  expect(bulks).toBe(3);
});

test('a stop request during a bulk is followed by no other bulk', async () => {
  const clinic = await install({ settings: { mode: 'bulk', batch_size: 3 } });
  await send(clinic, clinic.visit('B-0', about('B-0')));
  await plan(clinic, 'A', 9);
  const stop = new AbortController();
  const { createBulk } = clinic.client;
  clinic.client.createBulk = async (...given) => {
    stop.abort();
    return await createBulk(...given);
  };
  await submitStep(clinic.submit, {
    external_id_template: '{appointment}',
    signal: stop.signal,
  });
  expect(await clinic.service.ledger()).toHaveLength(4);
});
