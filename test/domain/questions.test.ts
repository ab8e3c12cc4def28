/** The rule that chooses the questions. */
import { expect, test } from 'vitest';
import { type CoverageHistory, NO_HISTORY } from '../../src/domain/history.ts';
import type { Learned } from '../../src/domain/learned.ts';
import { planAppointment } from '../../src/domain/planning.ts';
import type { QuestionRule } from '../../src/domain/policy.ts';
import { questionRule } from '../../src/domain/questions.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { aCoverage, anAppointment, aPayer, aRule, FRIDAY_MS, facts } from './examples.ts';

const KNOWN: CoverageHistory = {
  ...NO_HISTORY,
  is_returning: true,
  eligibility_at: FRIDAY_MS - 40 * DAY_MS,
  benefits_at: FRIDAY_MS - 200 * DAY_MS,
  known_codes: new Set(['D0120']),
};

/** Whether a rule with this condition applies before the one without it. */
function applies(condition: Partial<QuestionRule>, history: CoverageHistory = KNOWN): boolean {
  const rules = [aRule({ name: 'first', ...condition }), aRule({ name: 'rest' })];
  const coverage = aCoverage({ carrier: 'Delta Dental, PPO', payor_id: '12345' });
  const payer = aPayer({ carrier: 'DELTA_DENTAL', payor_id: '99999' });
  const about = { codes: ['D0120'], is_dental: true, coverage, payer, history, now: FRIDAY_MS };
  return questionRule(rules, about).name === 'first';
}

test.each<[Partial<QuestionRule>, boolean, CoverageHistory?]>([
  [{ when_patient: 'returning' }, true],
  [{ when_patient: 'returning' }, false, NO_HISTORY],
  [{ when_patient: 'new' }, false],
  [{ when_patient: 'new' }, true, NO_HISTORY],
  [{ when_benefits: 'known' }, true],
  [{ when_benefits: 'known' }, false, NO_HISTORY],
  [{ when_benefits: 'unknown' }, true, NO_HISTORY],
  [{ when_benefits_days: 201 }, true],
  [{ when_benefits_days: 200 }, false],
  [{ when_eligibility_days: 41 }, true],
  [{ when_eligibility_days: 40 }, false],
  [{ when_eligibility_days: 365 }, false, NO_HISTORY],
  [{ when_payers: ['delta dental ppo'] }, true],
  [{ when_payers: ['12345'] }, true],
  [{ when_payers: ['DELTA_DENTAL'] }, true],
  [{ when_payers: ['99999'] }, true],
  [{ when_payers: ['Cigna'] }, false],
  [{ when_codes: [{ from: 'D0000', to: 'D0999' }] }, true],
  [{ when_codes: [{ from: 'D8000', to: 'D8999' }] }, false],
  [{ when_patient: 'returning', when_payers: ['Cigna'] }, false],
])('%j applies: %s', (condition, expected, history) => {
  expect(applies(condition, history)).toBe(expected);
});

const RULES = [
  aRule({
    name: 'returning',
    when_patient: 'returning',
    when_benefits: 'known',
    benefits_query: ['STANDARD', 'CODE_LOOKUP_BENEFITS'],
  }),
  aRule({ name: 'standard', benefits_query: ['STANDARD', 'TREATMENT_HISTORY'] }),
];

function plannedWith(over: Partial<Learned>, codes: string[] = ['D0120']) {
  const learned: Learned = { history: () => NO_HISTORY, turnaround: () => null, ...over };
  const known = facts({ policy: { questions: { dental: RULES, medical: [], mental_health: [] } } });
  const visit = anAppointment({ procedure_codes: codes });
  const decision = planAppointment('front-desk|P-1|1980-01-02', visit, known, learned);
  if (decision.kind !== 'ask') throw new Error(decision.kind);
  return decision.coverages[0]!;
}

test('a shorter set of questions is the same need, so one answer serves both', () => {
  const first = plannedWith({});
  const later = plannedWith({ history: () => KNOWN });
  expect(later.draft.benefits_query).not.toEqual(first.draft.benefits_query);
  expect(later.need_base).toBe(first.need_base);
});

test('known codes are left out, and no lookup is left without a code', () => {
  const history = () => KNOWN;
  expect(plannedWith({ history }).draft).toMatchObject({
    benefits_query: ['STANDARD'],
    benefits_codes: [],
  });
  expect(plannedWith({ history }, ['0120', 'D2740']).draft).toMatchObject({
    benefits_query: ['STANDARD', 'CODE_LOOKUP_BENEFITS'],
    benefits_codes: ['D2740'],
  });
});

test('a call of which nine in ten would be late is not bought, and the list says why', () => {
  // Friday 09:00 in Chicago; Monday 09:30: eleven payer hours left today, three on Monday.
  const slow = { median_ms: 2 * HOUR_MS, p90_ms: 14 * HOUR_MS, calls: 20 };
  const late = plannedWith({ turnaround: () => slow });
  expect(late.call_by).toBeLessThan(FRIDAY_MS);
  expect(late.late.what).toContain(
    'Nine of ten calls to this insurance company took up to 14 hours',
  );
  const quick = plannedWith({ turnaround: () => ({ ...slow, p90_ms: 6 * HOUR_MS }) });
  // The cutoff on Friday at noon applies only while eligd has learned nothing.
  expect(quick.call_by).toBeGreaterThan(plannedWith({}).call_by);
});
