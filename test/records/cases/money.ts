/** What the patient pays. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, FILLING, MET, one } from './build.ts';

export const MONEY: VerdictCase[] = [
  one(
    'D',
    'the maximum is nearly used up: the plan pays what is left of it',
    {
      rules: { D2740: CROWN },
      maximums: { ...MET, coverage_limit_remaining: '300' },
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '900.00 900.00'] } },
  ),
  // 600 and 160 would be paid, and 100 are left: 1400 less 100, whichever takes it.
  one(
    'D',
    'two procedures share what is left of the maximum',
    {
      rules: { D2740: CROWN, D2392: FILLING },
      maximums: { ...MET, coverage_limit_remaining: '100' },
      fees: { ...FEES.crown, ...FEES.filling },
    },
    {
      verdict: 'eligible',
      of: {
        D2740: ['payable', '', '1100.00 1200.00'],
        D2392: ['payable', '', '100.00 200.00'],
      },
      total: '1300.00 1300.00',
    },
  ),
  one(
    'D',
    'the maximum is used up, and the payer did not say whether a cleaning counts toward it',
    {
      rules: { D1110: CLEANING },
      maximums: { coverage_limit_remaining: '0' },
      clauses: { preventative_applies_to_maximum: undefined },
      fees: FEES.cleaning,
    },
    { verdict: 'incomplete', of: { D1110: ['unknown', 'maximum_used_up', '0.00 98.00'] } },
  ),
  one(
    'D',
    'the maximum is unlimited',
    {
      rules: { D2740: CROWN },
      maximums: { ...MET, coverage_limit: 'Unlimited', coverage_limit_remaining: undefined },
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
  // Neither clause names an exam: the open deductible may apply or not.
  one(
    'D',
    'an exam, and the deductible is open',
    { rules: { D0120: CLEANING }, fees: { D0120: '60.00' } },
    { verdict: 'eligible', of: { D0120: ['payable', '', '0.00 50.00'] } },
  ),
  one(
    'D',
    'an exam, and 20 are left of the maximum',
    {
      rules: { D0120: CLEANING },
      maximums: { ...MET, coverage_limit_remaining: '20' },
      fees: { D0120: '60.00' },
    },
    { verdict: 'eligible', of: { D0120: ['payable', '', '0.00 40.00'] } },
  ),
  // 20 of the deductible, then 20 percent of 180.
  one(
    'D',
    'the family has 20 of its deductible left, the person 50',
    {
      rules: { D2392: FILLING },
      maximums: { family_deductible_used: '130' },
      fees: FEES.filling,
    },
    { verdict: 'eligible', of: { D2392: ['payable', '', '56.00 56.00'] } },
  ),
  one(
    'D',
    'an individual plan has no family deductible',
    {
      rules: { D2392: FILLING },
      maximums: { family_deductible: undefined, family_deductible_used: undefined },
      fees: FEES.filling,
    },
    { verdict: 'eligible', of: { D2392: ['payable', '', '80.00 80.00'] } },
  ),
  one(
    'D',
    'the deductible is "None"',
    {
      rules: { D2392: FILLING },
      maximums: { individual_deductible: 'None', individual_deductible_used: undefined },
      fees: FEES.filling,
    },
    { verdict: 'eligible', of: { D2392: ['payable', '', '40.00 40.00'] } },
  ),
  one(
    'D',
    'the deductible does not apply to the cleaning, so the filling takes it',
    { rules: { D1110: CLEANING, D2392: FILLING }, fees: { ...FEES.cleaning, ...FEES.filling } },
    {
      verdict: 'eligible',
      of: { D1110: ['payable', '', '0.00 0.00'], D2392: ['payable', '', '80.00 80.00'] },
      total: '80.00 80.00',
    },
  ),
  // From the cleaning: 50 and 40. From the filling: 0, and 50 with 20 percent of 150.
  one(
    'D',
    'the deductible applies to the cleaning: the order decides',
    {
      rules: { D1110: CLEANING, D2392: FILLING },
      clauses: { deductible_applies_to_preventive: true },
      fees: { ...FEES.cleaning, ...FEES.filling },
    },
    {
      verdict: 'eligible',
      of: { D1110: ['payable', '', '0.00 50.00'], D2392: ['payable', '', '40.00 80.00'] },
      total: '80.00 90.00',
    },
  ),
  one(
    'D',
    'one is not covered and paid in full, the other one takes the deductible',
    {
      rules: { D2391: { bare: true, is_covered: false }, D2392: FILLING },
      fees: { D2391: '180.00', ...FEES.filling },
    },
    {
      verdict: 'attention',
      of: {
        D2391: ['not_payable', 'not_covered', '180.00 180.00'],
        D2392: ['payable', '', '80.00 80.00'],
      },
      total: '260.00 260.00',
    },
  ),
  // The plan pays for a cheaper procedure: half of 1200 at most, perhaps much less.
  one(
    'D',
    'a downgraded crown',
    {
      rules: { D2740: { ...CROWN, is_downgraded: true, downgraded_info: 'Paid as base metal.' } },
      maximums: MET,
      fees: FEES.crown,
    },
    { verdict: 'attention', of: { D2740: ['payable', 'downgrade', '600.00 1200.00'] } },
  ),
];
