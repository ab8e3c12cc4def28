/** Amounts one by one, in the ways in which payers say them, and rules that meet in one visit. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, FILLING, MET, one } from './build.ts';

const VISIT_FEE = { '99213': '150.00' };
/** About eleven in either year of the tests. */
const CHILD = '2018-06-15';

const AMOUNTS: VerdictCase[] = [
  one(
    'D',
    'no deductible is due for preventive care at 80 percent',
    { rules: { D1110: FILLING }, fees: FEES.cleaning },
    { verdict: 'eligible', of: { D1110: ['payable', '', '19.60 19.60'] } },
  ),
  // 50, and half of 1150 would be 575 for the plan: 300 are left.
  one(
    'D',
    'the deductible is open and 300 are left of the maximum',
    {
      rules: { D2740: CROWN },
      maximums: { coverage_limit_remaining: '$300.00' },
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '900.00 900.00'] } },
  ),
  // 1298 less 200. The cleaning takes 98 of them or none, the crown the rest.
  one(
    'D',
    'a crown and a cleaning share what is left of the maximum',
    {
      rules: { D2740: CROWN, D1110: CLEANING },
      maximums: { ...MET, coverage_limit_remaining: '200' },
      fees: { ...FEES.crown, ...FEES.cleaning },
    },
    {
      verdict: 'eligible',
      of: {
        D2740: ['payable', '', '1000.00 1098.00'],
        D1110: ['payable', '', '0.00 98.00'],
      },
      total: '1098.00 1098.00',
    },
  ),
  one(
    'D',
    'the fee of the cleaning is not known, and it takes no deductible',
    { rules: { D1110: CLEANING, D2740: CROWN }, fees: FEES.crown },
    {
      verdict: 'eligible',
      of: { D1110: ['payable', ''], D2740: ['payable', '', '625.00 625.00'] },
    },
  ),
  one(
    'D',
    'the fee of the filling is not known, and it may take the deductible',
    { rules: { D2392: FILLING, D2740: CROWN }, fees: FEES.crown },
    {
      verdict: 'eligible',
      of: { D2392: ['payable', ''], D2740: ['payable', '', '600.00 625.00'] },
    },
  ),
  one(
    'D',
    'the deductible is $0.00, and the payer did not say how much is used',
    {
      rules: { D2740: CROWN },
      maximums: {
        ...{ individual_deductible: '$0.00', individual_deductible_used: undefined },
        ...{ family_deductible: undefined, family_deductible_used: undefined },
      },
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
  one(
    'D',
    'more of the deductible is used than there is',
    {
      rules: { D2740: CROWN },
      maximums: { individual_deductible_used: '60' },
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
  one(
    'D',
    'there is no maximum',
    {
      rules: { D2740: CROWN },
      maximums: { ...MET, coverage_limit: 'No maximum', coverage_limit_remaining: undefined },
      fees: { D2740: '5000.00' },
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '2500.00 2500.00'] } },
  ),
  one(
    'D',
    'the maximum is 0, and the payer did not say what is left',
    {
      rules: { D2740: CROWN },
      maximums: { ...MET, coverage_limit: '0', coverage_limit_remaining: undefined },
      fees: FEES.crown,
    },
    { verdict: 'attention', of: { D2740: ['not_payable', 'maximum_used_up', '1200.00 1200.00'] } },
  ),
  one(
    'D',
    'the maximum is used up; preventive care does not count toward it, the crown does',
    {
      rules: { D1110: CLEANING, D2740: CROWN },
      maximums: { coverage_limit: '$1,500.00', coverage_limit_remaining: '$0.00' },
      clauses: { preventative_applies_to_maximum: false },
      fees: { ...FEES.cleaning, ...FEES.crown },
    },
    {
      verdict: 'attention',
      of: {
        D1110: ['payable', '', '0.00 0.00'],
        D2740: ['not_payable', 'maximum_used_up', '1200.00 1200.00'],
      },
      total: '1200.00 1200.00',
    },
  ),
  one(
    'D',
    'braces for a child without an orthodontics maximum of their own',
    {
      rules: { D8080: CROWN },
      maximums: { ...MET, orthodontics_coverage_limit: 'Unlimited' },
      fees: { D8080: '4000.00' },
      dob: CHILD,
    },
    { verdict: 'eligible', of: { D8080: ['payable', '', '2000.00 2000.00'] } },
  ),
  one(
    'D',
    'covered at 0 percent: the patient pays all of it',
    { rules: { D2740: { coverage_percentage: 0 } }, fees: FEES.crown },
    { verdict: 'attention', of: { D2740: ['not_payable', 'not_covered', '1200.00 1200.00'] } },
  ),
  one(
    'M',
    'a coinsurance of 80 is the patient’s share',
    {
      rules: { '99213': { coinsurance_percentage: '80', is_deductible_waived: true } },
      fees: VISIT_FEE,
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '120.00 120.00'] } },
  ),
  one(
    'M',
    'a copay next to a share replaces the share',
    {
      rules: {
        '99213': {
          ...{ copay_amount: '30.00', coinsurance_percentage: '20', is_deductible_waived: true },
        },
      },
      fees: VISIT_FEE,
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '30.00 30.00'] } },
  ),
  one(
    'M',
    'the family has met its deductible, and the person has not',
    {
      rules: { '99213': { coinsurance_percentage: '20', is_deductible_waived: false } },
      maximums: { family_deductible: '1000', family_deductible_used: '1000' },
      fees: VISIT_FEE,
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '30.00 30.00'] } },
  ),
  // Nobody said how high the deductible is: from nothing of it to all of the fee.
  one(
    'M',
    'the payer said nothing about the deductible',
    {
      rules: { '99213': { coinsurance_percentage: '20', is_deductible_waived: false } },
      maximums: { individual_deductible: undefined, individual_deductible_used: undefined },
      fees: VISIT_FEE,
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '30.00 150.00'] } },
  ),
  one(
    'P',
    'the out-of-pocket maximum is met: no copay is due',
    {
      rules: { '90834': { copay_amount: '25.00', is_deductible_waived: true } },
      maximums: { individual_out_of_pocket_maximum_used: '3000' },
      fees: { '90834': '140.00' },
    },
    { verdict: 'eligible', of: { '90834': ['payable', '', '0.00 0.00'] } },
  ),
];

