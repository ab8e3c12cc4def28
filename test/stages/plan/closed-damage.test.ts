/** A closed visit or claim whose stored text is damaged is left alone until it is read again. */
import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { dueLimits } from '../../../src/domain/due-times.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { hold, retry, withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { correctDueTimes } from '../../../src/store/calls/clock-set.ts';
import { acceptBatch } from '../../../src/store/intake/intake.ts';
import { connector, type Installation, install, send } from '../installation.ts';
import { ADA, finish, OTHER_ADA, visit, written } from '../submit/merges.ts';

const VISIT = { kind: 'appointment', id: 1 } as const;

const withdrawFirst = ({ store, now }: Installation) =>
  store.write((tx) => withdraw(tx, VISIT, now()));

async function damage({ store }: Installation): Promise<void> {
  const damaged = { content: '{"damaged' };
  await store.db.updateTable('appointments').set(damaged).where('id', '=', 1).execute();
}

/** A message that names only the IDs of canceled visits. */
async function cancelById({ store, now }: Installation, ...cancelled_ids: string[]) {
  const source = {
    key: 'message',
    name: 'message',
    is_last: true,
    completeness: 'changes' as const,
  };
  const batch = { source, appointments: [], cancelled_ids, rejected: [], cursor: null };
  await store.write((tx) => acceptBatch(tx, 'front-desk', batch, now()));
}

/** How often eligd says within some minutes that planning failed. */
async function failuresIn(clinic: Installation, minutes: number): Promise<number> {
  clinic.events.length = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    await clinic.planNow();
    clinic.pass(MINUTE_MS + 1000);
  }
  return clinic.events.filter((event) => event === 'stage_failed').length;
}

/** A visit whose call is not made yet is damaged. */
async function installDamaged(): Promise<Installation> {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  await damage(clinic);
  return clinic;
}

const ENDS: [string, (clinic: Installation) => Promise<unknown>][] = [
  ['the office withdraws', withdrawFirst],
  [
    'is replaced by another patient’s',
    (clinic) => clinic.read(visit(clinic, 'A-1', { ...OTHER_ADA, birth_date: '1990-02-03' })),
  ],
  [
    'is long over',
    async (clinic) => {
      clinic.pass(60 * DAY_MS);
      await clinic.closeOld();
    },
  ],
];
test.each(ENDS)('planning does not try a damaged visit again that %s', async (_, end) => {
  const clinic = await installDamaged();
  await cancelById(clinic, 'A-1');
  expect(await failuresIn(clinic, 2)).toBe(2);
  await end(clinic);
  expect(await failuresIn(clinic, 5)).toBe(0);
  expect(await clinic.attention()).toEqual([]);
  const [call] = await clinic.inquiries();
  expect(call?.state).toBe('withdrawn');
});

test('a closed damaged visit gets its call once it is read again (G2)', async () => {
  const clinic = await installDamaged();
  await cancelById(clinic, 'A-1');
  await clinic.planNow();
  await withdrawFirst(clinic);
  await failuresIn(clinic, 2);
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toEqual([]);
  await send(clinic, visit(clinic, 'A-1'));
  expect(await clinic.service.ledger()).toHaveLength(1);
  expect(await failuresIn(clinic, 2)).toBe(0);
});

test('a damaged visit that was answered is asked about no second time (G1)', async () => {
  const clinic = await install({ policy: { reverify_after_days: 1 } });
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await clinic.read({ ...visit(clinic, 'A-1'), status: 'cancelled' });
  await clinic.planNow();
  await damage(clinic);
  await cancelById(clinic, 'A-1');
  await failuresIn(clinic, 2);
  clinic.pass(2 * DAY_MS);
  await send(clinic, visit(clinic, 'A-1'));
  expect(await clinic.service.ledger()).toHaveLength(1);
});

/** A canceled visit whose answer waits to be written is damaged. */
async function installWithAnswer(): Promise<Installation> {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  await clinic.read({ ...visit(clinic, 'A-1'), status: 'cancelled' });
  await clinic.planNow();
  await damage(clinic);
  await cancelById(clinic, 'A-1');
  expect(await failuresIn(clinic, 5)).toBe(0);
  return clinic;
}

