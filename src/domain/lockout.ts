import type { Instant } from './time.ts';
import { MINUTE_MS } from './time.ts';

/** Wrong passwords for one name, since the last right one. */
export type Failures = { count: number; last_at: Instant };

/** The number of mistakes that people make. */
const FREE_TRIES = 5;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 15 * MINUTE_MS;
/** After a night without a try, it begins again. */
const FORGOTTEN_AFTER_MS = 8 * 60 * MINUTE_MS;

/**
 * Until when no password is tried for a name: after five mistakes two seconds, then twice as long
 * with each, up to fifteen minutes. That leaves about a hundred guesses a day, however many are
 * sent. Null: at once.
 */
export function lockedUntil({ count, last_at }: Failures, now: Instant): Instant | null {
  if (count < FREE_TRIES || now - last_at > FORGOTTEN_AFTER_MS) return null;
  const wait_ms = Math.min(FIRST_WAIT_MS * 2 ** (count - FREE_TRIES), LONGEST_WAIT_MS);
  // A clock that was set back must not lock anybody out for longer.
  return now < last_at || now >= last_at + wait_ms ? null : last_at + wait_ms;
}

/** The failures after another wrong password. */
export function afterFailure(failures: Failures, now: Instant): Failures {
  const is_old = now - failures.last_at > FORGOTTEN_AFTER_MS;
  return { count: (is_old ? 0 : failures.count) + 1, last_at: now };
}
