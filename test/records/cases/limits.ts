/** Waiting periods, frequencies, and ages. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, FILLING, one } from './build.ts';

export const LIMITS: VerdictCase[] = [
  one(
    'D',
    'a waiting period that may concern it, and a limit that is surely used up',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '1 per 6 months' } },
      plan: { effective_date: '{visit-60}' },
      clauses: { waiting_periods: '12 months for major services' },
      history: { '{visit-30}': 'D1110' },
      fees: FEES.cleaning,
    },
    { verdict: 'attention', of: { D1110: ['not_payable', 'frequency', '98.00 98.00'] } },
  ),
  one(
    'D',
    'two waiting periods: the longer one is not over',
    {
      rules: { D2392: FILLING },
      plan: { effective_date: '{visit-270}' },
      clauses: { waiting_periods: 'Basic: 6 months. Major: 12 months.' },
    },
    { verdict: 'incomplete', of: { D2392: ['unknown', 'waiting_period'] } },
  ),
  one(
    'D',
    'two waiting periods: both are over',
    {
      rules: { D2740: CROWN },
      plan: { effective_date: '{visit-400}' },
      clauses: { waiting_periods: 'Basic: 6 months. Major: 12 months.' },
    },
    { verdict: 'eligible', of: { D2740: ['payable', ''] } },
  ),
  one(
    'D',
    'no waiting periods, and covered for ten days',
    {
      rules: { D2740: CROWN },
      plan: { effective_date: '{visit-10}' },
      clauses: { waiting_periods: 'No waiting periods' },
    },
    { verdict: 'eligible', of: { D2740: ['payable', ''] } },
  ),
  one(
    'D',
    'a waiting period, and the payer did not say since when the patient is covered',
    {
      rules: { D2740: CROWN },
      plan: { effective_date: undefined },
      clauses: { waiting_periods: '12 months major' },
    },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'waiting_period'] } },
  ),
  one(
    'D',
    'the second of two in a calendar year',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '2 per calendar year' } },
      history: { '{jan1}': 'D1110' },
      fees: FEES.cleaning,
    },
    { verdict: 'eligible', of: { D1110: ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'D',
    'once per lifetime, and done 900 days before',
    {
      rules: { D0210: { ...CLEANING, frequency_limitations: 'Once per lifetime' } },
      history: { '{visit-900}': 'D0210' },
      fees: { D0210: '140.00' },
    },
    { verdict: 'attention', of: { D0210: ['not_payable', 'frequency', '140.00 140.00'] } },
  ),
  // A crown on file is for tooth 3, and the schedule does not say which tooth is planned.
  one(
    'D',
    'per tooth, and one tooth is on file',
    {
      rules: { D2740: { ...CROWN, frequency_limitations: '1 per tooth per 60 months' } },
      history: { '{visit-700}': { code: 'D2740', teeth: ['3'] } },
    },
    { verdict: 'incomplete', of: { D2740: ['unknown', 'frequency'] } },
  ),
  one(
    'D',
    'the code is on file without its D, and was answered without it',
    {
      rules: { '1110': { ...CLEANING, frequency_limitations: '1 every 6 months' } },
      history: { '{visit-100}': '1110' },
    },
    { verdict: 'attention', of: { D1110: ['not_payable', 'frequency'] } },
  ),
  one(
    'D',
    'another code on file does not count',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '1 per 6 months' } },
      history: { '{visit-30}': 'D4910' },
    },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
  one(
    'D',
    'a limit in words, and an empty history: the words decide, and they cannot be read',
    { rules: { D4910: { ...FILLING, frequency_limitations: 'subject to review' } } },
    { verdict: 'incomplete', of: { D4910: ['unknown', 'frequency'] } },
  ),
  one(
    'D',
    'no limit is a limit of none: the missing history does not matter',
    { rules: { D1110: { ...CLEANING, frequency_limitations: 'No limit' } }, history: null },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
  one(
    'D',
    'under 14, and the patient is a child of ten or so',
    { rules: { D1206: { ...CLEANING, age_limit: 'under 14' } }, dob: '2019-04-02' },
    { verdict: 'eligible', of: { D1206: ['payable', ''] } },
  ),
  one(
    'D',
    'through age 18, and the patient is grown up',
    {
      rules: { D1206: { ...CLEANING, age_limit: 'Through age 18' } },
      fees: { D1206: '45.00' },
    },
    { verdict: 'attention', of: { D1206: ['not_payable', 'age_limit', '45.00 45.00'] } },
  ),
  one(
    'D',
    'ages in words that name no age',
    { rules: { D1206: { ...CLEANING, age_limit: 'Dependent children only' } } },
    { verdict: 'incomplete', of: { D1206: ['unknown', 'age_limit'] } },
  ),
  one(
    'D',
    'the age is in the words of the frequency',
    { rules: { D1206: { ...CLEANING, frequency_limitations: '1 per 12 months, under age 19' } } },
    { verdict: 'attention', of: { D1206: ['not_payable', 'age_limit'] } },
  ),
  one(
    'D',
    'authorization is required, and the limit is used up: the plan does not pay either way',
    {
      rules: {
        D2740: {
          ...CROWN,
          is_prior_auth_required: true,
          frequency_limitations: '1 per 60 months',
        },
      },
      history: { '{visit-400}': 'D2740' },
      fees: FEES.crown,
    },
    { verdict: 'attention', of: { D2740: ['not_payable', 'frequency', '1200.00 1200.00'] } },
  ),
];
