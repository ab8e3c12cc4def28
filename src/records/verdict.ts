/**
 * Judges a visit as an experienced biller would for the front desk: whether the visit is covered,
 * what the plan does for each scheduled procedure and why, and what the patient pays. Pure, over
 * the record of one coverage and the visit. Unknown is never no (G8), and never yes. A verdict is
 * based on what a payer said on the phone and guarantees nothing; whatever shows it also shows
 * `VERDICT_CAUTION`.
 *
 * `docs/verdicts.md` has the rules.
 */
import type { BenefitRule, EligibilityRecord } from './eligibility.ts';
import { comparableCode } from './values.ts';
import { outOfPocketLeft } from './verdict/allowances.ts';
import { type Billed, patientPays, waysOf } from './verdict/dollars.ts';
import { type ProcedureFacts, procedureFacts } from './verdict/facts.ts';
import { nextEligibleOf } from './verdict/limits.ts';
import { usedUpMaximum } from './verdict/maximum.ts';
import { type CentRange, centsOf, dollarsOf } from './verdict/money.ts';
import { networkReasons, planReasons, unknownPlan, visitReasons } from './verdict/plan.ts';
import { procedureReasons, remarksOf } from './verdict/procedure.ts';
import {
  fact,
  type ReasonCode,
  type Standing,
  type VerdictWord,
  type Weighed,
} from './verdict/reasons.ts';
import { patientPercent } from './verdict/share.ts';

export type { Fact, Reason, ReasonCode, Standing, VerdictWord } from './verdict/reasons.ts';
export { REASON_CODES, STANDINGS, VERDICTS } from './verdict/reasons.ts';

export const VERDICT_CAUTION =
  'From what the insurance company said on the phone; not a guarantee of payment.';

export type JudgedVisit = {
  /** The day of the visit in the clinic's zone, `YYYY-MM-DD`. */
  date: string;
  /** `YYYY-MM-DD`; null when it is not known. */
  birth_date: string | null;
  /** A code that is scheduled twice appears twice. */
  procedure_codes: readonly string[];
  /** US dollars as decimal text, by code, for all its repeats; a code without a fee is left out. */
  fees: Readonly<Record<string, string>>;
  /** 1, the default, is the primary coverage in the practice software. */
  coverage_rank?: number;
};

/** Dollars as decimal text with two decimals; both are equal when nothing is uncertain. */
export type PatientPays = { low: string; high: string; currency: 'USD' };

export type ProcedureVerdict = {
  /** Upper case; a dental code with its D. */
  code: string;
  standing: Standing;
  reasons: Weighed[];
  /** The payer's other words, quoted. */
  remarks: string[];
  /**
   * `YYYY-MM-DD`: when the plan pays for it again; set only if nothing but a used-up limit prevents
   * it.
   */
  next_eligible: string | null;
  /** The plan's share if it applies as stated: payable, in network, not downgraded, no copay. */
  plan_pays_percent: number | null;
  /** Dollars; if it applies as stated. */
  copay: string | null;
  fee: string | null;
  /** Null when no fee is known. */
  patient_pays: PatientPays | null;
};

export type Verdict = {
  /** The day of the visit that was judged. */
  date: string;
  standing: VerdictWord;
  /** The reasons that concern the visit as a whole; each procedure has its own. */
  reasons: Weighed[];
  /** In the order of the visit, each code once. */
  procedures: ProcedureVerdict[];
  /** Codes in the record that are not in the visit, judged as if each were scheduled alone. */
  others: ProcedureVerdict[];
  /** The verdict about the plan as a whole, regardless of procedures. */
  plan: { standing: Standing; reasons: ReasonCode[] };
  /** For the whole visit; null unless the fee of each scheduled code is known. */
  patient_pays: PatientPays | null;
};

/** Judges a visit. Pure; works for every record and visit. */
export function judge(record: EligibilityRecord, visit: JudgedVisit): Verdict {
  const verdict = judgeScheduled(record, visit);
  const scheduled = new Set(verdict.procedures.map(({ code }) => code));
  const named = new Set((record.procedure_codes?.codes ?? []).map(({ code }) => code));
  const others = [...named].filter((code) => !scheduled.has(code));
  if (others.length === 0) return verdict;
  return {
    ...verdict,
    others: others.flatMap(
      (code) => judgeScheduled(record, { ...visit, procedure_codes: [code], fees: {} }).procedures,
    ),
  };
}

