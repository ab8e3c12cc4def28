/** What a visit that cannot be planned does to the call that was planned for it before. */
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { openAttention } from '../../../src/store/bookkeeping/attention.ts';
import { withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { acceptBatch } from '../../../src/store/intake/intake.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';
import { ADA } from '../submit/merges.ts';

const setContent = ({ store }: Installation, source_id: string, content: string) =>
  store.write((tx) =>
    tx.updateTable('appointments').set({ content }).where('source_id', '=', source_id).execute(),
  );

/** Cancels visits whose planning then fails. */
async function cancel(clinic: Installation, ...source_ids: string[]): Promise<void> {
  for (const source_id of source_ids) {
    await clinic.read(clinic.visit(source_id, { status: 'cancelled' }));
    await setContent(clinic, source_id, '{"damaged');
  }
  await clinic.planNow();
}

/** The calls after some minutes in which eligd plans and sends again and again. */
async function callsMade(clinic: Installation) {
  for (let minutes = 0; minutes < 3; minutes += 1) {
    await clinic.submitNow();
    clinic.pass(61_000);
    await clinic.planNow();
  }
  return await clinic.service.ledger();
}

test.each([1, 2])(
  'no call is made for %i canceled visits that cannot be planned',
  async (count) => {
    const clinic = await install();
    const ids = ['A-1', 'A-2'].slice(0, count);
    await clinic.read(...ids.map((id) => clinic.visit(id)));
    await clinic.planNow();
    expect(await clinic.inquiries()).toHaveLength(1);
    await cancel(clinic, ...ids);
    expect(await callsMade(clinic)).toEqual([]);
    const listed = await openAttention(clinic.store.db);
    expect(listed.map(({ reason }) => reason)).toEqual(ids.map(() => 'planning_failed'));
    expect(listed[0]?.what).toContain('it starts no call and writes no answer for it');
  },
);

test('the call is made for another visit, or once the visit can be planned (G7)', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'), clinic.visit('A-2'));
  await clinic.planNow();
  await cancel(clinic, 'A-1');
  expect(await callsMade(clinic)).toHaveLength(1);

  const other = await install();
  await other.read(other.visit('A-1'));
  await other.planNow();
  await cancel(other, 'A-1');
  await setContent(other, 'A-1', JSON.stringify(other.visit('A-1')));
  expect(await callsMade(other)).toHaveLength(1);
  expect(await other.attention()).toEqual([]);
});

test('a visit that was closed while its call was sent does not make it necessary', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'), clinic.visit('A-2'));
  await clinic.planNow();
  // As after a request that the service provably did not take, while one visit was canceled.
  await clinic.store.write((tx) =>
    tx
      .updateTable('appointments')
      .set({ closed_reason: 'cancelled', closed_at: clinic.now(), plan_due_at: null })
      .where('source_id', '=', 'A-1')
      .execute(),
  );
  await cancel(clinic, 'A-2');
  expect(await callsMade(clinic)).toEqual([]);
});

test('a visit whose stored text is unreadable is listed, and others are planned (G7)', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.read(clinic.visit('A-1', { status: 'cancelled' }), clinic.visit('A-2'));
  await setContent(clinic, 'A-1', '{"damaged');
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['planning_failed']);
  expect(await callsMade(clinic)).toHaveLength(1);
});

test.each(['withdraws', 'leaves alone until it is long over'])(
  'a damaged visit that the office %s leaves the list',
  async (does) => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-1'));
    await clinic.planNow();
    await cancel(clinic, 'A-1');
    expect(await clinic.attention()).toEqual(['planning_failed']);
    const visit = { kind: 'appointment', id: 1 } as const;
    if (does === 'withdraws') await clinic.store.write((tx) => withdraw(tx, visit, clinic.now()));
    else clinic.pass(60 * DAY_MS);
    await clinic.closeOld();
    clinic.pass(120_000);
    await clinic.planNow();
    expect(await clinic.attention()).toEqual([]);
  },
);

test.each(['set state = null', 'set id = 1'])(
  'a failure of the database in planning is logged and listed: %s',
  async (how) => {
    const clinic = await install();
    await clinic.read(clinic.visit('A-0'));
    await clinic.planNow();
    await sql`create trigger damage after insert on inquiries
      begin update inquiries ${sql.raw(how)} where id = new.id; end`.execute(clinic.store.db);
    await clinic.read(
      clinic.visit('A-1', { patient: { ...clinic.visit('A-1').patient, id: 'P-9' } }),
    );
    await clinic.planNow();
    expect(clinic.events).toContain('stage_failed');
    expect(await clinic.attention()).toEqual(['planning_failed']);
  },
);

/** The visit has no insurance. Returns what says that the patient has these coverages. */
async function installWithoutInsurance() {
  const clinic = await install();
  await clinic.planNow();
  const about = { patient: ADA, coverages: [], insurance: 'of_patient' as const };
  await clinic.read(clinic.visit('A-1', about));
  await clinic.planNow();
  const say = async (key: string, ...coverages: ReturnType<typeof aCoverage>[]) => {
    const described = { kind: 'described' as const, patient: ADA, coverages };
    const source = { key, name: 'message', is_last: true, completeness: 'changes' as const };
    const batch = { source, appointments: [], patients: [described], rejected: [], cursor: null };
    await clinic.store.write((tx) => acceptBatch(tx, 'front-desk', batch, clinic.now()));
    await clinic.planNow();
  };
  await say('adt:1');
  expect(await clinic.attention()).toEqual([]);
  return { clinic, say };
}

const VISIT = { kind: 'appointment', id: 1 } as const;

test('a damaged visit without insurance is listed once its insurance arrives (G2)', async () => {
  const { clinic, say } = await installWithoutInsurance();
  await setContent(clinic, 'A-1', '{"damaged');
  await say('adt:2', aCoverage());
  expect(await clinic.attention()).toEqual(['planning_failed']);
  await clinic.store.write((tx) => withdraw(tx, VISIT, clinic.now()));
  clinic.pass(2 * MINUTE_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a damaged visit without insurance that is over is not listed', async () => {
  const { clinic, say } = await installWithoutInsurance();
  await setContent(clinic, 'A-1', '{"damaged');
  clinic.pass(60 * DAY_MS);
  await say('adt:2', aCoverage());
  expect(await clinic.attention()).toEqual([]);
});

test('a withdrawn visit without insurance gets its call once that arrives', async () => {
  const { clinic, say } = await installWithoutInsurance();
  await clinic.store.write((tx) => withdraw(tx, VISIT, clinic.now()));
  await say('adt:2', aCoverage());
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
});

test('a full disk is not called damaged data, and the visits are planned later (G2)', async () => {
  const clinic = await install();
  const { db } = clinic.store;
  await clinic.planNow();
  const visits = Array.from({ length: 20 }, (_, index) =>
    clinic.visit(`A-${index}`, { coverages: [aCoverage({ member_id: `ACTIVE${index}` })] }),
  );
  await clinic.read(...visits);
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(db);
  await sql`pragma max_page_count = ${sql.lit(rows[0]!.page_count + 1)}`.execute(db);
  await expect(clinic.planNow()).rejects.toMatchObject({ code: 'SQLITE_FULL' });
  expect(await clinic.attention()).toEqual([]);
  await sql`pragma max_page_count = 1000000`.execute(db);
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(20);
});
