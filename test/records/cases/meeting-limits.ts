/** Rules that meet in one visit: counted limits, waiting periods, and ages. */
import type { VerdictCase } from '../verdict-cases.ts';
import { CLEANING, CROWN, FEES, MET, one } from './build.ts';

const PERIO = { coverage_percentage: 80 };
const EXAM = { coverage_percentage: 100 };
const BRACES = { coverage_percentage: 50, age_limit: 18 };
/** About eleven in either year of the tests. */
const CHILD = '2018-06-15';

export const MEETING_LIMITS: VerdictCase[] = [
  one(
    'D',
    'two a year together with another code, and that one was done once: one is left',
    {
      rules: {
        D1110: { ...CLEANING, frequency_limitations: '2 per calendar year combined with D4910' },
      },
      history: { '{jan1}': 'D4910' },
      fees: FEES.cleaning,
    },
    { verdict: 'eligible', of: { D1110: ['payable', '', '0.00 0.00'] } },
  ),
  one(
    'D',
    'two a year together with another code, and each was done once: none is left',
    {
      rules: {
        D1110: { ...CLEANING, frequency_limitations: '2 per calendar year combined with D4910' },
      },
      history: { '{jan1}': 'D4910', '{jan2}': 'D1110' },
      fees: FEES.cleaning,
    },
    { verdict: 'attention', of: { D1110: ['not_payable', 'frequency', '98.00 98.00'] } },
  ),
  // The plan pays for one of the two, and the payer did not say which.
  one(
    'D',
    'two exams in one visit that share one in six months',
    {
      rules: {
        D0120: { ...EXAM, frequency_limitations: '1 per 6 months, shared with D0150' },
        D0150: { ...EXAM, frequency_limitations: '1 per 6 months, shared with D0120' },
      },
      maximums: MET,
      fees: { D0120: '60.00', D0150: '90.00' },
    },
    {
      verdict: 'attention',
      of: {
        D0120: ['unknown', 'frequency', '0.00 60.00'],
        D0150: ['unknown', 'frequency', '0.00 90.00'],
      },
    },
  ),
  one(
    'D',
    'two exams that share a limit, and one of them is not covered at all: the other one is paid',
    {
      rules: {
        D0120: { ...EXAM, frequency_limitations: '1 per 6 months, shared with D0150' },
        D0150: { bare: true, is_covered: false },
      },
      maximums: MET,
      fees: { D0120: '60.00', D0150: '90.00' },
    },
    {
      verdict: 'attention',
      of: {
        D0120: ['payable', '', '0.00 0.00'],
        D0150: ['not_payable', 'not_covered', '90.00 90.00'],
      },
      total: '90.00 90.00',
    },
  ),
  one(
    'D',
    'per quadrant, and one quadrant is on file: the schedule does not say which one is planned',
    {
      rules: { D4341: { ...PERIO, frequency_limitations: '1 per quadrant per 24 months' } },
      history: { '{visit-100}': { code: 'D4341', quadrants: [1] } },
    },
    { verdict: 'incomplete', of: { D4341: ['unknown', 'frequency'] } },
  ),
  one(
    'D',
    'per quadrant, and what is on file is three years old',
    {
      rules: { D4341: { ...PERIO, frequency_limitations: '1 per quadrant per 24 months' } },
      history: { '{visit-1100}': { code: 'D4341', quadrants: [1] } },
      fees: { D4341: '250.00' },
    },
    // 50 of the deductible, and 20 percent of 200.
    { verdict: 'eligible', of: { D4341: ['payable', '', '90.00 90.00'] } },
  ),
  one(
    'D',
    'per arch in five years, and nothing is on file',
    {
      rules: { D5110: { ...CROWN, frequency_limitations: '1 per arch per 60 months' } },
      maximums: MET,
      fees: { D5110: '1400.00' },
    },
    { verdict: 'eligible', of: { D5110: ['payable', '', '700.00 700.00'] } },
  ),
  one(
    'D',
    'two per benefit year that is no calendar year, and both are older than a year',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '2 per benefit year' } },
      plan: { is_calendar_year_plan: false },
      history: { '{visit-400}': 'D1110', '{visit-380}': 'D1110' },
    },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
  // The plan's year may have begun after them, or before them.
  one(
    'D',
    'two per benefit year that is no calendar year, and both are some months old',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '2 per benefit year' } },
      plan: { is_calendar_year_plan: false },
      history: { '{visit-200}': 'D1110', '{visit-100}': 'D1110' },
      fees: FEES.cleaning,
    },
    { verdict: 'incomplete', of: { D1110: ['unknown', 'frequency', '0.00 98.00'] } },
  ),
  one(
    'D',
    'two per benefit year that is no calendar year, and only one is on file',
    {
      rules: { D1110: { ...CLEANING, frequency_limitations: '2 per benefit year' } },
      plan: { is_calendar_year_plan: false },
      history: { '{visit-100}': 'D1110' },
    },
    { verdict: 'eligible', of: { D1110: ['payable', ''] } },
  ),
  one(
    'D',
    'not within two years of another code, which was done three months before',
    {
      rules: {
        D4355: {
          ...PERIO,
          frequency_limitations: '1 per 36 months, not within 24 months of D4341',
        },
      },
      history: { '{visit-90}': 'D4341' },
      fees: { D4355: '180.00' },
    },
    { verdict: 'attention', of: { D4355: ['not_payable', 'frequency', '180.00 180.00'] } },
  ),
  one(
    'D',
    'a waiting period that prior coverage waives, and the payer did not say whether there was any',
    {
      rules: { D2740: CROWN },
      plan: { effective_date: '{visit-60}' },
      clauses: { waiting_periods: '12 months for major, waived with proof of prior coverage' },
      fees: FEES.crown,
    },
    // When it is over: 50, and half of 1150.
    { verdict: 'incomplete', of: { D2740: ['unknown', 'waiting_period', '625.00 1200.00'] } },
  ),
  one(
    'D',
    'a waiting period of the class of another code, and the code here is not covered',
    {
      rules: { D2391: { bare: true, is_covered: false } },
      plan: { effective_date: '{visit-60}' },
      clauses: { waiting_periods: '12 months for major' },
      fees: { D2391: '180.00' },
    },
    { verdict: 'attention', of: { D2391: ['not_payable', 'not_covered', '180.00 180.00'] } },
  ),
  one(
    'D',
    'braces for an adult: the age limit counts, whatever is left of the maximum',
    {
      rules: { D8080: BRACES },
      maximums: { orthodontics_coverage_limit: '2000' },
      fees: { D8080: '5000.00' },
    },
    { verdict: 'attention', of: { D8080: ['not_payable', 'age_limit', '5000.00 5000.00'] } },
  ),
  // The plan pays at most 2000; the payer did not say how much is left. The annual maximum is
  // another one.
  one(
    'D',
    'braces for a child, with the annual maximum used up',
    {
      rules: { D8080: BRACES },
      maximums: { ...MET, coverage_limit_remaining: '0', orthodontics_coverage_limit: '2000' },
      fees: { D8080: '5000.00' },
      dob: CHILD,
    },
    { verdict: 'eligible', of: { D8080: ['payable', '', '3000.00 5000.00'] } },
  ),
  one(
    'D',
    'braces for a child, and the orthodontics maximum is nothing',
    {
      rules: { D8080: BRACES },
      maximums: { orthodontics_coverage_limit: '0' },
      fees: { D8080: '5000.00' },
      dob: CHILD,
    },
    { verdict: 'attention', of: { D8080: ['not_payable', 'maximum_used_up', '5000.00 5000.00'] } },
  ),
];
