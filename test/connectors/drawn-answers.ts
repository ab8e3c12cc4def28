/**
 * Random answers about one visit, and what a biller knows about each without eligd: derived from
 * the facts of the answer, not by the code under test.
 */
import fc from 'fast-check';
import type { EligibilityRecord } from '../../src/records/eligibility.ts';
import { recordOf } from '../records/answers.ts';

export const VISIT = '2026-11-24';
export const CODES = ['D1110', 'D2740', 'D8080', 'D0120'] as const;
export type Code = (typeof CODES)[number];
/** The office's fees, in dollars. */
export const FEES: Readonly<Record<string, string>> = {
  ...{ D1110: '98.00', D2740: '1200.00', D8080: '5000.00', D0120: '60.00' },
};

type Rule = {
  is_covered?: boolean;
  coverage_percentage?: number;
  coinsurance_percentage?: string;
  copay_amount?: string;
  age_limit?: number;
  frequency_limitations?: string;
  is_downgraded?: boolean;
  is_prior_auth_required?: boolean;
  more_info?: string;
  downgraded_info?: string;
  prior_auth_info?: string;
};
export type Facts = {
  specialty: 'dental' | 'medical';
  is_active: boolean | undefined;
  termination_date: string | undefined;
  effective_date: string | undefined;
  in_network: boolean | undefined;
  out_of_network_benefits: string | undefined;
  maximum: string | undefined;
  remaining: string | undefined;
  waiting_periods: string | undefined;
  out_of_pocket_used: string | undefined;
  is_child: boolean;
  cleanings: number;
  rules: Record<string, Rule>;
};

/** Out of network: words that pay nothing, and words that are unclear. */
const NETWORK_NONE = ['None', 'None, except for emergencies', '$0', 'Plan pays $0'];
const NETWORK_OPEN = [
  ...['Patient pays full UCR', 'Patient responsible for usual and customary fees'],
  ...["Plan doesn't pay UCR", '80% for emergencies'],
];
/** None of them is over after eight months of coverage, and each may concern any class. */
const WAITS = ['6 months basic, a year major', 'forty-eight months', '1.5 years'];

