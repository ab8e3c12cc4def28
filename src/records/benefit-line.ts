/**
 * Puts what the payer said about a procedure or a class into one line: `covered; plan pays 80%; 2
 * per year`. The payer's words are in quotation marks.
 *
 * A line never contradicts the verdict. For what the plan does not pay, it states no share, no
 * copay, and no "covered". If it is uncertain whether the share applies, the line says so.
 */
import type { Age, BenefitRule, Money, Percent } from './eligibility.ts';
import type { ReasonCode, Standing } from './verdict/reasons.ts';

/** The verdict about the procedure or class of a line. */
export type Held = {
  standing: Standing;
  reasons: readonly ReasonCode[];
  /** Whether the plan pays the share, or the patient the copay, as the payer stated it. */
  are_shares_sure: boolean;
};

/** As the payer stated it: eligd knows nothing that contradicts it. */
export const AS_SAID: Held = { standing: 'payable', reasons: [], are_shares_sure: true };

const REASON_WORDS: Readonly<Partial<Record<ReasonCode, string>>> = {
  plan_inactive: 'the plan is not active',
  plan_ended: 'the plan has ended',
  plan_not_begun: 'the plan has not begun',
  not_covered: 'the patient pays all of it',
  age_limit: 'age limit',
  frequency: 'limit used up',
  maximum_used_up: 'maximum used up',
  out_of_network: 'out of network',
};

export function benefitLine(rule: BenefitRule, held: Held): string {
  const is_denied = rule.is_covered === false && !held.reasons.includes('conflicting');
  const is_paid_never = is_denied || held.standing === 'not_payable';
  const isOpen = rule.is_covered !== false && !is_paid_never;
  const parts = [
    is_paid_never ? notPayableWords(rule, held) : coverageWords(rule, held),
    ...(is_paid_never ? [] : shareWords(rule, held, isOpen)),
    yesNoWords(
      rule.is_prior_auth_required,
      'prior authorization required',
      'no prior authorization',
      isOpen ? 'prior authorization unknown' : null,
    ),
    quoted('prior authorization', rule.prior_auth_info),
    rule.frequency_limitations === null && isOpen
      ? 'no frequency limit named'
      : quoted('frequency', rule.frequency_limitations),
    numberWords(rule.age_limit, (years) => `age limit ${years}`, 'age limit', false),
    yesNoWords(rule.is_downgraded, 'downgraded', 'not downgraded', null),
    quoted('downgrade', rule.downgraded_info),
    quoted('limitations', rule.limitations),
    quoted('more', rule.more_info),
  ];
  return parts.filter((part) => part !== null).join('; ');
}

function notPayableWords({ is_covered }: BenefitRule, { reasons }: Held): string {
  if (is_covered === false) return 'not covered';
  const why = reasons.flatMap((code) => REASON_WORDS[code] ?? []);
  return why.length === 0 ? 'NOT payable' : `NOT payable: ${why.join(', ')}`;
}

function coverageWords({ is_covered }: BenefitRule, { reasons }: Held): string | null {
  if (reasons.includes('conflicting')) return 'answers contradict each other';
  return yesNoWords(is_covered, 'covered', 'not covered', 'coverage unknown');
}

/** Describes the share and the deductible; after "if it pays as usual" if that is uncertain. */
function shareWords(rule: BenefitRule, held: Held, isOpen: boolean): string[] {
  const shares = [
    numberWords(rule.plan_pays_percent, (percent) => `plan pays ${percent}%`, 'plan pays', isOpen),
    numberWords(
      rule.patient_pays_percent,
      (percent) => `patient pays ${percent}%`,
      'coinsurance',
      isOpen,
    ),
    copayWords(rule.copay, isOpen),
    yesNoWords(rule.is_deductible_waived, 'deductible waived', 'deductible applies', null),
  ].filter((part) => part !== null);
  const says_number = [rule.plan_pays_percent, rule.patient_pays_percent, rule.copay].some(
    (share) => share !== null && share !== undefined,
  );
  if (held.are_shares_sure || !says_number) return shares;
  return [`if it pays as usual: ${shares.join(', ')}`];
}

function yesNoWords(
  value: boolean | null | undefined,
  yes: string,
  no: string,
  unknown: string | null,
): string | null {
  if (value === undefined) return null;
  if (value === null) return unknown;
  return value ? yes : no;
}

type NumberOrWords = Percent | Age;

/** `saysUnknown`: whether to mention an unanswered field. */
function numberWords(
  value: NumberOrWords | null | undefined,
  say: (value: number) => string,
  label: string,
  saysUnknown: boolean,
): string | null {
  if (value === undefined) return null;
  if (value === null) return saysUnknown ? `${label} unknown` : null;
  return typeof value === 'number' ? say(value) : `${label} "${value.text}"`;
}

function copayWords(copay: Money | null | undefined, saysUnknown: boolean): string | null {
  if (copay === undefined) return null;
  if (copay === null) return saysUnknown ? 'copay unknown' : null;
  return 'text' in copay ? `copay "${copay.text}"` : `copay ${copay.amount}`;
}

export const quoted = (label: string, words: string | null | undefined) =>
  words === undefined || words === null ? null : `${label} "${words}"`;
