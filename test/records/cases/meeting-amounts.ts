/** Rules that meet in one visit: amounts that run out, clauses, and contradictions. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, FILLING, MET, one } from './build.ts';

export const MEETING_AMOUNTS: VerdictCase[] = [
  // 50 from the first and 30, which is 20 percent of the second. Or 50 and 20 from the second, and
  // 20 percent of the first.
  one(
    'D',
    'two fillings at one share: the deductible is met by either, and the sum is the same',
    {
      rules: { D2392: FILLING, D2391: FILLING },
      fees: { ...FEES.filling, D2391: '150.00' },
    },
    {
      verdict: 'eligible',
      of: { D2392: ['payable', '', '40.00 80.00'], D2391: ['payable', '', '30.00 70.00'] },
      total: '110.00 110.00',
    },
  ),
  // The smaller fee takes at most 30 of the deductible, and the other one the 20 that are left.
  one(
    'D',
    'a deductible that is higher than one of the fees',
    {
      rules: { D2330: FILLING, D2392: FILLING },
      fees: { D2330: '30.00', ...FEES.filling },
    },
    {
      verdict: 'eligible',
      of: { D2330: ['payable', '', '6.00 30.00'], D2392: ['payable', '', '56.00 80.00'] },
      total: '86.00 86.00',
    },
  ),
  // 20 are left of it; 20 percent of 180.
  one(
    'D',
    'a deductible that is partly met',
    {
      rules: { D2392: FILLING },
      maximums: { individual_deductible_used: '30' },
      fees: FEES.filling,
    },
    { verdict: 'eligible', of: { D2392: ['payable', '', '56.00 56.00'] } },
  ),
  one(
    'D',
    'the deductible applies to preventive care, and the cleaning takes it',
    {
      rules: { D1110: CLEANING },
      clauses: { deductible_applies_to_preventive: true },
      fees: FEES.cleaning,
    },
    { verdict: 'eligible', of: { D1110: ['payable', '', '50.00 50.00'] } },
  ),
  one(
    'D',
    'the payer did not say whether the deductible applies to preventive care',
    {
      rules: { D1110: CLEANING },
      clauses: { deductible_applies_to_preventive: undefined },
      fees: FEES.cleaning,
    },
    { verdict: 'eligible', of: { D1110: ['payable', '', '0.00 50.00'] } },
  ),
  // 1200 less 400; the procedure that is not covered takes nothing of the maximum.
  one(
    'D',
    'the maximum runs out in the visit, and another procedure is not covered',
    {
      rules: { D2740: CROWN, D9944: { bare: true, is_covered: false } },
      maximums: { ...MET, coverage_limit_remaining: '400' },
      fees: { ...FEES.crown, D9944: '500.00' },
    },
    {
      verdict: 'attention',
      of: {
        D2740: ['payable', '', '800.00 800.00'],
        D9944: ['not_payable', 'not_covered', '500.00 500.00'],
      },
      total: '1300.00 1300.00',
    },
  ),
  one(
    'D',
    'the cleaning takes nothing of the maximum, the crown all that is left',
    {
      rules: { D1110: CLEANING, D2740: CROWN },
      maximums: { ...MET, coverage_limit_remaining: '100' },
      clauses: { preventative_applies_to_maximum: false },
      fees: { ...FEES.cleaning, ...FEES.crown },
    },
    {
      verdict: 'eligible',
      of: { D1110: ['payable', '', '0.00 0.00'], D2740: ['payable', '', '1100.00 1100.00'] },
      total: '1100.00 1100.00',
    },
  ),
  one(
    'D',
    'the family has met its deductible, and two procedures are planned',
    {
      rules: { D2392: FILLING, D2740: CROWN },
      maximums: { family_deductible_used: '150' },
      fees: { ...FEES.filling, ...FEES.crown },
    },
    {
      verdict: 'eligible',
      of: { D2392: ['payable', '', '40.00 40.00'], D2740: ['payable', '', '600.00 600.00'] },
      total: '640.00 640.00',
    },
  ),
  // The stated share does not apply out of network: the patient pays up to the whole fee, or
  // nothing.
  one(
    'D',
    'out of network at shares of its own: what the patient pays is open',
    {
      rules: { D2740: CROWN },
      plan: {
        is_provider_in_network: false,
        out_of_network_benefits: 'Plan pays 60% of UCR, after a deductible of $100.',
      },
      fees: FEES.crown,
    },
    { verdict: 'attention', of: { D2740: ['payable', 'out_of_network', '0.00 1200.00'] } },
  ),
  one(
    'D',
    'out of network, not known how, and the code is not covered anywhere',
    {
      rules: { D2391: { bare: true, is_covered: false } },
      plan: { is_provider_in_network: false },
      fees: { D2391: '180.00' },
    },
    {
      verdict: 'attention',
      reasons: 'out_of_network',
      of: { D2391: ['not_payable', 'not_covered', '180.00 180.00'] },
    },
  ),
  one(
    'D',
    'downgraded, and the maximum is used up: there is nothing to downgrade',
    {
      rules: { D2392: { ...FILLING, is_downgraded: true } },
      maximums: { coverage_limit_remaining: '0' },
      fees: FEES.filling,
    },
    { verdict: 'attention', of: { D2392: ['not_payable', 'maximum_used_up', '200.00 200.00'] } },
  ),
  one(
    'D',
    'not downgraded, says the payer',
    {
      rules: { D2392: { ...FILLING, is_downgraded: false, downgraded_info: 'No downgrade' } },
      maximums: MET,
      fees: FEES.filling,
    },
    { verdict: 'eligible', of: { D2392: ['payable', '', '40.00 40.00'] } },
  ),
  // With it 50 and half of 1150; without it all of the crown.
  one(
    'D',
    'authorization for the crown, none for the cleaning',
    {
      rules: { D1110: CLEANING, D2740: { ...CROWN, is_prior_auth_required: true } },
      fees: { ...FEES.cleaning, ...FEES.crown },
    },
    {
      verdict: 'attention',
      of: {
        D1110: ['payable', '', '0.00 0.00'],
        D2740: ['needs_authorization', 'prior_authorization', '625.00 1200.00'],
      },
      total: '625.00 1200.00',
    },
  ),
  one(
    'D',
    'authorization was not decided for one code, which is in a waiting period too',
    {
      rules: { D2740: { ...CROWN, bare: true } },
      plan: { effective_date: '{visit-60}' },
      clauses: { waiting_periods: '6 months' },
    },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'waiting_period not_answered'] } },
  ),
  // eligd does not know what the other coverage pays first: the range is from 0 to the rest.
  one(
    'D',
    'another coverage pays first, and the deductible is open',
    {
      rules: { D2392: FILLING },
      plan: { is_primary_insurance: false },
      fees: FEES.filling,
    },
    {
      verdict: 'attention',
      reasons: 'not_primary',
      of: { D2392: ['payable', '', '0.00 80.00'] },
      total: '0.00 80.00',
    },
  ),
  one(
    'D',
    'two answers about one code name two limits',
    {
      rules: {
        D1110: { ...CLEANING, frequency_limitations: '2 per calendar year' },
        'D1110 again': { ...CLEANING, frequency_limitations: '1 per 6 months' },
      },
      fees: FEES.cleaning,
    },
    { verdict: 'incomplete', of: { D1110: ['unknown', 'conflicting', '0.00 98.00'] } },
  ),
  one(
    'D',
    'two answers about one code name two ages, and the plan has ended: that is sure',
    {
      rules: {
        D1206: { ...CLEANING, age_limit: 14 },
        'D1206 again': { ...CLEANING, age_limit: 18 },
      },
      plan: { termination_date: '{visit-1}' },
      fees: { D1206: '45.00' },
    },
    {
      verdict: 'not_eligible',
      reasons: 'plan_ended',
      of: { D1206: ['not_payable', 'plan_ended', '45.00 45.00'] },
    },
  ),
  one(
    'D',
    'a sealant for a child, per tooth, with nothing on file',
    {
      rules: {
        D1351: { ...CLEANING, age_limit: 15, frequency_limitations: '1 per tooth per 36 months' },
      },
      fees: { D1351: '55.00' },
      dob: '2018-06-15',
    },
    { verdict: 'eligible', of: { D1351: ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'M',
    'the family has met its out-of-pocket maximum, the person has not',
    {
      rules: { '97110': { coinsurance_percentage: '20', is_deductible_waived: false } },
      maximums: {
        family_out_of_pocket_maximum: '6000',
        family_out_of_pocket_maximum_used: '6000',
      },
      fees: { '97110': '200.00' },
    },
    { verdict: 'eligible', of: { '97110': ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'M',
    'a copay that is higher than what is left until the out-of-pocket maximum is met',
    {
      rules: { '99213': { copay_amount: '30.00', is_deductible_waived: true } },
      maximums: { individual_out_of_pocket_maximum_used: '2990' },
      fees: { '99213': '150.00' },
    },
    { verdict: 'eligible', of: { '99213': ['payable', '', '10.00 10.00'] } },
  ),
  // 100 of the deductible from one of them; 20 percent of the rest of 350.
  one(
    'M',
    'two procedures share the rest of the deductible',
    {
      rules: {
        '97110': { coinsurance_percentage: '20', is_deductible_waived: false },
        '99213': { coinsurance_percentage: '20', is_deductible_waived: false },
      },
      fees: { '97110': '200.00', '99213': '150.00' },
    },
    {
      verdict: 'eligible',
      of: { '97110': ['payable', '', '40.00 120.00'], '99213': ['payable', '', '30.00 110.00'] },
      total: '150.00 150.00',
    },
  ),
  one(
    'P',
    'authorization is required for therapy, and a referral for the plan',
    {
      rules: {
        '90834': {
          copay_amount: '25.00',
          is_deductible_waived: true,
          is_prior_auth_required: true,
        },
      },
      plan: { referral_required: true },
      fees: { '90834': '140.00' },
    },
    {
      verdict: 'attention',
      reasons: 'referral_required',
      of: { '90834': ['needs_authorization', 'prior_authorization', '25.00 140.00'] },
    },
  ),
];
