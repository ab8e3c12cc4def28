/**
 * How long to wait before trying again: doubling from `first_ms` to `max_ms`, with up to a quarter
 * taken off by `random` so that many waiters do not come back at once.
 *
 * @param failures how often it has failed so far, 1 or more
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
