import type { Clock } from '../../src/domain/env.ts';

type Sleeper = { at_ms: number; wake: () => void };

/** Turns of the event loop after which everything that does not wait for the clock is idle. */
const TURNS_TO_REST = 12;

export type VirtualClock = Clock & {
  /** Wakes sleepers in the order of time until the promise settles. */
  runUntil: <Value>(work: Promise<Value>) => Promise<Value>;
  /** Lets everything become idle without advancing the time. */
  rest: () => Promise<void>;
  /** Changes `now`, like someone who sets the machine's clock. Sleepers keep sleeping. */
  set: (now_ms: number) => void;
};

/** A clock on which only sleeping takes time. */
export function virtualClock(start_ms = Date.parse('2026-11-20T12:00:00Z')): VirtualClock {
  let elapsed_ms = 0;
  let offset_ms = start_ms;
  const sleepers = new Set<Sleeper>();
  const rest = async () => {
    for (let turn = 0; turn < TURNS_TO_REST; turn += 1)
      await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return {
    now: () => offset_ms + elapsed_ms,
    elapsed: () => elapsed_ms,
    sleep: (duration_ms, signal) =>
      new Promise<void>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at_ms: elapsed_ms + duration_ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    rest,
    set: (now_ms) => {
      offset_ms = now_ms - elapsed_ms;
    },
    runUntil: async (work) => {
      let is_settled = false;
      work.then(
        () => (is_settled = true),
        () => (is_settled = true),
      );
      for (;;) {
        await rest();
        if (is_settled) return await work;
        const [next] = [...sleepers].sort((a, b) => a.at_ms - b.at_ms);
        if (next === undefined) throw new Error('Everybody waits, and nobody for the clock.');
        sleepers.delete(next);
        elapsed_ms = Math.max(elapsed_ms, next.at_ms);
        next.wake();
      }
    },
  };
}
