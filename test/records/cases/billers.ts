/** Rules one by one, in the ways in which payers and services say them. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, MET, one } from './build.ts';

const NO_OWN_CODES = { D1110: { ...CLEANING } };
/** About eleven in either year of the tests. */
const CHILD = '2018-06-15';
const NONE_OF = (about: string, plan: object, verdict: string, reasons: string): VerdictCase => {
  const made = one('D', about, { rules: NO_OWN_CODES, plan }, { verdict, reasons, of: {} });
  return made;
};

const STATUSES: VerdictCase[] = [
  one(
    'D',
    'the service says "Success"',
    { rules: { D1110: CLEANING }, fees: FEES.cleaning, status: 'Success' },
    { verdict: 'eligible', of: { D1110: ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'D',
    'the service says "unsuccessful"',
    { rules: {}, status: 'unsuccessful' },
    { verdict: 'incomplete', reasons: 'no_answer', of: { D1110: ['unknown', 'no_answer'] } },
  ),
  one(
    'D',
    'the code that is planned is not among the answers',
    { rules: { D0120: CLEANING }, fees: FEES.cleaning },
    { verdict: 'incomplete', of: { D1110: ['unknown', 'not_answered'] } },
  ),
  NONE_OF(
    'nothing is planned, and the payer did not say whether the plan is active',
    { is_active: undefined },
    'incomplete',
    'plan_unknown',
  ),
  NONE_OF(
    'nothing is planned, and out of network nothing is paid',
    { is_provider_in_network: false, out_of_network_benefits: 'None' },
    'attention',
    'out_of_network',
  ),
  NONE_OF(
    'nothing is planned, and another coverage pays first',
    { is_primary_insurance: false },
    'attention',
    'not_primary',
  ),
  NONE_OF(
    'nothing is planned, and a referral is required',
    { referral_required: 'Yes' },
    'attention',
    'referral_required',
  ),
];

const PLAN_DAYS: VerdictCase[] = [
  one(
    'D',
    'the plan ended the day before',
    { rules: { D1110: CLEANING }, plan: { termination_date: '{visit-1}' }, fees: FEES.cleaning },
    {
      verdict: 'not_eligible',
      reasons: 'plan_ended',
      of: { D1110: ['not_payable', 'plan_ended', '98.00 98.00'] },
    },
  ),
  one(
    'D',
    'not active yet, and it begins the day after',
    {
      rules: { D1110: CLEANING },
      plan: { is_active: false, effective_date: '{visit+1}' },
      fees: FEES.cleaning,
    },
    {
      verdict: 'not_eligible',
      reasons: 'plan_inactive plan_not_begun',
      of: { D1110: ['not_payable', 'plan_inactive plan_not_begun', '98.00 98.00'] },
    },
  ),
  one(
    'D',
    'the plan ends ten days after',
    { rules: { D1110: CLEANING }, plan: { termination_date: '{visit+10}' } },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
];

const cleaningWith = (limit: string, history: Record<string, string> | null, used: boolean) =>
  one(
    'D',
    `"${limit}" after ${JSON.stringify(history)}`,
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: limit } },
      history,
      fees: FEES.cleaning,
    },
    used
      ? { verdict: 'attention', of: { D1110: ['not_payable', 'frequency', '98.00 98.00'] } }
      : { verdict: 'eligible', of: { D1110: ['payable', '', '0.00 0.00'] } },
  );

const COUNTED: VerdictCase[] = [
  cleaningWith('Twice per calendar year', { '{jan1}': 'D1110' }, false),
  cleaningWith('2 every 12 months', { '{visit-370}': 'D1110', '{visit-100}': 'D1110' }, false),
  cleaningWith('2 every 12 months', { '{visit-300}': 'D1110', '{visit-100}': '1110' }, true),
  cleaningWith('1 per 6 months', { '{visit-30}': 'd1110' }, true),
  cleaningWith('1 every six months', { '{visit-30}': 'D0120' }, false),
  cleaningWith(
    '2 per calendar year, shared with D4910',
    { '{jan1}': 'D4910', '{jan2}': '4910' },
    true,
  ),
  cleaningWith('2 per benefit year', { '{jan1}': 'D1110', '{jan2}': 'D1110' }, true),
  cleaningWith('None', null, false),
  cleaningWith('Not applicable', null, false),
  one(
    'D',
    'a treatment without a code may count toward the limit',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '1 per 6 months' } },
      history: { '{visit-30}': { code: '' } },
    },
    { verdict: 'incomplete', of: { D1110: ['unknown', 'frequency'] } },
  ),
];

const fluoride = (age_limit: unknown, dob: string, standing: string) =>
  one(
    'D',
    `fluoride with the age limit ${JSON.stringify(age_limit)} for one born ${dob}`,
    { rules: { D1206: { ...CLEANING, age_limit } }, dob, fees: { D1206: '45.00' } },
    standing === 'payable'
      ? { verdict: 'eligible', of: { D1206: ['payable', '', '0.00 0.00'] } }
      : { verdict: 'attention', of: { D1206: [standing, 'age_limit', '45.00 45.00'] } },
  );

