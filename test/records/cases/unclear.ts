/**
 * Words instead of a number or a clear statement leave the question open, never a plain yes or no.
 */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, MET, one } from './build.ts';

const VISIT_FEE = { '99213': '150.00' };
const WAIVED = { coinsurance_percentage: '20', is_deductible_waived: true };

/** A covered crown at 50 percent, with no deductible left. */
const crownWith = (about: string, given: object, expected: [string, string, string]) =>
  one(
    'D',
    about,
    {
      rules: { D2740: CROWN },
      fees: FEES.crown,
      ...given,
      maximums: { ...MET, ...maximumsOf(given) },
    },
    {
      verdict: expected[0] === 'payable' ? 'eligible' : 'incomplete',
      of: { D2740: expected },
    },
  );

const maximumsOf = (given: object): object =>
  'maximums' in given && typeof given.maximums === 'object' ? (given.maximums ?? {}) : {};

/** A crown out of network, in these words. */
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
const OPEN: [string, string, string] = ['unknown', 'out_of_network', '0.00 1200.00'];

const waits = (words: string, days: number) =>
  crownWith(
    `waiting period "${words}", covered for ${days} days`,
    { plan: { effective_date: `{visit-${days}}` }, clauses: { waiting_periods: words } },
    ['unknown', 'waiting_period', '600.00 1200.00'],
  );

const MAXIMUM_WORDS: VerdictCase[] = [
  // Nothing is left of it, or there is no maximum: it is impossible to tell.
  crownWith(
    'a maximum of 1500, of which "None" is left',
    { maximums: { coverage_limit_remaining: 'None' } },
    ['unknown', 'maximum_used_up', '600.00 1200.00'],
  ),
  crownWith(
    'a maximum and a rest of it that are both "None"',
    { maximums: { coverage_limit: 'None', coverage_limit_remaining: 'None' } },
    ['unknown', 'maximum_used_up', '600.00 1200.00'],
  ),
  crownWith(
    'the maximum is "None", and nothing was said of the rest',
    { maximums: { coverage_limit: 'None', coverage_limit_remaining: undefined } },
    ['payable', '', '600.00 1200.00'],
  ),
  crownWith(
    'a maximum of 1500, and "Unlimited" is left of it: the two contradict each other',
    { maximums: { coverage_limit_remaining: 'Unlimited' } },
    ['payable', '', '600.00 1200.00'],
  ),
  crownWith(
    'an unlimited maximum, and the rest of it is unlimited too',
    { maximums: { coverage_limit: 'Unlimited', coverage_limit_remaining: 'Unlimited' } },
    ['payable', '', '600.00 600.00'],
  ),
  one(
    'D',
    'the orthodontics maximum is "None"',
    {
      rules: { D8080: CROWN },
      maximums: { ...MET, orthodontics_coverage_limit: 'None' },
      dob: '2015-05-05',
      fees: { D8080: '5000.00' },
    },
    { verdict: 'eligible', of: { D8080: ['payable', '', '2500.00 5000.00'] } },
  ),
];

const COPAY_WORDS: VerdictCase[] = [
  one(
    'M',
    'a copay in words next to a share: which of them is due is open',
    { rules: { '99213': { ...WAIVED, copay_amount: '$25 then 20%' } }, fees: VISIT_FEE },
    { verdict: 'incomplete', of: { '99213': ['unknown', 'not_answered', '0.00 150.00'] } },
  ),
  one(
    'M',
    'the copay varies',
    { rules: { '99213': { ...WAIVED, copay_amount: 'varies by provider' } }, fees: VISIT_FEE },
    { verdict: 'incomplete', of: { '99213': ['unknown', 'not_answered', '0.00 150.00'] } },
  ),
  ...['None', 'N/A', 'waived', 'No copay', 'Not applicable', 'does not apply'].map((words) =>
    one(
      'M',
      `the copay is "${words}": the share counts`,
      { rules: { '99213': { ...WAIVED, copay_amount: words } }, fees: VISIT_FEE },
      { verdict: 'eligible', of: { '99213': ['payable', '', '30.00 30.00'] } },
    ),
  ),
  one(
    'D',
    'the share of the plan is in words that the share of the patient does not explain',
    {
      rules: { D2392: { coverage_percentage: 'varies', coinsurance_percentage: '20' } },
      maximums: MET,
      fees: FEES.filling,
    },
    { verdict: 'incomplete', of: { D2392: ['unknown', 'not_answered', '0.00 200.00'] } },
  ),
];

