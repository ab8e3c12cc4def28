/**
 * How long the calling service takes with each payer, learned from our own calls: from sending an
 * inquiry to the end of its call. When to ask for an answer goes by the clock; whether a call can
 * be answered before a visit goes by the hours in which the payer answers the phone.
 */
import { type InquiryDraft, readDraft } from './inquiry.ts';
import { lettersAndDigits } from './matching.ts';
import { HOUR_MS } from './time.ts';

/** Fewer calls than this say nothing about a payer. */
export const TURNAROUND_CALLS_MIN = 5;
/** Of each payer the last calls count, because a payer changes. */
export const TURNAROUND_CALLS_KEPT = 50;
const P90 = 0.9;

/** Whom a call was about, as far as the request names it. */
export type CalledPayer = Pick<
  InquiryDraft,
  'specialty' | 'insurance' | 'insurance_payor_id' | 'claim'
>;

/** `calls`: how many were learned from. */
export type Turnaround = { median_ms: number; p90_ms: number; calls: number };

/**
 * The payer of a request, as turnaround is learned by: the carrier's identifier, otherwise the
 * payer ID; questions about claims apart. Null: the request names no payer.
 */
export function payerKey(called: CalledPayer): string | null {
  const carrier = lettersAndDigits(called.insurance);
  const is_named = carrier !== '' && carrier !== 'UNKNOWN';
  const payer = is_named ? carrier : lettersAndDigits(called.insurance_payor_id);
  if (payer === '') return null;
  return [called.specialty, called.claim === undefined ? 'benefits' : 'claims', payer].join('|');
}

/** The same of a stored draft; null also when it is damaged. */
export function payerKeyOf({ draft }: { draft: string }): string | null {
  const read = readDraft(draft);
  return read === null ? null : payerKey(read);
}

/** Median and 90th percentile of the times of a payer's calls; null: too few to say. */
export function turnaroundOf(took_ms: readonly number[]): Turnaround | null {
  const calls = took_ms.length;
  if (calls < TURNAROUND_CALLS_MIN) return null;
  const sorted = took_ms.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(calls * share) - 1] ?? 0;
  return { median_ms: at(0.5), p90_ms: at(P90), calls };
}

/** `1 hour`, `6.5 hours`. */
export function hoursText(ms: number): string {
  const hours = Math.round((ms / HOUR_MS) * 10) / 10;
  return `${hours} ${hours === 1 ? 'hour' : 'hours'}`;
}
