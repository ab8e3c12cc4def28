/** Calls on the account that may be for a patient whom eligd is about to have called about (G1). */
import type { Attention } from '../../domain/attention.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { raiseAttention } from '../../store/bookkeeping/attention.ts';
import { isHandled } from '../../store/bookkeeping/handled.ts';
import { type InquiryRow, updateInquiry } from '../../store/calls/inquiries.ts';
import { aboutInquiry } from '../../store/calls/inquiry-attention.ts';
import type { SubmitContext } from './deps.ts';

/** `seen_at`: when a list first showed it. */
export type DoubtfulCall = { service_id: string; seen_at: number | null };

/** How soon eligd notices that the office has marked the entry as done. */
const LOOK_AGAIN_MS = MINUTE_MS;
const IDS_NAMED_MAX = 3;

/**
 * Puts the doubtful calls on the attention list. Returns whether eligd's own call must wait: for
 * two settle times after the list first showed them, unless the office marks the entry as done.
 */
export async function waitForOffice(
  { tx, deps, now }: SubmitContext,
  row: InquiryRow,
  doubtful: readonly DoubtfulCall[],
): Promise<boolean> {
  if (doubtful.length === 0) return false;
  const about = await aboutInquiry(tx, row);
  const wait_ms = 2 * deps.settings.settle_ms;
  const entry = entryAbout(doubtful, wait_ms);
  if (await isHandled(tx, about.subject, entry)) return false;
  await raiseAttention(tx, about, entry, now);
  const wait_until = Math.max(...doubtful.map(({ seen_at }) => (seen_at ?? now) + wait_ms));
  if (wait_until <= now) return false;
  await updateInquiry(tx, row.id, { due_at: Math.min(wait_until, now + LOOK_AGAIN_MS) }, now);
  return true;
}

function entryAbout(doubtful: readonly DoubtfulCall[], wait_ms: number): Attention {
  const ids = doubtful.map(({ service_id }) => service_id).toSorted();
  const named = ids.slice(0, IDS_NAMED_MAX).join(', ');
  const minutes = Math.max(2, Math.ceil(wait_ms / MINUTE_MS));
  return {
    reason: 'doubtful_call',
    what:
      `The account at the calling service holds ${ids.length === 1 ? 'a call' : 'calls'} ` +
      `that may be for this patient (${named}). eligd waits up to ${minutes} minutes, and then ` +
      'makes its own call.',
    next:
      'Ask the calling service whom it is about. If it is about this patient, hold the call that ' +
      'eligd would make ("eligd hold"); if not, mark this entry as done ("eligd done").',
  };
}
