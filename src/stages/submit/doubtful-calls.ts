/** Calls on the account that may be for a patient whom eligd is about to have called about (G1). */
import type { Attention } from '../../domain/attention.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { isOnList, raiseAttention } from '../../store/bookkeeping/attention.ts';
import { doubtsOf, keepDoubts } from '../../store/calls/doubtful-calls.ts';
import { type InquiryRow, updateInquiry } from '../../store/calls/inquiries.ts';
import { aboutInquiry } from '../../store/calls/inquiry-attention.ts';
import { type SubmitContext, serviceNow } from './deps.ts';

/** How soon eligd notices that the office has marked the entry as done. */
const LOOK_AGAIN_MS = MINUTE_MS;
const IDS_NAMED_MAX = 3;

type Asking = { row: InquiryRow; earlier: readonly number[]; doubtful: readonly string[] };

/**
 * Puts the doubtful calls on the attention list. Returns whether eligd's own call must wait: for
 * two settle times after the office was told of the last one, unless it marks the entry as done.
 * `doubtful`: their IDs. `earlier`: earlier attempts, for which the office has answered already.
 */
export async function waitForOffice(
  { tx, deps, now }: SubmitContext,
  { row, earlier, doubtful }: Asking,
): Promise<boolean> {
  if (doubtful.length === 0) return false;
  const wait_ms = 2 * deps.settings.settle_ms;
  // By the service's clock: this machine's may jump ahead meanwhile.
  const at = serviceNow(deps);
  const known = await doubtsOf(tx, [row.id, ...earlier]);
  const is_new = doubtful.some((service_id) => !known.has(service_id));
  const doubts = doubtful.map((service_id) => ({
    inquiry: row.id,
    service_id,
    // The clock may have been ahead.
    wait_until: Math.min(known.get(service_id) ?? at + wait_ms, at + wait_ms),
  }));
  await keepDoubts(tx, doubts);
  const wait_until = Math.max(...doubts.map((each) => each.wait_until));
  const waits = wait_until > at;
  const about = await aboutInquiry(tx, row);
  if (is_new || waits || (await isOnList(tx, about.subject, 'doubtful_call')))
    await raiseAttention(tx, about, entryAbout(doubtful, waits ? wait_ms : null), now);
  const due_at = now + Math.min(wait_until - at, LOOK_AGAIN_MS);
  if (waits) await updateInquiry(tx, row.id, { due_at }, now);
  if (is_new)
    tx.after(() =>
      deps.env.log('doubtful_call_found', {
        inquiry: row.id,
        unknown_inquiries: doubtful.length,
      }),
    );
  return waits;
}

/** `wait_ms`: how long eligd's own call waits; null: it is made. */
function entryAbout(doubtful: readonly string[], wait_ms: number | null): Attention {
  const ids = doubtful.toSorted().slice(0, IDS_NAMED_MAX).join(', ');
  const minutes = Math.max(2, Math.ceil((wait_ms ?? 0) / MINUTE_MS));
  return {
    reason: 'doubtful_call',
    what:
      `The account at the calling service holds ${doubtful.length === 1 ? 'a call' : 'calls'} ` +
      `that may be for this patient (${ids}). ` +
      (wait_ms === null
        ? 'eligd has waited, and makes its own call.'
        : `eligd waits up to ${minutes} minutes for the office, and then may make its own call.`),
    next:
      wait_ms === null
        ? 'Ask the calling service whom it is about. If it is about this patient, ask it not to ' +
          'charge for both.'
        : 'Ask the calling service whom it is about. If it is about this patient, hold eligd’s ' +
          'call ("eligd hold") and ask for the answer; if not, mark this entry as done ' +
          '("eligd done").',
  };
}
