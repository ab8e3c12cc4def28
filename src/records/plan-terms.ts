/**
 * Plan terms that a payer stated and that remain valid after the call: shares and limits of codes
 * and classes. Terms are valid for the plan year. Eligibility and used amounts change all the time
 * and are never taken from an earlier call.
 *
 * eligd reuses terms only for plans whose year is the calendar year, because nobody states when
 * another plan year ends. Terms from another patient's call count only if both patients are adults
 * in the same group, and the payer named the same plan, network, and amounts for both.
 */
import { isDate, type LocalDate, localDate } from '../domain/time.ts';
import { ageOn } from './ages.ts';
import type {
  BenefitRule,
  EarlierTerm,
  EligibilityRecord,
  Money,
  ProcedureCodeBenefits,
} from './eligibility.ts';

/** A share or limit that the payer stated. */
type PlanTerm = Pick<EarlierTerm, 'kind' | 'name' | 'title' | 'benefits' | 'said_on'>;

/** A term from the call of another patient in the same group. */
export type SharedTerm = PlanTerm & { mark: string };

/** An answer about the patient in this plan year. */
export type OwnAnswer = { record: EligibilityRecord; said_on: LocalDate };

/** The maximum number in one record, to keep records short; the newest count. */
const TERMS_MAX = 100;
/** From this age on, what a plan pays depends on age only through stated limits. */
const ADULT_FROM = 19;

/** Returns the date of an answer's last call in a time zone; null: unknown. */
export function saidOnDay(record: EligibilityRecord, time_zone: string): LocalDate | null {
  const ends = record.calls.flatMap(({ ended_at }) => ended_at ?? []).sort();
  const at = ends.at(-1) ?? record.inquiry_created_at;
  return at === null ? null : localDate(Date.parse(at), time_zone);
}

/**
 * Returns the mark of the plan as the payer named it. Answers with the same mark concern the same
 * plan. Null: the answer does not identify the plan, or the plan year is not the calendar year.
 */
export function planMark({ outcome, plan, maximums }: EligibilityRecord): string | null {
  if (outcome !== 'successful' || plan?.is_active !== true || maximums === undefined) return null;
  const name = plain(plan.plan_name);
  const in_network = plan.is_provider_in_network;
  if (plan.is_calendar_year_plan !== true || name === '' || in_network == null) return null;
  return JSON.stringify([name, plain(plan.plan_type), in_network, ...amountsOf(maximums)]);
}

function amountsOf(maximums: EligibilityRecord['maximums']): (string | null)[] {
  const { individual_deductible, coverage_limit, individual_out_of_pocket_maximum } =
    maximums ?? {};
  return [individual_deductible, coverage_limit, individual_out_of_pocket_maximum].map(
    (allowance) => moneyText(allowance?.amount),
  );
}

/** Returns whether an incomplete description of a plan is consistent with this mark. */
function mayBeUnder(mark: string, { plan, maximums }: EligibilityRecord): boolean {
  if (plan?.is_active === false || plan?.is_calendar_year_plan === false) return false;
  const said = [
    ...[plain(plan?.plan_name), plain(plan?.plan_type), plan?.is_provider_in_network],
    ...amountsOf(maximums),
  ];
  const marked = JSON.parse(mark) as unknown[];
  return said.every((part, index) => part == null || part === '' || part === marked[index]);
}

/** Returns the name of the plan in a mark. */
function markedName(mark: string): string {
  const [name] = JSON.parse(mark) as [string];
  return name;
}

/** Returns the plan's name in an answer, comparable with `markedName`; empty: not named. */
export const planName = ({ plan }: EligibilityRecord) => plain(plan?.plan_name);

const plain = (words: string | null | undefined) =>
  (words ?? '').toUpperCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

function moneyText(money: Money | null | undefined): string | null {
  if (money == null) return null;
  return 'amount' in money ? money.amount : plain(money.text);
}

/**
 * Returns the decisive terms in an answer: a code or class is covered with a share, or not covered.
 */
function termsOf({ record, said_on }: OwnAnswer): PlanTerm[] {
  const codes = record.procedure_codes?.codes ?? [];
  const isTwice = ({ code }: ProcedureCodeBenefits) =>
    codes.filter((other) => other.code === code).length > 1;
  return [
    ...codes
      .filter((entry) => entry.answered && isDecided(entry.benefits) && !isTwice(entry))
      .map(({ code, name, benefits }) => ({
        ...{ kind: 'code' as const, name: code, title: name, benefits, said_on },
      })),
    ...(record.procedure_classes?.classes ?? [])
      .filter((entry) => entry.answered && isDecided(entry.benefits))
      .map(({ name, benefits }) => ({
        ...{ kind: 'class' as const, name, title: null, benefits, said_on },
      })),
  ];
}

function isDecided(rule: BenefitRule): boolean {
  if (rule.is_covered !== true) return rule.is_covered === false;
  const { copay } = rule;
  return (
    typeof rule.plan_pays_percent === 'number' ||
    typeof rule.patient_pays_percent === 'number' ||
    (copay != null && 'amount' in copay)
  );
}

/** Returns whether eligd may learn or reuse terms for a patient with this birth date. */
export function isAdult(birth_date: string | null, day: LocalDate): boolean {
  return birth_date !== null && isDate(birth_date) && (ageOn(birth_date, day) ?? 0) >= ADULT_FROM;
}

