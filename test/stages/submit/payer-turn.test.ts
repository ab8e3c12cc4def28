import { expect, test } from 'vitest';
import { claim } from '../../../connectors/conformance/examples.ts';
import { parseDraft } from '../../../src/domain/inquiry.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { payerKey } from '../../../src/domain/turnaround.ts';
import { setPayerSilence } from '../../../src/store/calls/payer-silence.ts';
import { aCoverage, NO_BUDGET } from '../../domain/examples.ts';
import { type Installation, install, send } from '../installation.ts';
import { about, advance, labelsOf, twin } from './lost-calls.ts';

test('a call that the budget holds back does not use up the try at a payer (G2)', async () => {
  const terms = { per_inquiry_cents: 1000, per_code_cents: 0, urgent_factor: 1, free_outcomes: [] };
  const limits = { ...NO_BUDGET.limits, dollars_per_day: 15 };
  const budget = { limits, prices: { termsFor: () => terms } };
  const clinic = await install({ settings: { budget } });
  await send(clinic, clinic.visit('A-0', twin('Ada')));
  const coverages = [aCoverage({ payor_id: '999', carrier: 'Aetna' })];
  await clinic.read(clinic.visit('A-1', { ...twin('Ben'), coverages }, 3));
  await clinic.planNow();
  const payer = payerKey(parseDraft((await clinic.inquiries())[1]!.draft))!;
  const now = clinic.now();
  const silence = { unsuccessful: 3, since: now, last_at: now, next_try_at: now };
  await clinic.store.write((tx) => setPayerSilence(tx, payer, silence, now));
  // The try is due, and $5 are left for a call of $10.
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-0']);
  // The next day, the budget allows it.
  clinic.pass(13 * HOUR_MS);
  await clinic.service.advance({ hours: 13 });
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-0', 'A-1']);
});

/** Calls to the payer of this call fail; eligd tries again in 20 hours. */
async function silence(clinic: Installation): Promise<void> {
  const payer = payerKey(parseDraft((await clinic.inquiries())[0]!.draft))!;
  const now = clinic.now();
  const next_try_at = now + 20 * HOUR_MS;
  const silent = { unsuccessful: 3, since: now, last_at: now, next_try_at };
  await clinic.store.write((tx) => setPayerSilence(tx, payer, silent, now));
}

test('the office hears of a call that waits for its payer only if the visit is close', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', twin('Ada'), 4));
  await clinic.planNow();
  await silence(clinic);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).not.toContain('payer_waits');
  await clinic.read(clinic.visit('A-2', { ...twin('Ben'), ...about('W9') }, 1.5));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).toContain('payer_waits');
  // The try is the call for the nearest visit.
  clinic.pass(21 * HOUR_MS);
  await clinic.service.advance({ hours: 21 });
  await clinic.planNow();
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual(['A-2']);
  expect(await clinic.attention()).not.toContain('payer_waits');
});

test('a call about a claim waits for its payer without an entry: no visit is close', async () => {
  const clinic = await install();
  const date_of_service = new Date(clinic.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  await clinic.readClaims({ ...claim(1), date_of_service });
  await clinic.planNow();
  // The answer is wanted within a day.
  await advance(clinic, 9 * DAY_MS);
  expect((await clinic.inquiries())[0]!.visit_at - clinic.now()).toBeLessThan(DAY_MS);
  await silence(clinic);
  await clinic.submitNow();
  expect(await labelsOf(clinic)).toEqual([]);
  expect(await clinic.attention()).not.toContain('payer_waits');
});

test('the step that puts calls off for their payer is followed by another at once', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', twin('Ada'), 4));
  await clinic.planNow();
  await silence(clinic);
  expect((await clinic.submitNow()).did).toBe(1);
  expect((await clinic.submitNow()).did).toBe(0);
});