const TOGETHER: VerdictCase[] = [
  // The deductible may be taken from the exam, or all of it from the crown.
  one(
    'D',
    'an exam and a crown, with the deductible open',
    {
      rules: { D0120: CLEANING, D2740: CROWN },
      fees: { D0120: '60.00', ...FEES.crown },
    },
    {
      verdict: 'eligible',
      of: { D0120: ['payable', '', '0.00 50.00'], D2740: ['payable', '', '600.00 625.00'] },
      total: '625.00 650.00',
    },
  ),
  one(
    'D',
    'images that were taken too recently, and a cleaning that is due',
    {
      rules: {
        D0274: { ...CLEANING, frequency_limitations: 'One set per 12 months' },
        D1110: { ...CLEANING, frequency_limitations: '1 per 6 months' },
      },
      history: { '{visit-200}': ['D0274', 'D1110'] },
      fees: { D0274: '70.00', ...FEES.cleaning },
    },
    {
      verdict: 'attention',
      of: {
        D0274: ['not_payable', 'frequency', '70.00 70.00'],
        D1110: ['payable', '', '0.00 0.00'],
      },
      total: '70.00 70.00',
    },
  ),
  one(
    'D',
    'one code is not covered, and another one was not answered',
    { rules: { D9944: { bare: true, is_covered: false }, D1110: null } },
    {
      verdict: 'attention',
      of: { D9944: ['not_payable', 'not_covered'], D1110: ['unknown', 'not_answered'] },
    },
  ),
  one(
    'D',
    'a downgrade, and a limit that cannot be read',
    {
      rules: { D2392: { ...FILLING, is_downgraded: true, frequency_limitations: 'per policy' } },
      maximums: MET,
      fees: FEES.filling,
    },
    { verdict: 'attention', of: { D2392: ['unknown', 'downgrade frequency', '40.00 200.00'] } },
  ),
  // 50, and half of 3950.
  one(
    'D',
    'the deductible is taken from braces too',
    {
      rules: { D8080: CROWN },
      maximums: { orthodontics_coverage_limit: 'Unlimited' },
      fees: { D8080: '4000.00' },
      dob: CHILD,
    },
    { verdict: 'eligible', of: { D8080: ['payable', '', '2025.00 2025.00'] } },
  ),
  one(
    'M',
    '30 are left until the out-of-pocket maximum is met',
    {
      rules: { '99213': { coinsurance_percentage: '50', is_deductible_waived: true } },
      maximums: { individual_out_of_pocket_maximum_used: '2970' },
      fees: VISIT_FEE,
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '30.00 30.00'] } },
  ),
  one(
    'M',
    'covered, and neither a share nor a copay was said',
    { rules: { '99213': { is_deductible_waived: true } }, fees: VISIT_FEE },
    { verdict: 'incomplete', of: { '99213': ['unknown', 'not_answered', '0.00 150.00'] } },
  ),
  one(
    'P',
    'a coinsurance of 0',
    {
      rules: { '90834': { coinsurance_percentage: '0', is_deductible_waived: true } },
      fees: { '90834': '140.00' },
    },
    { verdict: 'eligible', of: { '90834': ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'D',
    'a limit per calendar year ignores the plan year',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '2 per calendar year' } },
      plan: { is_calendar_year_plan: false },
      history: { '{jan1}': 'D1110', '{jan2}': 'D1110' },
    },
    { verdict: 'attention', of: { D1110: ['not_payable', 'frequency'] } },
  ),
  one(
    'D',
    'the limit counts the teeth one by one, and another tooth is on file',
    {
      rules: { D1351: { ...CLEANING, frequency_limitations: 'Once per tooth per lifetime' } },
      history: { '{visit-500}': { code: 'D1351', teeth: ['14'] } },
      dob: CHILD,
    },
    { verdict: 'incomplete', of: { D1351: ['unknown', 'frequency'] } },
  ),
  one(
    'D',
    'flags and shares as text',
    {
      rules: {
        D2740: { is_covered: 'Yes', coverage_percentage: '50%', is_prior_auth_required: 'N' },
      },
      plan: { is_active: 'true', is_provider_in_network: 'Y' },
      maximums: MET,
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
];

/** A visit without codes: what a procedure would come to does not matter. */
const NOTHING_PLANNED: VerdictCase[] = [
  one(
    'D',
    'nothing is planned, and the maximum is used up',
    { rules: { D1110: CLEANING }, maximums: { coverage_limit_remaining: '0' } },
    { verdict: 'eligible', of: {} },
  ),
  one(
    'D',
    'nothing is planned in a waiting period',
    {
      rules: { D1110: CLEANING },
      plan: { effective_date: '{visit-10}' },
      clauses: { waiting_periods: '12 months for major services' },
    },
    { verdict: 'eligible', of: {} },
  ),
];

export const BILLERS_AMOUNTS: VerdictCase[] = [...AMOUNTS, ...TOGETHER, ...NOTHING_PLANNED];
