import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Env } from '../domain/env.ts';

/**
 * A step of a stage that has begun and not ended. `still_until` is monotonic time up to which
 * silence is expected.
 */
type Step = { stage: string; still_until: number; id: string };

export type Stuck = { stage: string; still_ms: number };

/**
 * Knows whether the daemon gets on: which steps are in hand, and when each last gave a sign of
 * life. A stage that waits for work has no step in hand. Signs of life within a step are log lines,
 * sleeps (which may be long: a rate limit, a pause that the service asked for) and whatever else
 * calls `mark`, such as a commit; they count for the step that they happen in, so that a busy
 * neighbor does not hide a stage that hangs.
 */
export class Progress {
  readonly #clock: Clock;
  readonly #in_hand = new Set<Step>();
  readonly #current = new AsyncLocalStorage<Step>();
  /** Of this process; another one of the same second is no neighbor in a log. */
  readonly #process: string;
  #steps = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
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

  /**
   * A sign of life of the step that this is called in; the next one is not expected for `still_ms`.
   */
  mark(still_ms = 0): void {
    const step = this.#current.getStore();
    if (step !== undefined)
      step.still_until = Math.max(step.still_until, this.#clock.elapsed() + still_ms);
  }

  /** The steps without a sign of life for more than `limit_ms`. */
  stuck(limit_ms: number): Stuck[] {
    const now = this.#clock.elapsed();
    return [...this.#in_hand]
      .map(({ stage, still_until }) => ({ stage, still_ms: now - still_until }))
      .filter(({ still_ms }) => still_ms > limit_ms);
  }

  /**
   * `env` whose sleeps and log lines are signs of life. The lines of a step carry the same `work`.
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