function judgeScheduled(record: EligibilityRecord, visit: JudgedVisit): Verdict {
  const is_dental = record.specialty === 'dental';
  const planned = visit.procedure_codes
    .map((code) => comparableCode(code, is_dental))
    .filter((code) => code !== '');
  const codes = [...new Set(planned)];
  const fees = feesOf(visit.fees, is_dental);
  if (record.outcome !== 'successful') return unanswered(record, { date: visit.date, codes, fees });
  const rank = visit.coverage_rank ?? 1;
  const over = planReasons(record, visit.date);
  const shared =
    over.length > 0 ? over : [...unknownPlan(record, visit.date), ...networkReasons(record)];
  const charged = codes.reduce((sum, code) => sum + (fees.get(code) ?? 0), 0);
  const judged = codes.map((code) =>
    judgeProcedure(record, { code, planned, charged, visit, shared, is_over: over.length > 0 }),
  );
  // Applies to everything the plan pays for, such as the classes of procedures.
  const of_plan = [...shared, ...usedUpMaximum(record)];
  const of_visit = [...shared, ...(over.length > 0 ? [] : visitReasons(record, rank))];
  const billed = judged.map(
    ({ facts, standing, has_other_shares }): Billed => ({
      fee: fees.get(facts.code) ?? null,
      ways: waysOf(facts, standing, has_other_shares),
    }),
  );
  const paid = patientPays(record, billed);
  const is_second = rank > 1 || of_visit.some(({ code }) => code === 'not_primary');
  // The amount that another coverage pays first is unknown here.
  const lowered = (range: CentRange | null | undefined, is_open = true) =>
    range == null ? null : dollars(is_second && is_open ? { ...range, low: 0 } : range);
  const procedures = judged.map(({ facts, standing, reasons, has_other_shares }, index) => ({
    code: facts.code,
    standing,
    reasons,
    remarks: remarksOf(facts, reasons),
    next_eligible: nextEligibleOf(facts, reasons),
    ...sharesAsSaid(facts, standing, has_other_shares),
    fee: feeText(fees, facts.code),
    patient_pays: lowered(paid.each[index], rank > 1 || standing !== 'not_payable'),
  }));
  return {
    date: visit.date,
    standing: worstOf(of_visit, procedures),
    reasons: of_visit,
    procedures,
    others: [],
    plan: { standing: standingOf(of_plan), reasons: of_plan.map(({ code }) => code) },
    patient_pays: lowered(
      paid.total,
      rank > 1 || procedures.some(({ standing }) => standing !== 'not_payable'),
    ),
  };
}

function feesOf(fees: JudgedVisit['fees'], is_dental: boolean): Map<string, number> {
  return new Map(
    Object.entries(fees).flatMap(([code, fee]): [string, number][] => {
      const cents = centsOf(fee);
      return cents === null ? [] : [[comparableCode(code, is_dental), cents]];
    }),
  );
}

function feeText(fees: ReadonlyMap<string, number>, code: string): string | null {
  const cents = fees.get(code);
  return cents === undefined ? null : dollarsOf(cents);
}

const dollars = ({ low, high }: CentRange): PatientPays => ({
  low: dollarsOf(low),
  high: dollarsOf(high),
  currency: 'USD',
});

/** The call got no answer: nothing is known, and no amount is stated. */
function unanswered(
  record: EligibilityRecord,
  { date, codes, fees }: { date: string; codes: string[]; fees: ReadonlyMap<string, number> },
): Verdict {
  const reason: Weighed = {
    code: 'no_answer',
    effect: 'unknown',
    text: 'The insurance company gave no answer.',
    facts: [fact('outcome', record.outcome)],
  };
  const procedures = codes.map((code) => ({
    code,
    standing: 'unknown' as const,
    reasons: [reason],
    remarks: [],
    next_eligible: null,
    plan_pays_percent: null,
    copay: null,
    fee: feeText(fees, code),
    patient_pays: null,
  }));
  return {
    date,
    standing: 'incomplete',
    reasons: [reason],
    procedures,
    others: [],
    plan: { standing: 'unknown', reasons: ['no_answer'] },
    patient_pays: null,
  };
}

type Judged = {
  facts: ProcedureFacts;
  standing: Standing;
  reasons: Weighed[];
  /** The plan pays, but the stated shares do not apply unchanged. */
  has_other_shares: boolean;
};

