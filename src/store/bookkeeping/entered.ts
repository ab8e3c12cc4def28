/**
 * Stores an answer that the office obtained itself. It becomes an inquiry that is already answered,
 * so that it is processed like any other: a record, a verdict, a delivery. The calling service does
 * not know it, and it leads to no call, because it is the newest inquiry for its need (G1).
 */
import { ANSWER_REASONS, type AttentionReason } from '../../domain/attention.ts';
import type { EnteredCoverage } from '../../domain/entered.ts';
import type { ClosedReason } from '../../domain/explanation.ts';
import { draftMatchKey } from '../../domain/inquiry.ts';
import { answerHash, latestAnswer, storeAnswer } from '../answers/answers.ts';
import { inquiryById, latestForNeed, moveInquiries } from '../calls/inquiries.ts';
import { appointmentsOf, inquiriesOf, link, unlink } from '../calls/links.ts';
import { planAgain, planVisitAgain } from '../calls/plan-due.ts';
import type { Tx } from '../engine/database.ts';
import { resolveAttention } from './attention.ts';
import { inquirySubject, writeAudit } from './audit.ts';

type EnteredAnswer = {
  appointment: {
    id: number;
    connector: string;
    patient_key: string;
    starts_at: number;
    closed_reason: ClosedReason | null;
  };
  coverage: EnteredCoverage;
  /** ID of the submitted form, so that submitting it twice stores one answer. */
  form_id: string;
  external_id: string;
  /** Who entered it. */
  entered_by: string;
  /** In the format of the service's results, so that it is read like any other answer. */
  results: Record<string, unknown>;
  summary: string | null;
};

/** Items about a call that no longer matter once the office has the answer. */
const SETTLED: readonly AttentionReason[] = [
  ...ANSWER_REASONS,
  'answer_unusable',
  'undecidable',
  'lost_at_service',
  'refused',
];

/** `saved`: when the same form was submitted before, and whether its content was the same. */
export type Entered = { kind: 'entered' } | { kind: 'saved'; at: number; is_same: boolean };

export async function enterAnswer(tx: Tx, entered: EnteredAnswer, now: number): Promise<Entered> {
  const { appointment, coverage, entered_by, form_id, results, summary } = entered;
  const saved = await savedBefore(tx, entered);
  if (saved !== null) return saved;
  await withdrawPlanned(tx, entered, now);
  const newest = await latestForNeed(tx, coverage.need_base, coverage.benefit_year);
  const reason = `Entered by the office (${entered_by}); eligd made no call.`;
  const { id } = await tx
    .insertInto('inquiries')
    .values({
      connector: appointment.connector,
      need_base: coverage.need_base,
      benefit_year: coverage.benefit_year,
      attempt: (newest?.attempt ?? 0) + 1,
      retry: 0,
      patient_key: appointment.patient_key,
      specialty: coverage.draft.specialty,
      external_id: entered.external_id,
      match_key: draftMatchKey(coverage.draft),
      draft: JSON.stringify(coverage.draft),
      due_at: now,
      visit_at: appointment.starts_at,
      state: 'answered',
      service_status: 'SUCCESS',
      entered_by,
      answered_at: now,
      reason,
      hold_reason: null,
      lookup_at: null,
      poll_at: null,
      empty_since: null,
      announced_asks: null,
      overdue_since: null,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await writeAudit(tx, [
    { at: now, subject: inquirySubject(id), from_state: null, to_state: 'entered', reason },
  ]);
  const { rank, draft } = coverage;
  await link(tx, { inquiry: id, appointment: appointment.id, coverage_rank: rank, draft }, now);
  const raw = {
    id: rawId(form_id),
    status: 'SUCCESS',
    creation_ts: new Date(now).toISOString(),
    summary,
    results,
    request: {},
  };
  await storeAnswer(tx, { inquiry: id, service_status: 'SUCCESS', raw, content_hash: raw.id }, now);
  for (const other of await inquiriesOf(tx, appointment.id))
    if (other.coverage_rank === rank) {
      await resolveAttention(tx, inquirySubject(other.id), now, SETTLED);
      // Its other visits get this answer, too, or their entry again (G2).
      await planAgain(tx, [other.id]);
    }
  // A closed visit is not planned again: eligd would call for its other coverages.
  if (appointment.closed_reason === null) await planVisitAgain(tx, appointment.id);
  return { kind: 'entered' };
}

const rawId = (form_id: string) => `office-${form_id}`;

/** Returns the answer that was saved from the same form, if any. */
async function savedBefore(
  tx: Tx,
  { appointment, form_id, results, summary }: EnteredAnswer,
): Promise<Entered | null> {
  for (const { id } of await inquiriesOf(tx, appointment.id)) {
    const raw = (await latestAnswer(tx, id))?.raw as Partial<Raw> | undefined;
    if (raw?.id !== rawId(form_id)) continue;
    const said = (given: Pick<Raw, 'results' | 'summary'>) =>
      answerHash({ status: '', summary: given.summary, results: withoutTime(given.results) });
    const { creation_ts = '' } = raw;
    const before = { results: raw.results ?? {}, summary: raw.summary ?? null };
    const is_same = said(before) === said({ results, summary });
    return { kind: 'saved', at: Date.parse(creation_ts), is_same };
  }
  return null;
}

type Raw = {
  id: string;
  creation_ts: string;
  results: Record<string, unknown>;
  summary: string | null;
};

/**
 * Returns the results without the time of entry, which differs between two submissions of a form.
 */
function withoutTime(results: Record<string, unknown>): Record<string, unknown> {
  const { call_details } = results;
  const calls = (Array.isArray(call_details) ? (call_details as object[]) : []).map((call) => ({
    ...call,
    call_end_time: null,
  }));
  return { ...results, call_details: calls };
}

/**
 * Withdraws the planned inquiry for the same coverage: it is not needed anymore and has cost
 * nothing yet.
 */
async function withdrawPlanned(
  tx: Tx,
  { appointment, coverage, entered_by }: EnteredAnswer,
  now: number,
): Promise<void> {
  for (const { id, coverage_rank } of await inquiriesOf(tx, appointment.id)) {
    const inquiry = coverage_rank === coverage.rank ? await inquiryById(tx, id) : null;
    if (inquiry?.state !== 'planned') continue;
    await unlink(tx, id, appointment.id, now);
    if ((await appointmentsOf(tx, id)).length > 0) {
      // The answer may serve the other visits, too (G1).
      await planAgain(tx, [id]);
      continue;
    }
    const reason = `The office (${entered_by}) entered the answer itself.`;
    await moveInquiries(tx, [id], { from: 'planned', to: 'withdrawn', reason }, now);
  }
}
