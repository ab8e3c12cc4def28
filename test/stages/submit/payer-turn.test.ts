import { expect, test } from 'vitest';
import { parseDraft } from '../../../src/domain/inquiry.ts';
import { HOUR_MS } from '../../../src/domain/time.ts';
import { payerKey } from '../../../src/domain/turnaround.ts';
import { setPayerSilence } from '../../../src/store/calls/payer-silence.ts';
import { aCoverage, NO_BUDGET } from '../../domain/examples.ts';
import { install, send } from '../installation.ts';
import { labelsOf, twin } from './lost-calls.ts';

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
