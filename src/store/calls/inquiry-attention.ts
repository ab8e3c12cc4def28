/** Attention items about an inquiry, with the visit that shows the office whom it concerns. */
import type { Attention } from '../../domain/attention.ts';
import {
  type AttentionSubject,
  raiseAttention,
  resolveAttention,
} from '../bookkeeping/attention.ts';
import { inquirySubject } from '../bookkeeping/audit.ts';
import type { Tx } from '../engine/database.ts';
import type { InquiryRow } from './inquiries.ts';
import { appointmentsOf, isAwaited } from './links.ts';

type Inquiry = Pick<InquiryRow, 'id' | 'connector'>;

/** Names the first visit that the inquiry serves. The list shows the next open one, if any is. */
export async function aboutInquiry(tx: Tx, { id, connector }: Inquiry): Promise<AttentionSubject> {
  const [visit] = await appointmentsOf(tx, id);
  return { connector, appointment: visit?.id ?? null, inquiry: id, subject: inquirySubject(id) };
}

export async function raiseForInquiry(
  tx: Tx,
  inquiry: Inquiry,
  entry: Attention,
  now: number,
): Promise<void> {
  await raiseAttention(tx, await aboutInquiry(tx, inquiry), entry, now);
}

/**
 * Raises an item about an answer that will not come. If no visit needs it, the item ends at once: a
 * visit that needs the answer later raises it again.
 */
export async function raiseForVisits(
  tx: Tx,
  inquiry: Inquiry,
  entry: Attention,
  now: number,
): Promise<void> {
  await raiseForInquiry(tx, inquiry, entry, now);
  if (!(await isAwaited(tx, inquiry.id)))
    await resolveAttention(tx, inquirySubject(inquiry.id), now, [entry.reason]);
}
