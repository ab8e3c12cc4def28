/** Chooses the rule that decides what a payer is asked. */
import type { CoverageInput } from './appointment.ts';
import { planCode } from './codes.ts';
import type { CoverageHistory } from './history.ts';
import { lettersAndDigits } from './matching.ts';
import type { CodeRange, PayerEntry, QuestionRule } from './policy.ts';
import { DAY_MS, type Instant } from './time.ts';

/** The facts that rules test. */
type Questioned = {
  codes: readonly string[];
  is_dental: boolean;
  coverage: Pick<CoverageInput, 'carrier' | 'payor_id'>;
  payer: PayerEntry | null;
  history: CoverageHistory;
  now: Instant;
};

/**
 * Returns the first rule that applies; the configuration ends every list with an unconditional
 * rule.
 */
export function questionRule(rules: readonly QuestionRule[], about: Questioned): QuestionRule {
  const found = rules.find(
    (rule) =>
      fitsCodes(rule, about) &&
      fitsPayer(rule, about) &&
      fitsHistory(rule, about.history, about.now),
  );
  return found ?? { ...ANYTHING, name: 'plan', benefits_query: ['UNKNOWN'], with_codes: false };
}

/** A rule without conditions. */
export const ANYTHING = {
  when_codes: null,
  when_payers: null,
  when_patient: null,
  when_benefits: null,
  when_benefits_days: null,
  when_eligibility_days: null,
  with_codes: true,
  call_script_id: null,
  benefits_form_name: null,
} satisfies Omit<QuestionRule, 'name' | 'benefits_query'>;

function fitsCodes({ when_codes }: QuestionRule, { codes, is_dental }: Questioned): boolean {
  if (when_codes === null) return true;
  const whole = (code: string) => (is_dental ? planCode(code) : code);
  const isWithin = (code: string, { from, to }: CodeRange) =>
    code.length === whole(from).length && code >= whole(from) && code <= whole(to);
  return codes.some((code) => when_codes.some((range) => isWithin(whole(code), range)));
}

/**
 * Tests the payer's name, ID, and carrier in the PMS and the payer map, without case and
 * punctuation.
 */
function fitsPayer({ when_payers }: QuestionRule, { coverage, payer }: Questioned): boolean {
  if (when_payers === null) return true;
  const names = [coverage.carrier, coverage.payor_id, payer?.carrier ?? '', payer?.payor_id ?? '']
    .map(lettersAndDigits)
    .filter((name) => name !== '');
  return when_payers.some((name) => names.includes(lettersAndDigits(name)));
}

function fitsHistory(rule: QuestionRule, history: CoverageHistory, now: Instant): boolean {
  const { when_patient, when_benefits, when_benefits_days, when_eligibility_days } = rule;
  const { is_returning, benefits_at, eligibility_at } = history;
  const isYounger = (at: Instant | null, days: number | null) =>
    days === null || (at !== null && at > now - days * DAY_MS);
  return (
    (when_patient === null || is_returning === (when_patient === 'returning')) &&
    (when_benefits === null || (benefits_at !== null) === (when_benefits === 'known')) &&
    isYounger(benefits_at, when_benefits_days) &&
    isYounger(eligibility_at, when_eligibility_days)
  );
}