const some = <Value>(...values: Value[]) => fc.constantFrom(...values);
const rule: fc.Arbitrary<Rule> = fc
  .record({
    is_covered: some(true, true, true, false, undefined),
    coverage_percentage: some(100, 80, 50, undefined, 0),
    coinsurance_percentage: some(undefined, undefined, '20'),
    copay_amount: some(undefined, undefined, undefined, '25.00', 'varies by visit', 'None'),
    age_limit: some(undefined, undefined, 18),
    frequency_limitations: some(undefined, '2 per calendar year', 'as the plan allows'),
    is_downgraded: some(undefined, true, false),
    is_prior_auth_required: some(undefined, false, true),
    // The payer did not say which plan, day, or network.
    more_info: some(undefined, undefined, 'plan pays 90%; covered; copay $5'),
    downgraded_info: some(undefined, undefined, 'plan pays 70%, limit used up'),
    prior_auth_info: some(undefined, undefined, 'covered without it under $300'),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as Rule);
export const facts: fc.Arbitrary<Facts> = fc
  .record({
    specialty: some('dental' as const, 'dental' as const, 'medical' as const),
    is_active: some(true, true, true, true, false, undefined),
    termination_date: some(undefined, undefined, '10-31-2026', '12-31-2026'),
    effective_date: some(undefined, '01-01-2020', '01-01-2020', '04-01-2026', '01-01-2027'),
    in_network: some(true, false, undefined),
    out_of_network_benefits: some(...NETWORK_NONE, ...NETWORK_OPEN, '60% of UCR', undefined),
    maximum: some('1500', '1500', 'Unlimited', 'None'),
    remaining: some(undefined, '0', '500.00', '500.00', 'None', 'Unlimited'),
    waiting_periods: some(undefined, undefined, ...WAITS),
    out_of_pocket_used: some(undefined, '3000', '10'),
    is_child: fc.boolean(),
    cleanings: some(0, 1, 2),
    rules: fc.record({ D1110: rule, D2740: rule, D8080: rule, D0120: rule }),
  })
  .map(withSureShares);

/** Without shares of nothing where an out-of-pocket maximum may turn them into something. */
function withSureShares(given: Facts): Facts {
  if (given.specialty === 'dental' || given.out_of_pocket_used === undefined) return given;
  const rules = Object.entries(given.rules).map(([code, each]) => [
    code,
    each.coverage_percentage === 0 ? { ...each, coverage_percentage: 50 } : each,
  ]);
  return { ...given, rules: Object.fromEntries(rules) as Facts['rules'] };
}

export function recordFor(given: Facts): EligibilityRecord {
  const { is_active, termination_date, effective_date, in_network, cleanings, rules } = given;
  return recordOf(
    {
      call_details: [{ call_end_time: '2026-11-20T15:30:00Z', reference_number: 'R-1' }],
      plan_information: {
        is_active,
        termination_date,
        effective_date,
        is_provider_in_network: in_network,
        out_of_network_benefits: given.out_of_network_benefits,
      },
      maximums: {
        coverage_limit: given.remaining === undefined ? undefined : given.maximum,
        coverage_limit_remaining: given.remaining,
        individual_out_of_pocket_maximum: given.out_of_pocket_used && '3000',
        individual_out_of_pocket_maximum_used: given.out_of_pocket_used,
      },
      treatment_history: Object.fromEntries(
        ['02-02-2026', '08-03-2026']
          .slice(0, cleanings)
          .map((day) => [day, [{ procedure_code: 'D1110' }]]),
      ),
      extra_info: { waiting_periods: given.waiting_periods },
      procedure_classes: { PREVENTIVE: rules.D1110, CROWNS: rules.D2740 },
      procedure_codes: CODES.map((code) => [{ procedure_code: code }, rules[code]]),
    },
    {
      specialty: given.specialty,
      asked: { benefits_query: ['CODE_LOOKUP_BENEFITS', 'STANDARD'], benefits_codes: [...CODES] },
    },
  );
}

/** The plan certainly pays nothing at all on the day of the visit. */
export function isPlanSurelyUnpaid(given: Facts): boolean {
  const is_over =
    given.is_active === false ||
    given.termination_date === '10-31-2026' ||
    given.effective_date === '01-01-2027';
  const is_out = NETWORK_NONE.includes(given.out_of_network_benefits ?? '');
  return is_over || (given.in_network === false && is_out);
}

/** The answer leaves open whether the plan pays for the code, or how much. */
export function isOpen(given: Facts, code: Code): boolean {
  const rule = given.rules[code] ?? {};
  const { in_network, out_of_network_benefits, effective_date, waiting_periods } = given;
  const is_waiting = waiting_periods !== undefined && effective_date !== '01-01-2020';
  const has_share = rule.coverage_percentage ?? rule.coinsurance_percentage ?? rule.copay_amount;
  return (
    given.is_active === undefined ||
    (in_network === false &&
      (out_of_network_benefits === undefined || NETWORK_OPEN.includes(out_of_network_benefits))) ||
    is_waiting ||
    (given.specialty === 'dental' && given.remaining === 'None') ||
    rule.is_covered === undefined ||
    rule.is_prior_auth_required === undefined ||
    rule.frequency_limitations === 'as the plan allows' ||
    rule.copay_amount === 'varies by visit' ||
    has_share === undefined ||
    has_share === 'None'
  );
}

/** A limit for cleanings is certainly used up. */
export const isLimitUsedUp = ({ cleanings, rules }: Facts, code: Code) =>
  code === 'D1110' &&
  cleanings === 2 &&
  rules[code]?.frequency_limitations === '2 per calendar year';

/** What a biller knows without eligd: the plan certainly pays nothing for the code. */
export function isSurelyUnpaid(given: Facts, code: Code): boolean {
  const { is_covered, age_limit } = given.rules[code] ?? {};
  if (isPlanSurelyUnpaid(given) || is_covered === false) return true;
  const is_dental = given.specialty === 'dental';
  if (isOfNothing(given, code)) return true;
  return (
    (age_limit === 18 && !given.is_child) ||
    (is_dental && isUsedUp(given) && (code === 'D2740' || code === 'D8080')) ||
    isLimitUsedUp(given, code)
  );
}

/** Covered at 0%, and no copay replaces the share. */
function isOfNothing({ in_network, rules }: Facts, code: Code) {
  const rule = rules[code] ?? {};
  const is_without_copay = rule.copay_amount === undefined || rule.copay_amount === 'None';
  const is_said_once = rule.coinsurance_percentage === undefined && is_without_copay;
  const is_of_nothing = rule.is_covered === true && rule.coverage_percentage === 0;
  // Out of network other shares may hold.
  return is_of_nothing && is_said_once && in_network !== false;
}

/** Nothing is certainly left of the yearly maximum. */
export const isUsedUp = ({ maximum, remaining }: Facts) =>
  remaining === '0' && maximum !== 'Unlimited';
