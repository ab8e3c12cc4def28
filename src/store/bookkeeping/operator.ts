/**
 * Stores the decisions of the operator's commands (`domain/operator.ts`), with audit trail and
 * attention list.
 */
import {
  type Done,
  holdInquiry,
  isOnHold,
  isWithdrawable,
  leaveToOther,
  NEXT_RELEASED,
  OPERATOR_HOLD,
  type OperatedColumns,
  type Operation,
  PLANNED_AT_ONCE,
  refuseWithdrawal,
  releaseInquiry,
  requestedBy,
  retryInquiry,
  rewritten,
  WITHDRAWN,
  waitForTwin,
  withdrawInquiry,
} from '../../domain/operator.ts';
import { reopenDeliveries } from '../answers/delivery-steps.ts';
import { servedByOthers } from '../calls/attempts.ts';
import { isCallNeeded } from '../calls/due-inquiries.ts';
import { endHalt, type Halt, halted } from '../calls/halts.ts';
import {
  type InquiryChanges,
  type InquiryRow,
  inquiryById,
  moveInquiries,
  unsettledTwin,
  updateInquiry,
} from '../calls/inquiries.ts';
import { endHoldsFor, endHoldsOf, isHeld, isMade } from '../calls/kept-holds.ts';
import {
  appointmentsOf,
  closeAppointment,
  confirmVisits,
  inquiriesOf,
  isInDoubt,
  stillOpen,
  unlink,
} from '../calls/links.ts';
import { planAgain, planDamagedAgain, planVisitAgain } from '../calls/plan-due.ts';
import type { Tx } from '../engine/database.ts';
import { isOnList, resolveAttention } from './attention.ts';
import { appointmentSubject, deliverySubject, inquirySubject, writeAudit } from './audit.ts';

export type Operand = { kind: 'appointment' | 'inquiry'; id: number };

export async function retry(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  const rejected = (await inquiriesFor(tx, subject)).filter(({ state }) => state === 'rejected');
  const served = await servedByOthers(
    tx,
    rejected.map(({ id }) => id),
    now,
  );
  const retryUnserved = async (row: InquiryRow) => {
    if (served.includes(row.id)) return leaveToOther(row);
    const may_be_sent = row.state === 'undecidable' || row.state === 'rejected';
    const first = may_be_sent ? await unsettledTwin(tx, row) : undefined;
    return first === undefined ? retryInquiry(await asHeld(tx, row)) : waitForTwin(row, first);
  };
  const done = await eachInquiry(tx, subject, retryUnserved, now);
  // A visit may keep a hold for it.
  await planAgain(
    tx,
    rejected.map(({ id }) => id),
  );
  for (const id of await appointmentsFor(tx, subject)) {
    const keys = await reopenDeliveries(tx, id, requestedBy(tx.actor), now);
    for (const key of keys)
      await resolveAttention(tx, deliverySubject(key), now, ['delivery_parked']);
    if (keys.length > 0) await planDamagedAgain(tx, id);
    done.push(...rewritten(keys.length));
  }
  if (subject.kind === 'appointment' && (await stillOpen(tx, [subject.id])).length > 0) {
    await planVisitAgain(tx, subject.id);
    done.push(PLANNED_AT_ONCE);
  }
  return done;
}

/**
 * Returns the call as it is planned again: on hold if only visits are left that keep one, that have
 * vanished, or that could not be planned.
 */
async function asHeld(tx: Tx, row: InquiryRow): Promise<InquiryRow> {
  const open = (await appointmentsOf(tx, row.id)).filter((each) => each.closed_reason === null);
  const is_held = open.some((each) => each.keeps_hold === 1 || isInDoubt(each));
  return is_held && !(await isCallNeeded(tx, row.id))
    ? { ...row, hold_reason: OPERATOR_HOLD }
    : row;
}

/** Holds planned inquiries until they are released. */
export async function hold(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  return await eachInquiry(tx, subject, holdInquiry, now);
}

/**
 * Releases inquiries on hold, planned or lost ones, and has their visits planned again: they may
 * need them no longer (G1). Another visit that shares only a call which was not on hold keeps its
 * own hold.
 */
export async function release(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  const rows = await inquiriesFor(tx, subject);
  const on_hold = rows.filter(isOnHold);
  const served = await Promise.all(on_hold.map(({ id }) => appointmentsOf(tx, id)));
  const isOwn = ({ id }: { id: number }) => subject.kind === 'appointment' && id === subject.id;
  // If the visit keeps a hold, its release does not say that the others take place.
  const take_place = served.filter(
    (visits) => !visits.some((each) => isOwn(each) && each.keeps_hold === 1),
  );
  const done = await eachInquiry(tx, subject, releaseInquiry, now);
  for (const row of on_hold.filter(isHeld)) await endHoldsFor(tx, row);
  const released = await releaseKept(tx, subject, on_hold.some(isHeld));
  const own = subject.kind === 'appointment' ? [subject.id] : released;
  const confirmed = await confirmVisits(tx, [...own, ...take_place.flat().map(({ id }) => id)]);
  if (released.length > 0 || (confirmed && on_hold.length === 0)) done.push(NEXT_RELEASED);
  await planAgain(
    tx,
    rows.map(({ id }) => id),
  );
  return done;
}

