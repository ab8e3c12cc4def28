/** Finds or plans the inquiry that serves one coverage of a visit. */

import { LOST_REASONS } from '../../domain/attention.ts';
import { draftMatchKey, mergeDrafts } from '../../domain/inquiry.ts';
import { externalId } from '../../domain/needs.ts';
import { WAITS_FOR_PAYER } from '../../domain/payer-silence.ts';
import type { PlannedCoverage } from '../../domain/planning.ts';
import { HOUR_MS } from '../../domain/time.ts';
import { failureReadAt } from '../../store/answers/answers.ts';
import { nameNextVisit, raiseAgain, resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { answerBefore, makeNewest } from '../../store/calls/attempts.ts';
import {
  addPlanned,
  type InquiryRow,
  inquiryById,
  unsettledTwin,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import { leaveCall } from '../../store/calls/kept-holds.ts';
import { type AppointmentRow, link } from '../../store/calls/links.ts';
import type { Tx } from '../../store/engine/database.ts';
import { deliverAtRank } from './answers.ts';
import type { PlanContext } from './deps.ts';
import { firstHold, revise, revive, subjectOf } from './keep.ts';
import { notAsked } from './new-codes.ts';
import { leaveFailed, newestFor } from './reuse.ts';

/** Returns the inquiry that serves a coverage: an existing one (G1), or a new one. */
export async function inquiryFor(
  context: PlanContext,
  appointment: AppointmentRow,
  { coverage, held }: { coverage: PlannedCoverage; held: ReadonlySet<number> },
): Promise<InquiryRow | 'too_late' | 'too_late_again' | 'other_first' | 'clock_first'> {
  const { tx, external_id_template } = context;
  const { now, is_clock_trusted } = context.facts;
  const { newest, latest, reuse, failed } = await newestFor(context, appointment, {
    coverage,
    is_too_late: coverage.call_by < now,
  });
  const callable_at = await callableAt(context, latest, failed);
  const is_too_late = coverage.call_by < callable_at;
  if (is_too_late && (reuse !== 'serve' || latest?.state === 'planned')) {
    if (latest?.state === 'planned')
      await leaveCall(tx, { inquiry: latest.id, appointment: appointment.id }, now).then(() =>
        revise(context, latest.id),
      );
    const is_next_attempt =
      failed !== null || (latest !== null && latest.retry > 0 && latest.state !== 'answered');
    return is_next_attempt ? 'too_late_again' : 'too_late';
  }
  // Replacing an answer that seems too old costs a paid call, and the clock may be wrong (G1).
  if (reuse === 'new' && latest !== null && !is_clock_trusted) return 'clock_first';
  const label = externalId(external_id_template, appointment.connector, appointment.source_id);
  const hold = firstHold(appointment, coverage.rank, held);
  if (latest !== null && reuse === 'revive' && !(await canComeBack(tx, latest, label, now))) {
    for (const external_id of new Set([label, latest.external_id]))
      await freeLabel(context, { external_id, match_key: latest.match_key });
    return 'other_first';
  }
  if (latest !== null && reuse !== 'new')
    return await joinInquiry(context, appointment, coverage, {
      inquiry: latest,
      again: reuse === 'revive' ? { hold, due_at: callable_at } : null,
    });
  const before = failed === null ? newest : await makeNewest(tx, failed, now);
  const added = await addPlanned(
    tx,
    {
      connector: appointment.connector,
      need_base: coverage.need_base,
      benefit_year: coverage.benefit_year,
      attempt: (before?.attempt ?? 0) + 1,
      retry: failed === null ? 0 : failed.retry + 1,
      patient_key: appointment.patient_key,
      specialty: coverage.draft.specialty,
      external_id: label,
      match_key: draftMatchKey(coverage.draft),
      due_at: callable_at,
      visit_at: appointment.starts_at,
      hold_reason: hold,
      draft: mergeDrafts([coverage.draft]),
    },
    await reasonToCall(context, latest, coverage),
    now,
  );
  if (added === null) {
    await freeLabel(context, { external_id: label, match_key: draftMatchKey(coverage.draft) });
    const latest_again = newest === null ? null : await inquiryById(tx, newest.id);
    if (failed !== null && latest_again !== null) await makeNewest(tx, latest_again, now);
    return 'other_first';
  }
  if (failed !== null) await leaveFailed(tx, failed, now);
  await linkVisit(context, appointment, coverage, added.id);
  return added;
}

/**
 * Returns whether the inquiry can be planned again beside those that are under way. One that was
 * never sent takes the label of this visit if that helps.
 */
async function canComeBack(
  tx: Tx,
  row: InquiryRow,
  external_id: string,
  now: number,
): Promise<boolean> {
  if ((await unsettledTwin(tx, row)) === undefined) return true;
  if (row.state !== 'withdrawn' || row.sent_at !== null) return false;
  if ((await unsettledTwin(tx, { ...row, external_id })) !== undefined) return false;
  await updateInquiry(tx, row.id, { external_id }, now);
  return true;
}

/** A call that kept this label gives it up once it can have that of a visit that it serves. */
async function freeLabel(
  context: PlanContext,
  taken: Pick<InquiryRow, 'external_id' | 'match_key'>,
): Promise<void> {
  const holder = await unsettledTwin(context.tx, { id: 0, ...taken });
  if (holder?.state === 'planned') await revise(context, holder.id);
}

async function linkVisit(
  { tx, facts }: PlanContext,
  appointment: AppointmentRow,
  { rank, draft }: PlannedCoverage,
  inquiry: number,
): Promise<void> {
  const join = { inquiry, appointment: appointment.id, coverage_rank: rank, draft };
  await link(tx, join, facts.now);
}

/** `again`: how it is planned again; null: it serves as it is. */
type Joined = { inquiry: InquiryRow; again: { hold: string | null; due_at: number } | null };

/** Has an existing inquiry serve the visit, too, as it is or planned again. Returns it. */
async function joinInquiry(
  context: PlanContext,
  appointment: AppointmentRow,
  coverage: PlannedCoverage,
  { inquiry, again }: Joined,
): Promise<InquiryRow> {
  const { tx, facts } = context;
  const { now } = facts;
  const { id, state } = inquiry;
  await linkVisit(context, appointment, coverage, id);
  await nameNextVisit(tx, 'inquiry', id, now);
  // The hold of a call that the service may have stays with the visits that keep it.
  const hold = inquiry.sent_at === null ? (again?.hold ?? null) : null;
  if (again !== null) await revive(tx, inquiry, now, { ...again, hold });
  await revise(context, id);
  // eligd may have given up the inquiry after its earlier visits, or poll it as rarely as they
  // allow. This visit needs the answer, too (G2).
  const is_sooner = appointment.starts_at > now && appointment.starts_at < inquiry.visit_at;
  if (state === 'open' && (inquiry.poll_at === null || is_sooner)) {
    await updateInquiry(tx, id, { poll_at: now, visit_at: appointment.starts_at }, now);
    await resolveAttention(tx, inquirySubject(id), now, ['no_answer']);
  }
  // Raise the attention item for this visit, too: the visit that the inquiry was sent for may be
  // over.
  const about = { ...subjectOf(appointment), inquiry: id, subject: inquirySubject(id) };
  if (again === null && state === 'rejected') await raiseAgain(tx, about, ['refused'], now);
  if (state === 'undecidable') await raiseAgain(tx, about, LOST_REASONS, now);
  await deliverAtRank(context, inquiry, appointment, coverage.rank);
  return (again !== null ? await inquiryById(tx, id) : null) ?? inquiry;
}

/**
 * Returns when a call for the need can be made: now, or after the pause before the next attempt.
 * The office hears at once if that is too late. A call that waits for its payer may be made sooner.
 * The pause begins when eligd first heard of the failure; by the service's clock, too, because this
 * machine's may have been ahead.
 */
export async function callableAt(
  { tx, facts: { now, policy } }: PlanContext,
  latest: InquiryRow | null,
  failed: InquiryRow | null,
): Promise<number> {
  if (failed === null && latest?.state === 'planned')
    return latest.reason === WAITS_FOR_PAYER ? now : Math.max(now, latest.due_at);
  const is_next = latest?.state === 'withdrawn' && latest.retry > 0;
  const before = failed ?? (is_next ? await answerBefore(tx, latest) : null);
  if (before === null) return now;
  const read_at = (await failureReadAt(tx, before.id)) ?? 0;
  const failed_at = Math.min(read_at, before.answered_service_at ?? now, now);
  return Math.max(now, failed_at + policy.attempt_pause_hours * HOUR_MS);
}

async function reasonToCall(
  { tx, facts }: PlanContext,
  latest: InquiryRow | null,
  coverage: PlannedCoverage,
): Promise<string> {
  if (latest === null) return 'The visit is within the look-ahead window.';
  const codes = facts.policy.new_codes === 'call' ? await notAsked(tx, coverage, latest) : [];
  return codes.length > 0
    ? `No call has asked about ${codes.join(', ')} yet (policy.new_codes).`
    : 'The last answer is too old for this visit.';
}
