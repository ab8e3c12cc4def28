/**
 * The next inquiries are claimed in the commit that settles the replies to the last ones. Their
 * intents are in the database before their requests leave, as ever (G1).
 */
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { realClock } from '../../../src/ops/env.ts';
import type { SubmitDeps } from '../../../src/stages/submit/index.ts';
import { halt } from '../../../src/store/calls/halts.ts';
import { aCoverage } from '../../domain/examples.ts';
import { install } from '../installation.ts';

const VISITS = 40;
const MODES = [
  { mode: 'bulk', batch_size: 10, batches: 4 },
  // Twenty are claimed together.
  { mode: 'single', batch_size: 1, batches: 2 },
] as const;
const BULK = MODES[0];

const driver = Object.getPrototypeOf(new Database(':memory:').prepare('select 1')) as {
  run: (...values: unknown[]) => unknown;
};
const { run } = driver;
const readers: Database.Database[] = [];

afterEach(() => {
  driver.run = run;
  for (const reader of readers.splice(0)) reader.close();
});

/** Single replies are settled once all have arrived, however long that takes. */
async function untilAllIsIn(duration_ms: number, signal?: AbortSignal): Promise<void> {
  if (signal === undefined) return await realClock.sleep(duration_ms);
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

/**
 * A clinic whose service has shown what it accepts, with planned visits. `onSend` runs before each
 * request.
 */
async function planned(
  { mode, batch_size }: Pick<SubmitDeps['settings'], 'mode' | 'batch_size'>,
  onSend: (external_ids: (string | undefined)[], count: number) => Promise<void> | void = () => {},
) {
  const clinic = await install({ settings: { mode, batch_size }, sleep: untilAllIsIn });
  const visits = Array.from({ length: VISITS + 1 }, (_, index) =>
    clinic.visit(String(1_000 + index), {
      patient: { id: `${index}`, first_name: 'A', last_name: 'B', birth_date: '1980-01-02' },
      coverages: [aCoverage({ member_id: `W${index}` })],
    }),
  );
  await clinic.read(...visits.slice(0, 1));
  await clinic.planNow();
  while ((await clinic.submitNow()).did > 0);
  await clinic.read(...visits.slice(1));
  await clinic.planNow();
  let count = 0;
  const { create, createBulk } = clinic.client;
  clinic.client.create = async (specialty, request, how) => {
    count += 1;
    await onSend([request.external_id], count);
    return await create(specialty, request, how);
  };
  clinic.client.createBulk = async (specialty, requests, ...how) => {
    count += 1;
    await onSend(
      requests.map(({ external_id }) => external_id),
      count,
    );
    return await createBulk(specialty, requests, ...how);
  };
  const states = async () => {
    const all = (await clinic.inquiries()).slice(1).map(({ state }) => state);
    return Object.fromEntries([...Map.groupBy(all, (state) => state)].map(countOf));
  };
  return { ...clinic, states };
}

const countOf = <State>([state, all]: [State, unknown[]]) => [state, all.length] as const;

test.each(MODES)('$mode: a batch costs one commit', async ({ batches, ...settings }) => {
  const clinic = await planned(settings);
  let commits = 0;
  driver.run = function (this: Database.Statement, ...values: unknown[]) {
    if (!this.database.memory && this.source === 'begin immediate') commits += 1;
    return run.apply(this, values);
  };
  while ((await clinic.submitNow()).did > 0);
  expect(await clinic.states()).toEqual({ open: VISITS });
  // The first claim is one more.
  expect(commits).toBe(batches + 1);
});

test.each(MODES)('$mode: no request leaves before its intent is committed (G1)', async (mode) => {
  const seen: unknown[] = [];
  let reader: Database.Database | undefined;
  const clinic = await planned(mode, (external_ids) => {
    const find = reader?.prepare(
      `select c.fate, i.state, json_extract(c.body, '$.external_id') as label
       from inquiries i join calls c on c.inquiry = i.id where i.external_id = ?`,
    );
    for (const label of external_ids) seen.push([label, find?.get(label)]);
  });
  const found = await sql<{ file: string }>`select file from pragma_database_list`.execute(
    clinic.store.db,
  );
  // Another connection sees only what is committed.
  reader = new Database(found.rows[0]!.file, { readonly: true });
  readers.push(reader);
  while ((await clinic.submitNow()).did > 0);
  expect(seen).toHaveLength(VISITS);
  for (const [label, row] of seen as [string, object][])
    expect(row).toEqual({ fate: 'out', state: 'sending', label });
  expect(await clinic.service.ledger()).toHaveLength(VISITS + 1);
});

test('the first polls of a batch are seconds apart and not spread over hours', async () => {
  const clinic = await planned(BULK);
  while ((await clinic.submitNow()).did > 0);
  const polls = (await clinic.inquiries()).slice(1, 11).map(({ poll_at }) => poll_at ?? 0);
  // The first and the last are read within a minute, which shows if the order is right.
  const soon = polls.map((at) => at <= clinic.now() + MINUTE_MS);
  expect(soon).toEqual([true, ...Array.from({ length: 8 }, () => false), true]);
  const apart = polls.slice(2, -1).map((at, index) => at - polls[index + 1]!);
  for (const ms of apart) expect(ms).toBeGreaterThanOrEqual(1_000);
  for (const ms of apart) expect(ms).toBeLessThanOrEqual(20_000);
});

test('while a reply cannot be settled, nothing else is claimed or sent', async () => {
  const clinic = await planned(BULK);
  await sql`create trigger refuse before update on inquiries when new.state = 'open'
    begin select raise(abort, 'no'); end`.execute(clinic.store.db);
  await expect(clinic.submitNow()).rejects.toThrow('no');
  expect(await clinic.states()).toEqual({ sending: 10, planned: 30 });
  expect(await clinic.service.ledger()).toHaveLength(11);
});

test.each(MODES)(
  '$mode: a commit that fails leaves nothing claimed',
  async ({ mode, batch_size }) => {
    let is_failing = false;
    const clinic = await planned({ mode, batch_size }, (_, count) => {
      if (count === 1) is_failing = true;
    });
    driver.run = function (this: Database.Statement, ...values: unknown[]) {
      const fails = is_failing && !this.database.memory && this.source === 'commit';
      if (fails) is_failing = false;
      if (fails) throw new Error('disk I/O error');
      return run.apply(this, values);
    };
    await expect(clinic.submitNow()).rejects.toThrow('disk I/O error');
    const states = await clinic.states();
    expect(states.planned).toBe(mode === 'bulk' ? 30 : 20);
    // Single replies are settled again, each in its own commit.
    expect(states[mode === 'bulk' ? 'sending' : 'open']).toBe(VISITS - states.planned!);
  },
);

test('what was claimed and not sent goes back to planned', async () => {
  const clinic = await planned(BULK);
  const { onOpen } = clinic.submit;
  clinic.submit.onOpen = () => {
    throw new Error('after the commit');
  };
  await expect(clinic.submitNow()).rejects.toThrow('after the commit');
  expect(await clinic.states()).toEqual({ open: 10, planned: 30 });
  clinic.submit.onOpen = onOpen;
  while ((await clinic.submitNow()).did > 0);
  expect(await clinic.states()).toEqual({ open: VISITS });
  expect(await clinic.service.ledger()).toHaveLength(VISITS + 1);
});

test('a halt that comes during a send stops the next one', async () => {
  const { store, ...clinic } = await planned(BULK, async (_, count) => {
    const stop = { reason: 'foreign' as const, detail: '', next_try_at: null };
    if (count === 2)
      await store.write((tx) => halt(tx, stop, { what: '', next: '' }, clinic.now()));
  });
  while ((await clinic.submitNow()).did > 0);
  expect(await clinic.states()).toEqual({ open: 20, planned: 20 });
});

test('an unsuccessful reply ends the step, and the rest is sent afterward', async () => {
  const clinic = await planned(BULK);
  await clinic.service.fault({
    method: 'POST',
    skip: 1,
    times: 1,
    when: 'before',
    action: 'reset',
  });
  await clinic.submitNow();
  expect(await clinic.states()).toEqual({ open: 10, uncertain: 10, planned: 20 });
  while ((await clinic.submitNow()).did > 0);
  expect(await clinic.states()).toEqual({ open: 30, uncertain: 10 });
});

test('a visit that a message cancels meanwhile is not claimed', async () => {
  const clinic = await planned(BULK);
  const { afterReading } = clinic.submit;
  let claims = 0;
  clinic.submit.afterReading = async (claim, signal) => {
    claims += 1;
    if (claims === 2) await clinic.read(clinic.visit('1040', { status: 'cancelled' }));
    return await afterReading(claim, signal);
  };
  while ((await clinic.submitNow()).did > 0);
  expect(await clinic.states()).toEqual({ open: VISITS - 1, planned: 1 });
});

test('a call of another specialty that comes due meanwhile gets its turn', async () => {
  const clinic = await planned(BULK, async (_, count) => {
    if (count !== 2) return;
    const coverages = [aCoverage({ member_id: 'M1' })];
    await clinic.read(clinic.visit('2000', { specialty: 'medical', coverages }));
    await clinic.planNow();
  });
  await clinic.submitNow();
  expect(await clinic.states()).toEqual({ open: 20, planned: 21 });
});

test('after a lost reply, each batch is a step, so that lookups get their turn', async () => {
  const clinic = await planned(BULK);
  await clinic.service.fault({ method: 'POST', times: 1, when: 'before', action: 'reset' });
  await clinic.submitNow();
  await clinic.submitNow();
  expect(await clinic.states()).toEqual({ uncertain: 10, open: 10, planned: 20 });
});

test('single: one lost reply ends the step, and the rest is sent at once', async () => {
  const clinic = await planned(MODES[1]);
  const fault = { method: 'POST', skip: 1, times: 1, when: 'before', action: 'reset' } as const;
  await clinic.service.fault(fault);
  expect((await clinic.submitNow()).did).toBe(20);
  expect(await clinic.states()).toEqual({ open: 19, uncertain: 1, planned: 20 });
  while ((await clinic.submitNow()).did > 0);
  expect(await clinic.states()).toEqual({ open: 39, uncertain: 1 });
});
