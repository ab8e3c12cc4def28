/**
 * Words a verdict in sentences: for the CSV, messages, narratives, attention list, and `eligd
 * show`.
 */
import type { EligibilityRecord } from '../eligibility.ts';
import type { PatientPays, ProcedureVerdict, Verdict, VerdictWord } from '../verdict.ts';
import { VERDICT_CAUTION } from '../verdict.ts';
import { deductibleDue, outOfPocketLeft } from './allowances.ts';
import { type CentRange, dollarsOf, isUnlimited, maximumLeft } from './money.ts';
import { type Reason, type ReasonCode, type Standing, shortDay, type Weighed } from './reasons.ts';

/** A verdict in a word or two, for lists. */
export const VERDICT_WORDS: Readonly<Record<VerdictWord, string>> = {
  eligible: 'Eligible',
  not_eligible: 'NOT ELIGIBLE',
  attention: 'Needs attention',
  incomplete: 'Incomplete',
};

export const STANDING_WORDS: Readonly<Record<Standing, string>> = {
  payable: 'payable',
  not_payable: 'NOT payable',
  needs_authorization: 'needs authorization',
  unknown: 'unknown',
};

/** Returns `Needs attention on 11/23: The plan requires a referral. D1206: NOT payable.` */
function verdictHeadline(verdict: Verdict): string {
  const why = whyOf(verdict, ({ code, standing, reasons }) =>
    // For a payable procedure, show its reasons in place of its standing.
    standing === 'payable'
      ? `${code}: ${ownTexts(reasons, verdict).join(' ')}`
      : `${code}: ${STANDING_WORDS[standing]}.`,
  );
  return headed(verdict, why);
}

/**
 * Returns everything for one cell: `Needs attention on 11/23: D1206: NOT payable. Not covered. …`
 */
export function verdictInOneLine(verdict: Verdict): string {
  return [headed(verdict, reasonsInOneLine(verdict)), ...caution(verdict)].join(' ');
}

/** Returns `D1206: NOT payable. Not covered.`, or empty text if nothing prevents payment. */
export function reasonsInOneLine(verdict: Verdict): string {
  return whyOf(verdict, ({ code, standing, reasons }) =>
    [
      ...(standing === 'payable' ? [`${code}:`] : [`${code}: ${STANDING_WORDS[standing]}.`]),
      ...ownTexts(reasons, verdict),
    ].join(' '),
  );
}

/** Returns the visit's reasons, and then `said` of each procedure that has its own reasons. */
function whyOf(verdict: Verdict, said: (procedure: ProcedureVerdict) => string): string {
  return [
    ...verdict.reasons.map(({ text }) => text),
    ...verdict.procedures.filter(({ reasons }) => ownTexts(reasons, verdict).length > 0).map(said),
  ].join(' ');
}

function headed({ standing, date }: Verdict, why: string): string {
  const head = `${VERDICT_WORDS[standing]} on ${shortDay(date)}`;
  return why === '' ? `${head}.` : `${head}: ${why}`;
}

/** Returns the texts of the reasons that the visit as a whole does not have. */
const ownTexts = (reasons: readonly Reason[], { reasons: of_visit }: Verdict) =>
  reasons
    .filter(({ code }) => !of_visit.some((other) => other.code === code))
    .map(({ text }) => text);

/** If nobody at the payer said anything, no caution is needed. */
const caution = ({ reasons }: Verdict) =>
  reasons.some(({ code }) => code === 'no_answer') ? [] : [VERDICT_CAUTION];

/** Writes `1200.00` as `$1,200.00`, for people; returns words unchanged. */
export function amountWords(amount: string): string {
  if (!/^\d+\.\d{2,}$/.test(amount)) return amount;
  const [dollars = '', cents = ''] = amount.split('.');
  return `$${dollars.replaceAll(/\B(?=(\d{3})+$)/g, ',')}.${cents}`;
}

/** `$1,665.00`, `$665.00 to $680.00`; empty where no fee is known. */
export function dollarText(pays: PatientPays | null): string {
  if (pays === null) return '';
  const [low, high] = [pays.low, pays.high].map(amountWords);
  return low === high ? `${low}` : `${low} to ${high}`;
}

/** Returns what the front desk collects for the visit: the sum, or the known part of it. */
export function collectText({ patient_pays, procedures }: Verdict): string {
  if (patient_pays !== null) return dollarText(patient_pays);
  const known = procedures.flatMap(({ code, patient_pays: pays }) =>
    pays === null ? [] : [`${code}: ${dollarText(pays)}`],
  );
  const copays = procedures.flatMap(({ code, copay, patient_pays: pays }) =>
    pays === null && copay !== null ? [`${code}: copay ${amountWords(copay)}`] : [],
  );
  return [...known, ...copays].join('; ');
}

/**
 * Returns what is due of the deductible, as one amount: nothing once the family's is met. Empty
 * when the plan does not pay at all, `unknown` when it is uncertain.
 */
