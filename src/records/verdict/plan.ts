/** What the plan as a whole means for a visit: active on that day, network, referral, rank. */
import type { EligibilityRecord } from '../eligibility.ts';
import { networkBenefits } from './network.ts';
import { americanDay, type Fact, fact, shortDay, type Weighed } from './reasons.ts';

/** Reasons for which the visit is not eligible; empty when the plan is active or unknown. */
export function planReasons({ plan }: EligibilityRecord, day: string): Weighed[] {
  const active = fact('plan.is_active', plan?.is_active);
  const reasons: Weighed[] = [];
  if (plan?.is_active === false)
    reasons.push({
      code: 'plan_inactive',
      effect: 'no',
      text: 'The plan is NOT ACTIVE.',
      facts: [active],
    });
  // The effective day and the termination day are covered days.
  if (plan?.termination_date != null && plan.termination_date < day)
    reasons.push({
      code: 'plan_ended',
      effect: 'no',
      text: `The plan ended on ${americanDay(plan.termination_date)}, before the visit.`,
      facts: [fact('plan.termination_date', plan.termination_date)],
    });
  if (plan?.effective_date != null && plan.effective_date > day)
    reasons.push({
      code: 'plan_not_begun',
      effect: 'no',
      text: `The plan begins on ${americanDay(plan.effective_date)}, after the visit.`,
      facts: [fact('plan.effective_date', plan.effective_date)],
    });
  return reasons;
}

const SAYS_WHEN =
  /\d|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|day|week|month|year|last|next|end/i;
/** Dates that stand for none. */
const PLACEHOLDER = /\b(?:0000|0001|9999)\b/;

/** A date in words that may put the visit outside of the coverage; null: it does not. */
function dateInWords(
  { unparsed }: EligibilityRecord,
  name: 'effective_date' | 'termination_date',
  day: string,
): { words: string; rests_on: Fact } | null {
  const index = unparsed.findIndex(({ path }) => path === `results.plan_information.${name}`);
  const value = unparsed[index]?.value;
  if (typeof value !== 'string' || !SAYS_WHEN.test(value) || PLACEHOLDER.test(value)) return null;
  const years = value.match(/\b(?:19|20)\d\d\b/g) ?? [];
  const of_visit = day.slice(0, 4);
  const is_covered = (year: string) =>
    name === 'effective_date' ? year < of_visit : year > of_visit;
  if (years.length > 0 && years.every(is_covered)) return null;
  return { words: value, rests_on: fact(`unparsed[${index}].value`, value) };
}

/** Without `is_active` the plan is unknown, whatever benefits were given. */
export function unknownPlan(record: EligibilityRecord, day: string): Weighed[] {
  const { plan } = record;
  if (typeof plan?.is_active === 'boolean')
    return (['effective_date', 'termination_date'] as const).flatMap((name): Weighed[] => {
      const found = dateInWords(record, name, day);
      if (found === null) return [];
      const what = name === 'effective_date' ? 'begins' : 'ends';
      const text = `Ask whether the plan covers ${shortDay(day)}: it ${what} "${found.words}".`;
      const facts = [fact(`plan.${name}`, plan[name]), found.rests_on];
      return [{ code: 'plan_unknown', effect: 'unknown', text, facts }];
    });
  return [
    {
      code: 'plan_unknown',
      effect: 'unknown',
      text: `The payer did not say whether the plan is active on ${shortDay(day)}.`,
      facts: [fact('plan.is_active', plan?.is_active)],
    },
  ];
}

/** Out of network: what that does to every procedure. */
export function networkReasons({ plan }: EligibilityRecord): Weighed[] {
  if (plan?.is_provider_in_network !== false) return [];
  const said = plan.out_of_network_benefits ?? null;
  const facts = [
    fact('plan.is_provider_in_network', false),
    fact('plan.out_of_network_benefits', said),
  ];
  const quote = said === null ? '' : ` The payer said: "${said}"`;
  switch (said === null ? 'unknown' : networkBenefits(said)) {
    case 'none':
      return [
        {
          code: 'out_of_network',
          effect: 'no',
          text:
            'Out of network, and the plan pays nothing out of network: the patient pays the full ' +
            `fee.${quote}`,
          facts,
        },
      ];
    case 'differ':
      return [
        {
          code: 'out_of_network',
          effect: 'note',
          text:
            'Out of network: the plan pays its out-of-network rates, and the patient pays the ' +
            `rest of the fee.${quote}`,
          facts,
        },
      ];
    default:
      return [
        {
          code: 'out_of_network',
          effect: 'unknown',
          text:
            'Out of network, and what the plan pays then is unknown: the patient may owe the ' +
            `full fee.${quote}`,
          facts,
        },
      ];
  }
}

/** What somebody has to do before the visit, whatever is done at it. */
export function visitReasons({ plan }: EligibilityRecord, coverage_rank: number): Weighed[] {
  const reasons: Weighed[] = [];
  if (plan?.referral_required === true)
    reasons.push({
      code: 'referral_required',
      effect: 'note',
      text:
        'The plan requires a referral.' +
        (plan.referral_info == null ? '' : ` The payer said: "${plan.referral_info}"`),
      facts: [
        fact('plan.referral_required', true),
        ...(plan.referral_info == null ? [] : [fact('plan.referral_info', plan.referral_info)]),
      ],
    });
  // Of a second coverage nobody expects that it pays first.
  if (plan?.is_primary_insurance === false && coverage_rank === 1)
    reasons.push({
      code: 'not_primary',
      effect: 'note',
      text: 'The payer says that another coverage pays first.',
      facts: [fact('plan.is_primary_insurance', false)],
    });
  return reasons;
}
