/** Plans visits and claims whose stored text is damaged. */

import { DAMAGED_PATIENT } from '../../domain/damaged.ts';
import { hasWaitingDeliveries } from '../../store/answers/delivery-steps.ts';
import {
  nameNextVisit,
  raiseAttention,
  resolveAttention,
} from '../../store/bookkeeping/attention.ts';
import { inquiryById } from '../../store/calls/inquiries.ts';
import { leaveCall } from '../../store/calls/kept-holds.ts';
import {
  type AppointmentRow,
  type ClaimRow,
  inquiriesOf,
  mayNeedCall,
} from '../../store/calls/links.ts';
import { setPlanDue } from '../../store/calls/plan-due.ts';
import type { PlanContext } from './deps.ts';
import { revise, subjectOf } from './keep.ts';

/**
 * Leaves a closed visit or claim alone if its stored text is damaged, until the practice management
 * system sends it again: nothing else can change that. Returns whether it is damaged. Nothing is
 * written for it (G8), so the office hears of an answer that waits (G2). If it may need a call,
 * planning fails.
 */
export async function leaveDamaged(
  context: PlanContext,
  row: AppointmentRow | ClaimRow,
): Promise<boolean> {
  if (row.input.patient !== DAMAGED_PATIENT) return false;
  const { tx, facts } = context;
  const { now, is_clock_trusted } = facts;
  // A clock that may be ahead does not say that the visit is over.
  if (await mayNeedCall(tx, row.id, is_clock_trusted ? now : 0))
    throw new SyntaxError('The stored content is damaged.');
  for (const { id } of await inquiriesOf(tx, row.id)) {
    const inquiry = await inquiryById(tx, id);
    if (inquiry === null || !['planned', 'withdrawn', 'rejected'].includes(inquiry.state)) continue;
    await leaveCall(tx, { inquiry: id, appointment: row.id }, now);
    await revise(context, id);
  }
  // This wait keeps its answers from being shown and written.
  await setPlanDue(tx, row.id, null, 'planning_failed');
  const about = subjectOf(row);
  const is_waiting = row.closed_reason !== 'withdrawn' && (await hasWaitingDeliveries(tx, row.id));
  if (is_waiting) await raiseAttention(tx, about, ANSWER_WAITS, now);
  else await resolveAttention(tx, about.subject, now);
  await nameNextVisit(tx, 'appointment', row.id, now);
  return true;
}

const ANSWER_WAITS = {
  reason: 'planning_failed' as const,
  what:
    'The stored data of this appointment or claim, which is closed, is damaged. An answer about ' +
    'it has not been written to the practice management system.',
  next:
    'Save it again in the practice management system, so that eligd reads it and writes the ' +
    'answer. If nobody needs the answer, run "eligd withdraw" with the ID of the appointment or ' +
    'claim.',
};
