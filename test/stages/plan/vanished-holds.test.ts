/** A visit that vanished from the exports gets no call until the office releases it. */
import { expect, test } from 'vitest';
import { dueLimits } from '../../../src/domain/due-times.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { release } from '../../../src/store/bookkeeping/operator.ts';
import { correctDueTimes } from '../../../src/store/calls/clock-set.ts';
import { planAllAgain } from '../../../src/store/calls/plan-due.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { labelsOf, lookUp, loseCreates, refuseCreates } from '../submit/lost-calls.ts';
import { ADA, COVERAGES, finish, goOn, pass, vanish, visit } from '../submit/merges.ts';

/** The visit is in one export, and in no later one. */
async function readAndVanish(clinic: Installation, source_id: string): Promise<void> {
  await clinic.read(visit(clinic, source_id));
  await vanish(clinic, source_id);
}

const releaseVisit = ({ store, now }: Installation, id: number) =>
  store.write((tx) => release(tx, { kind: 'appointment', id }, now()));

/** The office has released the call of the visit, which vanished before. */
async function installReleased(): Promise<Installation> {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  await readAndVanish(clinic, 'A-1');
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  await releaseVisit(clinic, 1);
  return clinic;
}

test('a released call of a vanished visit stays released if it comes back unsent', async () => {
  const clinic = await installReleased();
  refuseCreates(clinic, 1);
  await clinic.submitNow();
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a released call of a vanished visit stays released if it is lost', async () => {
  const clinic = await installReleased();
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  await lookUp(clinic);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a released call stays released if all visits are planned again before it', async () => {
  const clinic = await installReleased();
  await clinic.store.write((tx) => planAllAgain(tx, clinic.now()));
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a released call is on hold again once its visit was back and vanished', async () => {
  const clinic = await installReleased();
  clinic.pass(60_000);
  await readAndVanish(clinic, 'A-1');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a released call is made for one visit although the other vanishes again (G2)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'), visit(clinic, 'A-2'));
  await clinic.planNow();
  await readAndVanish(clinic, 'A-1');
  await readAndVanish(clinic, 'A-2');
  await releaseVisit(clinic, 1);
  clinic.pass(60_000);
  await readAndVanish(clinic, 'A-2');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test.each(['has noticed', 'notices'])(
  'a release stays although the clock was ahead before, which eligd %s',
  async (when) => {
    const clinic = await install();
    await clinic.planNow();
    await clinic.read(visit(clinic, 'A-1'));
    await clinic.planNow();
    clinic.pass(DAY_MS);
    await readAndVanish(clinic, 'A-1');
    clinic.pass(-DAY_MS);
    const notice = () =>
      clinic.store.write((tx) => correctDueTimes(tx, dueLimits(5 * MINUTE_MS, clinic.now())));
    if (when === 'has noticed') await notice();
    await releaseVisit(clinic, 1);
    clinic.pass(MINUTE_MS);
    if (when === 'notices') await notice();
    await clinic.store.write((tx) => planAllAgain(tx, clinic.now()));
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-1']);
  },
);

test('a visit that a clock ahead released is on hold when it vanishes again', async () => {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'));
  await clinic.planNow();
  clinic.pass(3 * DAY_MS);
  await readAndVanish(clinic, 'A-1');
  await releaseVisit(clinic, 1);
  clinic.pass(-3 * DAY_MS);
  clinic.pass(60 * MINUTE_MS);
  await readAndVanish(clinic, 'A-1');
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual([]);
});

test('a released call is not on hold again because another vanished visit joins it', async () => {
  const clinic = await install({ policy: { look_ahead_days: 8 } });
  await clinic.planNow();
  const later = clinic.visit('A-2', { patient: ADA, coverages: COVERAGES }, 10);
  await clinic.read(visit(clinic, 'A-1'), later);
  await clinic.planNow();
  await readAndVanish(clinic, 'A-1');
  await clinic.store.db
    .updateTable('appointments')
    .set({ missing_since: clinic.now() })
    .where('source_id', '=', 'A-2')
    .execute();
  await releaseVisit(clinic, 1);
  refuseCreates(clinic, 3);
  await clinic.submitNow();
  await pass(clinic, 3);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test.each(['unsent', 'lost'])(
  'a released call after an old answer stays released when it comes back %s',
  async (how) => {
    const clinic = await install({ policy: { reverify_after_days: 2 } });
    await clinic.planNow();
    await send(clinic, visit(clinic, 'A-1'));
    await finish(clinic);
    await pass(clinic, 3);
    await clinic.read(visit(clinic, 'A-2'));
    await clinic.planNow();
    await readAndVanish(clinic, 'A-2');
    await releaseVisit(clinic, 2);
    if (how === 'unsent') refuseCreates(clinic, 1);
    else await loseCreates(clinic, 1, 'before');
    await clinic.submitNow();
    if (how === 'lost') await lookUp(clinic);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual(['A-1', 'A-2']);
  },
);

/** A lost call for a vanished visit and for one that leaves it while eligd looks for the call. */
async function installWithLostCall(left: 'canceled' | 'without insurance'): Promise<Installation> {
  const clinic = await install();
  await clinic.planNow();
  await clinic.read(visit(clinic, 'A-1'), visit(clinic, 'A-2'));
  await clinic.planNow();
  await readAndVanish(clinic, 'A-1');
  await loseCreates(clinic, 1, 'before');
  await clinic.submitNow();
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['uncertain']);
  const canceled = { status: 'cancelled' as const };
  await clinic.read({
    ...visit(clinic, 'A-2'),
    ...(left === 'canceled' ? canceled : { coverages: [] }),
  });
  await clinic.planNow();
  await lookUp(clinic);
  return clinic;
}

test.each(['canceled', 'without insurance'] as const)(
  'a lost call for a vanished visit and a present one is on hold once the latter is %s',
  async (left) => {
    const clinic = await installWithLostCall(left);
    await goOn(clinic);
    expect(await labelsOf(clinic)).toEqual([]);
  },
);

test('the office can release a call of a vanished visit that a canceled one had, too', async () => {
  const clinic = await installWithLostCall('canceled');
  await clinic.planNow();
  await releaseVisit(clinic, 1);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the release of another visit’s call does not release a vanished one (G1)', async () => {
  const clinic = await install();
  await clinic.planNow();
  await send(clinic, visit(clinic, 'A-1'));
  await finish(clinic);
  const other = aCoverage({ member_id: 'ACTIVE8' });
  await clinic.read({ ...visit(clinic, 'A-2'), coverages: [...COVERAGES, other] });
  await clinic.planNow();
  await vanish(clinic, 'A-2');
  await releaseVisit(clinic, 1);
  await goOn(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});
