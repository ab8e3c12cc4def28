/** The attention entry for an open inquiry: its answer is late, and how much that matters. */
import type { Attention } from '../../../domain/attention.ts';
import { CLOCKS_DIFFER_MS } from '../../../domain/clock-watch.ts';
import { completionDate, readDraft } from '../../../domain/inquiry.ts';
import { overdueAt, urgencyOf } from '../../../domain/polling.ts';
import { raiseAttention, replaceAttention } from '../../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../store/bookkeeping/audit.ts';
import type { InquiryRow } from '../../../store/calls/inquiries.ts';
import { appointmentsOf } from '../../../store/calls/links.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectDeps } from '../deps.ts';

/** Since when the answer is overdue; null: it is not. */
export function overdueSince(row: InquiryRow, now: number, time_zone: string): number | null {
  const desired_completion_date = completionDate(row, time_zone);
  return (
    row.overdue_since ??
    (now > overdueAt(desired_completion_date, row.visit_at, time_zone) ? now : null)
  );
}

/**
 * The row, with the next of the visits that wait for its answer: the one that it was sent for may
 * be over, and it may serve another one since. When all are over, the last of them.
 */
export async function forNextVisit(tx: Tx, row: InquiryRow, now: number): Promise<InquiryRow> {
  const claim = readDraft(row.draft)?.claim;
  const standing = (await appointmentsOf(tx, row.id)).filter(
    ({ closed_reason }) => closed_reason === null,
  );
  if (claim !== undefined || standing.length === 0) return row;
  const times = standing.map(({ starts_at }) => starts_at);
  const ahead = times.filter((at) => at >= now);
  return { ...row, visit_at: ahead.length === 0 ? Math.max(...times) : Math.min(...ahead) };
}

/** Keeps the attention list at what the hours until the visit make of an overdue answer. */
export async function raiseOverdue(
  tx: Tx,
  { env, clockSkew }: CollectDeps,
  row: InquiryRow,
  now: number,
): Promise<void> {
  if (row.overdue_since === null) return;
  // A clock that is known to be wrong says of every visit that it is near.
  if (Math.abs(clockSkew() ?? 0) > CLOCKS_DIFFER_MS) return;
  if (row.overdue_since === now)
    tx.after(() =>
      env.log('inquiry_overdue', { inquiry: row.id, until: new Date(row.visit_at).toISOString() }),
    );
  const about = await aboutInquiry(tx, row);
  const urgency = urgencyOf(row.visit_at, now);
  const claim = readDraft(row.draft)?.claim;
  // Nobody sits down for a claim, and nobody waits for the answer when it serves no visit
  // any more.
  const is_awaited =
    claim === undefined && about.appointment !== null && (urgency === 'call' || urgency === 'tell');
  const entries = is_awaited ? [ENTRIES[urgency]] : [];
  await replaceAttention(tx, about, { reasons: ['answer_late', 'answer_missing'], entries }, now);
}

const ENTRIES: Readonly<Record<'tell' | 'call', Attention>> = {
  tell: {
    reason: 'answer_late',
    what:
      'The payer’s answer is late, and the visit is in less than a day. eligd keeps asking for ' +
      'it.',
    next:
      'No action needed yet. If it has not come four hours before the visit, ' +
      'this list says so.',
  },
  call: {
    reason: 'answer_missing',
    what:
      'The payer’s answer is late, and the visit is in less than four hours. eligd keeps ' +
      'asking for it.',
    next: 'Call the payer yourself before the patient comes.',
  },
};

/** An entry about an inquiry, and about the first appointment that it still serves. */
export async function raise(tx: Tx, row: InquiryRow, now: number, entry: Attention): Promise<void> {
  await raiseAttention(tx, await aboutInquiry(tx, row), entry, now);
}

async function aboutInquiry(tx: Tx, row: InquiryRow) {
  const appointments = await appointmentsOf(tx, row.id);
  const standing = appointments.find(({ closed_reason }) => closed_reason === null);
  return {
    connector: row.connector,
    appointment: standing?.id ?? null,
    inquiry: row.id,
    subject: inquirySubject(row.id),
  };
}
