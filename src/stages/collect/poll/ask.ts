/**
 * Coordinates requests about inquiries: one at a time for each inquiry, with a limit on how long a
 * request waits for its turn.
 */
import PQueue from 'p-queue';
import type { Env } from '../../../domain/env.ts';
import type { Result } from '../../../service/api.ts';

/** Failed polls since the last successful one. Kept in memory only. */
export type Outage = {
  /** When the first of them failed (epoch ms). */
  since: number;
  /**
   * The inquiries whose polls failed. A second inquiry shows that the failure is not specific to
   * the first.
   */
  inquiries: Set<number>;
  failures: number;
  /** When the next poll may be sent. */
  probe_at: number;
};

/** State that the loops of this stage share. Losing it with the process does no harm. */
export type CollectMemory = {
  /** Runs verifications and records one at a time. */
  turns: PQueue;
  /** By row: the latest request about an inquiry that has no reply yet. */
  asking: Map<number, Promise<void>>;
  /** By row: hash of the webhook event that caused a poll, for comparison with the reply. */
  reported: Map<number, string>;
  /** By ID: how many times eligd failed to make a record of a stored answer. */
  unusable: Map<number, number>;
  outage: Outage | null;
  /** The verifications that were due at `at` wait until `until` (epoch ms). */
  put_off: { at: number; until: number } | null;
  /** The service has answered a poll of this process. */
  was_answered: boolean;
};

/** An answer that failed this many times is set aside. */
export const UNUSABLE_LIMIT = 3;

/** Counts another failure to process a stored answer. */
export function countUnusable({ unusable }: CollectMemory, answer: number): void {
  unusable.set(answer, (unusable.get(answer) ?? 0) + 1);
}

/** Returns whether the answer has failed so often that this process no longer tries it. */
export function isSetAside({ unusable }: CollectMemory, answer: number): boolean {
  return (unusable.get(answer) ?? 0) >= UNUSABLE_LIMIT;
}

/** Returns the memory of a process that has asked nothing yet. */
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
 * Runs `work` after the pending request about the same inquiry has been committed: replies may
 * overtake each other, and an older reply must not overwrite a newer one.
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
 * Runs `work` with a signal for its requests. After `patience_ms`, requests that still wait for
 * their turn are aborted, for example because others use up the rate limit. Requests in flight are
 * not.
 */
export async function withPatience<Value>(
  { clock }: Env,
  patience_ms: number,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const expired = new AbortController();
  const done = new AbortController();
  const waiting = clock.sleep(patience_ms, done.signal).then(
    () => expired.abort(),
    () => {},
  );
  try {
    return await work(expired.signal);
  } finally {
    done.abort('done');
    await waiting;
  }
}

/**
 * Returns whether the request was aborted before it was sent, because it waited too long for its
 * turn.
 */
export function isGivenBack(result: Result<unknown>): boolean {
  return !result.ok && result.failure.class === 'unsent' && result.failure.cause === 'aborted';
}

/**
 * Waits for all work to end, and returns the values or throws the first failure (G7): no request of
 * a step may be in flight after the step, or a shutdown would have to wait for it.
 */
export async function all<Value>(work: readonly Promise<Value>[]): Promise<Value[]> {
  return (await Promise.allSettled(work)).map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}
