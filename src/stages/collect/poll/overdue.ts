/** Attention items for open inquiries whose answer is late, by how soon the visit is. */
import type { Attention } from '../../../domain/attention.ts';
import { CLOCKS_DIFFER_MS } from '../../../domain/clock-watch.ts';
import { completionDate, readDraft } from '../../../domain/inquiry.ts';
import { overdueAt, urgencyOf } from '../../../domain/polling.ts';
import { replaceAttention } from '../../../store/bookkeeping/attention.ts';
import type { InquiryRow } from '../../../store/calls/inquiries.ts';
import { aboutInquiry } from '../../../store/calls/inquiry-attention.ts';
import { appointmentsOf } from '../../../store/calls/links.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectDeps } from '../deps.ts';

/** Returns since when the answer is overdue; null: it is not. */
export function overdueSince(row: InquiryRow, now: number, time_zone: string): number | null {
  const desired_completion_date = completionDate(row, time_zone);
  return (
    row.overdue_since ??
    (now > overdueAt(desired_completion_date, row.visit_at, time_zone) ? now : null)
  );
}

/**
 * Returns the row with the time of the next visit that it serves: the visit that it was sent for
 * may be over, and later visits may be linked to it. If all are over, uses the last one.
 */
export async function forNextVisit(tx: Tx, row: InquiryRow, now: number): Promise<InquiryRow> {
  const claim = readDraft(row.draft)?.claim;
  const visits = (await appointmentsOf(tx, row.id)).filter(
    ({ closed_reason }) => closed_reason === null,
  );
  if (claim !== undefined || visits.length === 0) return row;
  const times = visits.map(({ starts_at }) => starts_at);
  const ahead = times.filter((at) => at >= now);
  return { ...row, visit_at: ahead.length === 0 ? Math.max(...times) : Math.min(...ahead) };
}

/** Updates the attention item about an overdue answer for the time left until the visit. */
export async function raiseOverdue(
  tx: Tx,
  { env, clockSkew }: CollectDeps,
  row: InquiryRow,
  now: number,
): Promise<void> {
  if (row.overdue_since === null) return;
  // With a wrong clock, every visit may seem near.
  if (Math.abs(clockSkew() ?? 0) > CLOCKS_DIFFER_MS) return;
  if (row.overdue_since === now)
    tx.after(() =>
      env.log('inquiry_overdue', { inquiry: row.id, until: new Date(row.visit_at).toISOString() }),
    );
  const about = await aboutInquiry(tx, row);
  const urgency = urgencyOf(row.visit_at, now);
  const claim = readDraft(row.draft)?.claim;
  const visits = await appointmentsOf(tx, row.id);
  const is_needed = visits.some(({ closed_reason }) => closed_reason === null);
  // No patient comes in for a claim, and the office does not need an answer that serves no visit.
  const is_awaited = claim === undefined && is_needed && (urgency === 'call' || urgency === 'tell');
  const entries = is_awaited ? [ENTRIES[urgency]] : [];
  await replaceAttention(tx, about, { reasons: ['answer_late', 'answer_missing'], entries }, now);
}

const ENTRIES: Readonly<Record<'tell' | 'call', Attention>> = {
  tell: {
    reason: 'answer_late',
    what:
      'The insurance company’s answer is late, and the visit is in less than a day. eligd keeps ' +
      'checking for it.',
    next:
      'No action needed yet. If it has not arrived four hours before the visit, ' +
      'this list will say so.',
  },
  call: {
    reason: 'answer_missing',
    what:
      'The insurance company’s answer is late, and the visit is in less than four hours. eligd ' +
      'keeps checking for it.',
    next: 'Call the insurance company yourself before the patient comes.',
  },
};
