/** The clock is set back while eligd runs. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { realClock } from '../../../src/ops/env.ts';
import { newSubmitMemory, recoverInterrupted } from '../../../src/stages/submit/index.ts';
import { planAllAgain } from '../../../src/store/calls/plan-due.ts';
import { acceptBatch } from '../../../src/store/intake/intake.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, install, SETTLE_MS, send } from '../installation.ts';
import { failLabels, minutesPass } from './cut-lists.ts';
import { labelsOf, loseAndHide, refuseCreates, twin } from './lost-calls.ts';

/** From now on, `pass` sets the clock: the monotonic clock does not follow. */
function letClockBeSet({ env }: Installation): void {
  const ahead_ms = env.clock.elapsed() - performance.now();
  Object.assign(env.clock, { elapsed: () => performance.now() + ahead_ms });
}

/** Reads a complete export of the visits. */
async function readExport(
  { store, now }: Installation,
  number: number,
  appointments: ReturnType<Installation['visit']>[],
): Promise<void> {
  const completeness = 'full' as const;
  const source = { key: `full:${number}`, name: 'full.csv', is_last: true, completeness };
  const batch = { source, appointments, rejected: [], cursor: null };
  await store.write((tx) => acceptBatch(tx, 'front-desk', batch, now()));
}

test('a lookup during which the clock is set back proves nothing (G1)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  await clinic.collectAll();
  letClockBeSet(clinic);
  clinic.pass(HOUR_MS);
  await clinic.submitNow();
  const hidden = await loseAndHide(clinic, 1);
  await hidden.show(0);
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  const found = clinic.store.db.updateTable('inquiries').where('state', '=', 'uncertain');
  await found.set({ lookup_at: clinic.now(), absence_at: clinic.now() }).execute();
  const { list } = clinic.client;
  clinic.client.list = async (...given) => {
    clinic.client.list = list;
    clinic.pass(-HOUR_MS);
    return await list(...given);
  };
  await clinic.submitNow();
  const row = (await clinic.inquiries()).find(({ external_id }) => external_id === 'A-1');
  expect(row).toMatchObject({ state: 'uncertain', empty_lookups: 0 });
});

test('a list that failed while the clock was ahead is read again soon (G2)', async () => {
  const clinic = await install();
  const { list } = clinic.client;
  clinic.client.list = async () => AWAY;
  await clinic.read(clinic.visit('A-1', {}, 5));
  await clinic.planNow();
  clinic.pass(DAY_MS);
  await clinic.submitNow();
  clinic.client.list = list;
  clinic.pass(-DAY_MS);
  await minutesPass(clinic, 2);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the office hears of an unreadable list an hour after the clock was set back', async () => {
  const clinic = await install();
  clinic.client.list = async () => AWAY;
  clinic.pass(DAY_MS);
  await send(clinic, clinic.visit('A-1', {}, 5));
  clinic.pass(-DAY_MS);
  for (let quarter = 0; quarter < 6; quarter += 1) {
    clinic.pass(HOUR_MS / 4);
    await clinic.submitNow();
  }
  expect(await clinic.attention()).toEqual(['submission_stopped']);
});

test('labels that failed while the clock was ahead are queried again soon (G2)', async () => {
  const clinic = await install();
  const labels = ['A-1'];
  const queried = failLabels(clinic, labels, 401);
  await clinic.read(clinic.visit('A-1', twin('Ada'), 5));
  await clinic.planNow();
  letClockBeSet(clinic);
  clinic.pass(DAY_MS);
  await clinic.submitNow();
  expect(queried).toEqual(['A-1']);
  labels.pop();
  clinic.pass(-DAY_MS);
  await minutesPass(clinic, 20);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a call that could not leave while the clock was ahead leaves soon (G2)', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', {}, 5));
  await clinic.planNow();
  letClockBeSet(clinic);
  clinic.pass(DAY_MS);
  refuseCreates(clinic, 1);
  await clinic.submitNow();
  clinic.pass(-DAY_MS);
  await minutesPass(clinic, 20);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a clock that is set right after the start makes no lookup count early (G1)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  await clinic.collectAll();
  const hidden = await loseAndHide(clinic, 1);
  await hidden.show(0);
  const coverages = [aCoverage({ member_id: 'W2' })];
  await send(clinic, clinic.visit('A-1', { ...twin('Ben'), coverages }));
  // As if eligd had been killed while the request was on its way.
  const { db } = clinic.store;
  const interrupted = { state: 'sending', lookup_at: null, absence_at: null } as const;
  await db.updateTable('inquiries').set(interrupted).where('state', '=', 'uncertain').execute();
  await db.updateTable('calls').set({ fate: 'out' }).where('fate', '=', 'lost').execute();
  clinic.submit.memory = newSubmitMemory();
  letClockBeSet(clinic);
  clinic.pass(-HOUR_MS);
  await recoverInterrupted(clinic.submit);
  clinic.pass(HOUR_MS);
  await clinic.submitNow();
  const row = (await clinic.inquiries()).find(({ external_id }) => external_id === 'A-1');
  expect(row).toMatchObject({ state: 'uncertain', empty_lookups: 0 });
});

