/** Builds a case like those in test/fixtures/verdicts/cases.json from the values that matter. */
import type { Specialty } from '../../../src/domain/specialty.ts';
import type { VerdictCase } from '../verdict-cases.ts';

type Rules = Record<string, object | null>;
type Expected = [standing: string, reasons: string, pays?: string];

type Treated = string | { code: string; teeth?: string[]; quadrants?: number[] };

type Given = {
  /** The payer's answer for each scheduled code; null: an empty object. */
  rules: Rules;
  plan?: object;
  maximums?: object;
  clauses?: object;
  /** Absent: an empty history. Null: no history. */
  history?: Record<string, Treated | Treated[]> | null;
  fees?: Record<string, string>;
  dob?: string;
  status?: string;
};

type Wanted = {
  verdict: string;
  /** Of the visit. */
  reasons?: string;
  of: Record<string, Expected>;
  total?: string;
};

const PLAN = {
  is_active: true,
  plan_type: 'PPO',
  plan_name: 'Choice',
  effective_date: '01-01-2020',
  is_provider_in_network: true,
};
const DENTAL_MAXIMUMS = {
  individual_deductible: '50',
  individual_deductible_used: '0',
  family_deductible: '150',
  family_deductible_used: '0',
  coverage_limit: '1500',
  coverage_limit_remaining: '1500',
};
const MEDICAL_MAXIMUMS = {
  individual_deductible: '500',
  individual_deductible_used: '400',
  individual_out_of_pocket_maximum: '3000',
  individual_out_of_pocket_maximum_used: '1000',
};
const CLAUSES = {
  waiting_periods: 'None',
  deductible_applies_to_preventive: false,
  preventative_applies_to_maximum: true,
  missing_tooth_clause: 'No clause',
  has_pending_claims: false,
};
/** No deductible is left. */
export const MET = { individual_deductible_used: '50' };

const pairOf = (text = '') => (text === '' ? undefined : (text.split(' ') as [string, string]));
const wordsOf = (text = '') => text.split(' ').filter((word) => word !== '');

function treatmentsOf(history: NonNullable<Given['history']>): object {
  const item = (one: Treated) => ({
    procedure_code: typeof one === 'string' ? one : one.code,
    tooth_numbers: typeof one === 'string' ? [] : (one.teeth ?? []),
    surfaces: [],
    quadrant_numbers: typeof one === 'string' ? [] : (one.quadrants ?? []),
  });
  return Object.fromEntries(
    Object.entries(history).map(([day, each]) => [day, [each].flat().map(item)]),
  );
}

function resultsOf(specialty: Specialty, given: Given): object {
  const is_dental = specialty === 'dental';
  const pairs = Object.entries(given.rules).flatMap(([code, rule]) => {
    // "D1110 again": a second answer about the same code.
    const [procedure_code = ''] = code.split(' ');
    const base = rule !== null && 'bare' in rule ? {} : { is_prior_auth_required: false };
    const { bare: _bare, ...said } = { bare: true, ...rule };
    const benefits = rule === null ? {} : { is_covered: true, ...base, ...said };
    return [[{ procedure_code, procedure_name: '-' }, benefits]];
  });
  const history = given.history === null ? null : treatmentsOf(given.history ?? {});
  return {
    plan_information: {
      ...PLAN,
      ...(is_dental ? { is_calendar_year_plan: true } : { referral_required: false }),
      ...given.plan,
    },
    maximums: { ...(is_dental ? DENTAL_MAXIMUMS : MEDICAL_MAXIMUMS), ...given.maximums },
    procedure_codes: pairs,
    ...(is_dental && history !== null ? { treatment_history: history } : {}),
    ...(is_dental ? { extra_info: { ...CLAUSES, ...given.clauses } } : {}),
  };
}

const specialties: Record<string, Specialty> = { D: 'dental', M: 'medical', P: 'mental_health' };

/** Without an ID: `numbered` gives one. */
export function one(
  specialty: keyof typeof specialties,
  about: string,
  given: Given,
  wanted: Wanted,
): VerdictCase {
  const word = specialties[specialty] ?? 'dental';
  const procedures = Object.entries(wanted.of).map(([code, [standing, reasons, pays]]) => {
    const patient_pays = pairOf(pays);
    const expected = { standing, reasons: wordsOf(reasons) };
    return [code, patient_pays === undefined ? expected : { ...expected, patient_pays }];
  });
  const total = pairOf(wanted.total);
  const found: VerdictCase = {
    id: '',
    about,
    specialty: word,
    appointment: {
      in_days: 5,
      dob: given.dob ?? '1980-04-02',
      codes: Object.keys(wanted.of),
      fees: given.fees ?? {},
    },
    answer: { status: given.status ?? 'SUCCESS', results: resultsOf(word, given) },
    expect: {
      verdict: wanted.verdict,
      reasons: wordsOf(wanted.reasons),
      procedures: Object.fromEntries(procedures),
      ...(total === undefined ? {} : { patient_pays: total }),
    },
  };
  return found;
}

export const CROWN = { coverage_percentage: 50 };
export const FILLING = { coverage_percentage: 80 };
export const CLEANING = { coverage_percentage: 100 };
/** What the office charges, by what it is for. */
export const FEES = {
  crown: { D2740: '1200.00' },
  filling: { D2392: '200.00' },
  cleaning: { D1110: '98.00' },
};
