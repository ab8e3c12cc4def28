import { readFileSync } from 'node:fs';
import type { Boot, Clock, Env, Log } from '../domain/env.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** setTimeout fires immediately for delays above this. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock. */
export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: sleepReal,
};

/**
 * Returns a clock that runs `speed` times as fast as the machine's and agreed with it at
 * `anchor_ms`. Two processes with the same anchor and speed see the same time; the demo and its
 * sandbox use this.
 */
export function scaledClock({ anchor_ms, speed }: { anchor_ms: number; speed: number }): Clock {
  return {
    now: () => Math.round(anchor_ms + (Date.now() - anchor_ms) * speed),
    elapsed: () => performance.now() * speed,
    sleep: async (duration_ms, signal) => await sleepReal(Math.max(1, duration_ms / speed), signal),
  };
}

/**
 * Returns a clock like `scaledClock`. `slowDown` makes it run at normal speed from its current time
 * on, which the demo does after it has shown its week.
 */
export function slowableClock(settings: { anchor_ms: number; speed: number }): {
  clock: Clock;
  slowDown: () => void;
} {
  const fast = scaledClock(settings);
  let slow: { at: number; since: number; elapsed: number } | null = null;
  const clock: Clock = {
    now: () => (slow === null ? fast.now() : slow.at + (Date.now() - slow.since)),
    elapsed: () => (slow === null ? fast.elapsed() : slow.elapsed + (Date.now() - slow.since)),
    sleep: async (duration_ms, signal) =>
      await (slow === null ? fast : realClock).sleep(duration_ms, signal),
  };
  return {
    clock,
    slowDown: () => {
      slow ??= { at: fast.now(), since: Date.now(), elapsed: fast.elapsed() };
    },
  };
}

/** Creates the program's environment outside tests: a clock, real randomness, and a log. */
export function createEnv({ log, clock = realClock }: { log: Log; clock?: Clock }): Env {
  // A clock that runs faster does not agree with the machine's.
  const boot = clock === realClock ? thisBoot : () => null;
  return { clock, random: Math.random, log, boot };
}

/**
 * Returns the present boot, which only Linux identifies; null elsewhere. The monotonic clock of
 * Linux stops while the machine sleeps.
 */
function thisBoot(): Boot | null {
  try {
    const id = readFileSync(BOOT_ID, 'utf8').trim();
    return { id, awake_ms: Number(process.hrtime.bigint() / 1_000_000n) };
  } catch {
    return null;
  }
}

async function sleepReal(duration_ms: number, signal?: AbortSignal): Promise<void> {
  let left_ms = duration_ms;
  while (left_ms > LONGEST_TIMER_MS) {
    await sleepOnce(LONGEST_TIMER_MS, signal);
    left_ms -= LONGEST_TIMER_MS;
  }
  await sleepOnce(left_ms, signal);
}

function sleepOnce(duration_ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal?.aborted) {
    reject(signal.reason);
    return promise;
  }
  const onAbort = () => {
    clearTimeout(timer);
    reject(signal?.reason);
  };
  const timer = setTimeout(() => {
    signal?.removeEventListener('abort', onAbort);
    resolve();
  }, duration_ms);
  signal?.addEventListener('abort', onAbort, { once: true });
  return promise;
}
