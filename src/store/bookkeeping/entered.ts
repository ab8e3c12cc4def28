/**
 * An answer that the office got itself. It becomes an inquiry that is answered already, so that
 * everything after it is as with any other: a record, a verdict, a delivery. The calling service
 * knows nothing of it and no call follows from it, because it is the newest for its need (G1).
 */
import { randomUUID } from 'node:crypto';
import { ANSWER_REASONS } from '../../domain/attention.ts';
import { draftMatchKey, type InquiryDraft } from '../../domain/inquiry.ts';
import { storeAnswer } from '../answers/answers.ts';
import { inquiryById, latestForNeed, moveInquiries } from '../calls/inquiries.ts';
import { appointmentsOf, inquiriesOf, link, setPlanDue, unlink } from '../calls/links.ts';
import type { Tx } from '../engine/database.ts';
import { resolveAttention } from './attention.ts';
import { inquirySubject, writeAudit } from './audit.ts';

export type EnteredAnswer = {
  appointment: { id: number; connector: string; patient_key: string; starts_at: number };
  coverage: { rank: number; need_base: string; benefit_year: number; draft: InquiryDraft };
  external_id: string;
  /** Who typed it in. */
  entered_by: string;
  /** In the service's form of results, so that it is read like any other answer. */
  results: Record<string, unknown>;
  summary: string | null;
};

/** Returns the inquiry. */
export async function enterAnswer(tx: Tx, entered: EnteredAnswer, now: number): Promise<number> {
  const { appointment, coverage, entered_by, results, summary } = entered;
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
      service_id: null,
      reply_group: null,
      sent_at: null,
      lookup_at: null,
      poll_at: null,
      hollow_since: null,
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
    id: `office-${randomUUID()}`,
    status: 'SUCCESS',
    creation_ts: new Date(now).toISOString(),
    summary,
    results,
    request: {},
  };
  await storeAnswer(tx, { inquiry: id, service_status: 'SUCCESS', raw, content_hash: raw.id }, now);
  for (const other of await inquiriesOf(tx, appointment.id))
    if (other.coverage_rank === rank)
      await resolveAttention(tx, inquirySubject(other.id), now, ANSWER_REASONS);
  await setPlanDue(tx, appointment.id, now, null);
  return id;
}

/** What was planned for the same coverage is not needed any more, and has cost nothing yet. */
async function withdrawPlanned(
  tx: Tx,
  { appointment, coverage, entered_by }: EnteredAnswer,
  now: number,
): Promise<void> {
  for (const { id, coverage_rank } of await inquiriesOf(tx, appointment.id)) {
    const inquiry = coverage_rank === coverage.rank ? await inquiryById(tx, id) : null;
    if (inquiry?.state !== 'planned') continue;
    await unlink(tx, id, appointment.id, now);
    if ((await appointmentsOf(tx, id)).length > 0) continue;
    const reason = `The office (${entered_by}) entered the answer itself.`;
    await moveInquiries(tx, [id], { from: 'planned', to: 'withdrawn', reason }, now);
  }
}