function judgeProcedure(
  record: EligibilityRecord,
  {
    code,
    planned,
    charged,
    visit,
    shared,
    is_over,
  }: {
    code: string;
    planned: readonly string[];
    charged: number;
    visit: JudgedVisit;
    shared: readonly Weighed[];
    is_over: boolean;
  },
): Judged {
  const facts = procedureFacts(record, code, {
    date: visit.date,
    birth_date: visit.birth_date,
    charged,
    // A code that is not covered does not use up a shared limit.
    planned: planned.filter((one) => one === code || !isNotCovered(record, one)),
  });
  // Without a plan in force, nothing else matters.
  const reasons = is_over ? [...shared] : [...shared, ...procedureReasons(facts)];
  return {
    facts,
    standing: standingOf(reasons),
    reasons,
    has_other_shares: reasons.some(({ effect }) => effect === 'note'),
  };
}

function isNotCovered({ procedure_codes }: EligibilityRecord, code: string): boolean {
  const said = (procedure_codes?.codes ?? []).filter((entry) => entry.code === code);
  return said.length > 0 && said.every(({ benefits }) => benefits.is_covered === false);
}

/** If the plan certainly does not pay, other unknowns do not matter; unknown is never yes. */
function standingOf(reasons: readonly Weighed[]): Standing {
  const has = (effect: Weighed['effect']) => reasons.some((reason) => reason.effect === effect);
  if (has('no')) return 'not_payable';
  if (has('partly') || has('unknown')) return 'unknown';
  return has('authorization') ? 'needs_authorization' : 'payable';
}

/** A share is stated only if the plan pays exactly that share. */
function sharesAsSaid(
  facts: ProcedureFacts,
  standing: Standing,
  has_other_shares: boolean,
): Pick<ProcedureVerdict, 'plan_pays_percent' | 'copay'> {
  // Once the out-of-pocket maximum is met, the plan pays more than its share.
  const is_met = outOfPocketLeft(facts.record).high === 0;
  if (standing !== 'payable' || has_other_shares || is_met)
    return { plan_pays_percent: null, copay: null };
  const { copay } = facts.rule;
  const patient = patientPercent(facts);
  if (copay != null && 'amount' in copay) {
    // Next to a share, a copay of 0 may mean that there is no copay.
    const is_sure = (patient ?? 0) === 0 || (centsOf(copay.amount) ?? 0) > 0;
    return { plan_pays_percent: null, copay: is_sure ? copay.amount : null };
  }
  const plan = patient === null ? null : Math.round((100 - patient) * 1e6) / 1e6;
  return { plan_pays_percent: plan, copay: null };
}

const OVER: ReadonlySet<ReasonCode> = new Set(['plan_inactive', 'plan_ended', 'plan_not_begun']);
/** Reasons for which the office has to act before the visit. */
const TO_ATTEND: ReadonlySet<ReasonCode> = new Set([
  'out_of_network',
  'downgrade',
  'prior_authorization',
  'referral_required',
  'not_primary',
]);

/**
 * Returns whether the coverage is in force on the day of the visit: not if the payer says so, or if
 * it has ended or not begun by then. Null: unknown.
 */
export function holdsAt({ plan, outcome }: EligibilityRecord, verdict: Verdict): boolean | null {
  if (verdict.standing === 'not_eligible') return false;
  return outcome === 'successful' ? (plan?.is_active ?? null) : null;
}

/** Returns the verdict about a class: that of the plan, unless the class is not covered. */
export const classStanding = ({ plan }: Verdict, { is_covered }: BenefitRule): Standing =>
  is_covered === false ? 'not_payable' : plan.standing;

/** No reason about a procedure makes a visit ineligible. */
function worstOf(
  of_visit: readonly Weighed[],
  procedures: readonly Pick<ProcedureVerdict, 'standing' | 'reasons'>[],
): VerdictWord {
  const all = [...of_visit, ...procedures.flatMap(({ reasons }) => reasons)];
  const codes = all.map(({ code }) => code);
  const standings = procedures.map(({ standing }) => standing);
  if (of_visit.some(({ code }) => OVER.has(code))) return 'not_eligible';
  if (
    codes.some((code) => TO_ATTEND.has(code)) ||
    all.some(({ effect }) => effect === 'partly') ||
    standings.includes('not_payable') ||
    standings.includes('needs_authorization')
  )
    return 'attention';
  return codes.includes('plan_unknown') || standings.includes('unknown')
    ? 'incomplete'
    : 'eligible';
}