test('the office hears of an answer about a closed visit that is damaged (G2)', async () => {
  const clinic = await installWithAnswer();
  expect(await openAttention(clinic.store.db)).toMatchObject([
    { reason: 'planning_failed', what: expect.stringContaining('has not been written') },
  ]);
  expect(await written(clinic)).toEqual({});
  const [{ id } = {}] = await openAttention(clinic.store.db);
  await cancelById(clinic, 'A-1');
  await clinic.planNow();
  // The same entry, so that nobody is told of it twice.
  expect(await openAttention(clinic.store.db)).toMatchObject([{ id }]);
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
  expect(await written(clinic)).toEqual({ 'A-1': ['A-1'] });
});

test('a damaged visit that is over keeps the office’s hold until it is read', async () => {
  const clinic = await installDamaged();
  await clinic.store.write((tx) => hold(tx, VISIT, clinic.now()));
  await cancelById(clinic, 'A-1');
  await clinic.planNow();
  clinic.pass(60 * DAY_MS);
  await clinic.closeOld();
  expect(await failuresIn(clinic, 2)).toBe(0);
  await clinic.service.advance({ days: 60 });
  await send(clinic, visit(clinic, 'A-1'));
  expect(await clinic.inquiries()).toMatchObject([{ state: 'planned', hold_reason: 'operator' }]);
  expect(await clinic.service.ledger()).toEqual([]);
});

/** A canceled visit whose answer the connector did not take is damaged. */
async function installNotWritten(is_permanent: boolean): Promise<Installation> {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  const failed = { outcome: 'failed', is_permanent, what: 'No.', next: 'Wait.' } as const;
  await clinic.deliverNow({
    ...connector(() => {}),
    deliver: async ({ deliveries }) => deliveries.map(({ key }) => ({ key, ...failed })),
  });
  await clinic.read({ ...visit(clinic, 'A-1'), status: 'cancelled' });
  await clinic.planNow();
  await damage(clinic);
  await cancelById(clinic, 'A-1');
  await clinic.planNow();
  return clinic;
}

test('the office hears of an answer about a damaged visit whose write failed', async () => {
  const clinic = await installNotWritten(false);
  expect(await clinic.deliveries()).toMatchObject([{ state: 'failed' }]);
  expect(await clinic.attention()).toEqual(['planning_failed']);
});

test('the office hears if an answer that it retries waits for a damaged visit', async () => {
  const clinic = await installNotWritten(true);
  expect(await failuresIn(clinic, 2)).toBe(0);
  expect(await clinic.attention()).toEqual(['delivery_parked']);
  await clinic.store.write((tx) => retry(tx, VISIT, clinic.now()));
  await clinic.planNow();
  expect(await written(clinic)).toEqual({});
  expect(await openAttention(clinic.store.db)).toMatchObject([
    { reason: 'planning_failed', what: expect.stringContaining('has not been written') },
  ]);
});

test('an answer about a damaged visit that nobody needs leaves the list', async () => {
  const clinic = await installWithAnswer();
  await withdrawFirst(clinic);
  expect(await failuresIn(clinic, 5)).toBe(0);
  expect(await clinic.attention()).toEqual([]);
  expect(await written(clinic)).toEqual({});
});

test('a closed claim that is damaged is not tried again, and is asked about once', async () => {
  const clinic = await install();
  await clinic.planNow();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  const asked = { ...claim(1), patient: ADA, date_of_service };
  await clinic.readClaims(asked);
  await clinic.planNow();
  await damage(clinic);
  await withdrawFirst(clinic);
  await clinic.store.db.updateTable('appointments').set({ plan_due_at: 0 }).execute();
  expect(await failuresIn(clinic, 5)).toBe(0);
  expect(await clinic.attention()).toEqual([]);
  await clinic.readClaims(asked);
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('a damaged visit without insurance is not taken as over by an unsure clock (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  const { facts } = clinic.plan;
  await clinic.read({ ...visit(clinic, 'A-1'), coverages: [] });
  await clinic.planNow();
  await damage(clinic);
  await clinic.store.db.updateTable('appointments').set({ plan_due_at: 0 }).execute();
  clinic.plan.facts = () => ({ ...facts(), is_clock_trusted: false });
  clinic.pass(60 * DAY_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
  clinic.pass(-60 * DAY_MS);
  clinic.plan.facts = facts;
  await clinic.store.write((tx) => correctDueTimes(tx, dueLimits(5 * MINUTE_MS, clinic.now())));
  clinic.pass(5 * MINUTE_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['planning_failed']);
});
