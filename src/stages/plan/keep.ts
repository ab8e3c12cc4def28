/** Keeps inquiries that are not sent in step with the appointments that they serve. */
import { DAMAGED_HOLD, type InquiryDraft, mergeDrafts, readDraft } from '../../domain/inquiry.ts';
import { externalId, isNeedOf } from '../../domain/needs.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import { outcomeOf } from '../../domain/outcome.ts';
import { parkDeliveriesOf } from '../../store/answers/delivery-steps.ts';
import { type AttentionSubject, resolveAttention } from '../../store/bookkeeping/attention.ts';
import { appointmentSubject, inquirySubject } from '../../store/bookkeeping/audit.ts';
import {
  attemptOfNeed,
  type InquiryRow,
  inquiryById,
  moveInquiries,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import {
  type AppointmentRow,
  appointmentsOf,
  inquiriesOf,
  unlink,
} from '../../store/calls/links.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { PlanContext } from './deps.ts';

/**
 * Another attempt that was withdrawn because the call before it was answered after all is not the
 * one that serves.
 */
export async function answeredBefore(tx: Tx, newest: InquiryRow): Promise<InquiryRow> {
  if (newest.state !== 'withdrawn' || newest.retry === 0) return newest;
  const before = await attemptOfNeed(tx, newest.need_base, newest.benefit_year, newest.attempt - 1);
  return before?.state === 'answered' && outcomeOf(before.service_status) === 'successful'
    ? before
    : newest;
}

/**
 * Whether a refused inquiry would be refused again: what is asked now differs in nothing but the
 * day it is wanted by.
 */
export function isSameContent(refused: InquiryRow, draft: InquiryDraft): boolean {
  const before = readDraft(refused.draft);
  if (before === null) return false;
  const { desired_completion_date } = before;
  return refused.draft === JSON.stringify({ ...draft, desired_completion_date });
}

/** What was withdrawn or refused comes back. */
export async function revive(tx: Tx, inquiry: InquiryRow, now: number): Promise<void> {
  if (inquiry.state !== 'withdrawn' && inquiry.state !== 'rejected') return;
  if (inquiry.state === 'withdrawn' && inquiry.was_accepted === 1) {
    // The operator withdrew it when nobody knew whether it exists: it may still be called for (G1).
    const reason = 'It is needed again, and the service had already accepted it.';
    await moveInquiries(
      tx,
      [inquiry.id],
      { from: 'withdrawn', to: 'uncertain', reason, set: { lookup_at: now, empty_lookups: 0 } },
      now,
    );
    return;
  }
  await moveInquiries(
    tx,
    [inquiry.id],
    {
      from: inquiry.state,
      to: 'planned',
      reason:
        inquiry.state === 'rejected'
          ? 'The rejected content was corrected.'
          : 'It is needed again.',
      set: { due_at: now, hold_reason: null },
    },
    now,
  );
  await resolveAttention(tx, inquirySubject(inquiry.id), now, ['refused']);
}

/**
 * Brings a planned inquiry up to date with the appointments that it serves: content, label, hold;
 * withdrawn when none is left. An inquiry that was sent stays as it is.
 */
export async function revise(context: PlanContext, id: number): Promise<void> {
  const { tx, external_id_template } = context;
  const { now } = context.facts;
  const inquiry = await inquiryById(tx, id);
  if (inquiry?.state === 'rejected') await dropRefused(tx, inquiry, now);
  if (inquiry?.state !== 'planned') return;
  const standing = (await appointmentsOf(tx, id)).filter(
    ({ closed_reason }) => closed_reason === null,
  );
  if (standing.length === 0) {
    await moveInquiries(
      tx,
      [id],
      { from: 'planned', to: 'withdrawn', reason: 'No appointment needs it any longer.' },
      now,
    );
    return;
  }
  const [draft, ...others] = standing.flatMap((each) => each.draft ?? []);
  const labels = standing.map(({ connector, source_id }) =>
    externalId(external_id_template, connector, source_id),
  );
  await updateInquiry(
    tx,
    id,
    {
      ...(draft === undefined ? {} : { draft: JSON.stringify(mergeDrafts([draft, ...others])) }),
      external_id: labels.includes(inquiry.external_id)
        ? inquiry.external_id
        : (labels[0] ?? inquiry.external_id),
      visit_at: Math.min(...standing.map(({ starts_at }) => starts_at)),
      hold_reason: holdReason(inquiry, standing, draft !== undefined),
    },
    now,
  );
  if (inquiry.hold_reason === DAMAGED_HOLD && draft !== undefined)
    await resolveAttention(tx, inquirySubject(id), now, ['inquiry_unreadable']);
}

/** An inquiry that the operator holds stays held until it is released. */
function holdReason(
  { hold_reason }: InquiryRow,
  standing: readonly { missing_since: number | null }[],
  has_draft: boolean,
): string | null {
  if (hold_reason === OPERATOR_HOLD) return hold_reason;
  if (!has_draft) return DAMAGED_HOLD;
  return standing.every(({ missing_since }) => missing_since !== null) ? 'vanished' : null;
}

/**
 * A refused inquiry that serves no appointment any more: its content was corrected into another
 * need.
 */
async function dropRefused(tx: Tx, inquiry: InquiryRow, now: number): Promise<void> {
  if ((await appointmentsOf(tx, inquiry.id)).some(({ closed_reason }) => closed_reason === null))
    return;
  await moveInquiries(
    tx,
    [inquiry.id],
    { from: 'rejected', to: 'withdrawn', reason: 'No appointment needs it any longer.' },
    now,
  );
  await resolveAttention(tx, inquirySubject(inquiry.id), now, ['refused']);
}

export async function reviseAll(context: PlanContext, appointment: AppointmentRow): Promise<void> {
  for (const { id } of await inquiriesOf(context.tx, appointment.id)) await revise(context, id);
}

/**
 * A need that is the appointment's no more: another member id, payer, birth date or tax id. Its
 * answer is not written there.
 */
export async function leave(
  context: PlanContext,
  appointment: AppointmentRow,
  id: number,
): Promise<void> {
  const { tx } = context;
  const { now } = context.facts;
  await unlink(tx, id, appointment.id, now);
  const reason =
    'The appointment has changed since the answer: another coverage, birth date, or tax ID.';
  await parkDeliveriesOf(tx, { appointment: appointment.id, inquiry: id }, reason, now);
  await revise(context, id);
}

/**
 * Takes the appointment off every inquiry that was not sent, or is not about it any more. Returns
 * how many still serve it.
 */
export async function leaveUnsent(
  context: PlanContext,
  appointment: AppointmentRow,
): Promise<number> {
  const { tx } = context;
  let sent = 0;
  for (const { id } of await inquiriesOf(tx, appointment.id)) {
    const inquiry = await inquiryById(tx, id);
    if (inquiry === null || ['planned', 'withdrawn', 'rejected'].includes(inquiry.state)) {
      await unlink(tx, id, appointment.id, context.facts.now);
      await revise(context, id);
    } else if (!isNeedOf(inquiry.need_base, appointment.patient_key, appointment.input.coverages)) {
      await leave(context, appointment, id);
    } else {
      sent += 1;
    }
  }
  return sent;
}

/** The subject of attention entries about an appointment or a claim. */
export function subjectOf(appointment: Pick<AppointmentRow, 'id' | 'connector'>): AttentionSubject {
  return {
    connector: appointment.connector,
    appointment: appointment.id,
    inquiry: null,
    subject: appointmentSubject(appointment.id),
  };
}