/**
 * Ends the holds that the visit or claim keeps; for a call that is not made and that the office
 * does not hold itself, or not anymore, those that visits keep for its need. Returns the visits and
 * claims that kept one.
 */
async function releaseKept(tx: Tx, { kind, id }: Operand, was_held: boolean): Promise<number[]> {
  if (kind === 'appointment') return (await endHoldsOf(tx, [id])) ? [id] : [];
  const row = await inquiryById(tx, id);
  return row === null || was_held || isMade(row) ? [] : await endHoldsFor(tx, row);
}

/**
 * Withdraws unsent inquiries and closes the appointments that they served. Changes nothing when a
 * call may have begun. If the PMS changes such an appointment later, it is planned again.
 */
export async function withdraw(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  const rows = await inquiriesFor(tx, subject);
  const refused = refuseWithdrawal(rows);
  if (refused.length > 0) return refused;
  const done: Done[] = [];
  const appointments = await appointmentsFor(tx, subject);
  for (const row of rows.filter(isWithdrawable)) {
    for (const id of appointments) await unlink(tx, row.id, id, now);
    const is_needed = (await appointmentsOf(tx, row.id)).length > 0;
    done.push(...(await apply(tx, row, withdrawInquiry(row, is_needed), now)));
    if (is_needed) await planAgain(tx, [row.id]);
  }
  const ended = await endHoldsOf(tx, appointments);
  for (const id of appointments) {
    // One without insurance may be on the list because it cannot be planned. If it is not, it stays
    // as it is: its insurance may still arrive (G2).
    const is_listed = await isOnList(tx, appointmentSubject(id));
    if ((await stillOpen(tx, [id])).length === 0 && !is_listed) continue;
    await closeAppointment(tx, id, 'withdrawn', now);
    done.push(WITHDRAWN);
  }
  if (ended && done.length === 0) done.push(NEXT_RELEASED);
  return done;
}

/**
 * `withdraw` for a request from a page that may be outdated: a visit that has been answered
 * meanwhile does not change.
 */
export async function withdrawWaiting(tx: Tx, subject: Operand, now: number): Promise<Done[]> {
  const rows = await inquiriesFor(tx, subject);
  return rows.length > 0 && rows.every(({ state }) => state === 'answered')
    ? [{ did: false, what: 'Nothing was withdrawn: the calling service has answered already.' }]
    : await withdraw(tx, subject, now);
}

/** Resumes submission and returns why it was stopped. A cause that persists stops it again. */
export async function releaseSubmission(tx: Tx, now: number): Promise<Halt[]> {
  const halts = await halted(tx);
  for (const { reason } of halts) await endHalt(tx, reason, now);
  const entry = { at: now, subject: 'submission', from_state: null, to_state: 'released' };
  const which = halts.map((each) => each.reason).join(', ') || 'submission was not stopped';
  await writeAudit(tx, [{ ...entry, reason: `${requestedBy(tx.actor)} (${which})` }]);
  return halts;
}

async function eachInquiry(
  tx: Tx,
  subject: Operand,
  decide: (row: InquiryRow) => Operation | Promise<Operation>,
  now: number,
): Promise<Done[]> {
  const done: Done[] = [];
  for (const row of await inquiriesFor(tx, subject))
    done.push(...(await apply(tx, row, await decide(row), now)));
  return done;
}

async function apply(
  tx: Tx,
  { id, state }: InquiryRow,
  { done, change }: Operation,
  now: number,
): Promise<Done[]> {
  const said = done === null ? [] : [done];
  if (change === null) return said;
  const { to, columns, note, resolves } = change;
  const subject = inquirySubject(id);
  const set = columnsAt(columns, now);
  const reason = requestedBy(tx.actor);
  if (to === null) await updateInquiry(tx, id, set, now);
  else await moveInquiries(tx, [id], { from: state, to, reason, set }, now);
  if (note !== null) {
    const entry = { at: now, subject, from_state: state, to_state: note, reason };
    await writeAudit(tx, [entry]);
  }
  if (resolves === 'all') await resolveAttention(tx, subject, now);
  else if (resolves.length > 0) await resolveAttention(tx, subject, now, resolves);
  return said;
}

function columnsAt(columns: OperatedColumns, now: number): InquiryChanges {
  const { lookup_at, poll_at, due_at, ...others } = columns;
  return {
    ...others,
    ...(lookup_at === undefined ? {} : { lookup_at: now }),
    ...(poll_at === undefined ? {} : { poll_at: now }),
    ...(due_at === undefined ? {} : { due_at: now }),
  };
}

async function inquiriesFor(tx: Tx, { kind, id }: Operand): Promise<InquiryRow[]> {
  const ids = kind === 'inquiry' ? [id] : (await inquiriesOf(tx, id)).map((each) => each.id);
  const rows = await Promise.all(ids.map((each) => inquiryById(tx, each)));
  return rows.filter((row) => row !== null).filter(({ state }) => state !== 'withdrawn');
}

async function appointmentsFor(tx: Tx, { kind, id }: Operand): Promise<number[]> {
  return kind === 'appointment' ? [id] : (await appointmentsOf(tx, id)).map((each) => each.id);
}
