/** Keeps unsent inquiries up to date with the appointments that they serve. */
import { codesNotAsked } from '../../domain/ask-again.ts';
import { UNKNOWN_REASONS } from '../../domain/attention.ts';
import {
  DAMAGED_HOLD,
  type InquiryDraft,
  KEPT_HOLD,
  mergeDrafts,
  readDraft,
  VANISHED_HOLD,
} from '../../domain/inquiry.ts';
import { externalId, isNeedOf } from '../../domain/needs.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import { outcomeOf } from '../../domain/outcome.ts';
import { parkDeliveriesOf } from '../../store/answers/delivery-steps.ts';
import { type AttentionSubject, resolveAttention } from '../../store/bookkeeping/attention.ts';
import { appointmentSubject, inquirySubject } from '../../store/bookkeeping/audit.ts';
import { attemptsFor, withdrawNeedless } from '../../store/calls/attempts.ts';
import {
  type InquiryRow,
  inquiryById,
  moveInquiries,
  unsettledTwin,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import { isHeld, leaveCall } from '../../store/calls/kept-holds.ts';
import {
  type AppointmentRow,
  appointmentsOf,
  inquiriesOf,
  isAwaited,
  isInDoubt,
  type LinkedAppointment,
} from '../../store/calls/links.ts';
import { planAgain } from '../../store/calls/plan-due.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { PlanContext } from './deps.ts';

/**
 * Returns the inquiry that serves the need. A retry that was withdrawn because its predecessor was
 * answered does not count; the predecessor does.
 */
export async function skipNeedlessRetry(tx: Tx, newest: InquiryRow): Promise<InquiryRow> {
  if (newest.state !== 'withdrawn' || newest.retry === 0) return newest;
  const before = (await attemptsFor(tx, newest)).at(-2);
  return before?.state === 'answered' && outcomeOf(before.service_status) === 'successful'
    ? before
    : newest;
}

/**
 * Returns whether planning may take the call back when nothing needs it: the service has no call of
 * the inquiry, the office does not hold it, and it is no attempt after an unsuccessful call.
 */
export function mayBeTakenBack(row: InquiryRow): boolean {
  const { state, retry, sent_at } = row;
  const is_unsent =
    state === 'planned' || state === 'rejected' || (state === 'withdrawn' && sent_at === null);
  return is_unsent && retry === 0 && !isHeld(row);
}

/**
 * Returns whether the service would refuse the inquiry again: the new content differs at most in
 * the completion date.
 */
export function isSameContent(refused: InquiryRow, draft: InquiryDraft): boolean {
  const before = readDraft(refused.draft);
  if (before === null) return false;
  const { desired_completion_date } = before;
  return refused.draft === JSON.stringify({ ...draft, desired_completion_date });
}

/** Plans a withdrawn or rejected inquiry again. */
export async function revive(
  tx: Tx,
  inquiry: InquiryRow,
  now: number,
  { hold, due_at = now }: { hold: string | null; due_at?: number },
): Promise<void> {
  if (inquiry.state !== 'withdrawn' && inquiry.state !== 'rejected') return;
  if (inquiry.state === 'withdrawn' && inquiry.sent_at !== null) {
    // The operator withdrew it while it was unknown whether the service has it, so the service may
    // still call (G1).
    const reason = 'It is needed again, and the service may have it.';
    const set = { lookup_at: now, empty_lookups: 0, hold_reason: hold };
    await moveInquiries(tx, [inquiry.id], { from: 'withdrawn', to: 'uncertain', reason, set }, now);
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
      set: { due_at, hold_reason: inquiry.state === 'rejected' ? inquiry.hold_reason : hold },
    },
    now,
  );
  await resolveAttention(tx, inquirySubject(inquiry.id), now, ['refused']);
}

/**
 * Updates a planned inquiry to the appointments that it serves: content, label, hold. Withdraws it
 * when no appointment is left. Has those that are left planned again when codes leave it. An
 * inquiry that was sent does not change.
 */