const NEW_ID = { coverages: [aCoverage({ member_id: 'W3' })] };

test.each<[string, Partial<ReturnType<Installation['visit']>>, string[]]>([
  ['is canceled', { status: 'cancelled' }, []],
  ['gets another member ID', NEW_ID, ['W3']],
  ['is another patient’s', { ...twin('Ben'), ...NEW_ID }, ['W3']],
])('a visit that %s by a clock ahead is planned before its call is made', async (...given) => {
  const [, change, members] = given;
  const clinic = await install();
  await clinic.planNow();
  const visit = clinic.visit('A-1', { coverages: [aCoverage({ member_id: 'W2' })] }, 5);
  await clinic.read(visit);
  await clinic.planNow();
  clinic.pass(2 * HOUR_MS);
  await clinic.read({ ...visit, ...change });
  clinic.pass(-2 * HOUR_MS);
  clinic.submit.memory = newSubmitMemory();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  await clinic.planNow();
  await clinic.submitNow();
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ request }) => request.member_id)).toEqual(members);
});

test('a visit that vanished by a clock ahead is put on hold before its call is made', async () => {
  const clinic = await install();
  await clinic.planNow();
  const visit = clinic.visit('A-1', twin('Ada'), 5);
  const others = [3, 7].map((days) => clinic.visit(`B-${days}`, twin('Ben'), days));
  await readExport(clinic, 1, [visit, ...others]);
  await clinic.planNow();
  clinic.pass(2 * HOUR_MS);
  await readExport(clinic, 2, others);
  await readExport(clinic, 3, others);
  clinic.pass(-2 * HOUR_MS);
  clinic.submit.memory = newSubmitMemory();
  await clinic.submitNow();
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).toContain('vanished');
  expect(await labelsOf(clinic)).toEqual(['B-3']);
});

test('what a new payer map changes by a clock ahead is planned at once', async () => {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(clinic.visit('A-1', {}, 2));
  clinic.pass(3 * HOUR_MS);
  await clinic.store.write((tx) => planAllAgain(tx, clinic.now()));
  clinic.pass(-3 * HOUR_MS);
  clinic.submit.memory = newSubmitMemory();
  await clinic.submitNow();
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a clock that is always an hour ahead delays no lookup at a start (G2)', async () => {
  const clinic = await install();
  clinic.submit.clockSkew = () => HOUR_MS;
  await clinic.submitNow();
  await loseAndHide(clinic, 1);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  const lookupAt = async () => (await clinic.inquiries())[0]!.lookup_at;
  const planned_at = await lookupAt();
  expect(planned_at).not.toBeNull();
  clinic.pass(MINUTE_MS);
  clinic.submit.memory = newSubmitMemory();
  // Nothing has been heard of the service yet.
  clinic.submit.clockSkew = () => null;
  await recoverInterrupted(clinic.submit);
  await clinic.submitNow();
  expect(await lookupAt()).toBe(planned_at);
  clinic.submit.clockSkew = () => HOUR_MS;
  await clinic.submitNow();
  expect(await lookupAt()).toBe(planned_at);
});

test('a call put off by a clock ahead leaves soon although nothing answers yet (G2)', async () => {
  const clinic = await install();
  await clinic.submitNow();
  clinic.pass(DAY_MS);
  refuseCreates(clinic, 1);
  await send(clinic, clinic.visit('A-1', twin('Ada')));
  clinic.pass(-DAY_MS);
  clinic.submit.memory = newSubmitMemory();
  clinic.submit.clockSkew = () => null;
  clinic.client.list = async () => AWAY;
  await clinic.submitNow();
  const [row] = await clinic.inquiries();
  expect(row!.due_at - clinic.now()).toBeLessThan(HOUR_MS);
});

test('a lookup is not due because the clock was wrong when the reply was lost (G1)', async () => {
  const clinic = await install({ settings: { concurrency: 1 } });
  await clinic.submitNow();
  letClockBeSet(clinic);
  await clinic.read(
    clinic.visit('A-1', { ...twin('Ada'), coverages: [aCoverage({ member_id: 'W1' })] }),
    clinic.visit('A-2', { ...twin('Ben'), coverages: [aCoverage({ member_id: 'W2' })] }),
  );
  await clinic.planNow();
  const { create } = clinic.client;
  let count = 0;
  clinic.client.create = async (...given) => {
    count += 1;
    if (count === 1) {
      clinic.pass(-HOUR_MS);
      const failure = { cause: 'closed', status: null, retry_after_ms: null } as const;
      return { ok: false, failure: { class: 'ambiguous', accepted: false, ...failure } } as never;
    }
    while ((await clinic.inquiries()).every(({ state }) => state !== 'uncertain'))
      await realClock.sleep(5);
    clinic.pass(HOUR_MS);
    return await create(...given);
  };
  await clinic.submitNow();
  const row = (await clinic.inquiries()).find(({ state }) => state === 'uncertain');
  expect(row!.lookup_at! - clinic.now()).toBeGreaterThan(SETTLE_MS - MINUTE_MS);
  expect(row!.absence_at! - clinic.now()).toBeGreaterThan(SETTLE_MS - MINUTE_MS);
});
