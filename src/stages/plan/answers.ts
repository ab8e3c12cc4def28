/** Plans that the answers of a visit's inquiries are written, each for the rank of its coverage. */

import { unanswered } from '../../domain/attention.ts';
import { isNeedOf } from '../../domain/needs.ts';
import { deliveryNotes } from '../../domain/notes.ts';
import { finalOutcome, outcomeOf } from '../../domain/outcome.ts';
import { latestRecord } from '../../store/answers/answers.ts';
import { joinCoverages } from '../../store/answers/coverages.ts';
import { planDelivery } from '../../store/answers/deliveries.ts';
import { parkOtherRanks } from '../../store/answers/delivery-steps.ts';
import { raiseAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { type InquiryRow, inquiryById } from '../../store/calls/inquiries.ts';
import { type AppointmentRow, inquiriesOf, setCoverageRank } from '../../store/calls/links.ts';
import type { PlanContext } from './deps.ts';
import { subjectOf } from './keep.ts';

/**
 * Follows a change in the order of the coverages: each inquiry moves to the new rank of its
 * coverage, and its answer is written there.
 */
export async function followCoverages(
  context: PlanContext,
  appointment: AppointmentRow,
): Promise<void> {
  const { tx } = context;
  const { patient_key, input } = appointment;
  for (const { id, coverage_rank: before } of await inquiriesOf(tx, appointment.id)) {
    const inquiry = await inquiryById(tx, id);
    if (inquiry === null) continue;
    const coverage_rank =
      1 + input.coverages.findIndex((each) => isNeedOf(inquiry.need_base, patient_key, [each]));
    if (coverage_rank === 0 || coverage_rank === before) continue;
    await setCoverageRank(tx, { inquiry: id, appointment: appointment.id, coverage_rank });
    await deliverAtRank(context, inquiry, appointment, coverage_rank);
  }
}

/**
 * Delivers an existing answer to the current rank of its coverage. If the service has taken the
 * answer back, a record of it that waits for a former rank is not written there: another coverage
 * is at that rank now.
 */
export async function deliverAtRank(
  context: PlanContext,
  inquiry: InquiryRow,
  appointment: AppointmentRow,
  coverage_rank: number,
): Promise<void> {
  if (inquiry.state === 'answered')
    return await deliverAnswered(context, inquiry, appointment, coverage_rank);
  const delivery = { appointment: appointment.id, inquiry: inquiry.id, coverage_rank };
  await parkOtherRanks(context.tx, delivery, context.facts.now);
}

/** Delivers an existing answer to the appointment without a call. */
async function deliverAnswered(
  context: PlanContext,
  inquiry: InquiryRow,
  appointment: AppointmentRow,
  coverage_rank: number,
): Promise<void> {
  const is_there = await deliverRecord(context, inquiry, appointment, coverage_rank);
  if (!is_there || outcomeOf(inquiry.service_status) === 'successful') return;
  // Nobody waits for it.
  if (appointment.closed_reason === 'withdrawn') return;
  // Raise the attention item for this visit, too: the visit that the call was made for may be over.
  const about = {
    ...subjectOf(appointment),
    inquiry: inquiry.id,
    subject: inquirySubject(inquiry.id),
  };
  await raiseAttention(
    context.tx,
    about,
    unanswered(finalOutcome(inquiry.service_status), inquiry.retry + 1),
    context.facts.now,
  );
}

/** Plans the delivery of the latest record. Returns false when the answer has no record yet. */
export async function deliverRecord(
  { tx, facts }: PlanContext,
  inquiry: InquiryRow,
  appointment: AppointmentRow,
  coverage_rank: number,
): Promise<boolean> {
  const record = await latestRecord(tx, inquiry.id);
  if (record === null) return false;
  const coordination = await joinCoverages(tx, appointment.id, facts.now);
  const notes = deliveryNotes(inquiry, facts.clinic.time_zone);
  await planDelivery(
    tx,
    {
      connector: appointment.connector,
      appointment: appointment.id,
      inquiry: inquiry.id,
      record: record.id,
      coverage_rank,
      notes: [...notes, ...(coordination?.conflict == null ? [] : [coordination.conflict])],
      coordination,
    },
    facts.now,
  );
  return true;
}
