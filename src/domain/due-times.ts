import { HOUR_MS, MINUTE_MS } from './time.ts';

/** eligd polls an open inquiry at least once a day. */
const POLL_MS_MAX = 48 * HOUR_MS;
/** A failed delivery waits at most six hours. */
const DELIVERY_MS_MAX = 12 * HOUR_MS;
const LOOKUP_MS_MAX = HOUR_MS;
const PLAN_MS_MAX = HOUR_MS / 4;
/** A call that cannot leave is tried again this soon. */
const CALL_MS_MAX = HOUR_MS / 4;
/** Values of `plan_wait` that end when the clock is known to be right. */
export const CLOCK_WAITS = ['clock_unproven', 'answer_age_unproven'] as const;
/**
 * How soon planning looks again at what waits for the clock. It does so within a minute when a
 * reply of the service shows that the clock is right.
 */
export const CLOCK_RETRY_MS = 10 * MINUTE_MS;
/** Values of `plan_wait` that planning retries within minutes. */
const TRIED_AGAIN = [...CLOCK_WAITS, 'other_inquiry_first', 'planning_failed'] as const;

/** A due time after `after` was set by a clock that was ahead; it becomes `due_at`. */
type DueLimit = { after: number; due_at: number };

/** Limits this to appointments whose `plan_wait` is one of `waits`. */
export type PlanLimit = DueLimit & { waits: readonly string[] };

export type DueLimits = {
  /**
   * A planned call that was changed after `now` waits for the rest of its wait. If that was over
   * when it was changed, it was put off before the clock was ahead, or is overdue: it waits until
   * `due_at` at most.
   */
  calls: { now: number; due_at: number };
  lookups: DueLimit;
  polls: DueLimit;
  plans: PlanLimit;
  deliveries: DueLimit;
};

/**
 * Returns how far ahead each due time can be. A later one was set by a clock that was ahead; it
 * becomes due now, so that nothing waits for days (G2). A lookup waits for one settle time again,
 * because its last result proves nothing (G1).
 */
export function dueLimits(settle_ms: number, now: number): DueLimits {
  return {
    calls: { now, due_at: now + CALL_MS_MAX },
    lookups: { after: now + Math.max(settle_ms, LOOKUP_MS_MAX), due_at: now + settle_ms },
    polls: { after: now + POLL_MS_MAX, due_at: now },
    plans: { after: now + PLAN_MS_MAX, due_at: now, waits: TRIED_AGAIN },
    deliveries: { after: now + DELIVERY_MS_MAX, due_at: now },
  };
}
