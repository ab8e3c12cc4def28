/** Medical and mental health. */
import type { VerdictCase } from '../verdict-cases.ts';
import { one } from './build.ts';

const VISIT_FEE = { '99213': '150.00' };
const THERAPY_FEE = { '97110': '200.00' };
const TWENTY = { coinsurance_percentage: '20', is_deductible_waived: false };

export const OTHERS: VerdictCase[] = [
  // 100 of the deductible, then the copay instead of a share.
  one(
    'M',
    'a copay, and the deductible is taken first',
    {
      rules: { '99213': { copay_amount: '30.00', is_deductible_waived: false } },
      fees: VISIT_FEE,
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '130.00 130.00'] } },
  ),
  one(
    'M',
    'a copay, and the payer did not say whether the deductible is waived',
    { rules: { '99213': { copay_amount: '30.00' } }, fees: VISIT_FEE },
    { verdict: 'eligible', of: { '99213': ['payable', '', '30.00 130.00'] } },
  ),
  one(
    'M',
    'a copay is never higher than the fee',
    {
      rules: { '99213': { copay_amount: '30.00', is_deductible_waived: true } },
      fees: { '99213': '20.00' },
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '20.00 20.00'] } },
  ),
  one(
    'M',
    'the out-of-pocket maximum is met: nothing is owed for covered care',
    {
      rules: { '97110': TWENTY },
      maximums: { individual_out_of_pocket_maximum_used: '3000' },
      fees: THERAPY_FEE,
    },
    { verdict: 'eligible', of: { '97110': ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'M',
    'the out-of-pocket maximum is met, and the care is not covered',
    {
      rules: { '97110': { bare: true, is_covered: false } },
      maximums: { individual_out_of_pocket_maximum_used: '3000' },
      fees: THERAPY_FEE,
    },
    { verdict: 'attention', of: { '97110': ['not_payable', 'not_covered', '200.00 200.00'] } },
  ),
  one(
    'M',
    '25 are left until the out-of-pocket maximum is met',
    {
      rules: { '97110': TWENTY },
      maximums: {
        individual_deductible_used: '500',
        individual_out_of_pocket_maximum_used: '2975',
      },
      fees: THERAPY_FEE,
    },
    { verdict: 'eligible', of: { '97110': ['payable', '', '25.00 25.00'] } },
  ),
  one(
    'M',
    'authorization is required',
    { rules: { '97110': { ...TWENTY, is_prior_auth_required: true } } },
    { verdict: 'attention', of: { '97110': ['needs_authorization', 'prior_authorization'] } },
  ),
  one(
    'M',
    'a referral, and the limit of visits cannot be counted without a history',
    {
      rules: { '97110': { ...TWENTY, frequency_limitations: '20 visits per calendar year' } },
      plan: { referral_required: true },
    },
    {
      verdict: 'attention',
      reasons: 'referral_required',
      of: { '97110': ['unknown', 'frequency'] },
    },
  ),
  one(
    'M',
    'inactive',
    { rules: { '99213': {} }, plan: { is_active: false }, fees: VISIT_FEE },
    {
      verdict: 'not_eligible',
      reasons: 'plan_inactive',
      of: { '99213': ['not_payable', 'plan_inactive', '150.00 150.00'] },
    },
  ),
  // The share is 30 percent after 100 of the deductible: 100 and 12.
  one(
    'P',
    'coinsurance after the rest of the deductible',
    {
      rules: { '90834': { coinsurance_percentage: '30', is_deductible_waived: false } },
      fees: { '90834': '140.00' },
    },
    { verdict: 'eligible', of: { '90834': ['payable', '', '112.00 112.00'] } },
  ),
  one(
    'P',
    'the family has met its deductible',
    {
      rules: { '90834': { coinsurance_percentage: '30', is_deductible_waived: false } },
      maximums: { family_deductible: '1000', family_deductible_used: '1000' },
      fees: { '90834': '140.00' },
    },
    { verdict: 'eligible', of: { '90834': ['payable', '', '42.00 42.00'] } },
  ),
  one(
    'P',
    'a limit in its own words, and no history',
    {
      rules: {
        '90834': {
          copay_amount: '25.00',
          is_deductible_waived: true,
          limitations: '30 visits per calendar year',
        },
      },
    },
    { verdict: 'incomplete', of: { '90834': ['unknown', 'frequency'] } },
  ),
  one(
    'P',
    'out of network, and it was said how it is paid',
    {
      rules: { '90834': { copay_amount: '25.00', is_deductible_waived: true } },
      plan: {
        is_provider_in_network: false,
        out_of_network_benefits: 'Plan pays 60% of the allowed amount.',
      },
    },
    {
      verdict: 'attention',
      reasons: 'out_of_network',
      of: { '90834': ['payable', 'out_of_network'] },
    },
  ),
];
