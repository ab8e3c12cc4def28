/**
 * Decides when to request the checks of a call. Each request costs a rate-limit slot, so eligd
 * waits until the checks are usually there.
 */
import { HOUR_MS, type Instant, MINUTE_MS } from './time.ts';

/** The delay from the end of a call to its checks, until eligd has learned the usual delay. */
const FIRST_DELAY_MS = 10 * MINUTE_MS;
const MARGIN_MS = 30_000;
/** Number of recent delays kept; nine of ten of them are no longer than the usual delay. */
export const DELAYS_KEPT = 20;
const USUAL_SHARE = 0.9;
const AGAIN_MS_MIN = 10 * MINUTE_MS;
const AGAIN_MS_MAX = 12 * HOUR_MS;

/**
 * Returns when the checks of a call are usually there. `delays_ms`: the last delays, measured from
 * the end of the call.
 */
export function usuallyThereAt(call_ended_at: Instant, delays_ms: readonly number[]): Instant {
  if (delays_ms.length === 0) return call_ended_at + FIRST_DELAY_MS;
  const sorted = delays_ms.toSorted((a, b) => a - b);
  const usual_ms = sorted[Math.ceil(sorted.length * USUAL_SHARE) - 1] ?? FIRST_DELAY_MS;
  return call_ended_at + usual_ms + MARGIN_MS;
}

/**
 * Returns when to ask again for checks that were missing at `now`: soon at first, then less and
 * less often, in proportion to the time waited; null: never.
 */
export function askAgainAt(now: Instant, answered_at: Instant, until: Instant): Instant | null {
  if (now >= until) return null;
  return Math.min(
    now + Math.min(Math.max(AGAIN_MS_MIN, 2 * (now - answered_at)), AGAIN_MS_MAX),
    until,
  );
}
