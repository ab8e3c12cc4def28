import { backoffMs } from '../domain/backoff.ts';
import type { Env } from '../domain/env.ts';
import { EligdError, errorCode } from '../domain/errors.ts';

/** The result of a step, and when the next one is due. */
export type StepResult = {
  /** How many items made progress. If more than 0, the next step follows at once. */
  did: number;
  /** Epoch milliseconds of the next due item; null: wait for the interval. */
  next_at: number | null;
  /** A connector could not read or write. The failure is logged, and the step is tried again. */
  is_away?: boolean;
};

export const IDLE: StepResult = { did: 0, next_at: null };

/** Why a wait ended early. Without a reason, each abort makes an error with a stack. */
const WOKEN = 'woken';

/** Lets one stage wake another: a step that produces work for the next stage calls its `wake`. */
export class Waker {
  #is_set = false;
  #wakeUp: (() => void) | null = null;

  wake(): void {
    this.#is_set = true;
    this.#wakeUp?.();
  }

  /**
   * Resolves after `wait_ms`, at the next `wake`, or when `signal` is aborted; never rejects. Does
   * not use `AbortSignal.any`, which is four times slower and holds memory until garbage
   * collection.
   */
  async wait(env: Env, wait_ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#is_set && !signal.aborted) {
      const ended = new AbortController();
      const end = () => ended.abort(WOKEN);
      this.#wakeUp = end;
      signal.addEventListener('abort', end, { once: true });
      await env.clock.sleep(wait_ms, ended.signal).catch(() => {});
      signal.removeEventListener('abort', end);
      this.#wakeUp = null;
    }
    this.#is_set = false;
  }
}

export type LoopOptions = {
  name: string;
  step: (signal: AbortSignal) => Promise<StepResult>;
  waker: Waker;
  env: Env;
  interval_ms: number;
  /** The longest pause after failures; left out: five minutes. */
  retry_ms_max?: number;
  signal: AbortSignal;
};

const FAILURE_LIMITS = { first_ms: 1_000, max_ms: 5 * 60_000 };

/**
 * Runs a stage until `signal` is aborted: step after step while there is work, then a pause of at
 * most the interval. A step that throws is logged and tried again with backoff; it stops neither
 * the stage nor the other stages (G7).
 */
export async function runLoop({
  name,
  step,
  waker,
  env,
  interval_ms,
  retry_ms_max = FAILURE_LIMITS.max_ms,
  signal,
}: LoopOptions): Promise<void> {
  const limits = { ...FAILURE_LIMITS, max_ms: retry_ms_max };
  let failures = 0;
  while (!signal.aborted) {
    let wait_ms = interval_ms;
    try {
      const { did, next_at } = await step(signal);
      failures = 0;
      if (did > 0) continue;
      if (next_at !== null) wait_ms = Math.min(interval_ms, Math.max(1, next_at - env.clock.now()));
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      wait_ms = backoffMs(failures, limits, env.random());
      logStageFailure(env, name, error, wait_ms);
    }
    await waker.wait(env, wait_ms, signal);
  }
}

/**
 * Logs only the name and code of errors from other libraries: their messages may hold patient data
 * (G6).
 */
export function logStageFailure(env: Env, stage: string, error: unknown, wait_ms: number): void {
  env.log('stage_failed', {
    stage,
    wait_ms,
    error_name: error instanceof Error ? error.name : typeof error,
    error_code: errorCode(error),
    ...(error instanceof EligdError ? { reason: error.what } : {}),
  });
}