export async function revise(context: PlanContext, id: number): Promise<void> {
  const { tx, external_id_template } = context;
  const { now } = context.facts;
  const inquiry = await inquiryById(tx, id);
  if (inquiry?.state === 'rejected') await withdrawNeedless(tx, [id], 'rejected', now);
  if (inquiry?.state !== 'planned') return;
  const open_visits = (await appointmentsOf(tx, id)).filter(
    ({ closed_reason }) => closed_reason === null,
  );
  if (open_visits.length === 0) {
    await withdrawNeedless(tx, [id], 'planned', now);
    return;
  }
  const [first, ...others] = open_visits.flatMap((each) => each.draft ?? []);
  const draft = first === undefined ? null : mergeDrafts([first, ...others]);
  const labels = open_visits.map(({ connector, source_id }) =>
    externalId(external_id_template, connector, source_id),
  );
  await updateInquiry(
    tx,
    id,
    {
      ...(draft === null ? {} : { draft: JSON.stringify(draft) }),
      external_id: await labelFor(tx, inquiry, labels),
      visit_at: Math.min(...open_visits.map(({ starts_at }) => starts_at)),
      hold_reason: holdReason(inquiry, open_visits, draft !== null),
    },
    now,
  );
  if (inquiry.hold_reason === DAMAGED_HOLD && draft !== null)
    await resolveAttention(tx, inquirySubject(id), now, ['inquiry_unreadable']);
  // The call may have been for the codes that left it. An answer may serve the other visits (G1).
  if (draft !== null && leavesOutCodes(draft, readDraft(inquiry.draft))) await planAgain(tx, [id]);
}

/**
 * Returns the label of an unsent inquiry: its own, if a visit that it serves has it, or that of one
 * of those visits. It keeps its own if the service could not tell it from another inquiry under way
 * with the new one.
 */
async function labelFor(tx: Tx, row: InquiryRow, labels: readonly string[]): Promise<string> {
  if (labels.includes(row.external_id)) return row.external_id;
  for (const external_id of labels)
    if ((await unsettledTwin(tx, { ...row, external_id })) === undefined) return external_id;
  return row.external_id;
}

function leavesOutCodes(draft: InquiryDraft, former: InquiryDraft | null): boolean {
  return codesNotAsked(former?.benefits_codes ?? [], [draft.benefits_codes]).length > 0;
}

/**
 * Returns the hold of a call that is planned for the appointment. `held`: the ranks of those
 * coverages whose calls the operator holds: another call for one of them is on hold, too.
 */
export function firstHold(
  visit: AppointmentRow,
  rank: number,
  held: ReadonlySet<number>,
): string | null {
  if (held.has(rank)) return OPERATOR_HOLD;
  return isInDoubt(visit) ? VANISHED_HOLD : null;
}

/**
 * Returns the hold of the inquiry. The operator's hold stays until the operator releases it. Else a
 * call is made for a visit that keeps none and is in the exports, or whose calls the office has
 * released.
 */
function holdReason(
  { hold_reason }: InquiryRow,
  open_visits: readonly LinkedAppointment[],
  has_draft: boolean,
): string | null {
  if (hold_reason === OPERATOR_HOLD) return hold_reason;
  if (!has_draft) return DAMAGED_HOLD;
  const isOnHold = (each: LinkedAppointment) => each.keeps_hold === 1 || isInDoubt(each);
  if (!open_visits.every(isOnHold)) return null;
  return open_visits.some(({ keeps_hold }) => keeps_hold === 1) ? KEPT_HOLD : VANISHED_HOLD;
}

export async function reviseAll(context: PlanContext, appointment: AppointmentRow): Promise<void> {
  for (const { id } of await inquiriesOf(context.tx, appointment.id)) await revise(context, id);
}

/**
 * Unlinks an inquiry whose need is no longer the appointment's: the member ID, payer, birth date or
 * tax ID has changed. Its answer is not written to the appointment.
 */
export async function leave(
  context: PlanContext,
  appointment: AppointmentRow,
  id: number,
): Promise<void> {
  const { tx } = context;
  const { now } = context.facts;
  await leaveCall(tx, { inquiry: id, appointment: appointment.id }, now);
  const reason =
    'Since the answer, the coverage, birth date, or tax ID of the appointment has changed.';
  await parkDeliveriesOf(tx, { appointment: appointment.id, inquiry: id }, reason, now);
  // Nobody needs to ask for its answer anymore.
  if (!(await isAwaited(tx, id)))
    await resolveAttention(tx, inquirySubject(id), now, UNKNOWN_REASONS);
  await revise(context, id);
}

/**
 * Unlinks the appointment from every inquiry that was not sent or no longer matches it. Returns how
 * many inquiries still serve it.
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
      await leaveCall(tx, { inquiry: id, appointment: appointment.id }, context.facts.now);
      await revise(context, id);
    } else if (!isNeedOf(inquiry.need_base, appointment.patient_key, appointment.input.coverages)) {
      await leave(context, appointment, id);
    } else {
      sent += 1;
    }
  }
  return sent;
}

/** Returns the subject of attention items about an appointment or a claim. */
export function subjectOf(appointment: Pick<AppointmentRow, 'id' | 'connector'>): AttentionSubject {
  return {
    connector: appointment.connector,
    appointment: appointment.id,
    inquiry: null,
    subject: appointmentSubject(appointment.id),
  };
}
