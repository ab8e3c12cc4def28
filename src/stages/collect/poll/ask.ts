/**
 * How questions about inquiries share the way to the service: one at a time about each, and none in
 * line for ever.
 */
import PQueue from 'p-queue';
import type { Env } from '../../../domain/env.ts';
import type { Result } from '../../../service/api.ts';

/** What the failed questions since the last answered one say. Lost with the process. */
export type Outage = {
  /** When the first of them failed (epoch ms). */
  since: number;
  /** Whose questions failed: a second one says that it is not about the first one's inquiry. */
  inquiries: Set<number>;
  failures: number;
  /** When the next question may leave. */
  probe_at: number;
};

/** What the loops of this stage know together. Lost with the process, which does no harm. */
export type CollectMemory = {
  /** One at a time: what follows from answers. */
  turns: PQueue;
  /** By row: the last question about an inquiry that is not answered yet. */
  asking: Map<number, Promise<void>>;
  /** By row: what a report held that led to a question, for comparing it with the reply. */
  reported: Map<number, string>;
  /** By id: how often no record could be made of a stored answer. */
  unusable: Map<number, number>;
  outage: Outage | null;
  /** The verifications that were due at `at` wait until `until` (epoch ms). */
  put_off: { at: number; until: number } | null;
  /** A question of this process was answered. */
  was_answered: boolean;
};

/** An answer that could not be used so often is set aside. */
export const UNUSABLE_LIMIT = 3;

/** Counts another failure with a stored answer. */
export function countUnusable({ unusable }: CollectMemory, answer: number): void {
  unusable.set(answer, (unusable.get(answer) ?? 0) + 1);
}

export function isSetAside({ unusable }: CollectMemory, answer: number): boolean {
  return (unusable.get(answer) ?? 0) >= UNUSABLE_LIMIT;
}

export function newCollectMemory(): CollectMemory {
  return {
    turns: new PQueue({ concurrency: 1 }),
    asking: new Map(),
    reported: new Map(),
    unusable: new Map(),
    outage: null,
    put_off: null,
    was_answered: false,
  };
}

/**
 * Runs `work` when what is under way about the same inquiry has been committed: two replies may
 * overtake each other, and an inquiry must not go back to what was read before.
 */
export async function oneByOne(
  { asking }: CollectMemory,
  inquiry: number,
  work: () => Promise<void>,
): Promise<void> {
  const before = asking.get(inquiry);
  const after = (async () => {
    await before?.catch(() => {});
    await work();
  })();
  asking.set(inquiry, after);
  try {
    await after;
  } finally {
    if (asking.get(inquiry) === after) asking.delete(inquiry);
  }
}

/**
 * Runs `work` with a signal for its calls. After `patience_ms` those that still wait for their turn
 * are given back, as when the rate limit is used up by others; what is on the wire goes on.
 */
export async function withPatience<Value>(
  { clock }: Env,
  patience_ms: number,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const over = new AbortController();
  const done = new AbortController();
  const waiting = clock.sleep(patience_ms, done.signal).then(
    () => over.abort(),
    () => {},
  );
  try {
    return await work(over.signal);
  } finally {
    done.abort('done');
    await waiting;
  }
}

/** Nothing was sent: it had waited for its turn for as long as it may. */
export function isGivenBack(result: Result<unknown>): boolean {
  return !result.ok && result.failure.class === 'unsent' && result.failure.cause === 'aborted';
}

/**
 * Lets every piece of work come to its end before the first failure is thrown (G7): nothing of a
 * step is on the wire when the step is over, or a stop would wait for it.
 */
export async function all<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  return (await Promise.allSettled(work)).map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
