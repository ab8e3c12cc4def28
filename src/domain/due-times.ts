import { HOUR_MS } from './time.ts';

/** eligd polls an open inquiry at least once a day. */
const POLL_MS_MAX = 48 * HOUR_MS;
/** A failed delivery waits at most six hours. */
const DELIVERY_MS_MAX = 12 * HOUR_MS;
const LOOKUP_MS_MAX = HOUR_MS;
const PLAN_MS_MAX = HOUR_MS / 4;
/** Values of `plan_wait` that planning retries within minutes. */
const TRIED_AGAIN = [
  'clock_unproven',
  'answer_age_unproven',
  'other_inquiry_first',
  'planning_failed',
] as const;

/** A due time after `after` was set by a clock that was ahead; it becomes `due_at`. */
type DueLimit = { after: number; due_at: number };

export type DueLimits = {
  /** A planned call that was put off after this moment waits for as long as it should have. */
  now: number;
  lookups: DueLimit;
  polls: DueLimit;
  /** Limits this to appointments whose `plan_wait` is one of `waits`. */
  plans: DueLimit & { waits: readonly string[] };
  deliveries: DueLimit;
};

/**
 * Returns how far ahead each due time can be. A later one was set by a clock that was ahead; it
 * becomes due now, so that nothing waits for days (G2). A lookup waits for one settle time again,
 * because its last result proves nothing (G1).
 */
export function dueLimits(settle_ms: number, now: number): DueLimits {
  return {
    now,
    lookups: { after: now + Math.max(settle_ms, LOOKUP_MS_MAX), due_at: now + settle_ms },
    polls: { after: now + POLL_MS_MAX, due_at: now },
    plans: { after: now + PLAN_MS_MAX, due_at: now, waits: TRIED_AGAIN },
    deliveries: { after: now + DELIVERY_MS_MAX, due_at: now },
  };
}
