import { ageOn } from '../calendar.ts';
import { compact, type Json, type JsonObject } from '../json.ts';
import { type AnswerContext, asks, bornOn } from './context.ts';
import {
  classOf,
  DENTAL_CLASSES,
  type DentalClass,
  factsOf,
  fullDentalCode,
} from './dental-codes.ts';
import { maximums } from './maximums.ts';
import { basicPlan, coversOrthodontics, fullPlan, planType } from './plan.ts';
import { treatmentHistory } from './treatment-history.ts';

/** The plan's share for preventive, basic, and major services. */
const TIERS = [
  { preventive: 100, basic: 80, major: 50 },
  { preventive: 100, basic: 80, major: 50 },
  { preventive: 100, basic: 90, major: 60 },
  { preventive: 100, basic: 70, major: 50 },
  { preventive: 80, basic: 60, major: 40 },
] as const;

const PRIOR_AUTH = 'A pre-treatment estimate with images is required.';

type Tier = keyof (typeof TIERS)[number];

/**
 * Returns the dental part of the results record with only what was asked (docs/service.md "Results
 * record (benefits inquiries)").
 */
export function dentalResults(context: AnswerContext): { [field: string]: Json | undefined } {
  const by_script = (context.request.benefits_query ?? []).length === 0;
  const standard = asks(context, 'STANDARD');
  const money = standard || by_script || asks(context, 'DEDUCTIBLES_AND_MAXIMUMS');
  return {
    plan_information: money ? fullPlan(context) : basicPlan(context),
    maximums: money ? maximums(context) : undefined,
    treatment_history: asks(context, 'TREATMENT_HISTORY') ? treatmentHistory(context) : undefined,
    procedure_classes: standard ? procedureClasses(context) : undefined,
    procedure_codes: procedureCodes(context),
    extra_info: standard ? extraInfo(context) : undefined,
  };
}

function procedureClasses(context: AnswerContext): JsonObject {
  return Object.fromEntries(DENTAL_CLASSES.map((name) => [name, classBenefits(context, name)]));
}

function classBenefits(context: AnswerContext, name: DentalClass): JsonObject {
  const percentage = percentageOf(context, name);
  if (percentage === undefined) return { is_covered: false };
  return compact({
    is_covered: true,
    coverage_percentage: percentage,
    is_prior_auth_required: needsPriorAuth(context, name),
    prior_auth_info: needsPriorAuth(context, name) ? PRIOR_AUTH : undefined,
    age_limit: name === 'ORTHODONTICS' ? 19 : undefined,
  });
}

/**
 * Returns the percentage that the plan pays for a class; undefined if it does not cover the class.
 */
function percentageOf(context: AnswerContext, name: DentalClass): number | undefined {
  const { policy } = context;
  if (context.course.uncovered === 1) return undefined;
  const covers_all = context.course.uncovered === 0;
  if (!covers_all && name === 'IMPLANTS' && policy.chance('no implants', 0.4)) return undefined;
  if (name === 'ORTHODONTICS' && !coversOrthodontics(context)) return undefined;
  return policy.pick('tier', TIERS)[tierOf(context, name)];
}

/** Endodontics, periodontics, and oral surgery are basic in some plans and major in others. */
function tierOf(context: AnswerContext, name: DentalClass): Tier {
  switch (name) {
    case 'DIAGNOSTIC':
    case 'PREVENTIVE':
      return 'preventive';
    case 'RESTORATIVE':
    case 'ADJUNCTIVE':
      return 'basic';
    case 'ENDODONTICS':
    case 'PERIODONTICS':
    case 'ORAL_SURGERY':
      return context.policy.chance(`${name} is major`, 0.3) ? 'major' : 'basic';
    case 'MAJOR_RESTORATIVE':
    case 'PROSTHODONTICS':
    case 'IMPLANTS':
    case 'ORTHODONTICS':
      return 'major';
  }
}

function needsPriorAuth(context: AnswerContext, name: DentalClass): boolean {
  return tierOf(context, name) === 'major' && context.policy.chance(`prior auth ${name}`, 0.35);
}

/** Returns the pairs of code and benefits; undefined if no codes were asked. */
function procedureCodes(context: AnswerContext): Json[] | undefined {
  const benefits = asks(context, 'CODE_LOOKUP_BENEFITS');
  const frequencies = asks(context, 'CODE_LOOKUP_FREQUENCIES');
  if (!benefits && !frequencies) return undefined;
  const codes = new Set((context.request.benefits_codes ?? []).map(fullDentalCode));
  return [...codes].map((code) => [
    { procedure_code: code, procedure_name: factsOf(code).name },
    codeBenefits(context, code, { benefits, frequencies }),
  ]);
}

function codeBenefits(
  context: AnswerContext,
  code: string,
  wanted: { benefits: boolean; frequencies: boolean },
): JsonObject {
  const { policy } = context;
  const facts = factsOf(code);
  const percentage = percentageOf(context, classOf(code));
  const { uncovered } = context.course;
  if (percentage === undefined || policy.chance(`uncovered ${code}`, uncovered)) {
    return { is_covered: false, more_info: 'The plan has no benefit for this code.' };
  }
  const frequency =
    facts.frequency ??
    policy.pick(`frequency ${code}`, ['1 per 12 months', '1 per 36 months', 'No limit']);
  const downgraded = facts.downgrade !== undefined && policy.chance(`downgrade ${code}`, 0.6);
  return compact({
    is_covered: true,
    frequency_limitations: wanted.frequencies ? frequency : undefined,
    ...(wanted.benefits && {
      coverage_percentage: percentage,
      is_prior_auth_required: needsPriorAuth(context, classOf(code)),
      ...(needsPriorAuth(context, classOf(code)) && { prior_auth_info: PRIOR_AUTH }),
      age_limit: facts.age_limit,
      is_downgraded: downgraded,
      ...(downgraded && { downgraded_info: facts.downgrade }),
      ...(isPastAgeLimit(context, facts.age_limit) && {
        more_info: 'The patient is past the age limit.',
      }),
    }),
  });
}

function isPastAgeLimit(context: AnswerContext, age_limit: number | undefined): boolean {
  return age_limit !== undefined && ageOn(bornOn(context), context.as_of) > age_limit;
}

/** Returns the extra dental info record. Fields that do not apply are omitted. */
function extraInfo(context: AnswerContext): JsonObject {
  const { policy, person } = context;
  const waits = policy.chance('waiting period', 0.25);
  return compact({
    waiting_periods: waits
      ? '6 months for basic and 12 months for major services from the effective date.'
      : 'None.',
    deductible_applies_to_preventive: policy.chance('deductible on preventive', 0.15),
    preventative_applies_to_maximum: policy.chance('preventive to maximum', 0.6),
    missing_tooth_clause:
      planType(context) === 'DHMO'
        ? undefined
        : policy.pick('missing tooth', [
            'No clause.',
            'Teeth lost before the effective date are not replaced.',
            'Applies in the first 24 months of coverage.',
          ]),
    has_pending_claims: person.of(context.edition).chance('pending claims', 0.1),
  });
}
