import { addDays, yearOf } from '../calendar.ts';
import { compact, type JsonObject } from '../json.ts';
import { type AnswerContext, isInNetwork } from './context.ts';

const PLAN_NAMES = [
  'Choice',
  'Premier',
  'Essential',
  'Advantage',
  'Select',
  'Complete',
  'Preferred',
];

/** The plan types by specialty. "PPO" is in the specification; the others are common types. */
const PLAN_TYPES = {
  dental: ['PPO', 'PPO', 'PPO', 'DHMO', 'INDEMNITY'],
  medical: ['PPO', 'PPO', 'HMO', 'EPO', 'POS'],
  mental_health: ['PPO', 'PPO', 'HMO', 'EPO', 'POS'],
} as const;

export function planType(context: AnswerContext): string {
  return context.policy.pick('plan type', PLAN_TYPES[context.specialty]);
}

/** Returns the facts about a plan that every call reveals, whether asked or not. */
export function basicPlan(context: AnswerContext): JsonObject {
  const { policy, formats } = context;
  return {
    is_active: true,
    plan_type: planType(context),
    plan_name:
      `${policy.pick('plan name', PLAN_NAMES)} ${planType(context)} ` +
      `${policy.integer('plan number', 100, 999)}`,
    effective_date: formats.date(
      `${yearOf(context.as_of) - policy.integer('years', 1, 6)}-${effectiveMonth(context)}-01`,
    ),
  };
}

/** Returns the full plan information record (docs/service.md "Plan information record"). */
export function fullPlan(context: AnswerContext): JsonObject {
  const { policy, person } = context;
  const type = planType(context);
  const needs_referral = type === 'HMO' || (type === 'POS' && policy.chance('referral', 0.5));
  const is_medical = context.specialty !== 'dental';
  return compact({
    ...basicPlan(context),
    is_calendar_year_plan: isCalendarYear(context),
    is_provider_in_network: isInNetwork(context),
    is_primary_insurance: context.course.pays_first ?? !person.chance('secondary', 0.1),
    is_provider_pcp: type === 'HMO' ? person.chance('pcp', 0.4) : undefined,
    has_other_insurance: person.chance('other insurance', 0.12),
    is_self_funded: is_medical ? policy.chance('self funded', 0.4) : undefined,
    has_out_of_state_coverage: is_medical
      ? type === 'PPO' || policy.chance('out of state', 0.3)
      : undefined,
    referral_required: is_medical ? needs_referral : undefined,
    referral_info: needs_referral
      ? 'The referral comes from the primary care provider and is valid for 90 days.'
      : undefined,
    out_of_network_benefits: outOfNetwork(context),
  });
}

/** Returns everything that the payer says about an inactive plan. */
export function endedPlan(context: AnswerContext): JsonObject {
  const days = context.policy.integer('ended days ago', 20, 400);
  return {
    is_active: false,
    termination_date: context.formats.date(addDays(context.as_of, -days)),
  };
}

export function isCalendarYear(context: AnswerContext): boolean {
  return context.policy.chance('calendar year', 0.8);
}

/**
 * Returns whether the plan covers braces: its class, codes, and separate maximum depend on this.
 */
export function coversOrthodontics(context: AnswerContext): boolean {
  const { uncovered } = context.course;
  return uncovered < 1 && (uncovered === 0 || context.policy.chance('orthodontics', 0.4));
}

/** A plan year other than the calendar year begins in a month other than January. */
function effectiveMonth(context: AnswerContext): string {
  return isCalendarYear(context)
    ? '01'
    : context.policy.pick('effective month', ['04', '07', '09', '10']);
}

function outOfNetwork(context: AnswerContext): string {
  const type = planType(context);
  if (context.course.in_network === false) return 'None, except for emergencies.';
  if (type === 'HMO' || type === 'EPO' || type === 'DHMO') return 'None, except for emergencies.';
  return context.policy.pick('out of network', [
    'Same percentages as in network, paid on the maximum plan allowance.',
    'Percentages are 10 points lower than in network.',
    'Covered at usual and customary rates; the deductible applies to all services.',
  ]);
}