const AGES: VerdictCase[] = [
  fluoride('18', '1980-04-02', 'not_payable'),
  fluoride('Up to age 14', CHILD, 'payable'),
  fluoride('Children under 16 only', CHILD, 'payable'),
  fluoride('Children under 16 only', '1980-04-02', 'not_payable'),
  fluoride('Through the end of age 18', CHILD, 'payable'),
  fluoride('No age limit', '1980-04-02', 'payable'),
  fluoride('Not applicable', '1980-04-02', 'payable'),
];

const waits = (words: string, days: number, is_over: boolean) =>
  one(
    'D',
    `waiting periods "${words}", covered for ${days} days`,
    {
      rules: { D2740: CROWN },
      plan: { effective_date: `{visit-${days}}` },
      clauses: { waiting_periods: words },
      maximums: MET,
      fees: FEES.crown,
    },
    is_over
      ? { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } }
      : { verdict: 'incomplete', of: { D2740: ['unknown', 'waiting_period', '600.00 1200.00'] } },
  );

const WAITS: VerdictCase[] = [
  waits('12 months for major services', 366, true),
  waits('12 months for major services', 360, false),
  waits('Basic 6 months, major 12 months', 200, false),
  waits('None for preventive, 12 months for major', 60, false),
  waits('None for preventive, 12 months for major', 500, true),
  waits('No waiting periods apply.', 5, true),
  waits('6-month waiting period on basic services', 200, true),
  waits('90 days', 100, true),
];

const crownWith = (said: object, expected: [string, string, string]) =>
  one(
    'D',
    `a crown with ${JSON.stringify(said)}`,
    { rules: { D2740: { ...CROWN, ...said } }, maximums: MET, fees: FEES.crown },
    {
      verdict: { payable: 'eligible', unknown: 'incomplete' }[expected[0]] ?? 'attention',
      of: { D2740: expected },
    },
  );

const ANSWERS: VerdictCase[] = [
  crownWith({ is_prior_auth_required: 'Yes' }, [
    ...(['needs_authorization', 'prior_authorization', '600.00 1200.00'] as const),
  ]),
  crownWith({ is_prior_auth_required: 'Required' }, [
    ...(['needs_authorization', 'prior_authorization', '600.00 1200.00'] as const),
  ]),
  crownWith({ is_prior_auth_required: 'Not required' }, ['payable', '', '600.00 600.00']),
  crownWith({ is_prior_auth_required: 'Recommended, not required' }, [
    ...(['unknown', 'not_answered', '600.00 1200.00'] as const),
  ]),
  crownWith({ is_prior_auth_required: undefined, prior_auth_info: 'Required over $300.' }, [
    ...(['unknown', 'not_answered', '600.00 1200.00'] as const),
  ]),
  crownWith({ is_covered: 'Not covered' }, ['not_payable', 'not_covered', '1200.00 1200.00']),
  crownWith({ is_covered: 'Covered' }, ['payable', '', '600.00 600.00']),
  crownWith({ is_covered: undefined }, ['unknown', 'not_answered', '600.00 1200.00']),
  crownWith({ is_downgraded: true, is_prior_auth_required: true }, [
    ...(['needs_authorization', 'downgrade prior_authorization', '600.00 1200.00'] as const),
  ]),
  one(
    'D',
    'two answers about one code name two shares',
    {
      rules: { D2740: CROWN, 'D2740 again': { coverage_percentage: 80 } },
      fees: FEES.crown,
    },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'conflicting', '0.00 1200.00'] } },
  ),
  one(
    'D',
    'another coverage pays first, and the code is not covered here',
    {
      rules: { D2391: { bare: true, is_covered: false } },
      plan: { is_primary_insurance: false },
      fees: { D2391: '180.00' },
    },
    {
      verdict: 'attention',
      reasons: 'not_primary',
      of: { D2391: ['not_payable', 'not_covered', '180.00 180.00'] },
    },
  ),
];

const outside = (words: string, expected: [string, string, string]) =>
  one(
    'D',
    `out of network: ${words}`,
    {
      rules: { D2740: CROWN },
      plan: { is_provider_in_network: false, out_of_network_benefits: words },
      fees: FEES.crown,
    },
    { verdict: 'attention', reasons: 'out_of_network', of: { D2740: expected } },
  );

const NOTHING: [string, string, string] = ['not_payable', 'out_of_network', '1200.00 1200.00'];
const OTHER_SHARES: [string, string, string] = ['payable', 'out_of_network', '0.00 1200.00'];
const OPEN: [string, string, string] = ['unknown', 'out_of_network', '0.00 1200.00'];

const NETWORKS: VerdictCase[] = [
  outside('None, except in an emergency', NOTHING),
  outside('No out-of-network coverage, except for emergency services.', NOTHING),
  outside('No benefits out of network other than emergencies', NOTHING),
  outside('Emergency services only', NOTHING),
  outside('Not covered (HMO plan)', NOTHING),
  outside('Plan pays 50% of UCR', OTHER_SHARES),
  outside('Benefits are 10 percentage points lower', OTHER_SHARES),
  outside('Same as in network', OTHER_SHARES),
  outside('Deductible of $100, then 60%', OTHER_SHARES),
  outside('Yes', OPEN),
  outside('Reduced benefits', OPEN),
  outside('Call for details', OPEN),
];

export const BILLERS: VerdictCase[] = [
  ...[...STATUSES, ...PLAN_DAYS, ...COUNTED, ...AGES, ...WAITS, ...ANSWERS, ...NETWORKS],
];
