/** The plan as a whole, the network, and missing answers. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, MET, one } from './build.ts';

export const PLANS: VerdictCase[] = [
  one(
    'D',
    'inactive, whatever the payer said about the code',
    {
      rules: { D1110: CLEANING, D2740: CROWN },
      plan: { is_active: false },
      fees: { ...FEES.cleaning, ...FEES.crown },
    },
    {
      verdict: 'not_eligible',
      reasons: 'plan_inactive',
      of: {
        D1110: ['not_payable', 'plan_inactive', '98.00 98.00'],
        D2740: ['not_payable', 'plan_inactive', '1200.00 1200.00'],
      },
      total: '1298.00 1298.00',
    },
  ),
  one(
    'D',
    'the last day of the plan is a covered day',
    { rules: { D1110: CLEANING }, plan: { termination_date: '{visit}' } },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
  one(
    'D',
    'the first day of the plan is a covered day',
    { rules: { D1110: CLEANING }, plan: { effective_date: '{visit}' } },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
  one(
    'D',
    'benefits were given, and the payer did not say whether the plan is active',
    { rules: { D1110: CLEANING }, plan: { is_active: undefined }, fees: FEES.cleaning },
    {
      verdict: 'incomplete',
      reasons: 'plan_unknown',
      of: { D1110: ['unknown', 'plan_unknown'] },
    },
  ),
  one(
    'D',
    'the payer did not say whether the plan is active, and it ended before the visit',
    {
      rules: { D1110: CLEANING },
      plan: { is_active: undefined, termination_date: '{visit-10}' },
    },
    {
      verdict: 'not_eligible',
      reasons: 'plan_ended',
      of: { D1110: ['not_payable', 'plan_ended'] },
    },
  ),
  one(
    'D',
    'covered, and the payer did not state the share',
    { rules: { D2740: {} }, fees: FEES.crown },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'not_answered'] } },
  ),
  one(
    'D',
    'the payer said nothing about authorization',
    { rules: { D2740: { ...CROWN, bare: true } }, fees: FEES.crown },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'not_answered'] } },
  ),
  one(
    'D',
    'covered in one answer and not in the other one',
    { rules: { D2740: CROWN, 'D2740 again': { bare: true, is_covered: false } } },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'conflicting'] } },
  ),
  one(
    'D',
    'answered twice, each time the same',
    {
      rules: { D2740: CROWN, 'D2740 again': { coverage_percentage: '50' } },
      maximums: MET,
      fees: FEES.crown,
    },
    { verdict: 'eligible', of: { D2740: ['payable', '', '600.00 600.00'] } },
  ),
  one(
    'D',
    'another coverage pays first',
    { rules: { D1110: CLEANING }, plan: { is_primary_insurance: false } },
    { verdict: 'attention', reasons: 'not_primary', of: { D1110: ['payable', ''] } },
  ),
  one(
    'D',
    'out of network, and nothing is paid there',
    {
      rules: { D2740: CROWN },
      plan: { is_provider_in_network: false, out_of_network_benefits: 'None' },
      fees: FEES.crown,
    },
    {
      verdict: 'attention',
      reasons: 'out_of_network',
      of: { D2740: ['not_payable', 'out_of_network', '1200.00 1200.00'] },
    },
  ),
  one(
    'D',
    'out of network, nothing but emergencies, in other words',
    {
      rules: { D2740: CROWN },
      plan: {
        is_provider_in_network: false,
        out_of_network_benefits: 'No out-of-network benefits except for emergency care',
      },
    },
    { verdict: 'attention', of: { D2740: ['not_payable', 'out_of_network'] } },
  ),
  one(
    'D',
    'out of network, and it was said that it pays the same of the usual fee',
    {
      rules: { D1110: CLEANING },
      plan: {
        is_provider_in_network: false,
        out_of_network_benefits: 'Same percentages, based on UCR.',
      },
    },
    { verdict: 'attention', of: { D1110: ['payable', 'out_of_network'] } },
  ),
  one(
    'D',
    'out of network, and the payer said nothing about it',
    { rules: { D1110: CLEANING }, plan: { is_provider_in_network: false } },
    { verdict: 'attention', of: { D1110: ['unknown', 'out_of_network'] } },
  ),
  one(
    'D',
    'out of network at other shares, and the limit is used up',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '1 per 6 months' } },
      plan: {
        is_provider_in_network: false,
        out_of_network_benefits: 'Percentages are 20 points lower than in network.',
      },
      history: { '{visit-30}': 'D1110' },
      fees: FEES.cleaning,
    },
    {
      verdict: 'attention',
      reasons: 'out_of_network',
      of: { D1110: ['not_payable', 'out_of_network frequency', '98.00 98.00'] },
    },
  ),
  one(
    'D',
    'the service cancelled the call',
    { rules: {}, status: 'CANCELLED' },
    {
      verdict: 'incomplete',
      reasons: 'no_answer',
      of: { D1110: ['unknown', 'no_answer'] },
    },
  ),
];
