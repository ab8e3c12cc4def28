import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Env } from '../domain/env.ts';
import { MINUTE_MS } from '../domain/time.ts';

/** A step of a stage in progress. `still_until`: monotonic time until which silence is expected. */
type Step = { stage: string; still_until: number; id: string };

/**
 * Somebody looks at least once a minute while the process runs (heartbeat, alerts, supervision).
 * After a longer gap, the process or the whole machine stood still.
 */
const LOOKS_MS = 1.5 * MINUTE_MS;

type Stuck = { stage: string; still_ms: number };

/**
 * Tracks whether the daemon makes progress: which steps are running, and when each last showed
 * activity. A stage that waits for work has no running step. Log lines, sleeps (which may be long:
 * a rate limit, a pause that the service asked for), and calls of `mark`, such as after a commit,
 * count as activity. They count only for the step in which they happen, so that a busy stage does
 * not hide one that hangs.
 */
export class Progress {
  readonly #clock: Clock;
  readonly #in_hand = new Set<Step>();
  readonly #current = new AsyncLocalStorage<Step>();
  /** Identifies this process; two processes that start in the same second differ in the log. */
  readonly #process: string;
  #steps = 0;
  #looked_at: number;

  /** `clock`: the machine's, because work takes as long as the machine needs. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#looked_at = clock.elapsed();
    this.#process = Math.floor(clock.now() / 1000).toString(36);
  }

  /** Runs one step of `stage`. */
  async step<Value>(stage: string, work: () => Promise<Value>): Promise<Value> {
    this.#steps += 1;
    const id = `${this.#process}-${this.#steps}`;
    const step: Step = { stage, still_until: this.#clock.elapsed(), id };
    this.#in_hand.add(step);
    try {
      return await this.#current.run(step, work);
    } finally {
      this.#in_hand.delete(step);
    }
  }

  /** Records activity of the current step; the next activity is not expected for `still_ms`. */
  mark(still_ms = 0): void {
    const step = this.#current.getStore();
    if (step !== undefined)
      step.still_until = Math.max(step.still_until, this.#clock.elapsed() + still_ms);
  }

  /**
   * Returns the steps without activity for more than `limit_ms`. A step cannot act while the
   * machine sleeps or the process is paused, so that time does not count.
   */
  stuck(limit_ms: number): Stuck[] {
    const now = this.#clock.elapsed();
    const gap_ms = now - this.#looked_at;
    this.#looked_at = now;
    if (gap_ms > LOOKS_MS)
      for (const step of this.#in_hand)
        step.still_until = Math.max(step.still_until, Math.min(step.still_until + gap_ms, now));
    return [...this.#in_hand]
      .map(({ stage, still_until }) => ({ stage, still_ms: now - still_until }))
      .filter(({ still_ms }) => still_ms > limit_ms);
  }

  /**
   * Wraps `env` so that sleeps and log lines count as activity. The lines of a step share one
   * `work`.
   */
  watch(env: Env): Env {
    return {
      ...env,
      clock: {
        ...env.clock,
        sleep: async (duration_ms, signal) => {
          this.mark(duration_ms);
          await env.clock.sleep(duration_ms, signal);
        },
      },
      log: (event, fields) => {
        this.mark();
        const step = this.#current.getStore();
        env.log(
          event,
          (step === undefined ? fields : { ...fields, work: step.id }) as typeof fields,
        );
      },
    };
  }
}
