/**
 * Determines what an inquiry asked from its query sets (docs/service.md "Allowed values of
 * benefits_query"). This decides between null (asked, not answered) and absent (not asked). Where
 * the specification does not say what a query set asks, this file assumes less:
 *
 * - the plan counts as asked in every benefits inquiry (the specification says so for medical);
 * - STANDARD, a predefined set, counts as asking for everything in a dental answer except codes and
 *   treatment history, which have their own queries;
 * - PSYCHOTHERAPY, OFFICE_VISIT_NEW_PATIENT, and PULMONARY_REHAB_COVERAGE count as asking for a
 *   procedure class;
 * - a custom query or a call script counts as asking for the codes that were sent with it and for
 *   nothing else; what it brings is in the record only if it is answered.
 */
import type { Specialty } from '../domain/specialty.ts';
import type { BenefitRule, EligibilityMaximums } from './eligibility.ts';

export type Part =
  | 'plan'
  | 'maximums'
  | 'procedure_classes'
  | 'procedure_codes'
  | 'treatment_history'
  | 'clauses';

export type Questions = {
  specialty: Specialty;
  asks: (part: Part) => boolean;
  /**
   * Whether an amount of the maximums exists in this specialty; it is asked only together with that
   * part.
   */
  hasMaximum: (name: keyof EligibilityMaximums) => boolean;
  /** Whether a benefit of a class exists in this specialty and classes were asked. */
  asksOfClass: (name: keyof BenefitRule) => boolean;
  /** Whether a benefit was asked for each code. */
  asksOfCode: (name: keyof BenefitRule) => boolean;
};

const PARTS_BY_QUERY: Record<string, readonly Part[]> = {
  STANDARD: ['maximums', 'procedure_classes', 'clauses'],
  DEDUCTIBLES_AND_MAXIMUMS: ['maximums'],
  MAXIMUMS: ['maximums'],
  TREATMENT_HISTORY: ['treatment_history'],
  PSYCHOTHERAPY: ['procedure_classes'],
  OFFICE_VISIT_NEW_PATIENT: ['procedure_classes'],
  PULMONARY_REHAB_COVERAGE: ['procedure_classes'],
  PLAN_INFO: ['plan'],
  CODE_LOOKUP_BENEFITS: ['procedure_codes'],
  CODE_LOOKUP_FREQUENCIES: ['procedure_codes'],
  CODE_LOOKUP_PRIOR_AUTH: ['procedure_codes'],
};

const BENEFITS_OF: Record<Specialty, ReadonlySet<keyof BenefitRule>> = {
  dental: new Set<keyof BenefitRule>([
    ...([
      'is_covered',
      'is_prior_auth_required',
      'prior_auth_info',
      'frequency_limitations',
      'more_info',
    ] as const),
    ...(['plan_pays_percent', 'age_limit', 'is_downgraded', 'downgraded_info'] as const),
  ]),
  medical: new Set<keyof BenefitRule>([
    ...([
      'is_covered',
      'is_prior_auth_required',
      'prior_auth_info',
      'frequency_limitations',
      'more_info',
    ] as const),
    ...(['is_deductible_waived', 'copay', 'patient_pays_percent'] as const),
  ]),
  mental_health: new Set<keyof BenefitRule>([
    ...([
      'is_covered',
      'is_prior_auth_required',
      'prior_auth_info',
      'frequency_limitations',
      'more_info',
    ] as const),
    ...(['is_deductible_waived', 'copay', 'patient_pays_percent', 'limitations'] as const),
  ]),
};

/** Queries for single benefits, by specialty; CODE_LOOKUP_BENEFITS asks for all other benefits. */
const OWN_QUERY: Record<Specialty, Partial<Record<keyof BenefitRule, string>>> = {
  dental: { frequency_limitations: 'CODE_LOOKUP_FREQUENCIES' },
  medical: {
    frequency_limitations: 'CODE_LOOKUP_FREQUENCIES',
    is_prior_auth_required: 'CODE_LOOKUP_PRIOR_AUTH',
    prior_auth_info: 'CODE_LOOKUP_PRIOR_AUTH',
  },
  mental_health: {},
};

const DENTAL_MAXIMUMS: ReadonlySet<string> = new Set([
  'coverage_limit',
  'orthodontics_coverage_limit',
]);
const OUT_OF_POCKET: ReadonlySet<string> = new Set([
  'individual_out_of_pocket_maximum',
  'family_out_of_pocket_maximum',
]);

/**
 * Returns whether the inquiry contains a custom query or a call script, for which the specification
 * does not define what they ask.
 */
export function asksFreely(
  { benefits_query }: { benefits_query: readonly string[] },
  call_script_id: string | null,
): boolean {
  return (
    call_script_id !== null || benefits_query.some((query) => !Object.hasOwn(PARTS_BY_QUERY, query))
  );
}

/**
 * Returns what an inquiry asked. `request` is the service's echo of the request, any JSON; only its
 * type and its call script are used.
 */
export function questionsOf(
  specialty: Specialty,
  asked: { benefits_query: readonly string[]; benefits_codes: readonly string[] },
  request: { type: unknown; call_script_id: string | null },
): Questions {
  const isBenefits = request.type !== 'CLAIMS_STATUS';
  const queries = new Set(asked.benefits_query);
  const isOpen = asksFreely(asked, request.call_script_id);
  const parts = new Set<Part>(
    asked.benefits_query.flatMap((query) =>
      Object.hasOwn(PARTS_BY_QUERY, query) ? (PARTS_BY_QUERY[query] ?? []) : [],
    ),
  );
  parts.add('plan');
  // A lookup of codes without codes asks for nothing.
  if (asked.benefits_codes.length === 0) parts.delete('procedure_codes');
  else if (isOpen) parts.add('procedure_codes');
  const asks = (part: Part) => isBenefits && parts.has(part);
  const isBenefit = (name: keyof BenefitRule) => BENEFITS_OF[specialty].has(name);
  return {
    specialty,
    asks,
    hasMaximum: (name) =>
      specialty === 'dental' ? !OUT_OF_POCKET.has(name) : !DENTAL_MAXIMUMS.has(name),
    asksOfClass: (name) => asks('procedure_classes') && isBenefit(name),
    asksOfCode: (name) => {
      if (!asks('procedure_codes') || !isBenefit(name)) return false;
      return (
        isOpen ||
        name === 'more_info' ||
        queries.has(OWN_QUERY[specialty][name] ?? 'CODE_LOOKUP_BENEFITS')
      );
    },
  };
}