/**
 * Returns the terms of an answer that also apply to others in the group: covered codes with their
 * numbers and limits. "Not covered" and terms in words may concern only this patient.
 */
export function sharedTerms(answer: OwnAnswer): SharedTerm[] {
  const mark = planMark(answer.record);
  if (mark === null) return [];
  return termsOf(answer)
    .filter(({ kind, benefits }) => kind === 'code' && benefits.is_covered === true)
    .map((term) => {
      const { more_info: _, limitations: __, ...benefits } = term.benefits;
      return { ...term, benefits, mark };
    });
}

/** Returns whether two statements about the same term contradict each other. */
export function contradict(one: BenefitRule, other: BenefitRule): boolean {
  const fields = [
    ...(['is_covered', 'plan_pays_percent', 'patient_pays_percent', 'copay', 'age_limit'] as const),
    ...(['is_prior_auth_required', 'is_deductible_waived', 'is_downgraded'] as const),
  ];
  return fields.some((name) => {
    const [first, second] = [one[name], other[name]];
    return first != null && second != null && JSON.stringify(first) !== JSON.stringify(second);
  });
}

/** What eligd knows about a plan before a call. */
type KnownTerms = {
  /** The newest day on which a term was stated; null: none. */
  benefits_on: LocalDate | null;
  codes: ReadonlySet<string>;
};

const NOTHING: KnownTerms = { benefits_on: null, codes: new Set() };

/**
 * Returns the known terms. `own`: the patient's answers of this plan year, the newest first.
 * `shared`: terms of the group, empty if they may not be used. `plan_name`: the last one that the
 * payer named for the patient. If the group has several plans, only the next answer shows which one
 * is the patient's; until then, only terms known for each of them count.
 */
export function knownTerms(
  own: readonly OwnAnswer[],
  shared: readonly SharedTerm[],
  plan_name: string,
): KnownTerms {
  const marks = marksOf(own, shared, plan_name);
  const [first = null, ...others] = marks.map((mark) => termsUnder(mark, own, shared));
  if (first === null) return NOTHING;
  const terms = first.filter(({ kind, name }) =>
    others.every((of_other) => of_other.some((term) => term.kind === kind && term.name === name)),
  );
  return {
    benefits_on:
      terms
        .map(({ said_on }) => said_on)
        .sort()
        .at(-1) ?? null,
    codes: new Set(terms.flatMap(({ kind, name }) => (kind === 'code' ? [name] : []))),
  };
}

/**
 * Returns the plans that may be the patient's. Details that are missing in the newest answer come
 * from the answers before it, or else from the group's plans.
 */
function marksOf(
  own: readonly OwnAnswer[],
  shared: readonly SharedTerm[],
  plan_name: string,
): string[] {
  const of_group = [...new Set(shared.map(({ mark }) => mark))];
  const [newest] = own;
  if (newest === undefined)
    return of_group.filter((mark) => plan_name === '' || markedName(mark) === plan_name);
  const before = own.map(({ record }) => planMark(record)).find((mark) => mark !== null);
  return (before == null ? of_group : [before]).filter((mark) => mayBeUnder(mark, newest.record));
}

function termsUnder(
  mark: string,
  own: readonly OwnAnswer[],
  shared: readonly SharedTerm[],
): PlanTerm[] {
  return [
    ...own.filter(({ record }) => planMark(record) === mark).flatMap(termsOf),
    ...shared.filter((term) => term.mark === mark),
  ];
}

/**
 * Returns the record with the known terms that this call did not ask about. Adds nothing unless
 * this answer names the same plan as the earlier one.
 */
export function withEarlier(
  record: EligibilityRecord,
  own: readonly OwnAnswer[],
  shared: readonly SharedTerm[],
): EligibilityRecord {
  const mark = planMark(record);
  if (mark === null) return record;
  const began = record.plan?.effective_date ?? null;
  const earlier: EarlierTerm[] = [];
  for (const answer of own) {
    if (planMark(answer.record) !== mark || hasBegunSince(answer, began)) continue;
    const call = answer.record.calls.at(-1);
    const source = {
      about: 'patient' as const,
      inquiry_id: answer.record.inquiry_id,
      representative: call?.representative ?? null,
      reference_number: call?.reference_number ?? null,
    };
    earlier.push(...termsOf(answer).map((term) => ({ ...term, ...source })));
  }
  const source = { about: 'plan' as const, inquiry_id: null };
  for (const { mark: of, ...term } of shared)
    if (of === mark)
      earlier.push({ ...term, ...source, representative: null, reference_number: null });
  const unasked = earlier.filter(
    (term, index) =>
      !isAsked(record, term) &&
      earlier.findIndex(({ kind, name }) => kind === term.kind && name === term.name) === index,
  );
  return unasked.length === 0 ? record : { ...record, earlier: unasked.slice(0, TERMS_MAX) };
}

/** Returns whether the coverage has begun since then, which makes it another coverage. */
function hasBegunSince({ record, said_on }: OwnAnswer, began: LocalDate | null): boolean {
  const before = record.plan?.effective_date ?? null;
  return began !== null && (began > said_on || (before !== null && before !== began));
}

function isAsked(
  { procedure_codes, procedure_classes }: EligibilityRecord,
  { kind, name }: PlanTerm,
): boolean {
  if (kind === 'class') return procedure_classes !== undefined;
  return (procedure_codes?.codes ?? []).some(({ code }) => code === name);
}
