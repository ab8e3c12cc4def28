/**
 * When the checks of a call are asked for: each is a request of its own, so best when they are
 * there.
 */
import { HOUR_MS, type Instant, MINUTE_MS } from './time.ts';

/** From the end of a call until its checks, while nothing is known of the service. */
const FIRST_DELAY_MS = 10 * MINUTE_MS;
const MARGIN_MS = 30_000;
/** Of so many delays that were seen last, all but one in ten are shorter than the usual one. */
export const DELAYS_KEPT = 20;
const USUAL_SHARE = 0.9;
const AGAIN_MS_MIN = 10 * MINUTE_MS;
const AGAIN_MS_MAX = 12 * HOUR_MS;

/**
 * By when the checks of a call are there as a rule. `delays_ms`: how long the last ones took from
 * the end of their call.
 */
export function usuallyThereAt(call_ended_at: Instant, delays_ms: readonly number[]): Instant {
  if (delays_ms.length === 0) return call_ended_at + FIRST_DELAY_MS;
  const sorted = delays_ms.toSorted((a, b) => a - b);
  const usual_ms = sorted[Math.ceil(sorted.length * USUAL_SHARE) - 1] ?? FIRST_DELAY_MS;
  return call_ended_at + usual_ms + MARGIN_MS;
}

/**
 * When to ask again for checks that were not there at `now`: soon at first, then as rarely as they
 * have been waited for; null: never.
 */
export function askAgainAt(now: Instant, answered_at: Instant, until: Instant): Instant | null {
  if (now >= until) return null;
  return Math.min(
    now + Math.min(Math.max(AGAIN_MS_MIN, 2 * (now - answered_at)), AGAIN_MS_MAX),
    until,
  );
}