export function deductibleLeftText(record: EligibilityRecord, verdict: Verdict): string {
  const { maximums } = record;
  if (verdict.standing === 'not_eligible' || maximums?.individual_deductible === undefined)
    return '';
  return leftText(deductibleDue(record));
}

/** Returns what is left of the maximum or, for a medical plan, of the out-of-pocket maximum. */
export function maximumLeftText(record: EligibilityRecord, verdict: Verdict): string {
  const { specialty, maximums } = record;
  const allowance =
    specialty === 'dental' ? maximums?.coverage_limit : maximums?.individual_out_of_pocket_maximum;
  if (verdict.standing === 'not_eligible' || allowance === undefined) return '';
  if (specialty === 'dental') return leftText(maximumLeft(allowance));
  const left = outOfPocketLeft(record);
  return Number.isFinite(left.low) || isUnlimited(allowance.amount) ? leftText(left) : 'unknown';
}

function leftText(left: CentRange | null): string {
  if (left === null || left.low !== left.high) return 'unknown';
  return Number.isFinite(left.low) ? dollarsOf(left.low) : 'unlimited';
}

/** Returns `D1110: payable; plan pays 100%; patient pays $0.00.`, the reasons, and the remarks. */
function procedureLine(procedure: ProcedureVerdict, verdict: Verdict): string {
  const { code, standing, plan_pays_percent, copay, patient_pays, reasons, remarks } = procedure;
  const facts = [
    STANDING_WORDS[standing],
    ...(copay === null ? [] : [`copay ${amountWords(copay)}`]),
    ...(plan_pays_percent === null ? [] : [`plan pays ${plan_pays_percent}%`]),
    ...(patient_pays === null ? [] : [`patient pays ${dollarText(patient_pays)}`]),
  ];
  return [`${code}: ${facts.join('; ')}.`, ...ownTexts(reasons, verdict), ...remarks].join(' ');
}

/** Returns everything, most important first; the caution last. */
export function verdictLines(verdict: Verdict): string[] {
  const collect = collectText(verdict);
  return [
    verdictHeadline(verdict),
    ...(collect === '' ? [] : [`Patient pays: ${collect}.`]),
    ...verdict.procedures.map((procedure) => procedureLine(procedure, verdict)),
    ...caution(verdict),
  ];
}

/** What the office does or tells the patient. Codes that require nothing are left out. */
const TO_DO: Readonly<Partial<Record<ReasonCode, string>>> = {
  plan_inactive:
    'Ask the patient for other insurance. Without it, the patient pays for the visit in full.',
  plan_ended:
    'Ask the patient for other insurance. Without it, the patient pays for the visit in full.',
  plan_not_begun:
    'Offer a visit after the plan begins, or tell the patient that today is not covered.',
  plan_unknown: 'Call the insurance company and ask whether the plan is active.',
  no_answer: 'Call the insurance company yourself.',
  not_covered: 'Tell the patient that the plan does not pay for this procedure, and what it costs.',
  age_limit:
    'Tell the patient that the plan does not pay at this age, and what the procedure costs.',
  frequency: 'Tell the patient that the limit is used up, or offer a later visit.',
  maximum_used_up: 'Tell the patient that the maximum is used up and what the visit costs.',
  prior_authorization: 'Ask the insurance company for the authorization before the visit.',
  out_of_network:
    'Tell the patient that the office is out of network, and what the patient will pay.',
  waiting_period: 'Ask the insurance company whether the waiting period is over.',
  downgrade:
    'Tell the patient that the plan pays for a cheaper procedure, and what the difference is.',
  referral_required: 'Get the referral before the visit.',
  not_primary: 'Ask the patient which insurance pays first, and bill that one first.',
  conflicting: 'Call the insurance company and ask which answer is right.',
  not_answered: 'Call the insurance company if you need to know it before the visit.',
  not_asked: 'Call the insurance company if you need to know it before the visit.',
};

/** The same for reasons that leave it uncertain whether the plan pays. */
const TO_ASK: Readonly<Partial<Record<ReasonCode, string>>> = {
  age_limit: 'Ask the insurance company about the limit, if you need to know it.',
  frequency: 'Ask the insurance company about the limit, if you need to know it.',
  maximum_used_up:
    'Ask the insurance company what is left of the maximum, and what counts toward it.',
  out_of_network: 'Ask the insurance company what the plan pays out of network.',
};

const TO_SHARE =
  'Tell the patient that the plan pays for only part of the visit, or split the visit.';

/** Returns what to do about a reason; null: nothing. An open reason is a question (G8). */
export function stepFor({ code, effect }: Pick<Weighed, 'code' | 'effect'>): string | null {
  if (effect === 'partly') return TO_SHARE;
  return (effect === 'unknown' ? TO_ASK[code] : undefined) ?? TO_DO[code] ?? null;
}

/** Returns what to do about a verdict, without repeats, in the order of its reasons. */
export function whatToDo(verdict: Verdict): string[] {
  const reasons = [...verdict.reasons, ...verdict.procedures.flatMap(({ reasons: own }) => own)];
  return [...new Set(reasons.flatMap((reason) => stepFor(reason) ?? []))];
}
