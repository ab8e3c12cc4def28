/** Judges the plan as a whole for a visit: active on that day, network, referral, rank. */
import type { EligibilityRecord } from '../eligibility.ts';
import { networkBenefits } from './network.ts';
import { americanDay, fact, shortDay, type Weighed } from './reasons.ts';
import { planWords, type Words } from './unread.ts';

/** Returns the reasons why the visit is not eligible; empty when the plan is active or unknown. */
export function planReasons(record: EligibilityRecord, day: string): Weighed[] {
  const { plan } = record;
  const active = fact('plan.is_active', plan?.is_active);
  const reasons: Weighed[] = [];
  if (plan?.is_active === false)
    reasons.push({
      code: 'plan_inactive',
      effect: 'no',
      text: `The plan is NOT ACTIVE.${quoteOf(planWords(record, 'is_active'))}`,
      facts: [active],
    });
  // The plan covers care on its effective date and on its termination date.
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

/** Dates that mean "no date". */
const PLACEHOLDER = /\b(?:0000|0001|9999)\b/;
/** Words that do not end the coverage, or that say that it has begun; only these do. */
const COVERED_WORDS = {
  termination_date: new RegExp(
    '^(?:(?:there is )?(?:no|none|without(?: an?)?)(?: known)?(?: (?:end|term|termination|' +
      'terminated|expiration))?(?: date)?(?: (?:on file|listed|given|known|yet|set))?' +
      '|open(?: ended)?|(?:does|will|do) not (?:end|terminate|expire)|not (?:terminated|ended)' +
      '|never(?: ends)?|(?:still |currently |is )*(?:active|current|ongoing|continuous|in force' +
      '|in effect|effective)(?: today| now| at this time)?|indefinite(?:ly)?|present|continuing' +
      '|until further notice|not (?:given|listed|on file|stated|available))$',
  ),
  effective_date: new RegExp(
    '^(?:(?:it |plan |is |has )*(?:already |currently |still )*(?:active|current|in force' +
      '|in effect|effective|begun|started)(?: today| now)?|original(?: effective date)?' +
      '|none|not (?:given|listed|on file|stated|available)|none on file|no date on file)$',
  ),
} as const;

/** Returns a date in words that may be before or after the visit; null: there is none. */
function dateInWords(
  record: EligibilityRecord,
  name: 'effective_date' | 'termination_date',
  day: string,
): Words | null {
  const found = planWords(record, name);
  if (found === null || PLACEHOLDER.test(found.words)) return null;
  const plain = found.words
    .toLowerCase()
    .replaceAll(/[-\s]+/g, ' ')
    .replace(/\.$/, '');
  if (COVERED_WORDS[name].test(plain)) return null;
  const years = plain.match(/\b(?:19|20)\d\d\b/g) ?? [];
  const of_visit = day.slice(0, 4);
  const is_covered = (year: string) =>
    name === 'effective_date' ? year < of_visit : year > of_visit;
  return years.length > 0 && years.every(is_covered) ? null : found;
}

/** Without `is_active`, the plan's status is unknown, even if the payer described benefits. */
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
  const found = planWords(record, 'is_active');
  return [
    {
      code: 'plan_unknown',
      effect: 'unknown',
      text:
        found === null
          ? `The insurance company did not say whether the plan is active on ${shortDay(day)}.`
          : `Ask whether the plan is active on ${shortDay(day)}.${quoteOf(found)}`,
      facts: [fact('plan.is_active', plan?.is_active), ...restsOn(found)],
    },
  ];
}

/** Returns words about the network that do not clearly mean in or out. */
const networkWords = (record: EligibilityRecord) =>
  typeof record.plan?.is_provider_in_network === 'boolean'
    ? null
    : planWords(record, 'is_provider_in_network');

/** Returns whether the payer's shares apply; without an answer, the provider is in network. */
export const isInNetwork = (record: EligibilityRecord) =>
  record.plan?.is_provider_in_network !== false && networkWords(record) === null;

/** Returns the effect of being out of network on every procedure. */
export function networkReasons(record: EligibilityRecord): Weighed[] {
  const { plan } = record;
  const found = networkWords(record);
  if (found !== null)
    return [
      {
        code: 'out_of_network',
        effect: 'unknown',
        text: `Ask whether the provider is in the network.${quoteOf(found)}`,
        facts: [fact('plan.is_provider_in_network', null), found.rests_on],
      },
    ];
  if (plan?.is_provider_in_network !== false) return [];
  const said = plan.out_of_network_benefits ?? null;
  const facts = [
    fact('plan.is_provider_in_network', false),
    fact('plan.out_of_network_benefits', said),
  ];
  const quote = said === null ? '' : ` The insurance company said: "${said}"`;
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

/** Returns what the office has to do before the visit, regardless of the procedures. */
export function visitReasons(record: EligibilityRecord, coverage_rank: number): Weighed[] {
  const { plan } = record;
  const reasons: Weighed[] = [];
  const referral = planWords(record, 'referral_required');
  if (plan?.referral_required === true || (plan?.referral_required == null && referral !== null))
    reasons.push({
      code: 'referral_required',
      effect: 'note',
      text:
        (plan?.referral_required === true
          ? 'The plan requires a referral.'
          : 'Ask whether the plan requires a referral.') +
        quoteOf(referral) +
        (plan?.referral_info == null ? '' : ` The insurance company said: "${plan.referral_info}"`),
      facts: [
        fact('plan.referral_required', plan?.referral_required),
        ...restsOn(referral),
        ...(plan?.referral_info == null ? [] : [fact('plan.referral_info', plan.referral_info)]),
      ],
    });
  const rank = planWords(record, 'is_primary_insurance');
  const is_primary = plan?.is_primary_insurance ?? null;
  // A second coverage is not expected to pay first.
  if (coverage_rank === 1 && (is_primary === false || (is_primary === null && rank !== null)))
    reasons.push({
      code: 'not_primary',
      effect: 'note',
      text:
        (is_primary === false
          ? 'The insurance company says that another coverage pays first.'
          : 'Ask which coverage pays first.') + quoteOf(rank),
      facts: [fact('plan.is_primary_insurance', is_primary), ...restsOn(rank)],
    });
  return reasons;
}

const quoteOf = (found: Words | null) =>
  found === null ? '' : ` The insurance company said: "${found.words}"`;
const restsOn = (found: Words | null) => (found === null ? [] : [found.rests_on]);
