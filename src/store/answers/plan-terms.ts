/** Plan terms from earlier answers, about a patient's plan and about the plans of groups. */
import { sql } from 'kysely';
import { type InquiryDraft, parseDraft } from '../../domain/inquiry.ts';
import { planKey } from '../../domain/plan-key.ts';
import { addDays, type LocalDate, localDate, yearOf } from '../../domain/time.ts';
import type { BenefitRule, EligibilityRecord } from '../../records/eligibility.ts';
import {
  contradict,
  isAdult,
  type OwnAnswer,
  type SharedTerm,
  saidOnDay,
  sharedTerms,
  withEarlier,
} from '../../records/plan-terms.ts';
import type { InquiryRow } from '../calls/inquiries.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { latestRecord } from './answers.ts';

/** Only this many recent calls under one coverage of a patient count. */
const CALLS_MAX = 6;

/** The settings that decide how long plan terms are valid. */
type TermRules = { time_zone: string; benefits_days: number };

/** An answer about the patient, from any year. */
export type PatientAnswer = OwnAnswer & { inquiry: InquiryRow };

/** Returns the payers' answers about a need, newest first. */
export async function answersOfNeed(
  tx: Db | Tx,
  need_base: string,
  { time_zone }: Pick<TermRules, 'time_zone'>,
): Promise<PatientAnswer[]> {
  const answers: PatientAnswer[] = [];
  for (const inquiry of await ANSWERED(tx, { need_base })) {
    const record = (await latestRecord(tx, inquiry.id))?.record;
    if (record?.schema !== 'eligd.eligibility/1' || record.outcome !== 'successful') continue;
    const answered_at = inquiry.answered_at ?? inquiry.updated_at;
    const said_on = saidOnDay(record, time_zone) ?? localDate(answered_at, time_zone);
    answers.push({ record, said_on, inquiry });
  }
  return answers;
}

const ANSWERED = prepared<{ need_base: string }>()((db, place) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('need_base', '=', place('need_base'))
    .where('state', '=', sql.lit('answered'))
    .orderBy('benefit_year', 'desc')
    .orderBy('attempt', 'desc')
    .limit(sql.lit(CALLS_MAX)),
);

/** Returns the answers whose terms are valid in a plan year on a given day. */
export function inPlanYear<Answer extends { said_on: LocalDate }>(
  answers: readonly Answer[],
  {
    benefit_year,
    day,
    benefits_days,
  }: { benefit_year: number; day: LocalDate; benefits_days: number },
): Answer[] {
  const since = addDays(day, -Math.floor(benefits_days));
  return answers.filter(
    ({ said_on }) => yearOf(said_on) === benefit_year && said_on >= since && said_on <= day,
  );
}

/**
 * Returns terms from calls about other patients in the group that also apply to this patient, who
 * must be an adult in a group. Leaves out disputed terms.
 */
export async function termsOfGroup(
  tx: Db | Tx,
  draft: InquiryDraft,
  { benefit_year, day }: { benefit_year: number; day: LocalDate },
): Promise<SharedTerm[]> {
  const plan_key = planKey(draft);
  if (plan_key === null || !isAdult(draft.dob, day)) return [];
  const rows = await tx
    .selectFrom('plan_terms')
    .select(['mark', 'name', 'title', 'benefits', 'said_on'])
    .where('plan_key', '=', plan_key)
    .where('benefit_year', '=', benefit_year)
    .where('is_disputed', '=', 0)
    .orderBy('said_on', 'desc')
    .orderBy('name')
    .execute();
  return rows.map((row) => ({
    ...row,
    kind: 'code' as const,
    benefits: JSON.parse(row.benefits) as BenefitRule,
  }));
}

/** Returns the record with the plan terms that were known before this call, each with its date. */
export async function addEarlier(
  tx: Tx,
  row: InquiryRow,
  record: EligibilityRecord,
  { time_zone, benefits_days }: TermRules,
): Promise<EligibilityRecord> {
  const { benefit_year } = row;
  const day = saidOnDay(record, time_zone) ?? localDate(row.updated_at, time_zone);
  // The payer may have spoken of either plan year in a call before New Year's.
  if (yearOf(day) !== benefit_year) return record;
  const within = { benefit_year, day, benefits_days };
  const before = (await answersOfNeed(tx, row.need_base, { time_zone })).filter(
    ({ inquiry }) => inquiry.benefit_year === benefit_year && inquiry.attempt < row.attempt,
  );
  const group = await termsOfGroup(tx, parseDraft(row.draft), { benefit_year, day });
  return withEarlier(record, inPlanYear(before, within), inPlanYear(group, within));
}

/** Saves the plan terms in the answer for other patients of the group. */
export async function keepTerms(
  tx: Tx,
  row: InquiryRow,
  record: EligibilityRecord,
  { time_zone }: Pick<TermRules, 'time_zone'>,
): Promise<void> {
  const draft = parseDraft(row.draft);
  const plan_key = planKey(draft);
  const said_on = saidOnDay(record, time_zone);
  // Answers that the office entered are not shared: nothing verifies them.
  if (plan_key === null || said_on === null || row.entered_by !== null) return;
  if (yearOf(said_on) !== row.benefit_year || !isAdult(draft.dob, said_on)) return;
  const { benefit_year, id: inquiry } = row;
  const terms = sharedTerms({ record, said_on });
  const [first] = terms;
  if (first === undefined) return;
  const known = await tx
    .selectFrom('plan_terms')
    .select(['name', 'benefits', 'said_on', 'inquiry', 'is_disputed'])
    .where('plan_key', '=', plan_key)
    .where('benefit_year', '=', benefit_year)
    .where('mark', '=', first.mark)
    .execute();
  for (const { mark, name, title, benefits } of terms) {
    const before = known.find((each) => each.name === name);
    const is_own = before?.inquiry === inquiry;
    const disputes =
      before !== undefined &&
      !is_own &&
      contradict(JSON.parse(before.benefits) as BenefitRule, benefits);
    if (before !== undefined && !is_own && !disputes && before.said_on > said_on) continue;
    const is_disputed = disputes || before?.is_disputed === 1 ? 1 : 0;
    const values = { title, benefits: JSON.stringify(benefits), said_on, inquiry, is_disputed };
    await tx
      .insertInto('plan_terms')
      .values({ plan_key, benefit_year, mark, name, ...values })
      .onConflict((conflict) =>
        conflict.columns(['plan_key', 'benefit_year', 'mark', 'name']).doUpdateSet(values),
      )
      .execute();
  }
}
