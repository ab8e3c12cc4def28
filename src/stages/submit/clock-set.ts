import { mendDueTimes, restartLooks } from '../../store/clock-set.ts';
import { readFact, writeFact } from '../../store/facts.ts';
import type { SubmitDeps } from './deps.ts';

/** By so much the clock is set, and not just kept right. */
const CLOCK_SET_MS = 10_000;
/** What this machine's clock was ahead of the service's when looks were timed last. */
const SKEW_FACT = 'clock_skew_ms';

/**
 * Settle times are measured by the machine's clock, because a process may end between two looks. When that clock was set they
 * begin anew (G1): the clock that is never set shows it while this process runs, and the service's clock shows what happened
 * before, as soon as it is heard. Returns whether they began anew.
 */
export async function noticeClock({ store, env, settings, sweeps, clockSkew, onReplan }: SubmitDeps): Promise<boolean> {
  const now = env.clock.now();
  const offset_ms = now - env.clock.elapsed();
  const skew_ms = clockSkew();
  const before = sweeps.clock;
  const was_set = before !== null && Math.abs(offset_ms - before.offset_ms) >= CLOCK_SET_MS;
  const is_first_heard = skew_ms !== null && before?.is_compared !== true;
  if (before !== null && !was_set && !is_first_heard) {
    sweeps.clock = { ...before, offset_ms };
    return false;
  }
  const is_anew = await store.write(async (tx) => {
    const known = skew_ms === null ? null : await readFact(tx, SKEW_FACT);
    const was_set_before = known !== null && Math.abs((skew_ms ?? 0) - Number(known.value)) >= CLOCK_SET_MS;
    if (was_set || was_set_before) await restartLooks(tx, now + settings.settle_ms);
    await mendDueTimes(tx, settings.settle_ms, now);
    if (skew_ms !== null) await writeFact(tx, SKEW_FACT, String(skew_ms), now);
    return was_set || was_set_before;
  });
  sweeps.clock = { offset_ms, is_compared: skew_ms !== null };
  onReplan();
  return is_anew;
}
