import { dueLimits } from '../../domain/due-times.ts';
import { readLearned, writeLearned } from '../../store/bookkeeping/learned-settings.ts';
import { correctDueTimes, restartLookups } from '../../store/calls/clock-set.ts';
import type { SubmitDeps } from './deps.ts';

/** A jump at least this large means the clock was set, not slewed by NTP. */
const CLOCK_SET_MS = 10_000;
/** eligd stores the skew again once it has changed by this much. */
const SKEW_MOVED_MS = CLOCK_SET_MS / 2;
const SKEW_SETTING = 'clock_skew_ms';

/**
 * Restarts the lookups after the machine's clock was set (G1). Settle times are measured by that
 * clock, because a process may end between two lookups. The monotonic clock shows a change while
 * this process runs. The service's clock shows an earlier change with the first response, if the
 * service sends a `Date` header. Must be called before lookups are timed.
 */
export async function noticeClock({
  store,
  env,
  settings,
  memory,
  clockSkew,
}: SubmitDeps): Promise<void> {
  const now = env.clock.now();
  const offset_ms = now - env.clock.elapsed();
  const before = memory.clock;
  const was_set = before !== null && Math.abs(offset_ms - before.offset_ms) >= CLOCK_SET_MS;
  const known_skew_ms = before?.skew_ms ?? null;
  const skew_ms = clockSkew();
  const has_moved =
    skew_ms !== null &&
    (known_skew_ms === null || Math.abs(skew_ms - known_skew_ms) >= SKEW_MOVED_MS);
  if (before === null || was_set || has_moved) {
    await store.write(async (tx) => {
      const kept =
        known_skew_ms === null && skew_ms !== null ? await readLearned(tx, SKEW_SETTING) : null;
      const was_set_before =
        kept !== null && Math.abs((skew_ms ?? 0) - Number(kept.value)) >= CLOCK_SET_MS;
      const is_restarted = was_set || was_set_before;
      if (is_restarted) await restartLookups(tx, now + settings.timeout_ms + settings.settle_ms);
      if (is_restarted || before === null)
        await correctDueTimes(tx, dueLimits(settings.settle_ms, now));
      if (has_moved) await writeLearned(tx, SKEW_SETTING, String(skew_ms), now);
    });
  }
  memory.clock = { offset_ms, skew_ms: has_moved ? skew_ms : known_skew_ms };
}
