import type { Instant } from './time.ts';
import { MINUTE_MS } from './time.ts';

/** Wrong passwords for one name since its last correct one. */
export type Failures = { count: number; last_at: Instant };

/** People mistype this often. */
const FREE_TRIES = 5;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 15 * MINUTE_MS;
/** After a night without an attempt, the count starts again. */
const FORGOTTEN_AFTER_MS = 8 * 60 * MINUTE_MS;

/**
 * Returns until when a name is locked: after five wrong passwords for two seconds, then twice as
 * long with each, up to fifteen minutes. That allows about a hundred guesses a day, however many
 * are sent. Null: not locked.
 */
export function lockedUntil({ count, last_at }: Failures, now: Instant): Instant | null {
  if (count < FREE_TRIES || now - last_at > FORGOTTEN_AFTER_MS) return null;
  const wait_ms = Math.min(FIRST_WAIT_MS * 2 ** (count - FREE_TRIES), LONGEST_WAIT_MS);
  // A clock that was set back must not lock out anyone for longer.
  return now < last_at || now >= last_at + wait_ms ? null : last_at + wait_ms;
}

/** Counts another wrong password. */
export function afterFailure(failures: Failures, now: Instant): Failures {
  const is_old = now - failures.last_at > FORGOTTEN_AFTER_MS;
  return { count: (is_old ? 0 : failures.count) + 1, last_at: now };
}
