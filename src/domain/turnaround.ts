/**
 * The calling service's turnaround for each payer, learned from our own calls: from sending an
 * inquiry to the end of its call. Polling uses clock time; whether a call can be answered before a
 * visit depends on the hours when the payer answers the phone.
 */
import { type InquiryDraft, readDraft } from './inquiry.ts';
import { lettersAndDigits } from './matching.ts';
import { type PayerHours, payerHoursBetween } from './payer-hours.ts';
import { HOUR_MS, type Instant } from './time.ts';

/** Fewer calls than this prove nothing about a payer. */
export const TURNAROUND_CALLS_MIN = 5;
/** Only this many of a payer's last calls count, because a payer changes. */
export const TURNAROUND_CALLS_KEPT = 50;
const P90 = 0.9;
const ROUNDING_MS = 1_000;

/** The payer of a call, as far as the request names it. */
export type CalledPayer = Pick<
  InquiryDraft,
  'specialty' | 'insurance' | 'insurance_payor_id' | 'claim'
>;

/** `calls`: the number of calls it was learned from. */
export type Turnaround = { median_ms: number; p90_ms: number; calls: number };

/**
 * Returns the key under which the turnaround of a request's payer is learned: the carrier's
 * identifier, or else the payer ID. Claims have separate keys. Null: the request names no payer.
 */
export function payerKey(called: CalledPayer): string | null {
  const carrier = lettersAndDigits(called.insurance);
  const is_named = carrier !== '' && carrier !== 'UNKNOWN';
  const payer = is_named ? carrier : lettersAndDigits(called.insurance_payor_id);
  if (payer === '') return null;
  return [called.specialty, called.claim === undefined ? 'benefits' : 'claims', payer].join('|');
}

/** Does the same for a stored draft; null also when the draft is damaged. */
export function payerKeyOf({ draft }: { draft: string }): string | null {
  const read = readDraft(draft);
  return read === null ? null : payerKey(read);
}

/** Returns median and 90th percentile of the durations of a payer's calls; null: too few. */
export function turnaroundOf(took_ms: readonly number[]): Turnaround | null {
  const calls = took_ms.length;
  if (calls < TURNAROUND_CALLS_MIN) return null;
  const sorted = took_ms.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(calls * share) - 1] ?? 0;
  return { median_ms: at(0.5), p90_ms: at(P90), calls };
}

/**
 * Returns how many payer hours an answer counts as. The service may let an answer wait until the
 * day by which eligd wants it. So an answer in time counts as the usual hours at most, and a late
 * one as the usual hours plus its delay. `wanted_until`: the end of that day.
 */
export function hoursTaken(
  call: { sent_at: Instant; ended_at: Instant; wanted_until: Instant },
  hours: PayerHours,
  usual_hours: number,
): number {
  const took = payerHoursBetween(call.sent_at, call.ended_at, hours);
  return Math.min(took, usual_hours + payerHoursBetween(call.wanted_until, call.ended_at, hours));
}

/**
 * Returns the learned turnaround; null if it only repeats the usual hours, because most of the
 * answers could wait (`hoursTaken`).
 */
export function telling(learned: Turnaround | null, usual_hours: number): Turnaround | null {
  const is_usual =
    learned !== null && Math.abs(learned.p90_ms - usual_hours * HOUR_MS) < ROUNDING_MS;
  return is_usual ? null : learned;
}

/** Formats a duration as `1 hour` or `6.5 hours`. */
export function hoursText(ms: number): string {
  const hours = Math.round((ms / HOUR_MS) * 10) / 10;
  return `${hours} ${hours === 1 ? 'hour' : 'hours'}`;
}