const FLAGS: VerdictCase[] = [
  one(
    'D',
    'no authorization is required, and words about it are there',
    { rules: { D1110: { ...CLEANING, prior_auth_info: 'Recommended.' } }, fees: FEES.cleaning },
    { verdict: 'eligible', of: { D1110: ['payable', '', '0.00 0.00'] } },
  ),
  // The plan may pay for a cheaper procedure instead: half of 1200 at most.
  one(
    'D',
    'words about a downgrade without its flag',
    {
      rules: { D2740: { ...CROWN, downgraded_info: 'Paid as base metal.' } },
      maximums: MET,
      fees: FEES.crown,
    },
    { verdict: 'attention', of: { D2740: ['payable', 'downgrade', '600.00 1200.00'] } },
  ),
  one(
    'D',
    'the words about a downgrade say that nothing is downgraded',
    {
      rules: { D2740: { ...CROWN, downgraded_info: 'No downgrade' } },
      maximums: MET,
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
];

/** Values that are neither text nor a number: the benefit is not unlimited. */
const ODD_VALUES: VerdictCase[] = [
  ...(
    [
      ['frequency_limitations', ['1 per 60 months', 'replacement only'], 'frequency'],
      ['frequency_limitations', { count: 1, period: 'lifetime' }, 'frequency'],
      ['age_limit', { to: 18 }, 'age_limit'],
    ] as const
  ).map(([name, value, reason]) =>
    one(
      'D',
      `${name} is ${JSON.stringify(value)}`,
      { rules: { D2740: { ...CROWN, [name]: value } }, maximums: MET, fees: FEES.crown },
      { verdict: 'incomplete', of: { D2740: ['unknown', reason, '600.00 1200.00'] } },
    ),
  ),
  one(
    'D',
    'an empty list is no limit',
    { rules: { D2740: { ...CROWN, frequency_limitations: [] } }, maximums: MET, fees: FEES.crown },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
  one(
    'D',
    'whether a crown is downgraded depends',
    {
      rules: { D2740: { ...CROWN, is_downgraded: 'depends on the tooth' } },
      maximums: MET,
      fees: FEES.crown,
    },
    { verdict: 'attention', of: { D2740: ['payable', 'downgrade', '600.00 1200.00'] } },
  ),
  one(
    'M',
    'a copay that is no amount next to a share',
    { rules: { '99213': { ...WAIVED, copay_amount: { amount: 25 } } }, fees: VISIT_FEE },
    { verdict: 'incomplete', of: { '99213': ['unknown', 'not_answered', '0.00 150.00'] } },
  ),
  ...(
    [
      ['termination_date', 'end of the month', 'unknown'],
      ['termination_date', 'about {visit-30}', 'unknown'],
      ['termination_date', 'not before {visit+800}', 'payable'],
      ['termination_date', 'None', 'payable'],
      ['termination_date', '12-31-0001', 'payable'],
      ['effective_date', 'next month', 'unknown'],
      ['effective_date', 'around {visit+10}', 'unknown'],
      ['effective_date', 'some time in 2011', 'payable'],
    ] as const
  ).map(([name, words, standing]) =>
    crownWith(`${name} is "${words}"`, { plan: { [name]: words } }, [
      ...[standing, standing === 'unknown' ? 'plan_unknown' : ''],
      standing === 'unknown' ? '600.00 1200.00' : '600.00 600.00',
    ] as [string, string, string]),
  ),
  crownWith(
    'waiting periods in a list',
    {
      plan: { effective_date: '{visit-30}' },
      clauses: { waiting_periods: ['6 months basic', '12 months major'] },
    },
    ['unknown', 'waiting_period', '600.00 1200.00'],
  ),
];

export const UNCLEAR: VerdictCase[] = [
  ...MAXIMUM_WORDS,
  ...COPAY_WORDS,
  ...[
    waits('2 year wait for major; basic a year', 400),
    waits('a year and a half', 400),
    waits('Major: 1.5 years', 400),
    waits('forty-eight months', 1200),
    waits('one hundred eighty days', 100),
    waits('3 months left on major', 150),
  ],
  ...[
    outside('$0', NOTHING),
    outside('Plan pays $0', NOTHING),
    outside('0%', NOTHING),
    outside('Patient pays everything', NOTHING),
    outside('Patient pays full UCR', OPEN),
    outside('Patient responsible for usual and customary fees', OPEN),
    outside('Plan pays $0; patient owes the allowed amount', OPEN),
    outside('100% out of pocket', OPEN),
    outside("Plan doesn't pay UCR", OPEN),
    outside('80% for emergencies', OPEN),
    outside('$0 deductible, plan pays 60% of UCR', ['payable', 'out_of_network', '0.00 1200.00']),
  ],
  ...FLAGS,
  ...ODD_VALUES,
];
