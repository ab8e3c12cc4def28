/** Calls that a list shows at last: what they cost, and what they leave for the next call. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { withdraw } from '../../../src/store/bookkeeping/operator.ts';
import { spentBetween } from '../../../src/store/calls/budget.ts';
import { aCoverage, NO_BUDGET } from '../../domain/examples.ts';
import { type Installation, install, reconcile, send } from '../installation.ts';
import {
  about,
  labelsOf,
  lookUp,
  loseAndHide,
  loseCreates,
  makeOlder,
  refuseCreates,
} from './lost-calls.ts';

const ONE_CALL = { ...NO_BUDGET.limits, calls_per_day: 1 };
const installWithOneCall = () =>
  install({ settings: { budget: { ...NO_BUDGET, limits: ONE_CALL } } });

/** What each call costs. */
const termsOf = (per_inquiry_cents: number) => ({
  per_inquiry_cents,
  per_code_cents: 0,
  urgent_factor: 1,
  free_outcomes: [],
});

test.each([0, 13 * HOUR_MS, DAY_MS, -13 * HOUR_MS])(
  'a call whose reply was lost counts for its day, if it is listed as %d ms older',
  async (age_ms) => {
    const clinic = await installWithOneCall();
    makeOlder(clinic, age_ms);
    await clinic.submitNow();
    await loseCreates(clinic, 1);
    await send(clinic, clinic.visit('A-1', about('W1')));
    await lookUp(clinic);
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
    await send(clinic, clinic.visit('B-1', about('W2')));
    expect(await labelsOf(clinic)).toEqual(['A-1']);
  },
);

test.each(['the price list changes', 'the stored content is damaged'])(
  'it costs what it cost when it was made, although %s',
  async (what) => {
    const clinic = await install();
    const terms = termsOf(60);
    const prices = { termsFor: () => terms };
    clinic.submit.settings.budget = { limits: NO_BUDGET.limits, prices };
    makeOlder(clinic, 6 * HOUR_MS);
    await clinic.submitNow();
    await loseCreates(clinic, 1);
    await send(clinic, clinic.visit('A-1', about('W1')));
    if (what === 'the price list changes') terms.per_inquiry_cents = 90;
    else await clinic.store.db.updateTable('inquiries').set({ draft: '{' }).execute();
    await lookUp(clinic);
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open']);
    const spent = await spentBetween(clinic.store.db, 0, Number.MAX_SAFE_INTEGER);
    expect(spent).toMatchObject({ calls: 1, cents: 60 });
  },
);

const SAME = { coverages: [aCoverage({ member_id: 'W1' })] };

/**
 * A call for A-1 was made, seemed absent, and was withdrawn; now the list shows it. Then the visit
 * needs it again, together with the visit of a twin, B-1, in this many days.
 */
async function withFoundCall(clinic: Installation, twins_days: number): Promise<void> {
  const { show } = await loseAndHide(clinic, 1);
  const visit = clinic.visit('A-1', SAME);
  await send(clinic, visit);
  await clinic.service.advance({ seconds: 60 });
  const { create } = clinic.client;
  refuseCreates(clinic, 1);
  await lookUp(clinic);
  clinic.client.create = create;
  await clinic.store.write((tx) => withdraw(tx, { kind: 'inquiry', id: 1 }, clinic.now()));
  await show(0);
  await reconcile(clinic);
  const twin = { ...SAME, patient: { ...visit.patient, id: 'TWIN', first_name: 'Ben' } };
  await clinic.read(clinic.visit('A-1', SAME, 5), clinic.visit('B-1', twin, twins_days));
  await clinic.planNow();
}

async function submitAll({ submitNow }: Installation): Promise<void> {
  for (let step = 0; step < 3; step += 1) await submitNow();
}

test.each([
  ['the twin’s visit is nearer', 4],
  ['its own visit is nearer', 6],
])('a call that the check has just found is the one call of the day (%s)', async (_, days) => {
  const clinic = await installWithOneCall();
  await withFoundCall(clinic, days);
  await submitAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('a call that the check has just found uses up the money of the day', async () => {
  const limits = { ...NO_BUDGET.limits, dollars_per_day: 1 };
  const clinic = await install();
  clinic.submit.settings.budget = { limits, prices: { termsFor: () => termsOf(60) } };
  await withFoundCall(clinic, 6);
  await submitAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1']);
});

test('the office does not hear that a call is not made that the check has just found', async () => {
  const clinic = await install();
  await withFoundCall(clinic, 4);
  await clinic.store.db.updateTable('inquiries').set({ draft: '{' }).where('id', '=', 1).execute();
  await submitAll(clinic);
  expect(await labelsOf(clinic)).toEqual(['A-1', 'B-1']);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['open', 'open']);
  expect(await clinic.attention()).toEqual([]);
});
