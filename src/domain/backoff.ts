/**
 * Returns how long to wait before the next attempt. The wait doubles from `first_ms` to `max_ms`;
 * `random` shortens it by up to a quarter, so that many waiters do not retry at once.
 *
 * @param failures how often the work has failed so far, 1 or more
 * @param random a number in [0, 1)
 */
export function backoffMs(
  failures: number,
  limits: { first_ms: number; max_ms: number },
  random: number,
): number {
  const full = Math.min(limits.max_ms, limits.first_ms * 2 ** Math.min(failures - 1, 30));
  return Math.round(full * (1 - random / 4));
}
