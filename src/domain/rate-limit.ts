import type { Clock } from './env.ts';
import { Pace, type PaceTable } from './pace.ts';

/** A slot becomes free this long after its request ended (docs/service.md "Rate limit"). */
export const WINDOW_MS = 60_000;
/**
 * A request ends within its timeout; an older slot without an end belongs to a process that died.
 */
export const ABANDONED_MS = 10 * 60_000;
/** No service requests a longer pause; a longer stored pause comes from a clock that was wrong. */
const PAUSE_MS_MAX = 60 * 60_000;
/** Without a configured limit, the first 429 halves this pace. */
const UNLIMITED_PER_MINUTE = 600;
/** How soon to check again for a slot whose request is still out. */
const STILL_OUT_MS = 50;
/** How soon to check again when the clock and the slots in memory disagree. */
const CLOCK_SET_WAIT_MS = 1_000;

export type RequestPriority = 'send' | 'urgent' | 'routine';

/** Grants requests permission to leave; it has the shape of the client's `RequestGate`. */
export type RateLimiter = {
  enter: (
    priority: RequestPriority,
    signal?: AbortSignal,
  ) => Promise<{ leave: () => Promise<void> }>;
  pause: (until_ms: number) => Promise<void>;
  /** Halves the pace after a 429; the pace then grows again over time. */
  slowDown: () => Promise<void>;
};

/** Slots, pause, and pace, shared by every process on one database. Each change is committed. */
export type SlotTable = PaceTable & {
  /**
   * Takes up to `wanted` free slots of `max_per_minute`, and returns when to ask for more. `held`:
   * the slots that the caller knows to be taken.
   */
  take: (asked: {
    now: number;
    max_per_minute: number;
    wanted: number;
    held: readonly number[];
  }) => Promise<{ slots: number[]; wait_ms: number }>;
  /** Returns a slot that no request used. */
  drop: (slot: number) => Promise<void>;
  /** Records that the slot's request has ended. */
  end: (slot: number, now: number) => Promise<void>;
  /** Returns the end of the pause that the service requested, by the computer's clock; 0: none. */
  pausedUntil: () => Promise<number>;
  pauseUntil: (until_ms: number, now: number) => Promise<void>;
};

type RateLimit = {
  table: SlotTable;
  clock: Clock;
  /**
   * Zero means no limit; pauses that the service requests and the slower pace after a 429 still
   * apply.
   */
  max_per_minute: number;
  /** Slots of earlier processes that may still count; they are held for a whole window. */
  found: readonly number[];
};

/**
 * The rate limit (G5): at most `max_per_minute` requests in any sliding minute at the server,
 * across restarts and for every process on this database. A slot is committed before its request
 * and becomes free 60 s after the request ended, because the server may count it at any time in
 * between.
 *
 * Of the requests that wait in this process, `send` goes first, then `urgent`, then `routine`;
 * within a priority, the oldest goes first.
 */
export function limitRate(limit: RateLimit): RateLimiter {
  const pause = new Pause(limit);
  const is_unlimited = limit.max_per_minute === 0;
  const per_minute_max = is_unlimited ? UNLIMITED_PER_MINUTE : limit.max_per_minute;
  const pace = new Pace(limit.table, limit.clock, per_minute_max);
  const line = new WaitingLine(limit, pace);
  return {
    enter: async (priority, signal) => {
      await pause.over(signal);
      if (is_unlimited && (await pace.now()).gap_ms === 0) return { leave: async () => {} };
      signal?.throwIfAborted();
      const slot = await line.slot(priority, signal);
      return { leave: () => line.end(slot) };
    },
    pause: (until_ms) => pause.set(until_ms),
    slowDown: () => pace.slowDown(),
  };
}

/**
 * The pause that the service requested. It is measured by the monotonic clock, and stored by the
 * wall clock for the next process.
 */
class Pause {
  readonly #table: SlotTable;
  readonly #clock: Clock;
  #until_elapsed: number | null = null;

  constructor({ table, clock }: Pick<RateLimit, 'table' | 'clock'>) {
    this.#table = table;
    this.#clock = clock;
  }

  async over(signal: AbortSignal | undefined): Promise<void> {
    this.#until_elapsed ??= this.#elapsedAt(await this.#table.pausedUntil());
    for (let left_ms = this.#left(); left_ms > 0; left_ms = this.#left())
      await this.#clock.sleep(left_ms, signal);
  }

  async set(until_ms: number): Promise<void> {
    const until = Math.min(until_ms, this.#clock.now() + PAUSE_MS_MAX);
    this.#until_elapsed = Math.max(this.#until_elapsed ?? 0, this.#elapsedAt(until));
    await this.#table.pauseUntil(until, this.#clock.now());
  }

  #left(): number {
    return (this.#until_elapsed ?? 0) - this.#clock.elapsed();
  }

  #elapsedAt(until_ms: number): number {
    const left_ms = Math.min(until_ms - this.#clock.now(), PAUSE_MS_MAX);
    return left_ms > 0 ? this.#clock.elapsed() + left_ms : 0;
  }
}

type Waiter = { resolve: (slot: number) => void; reject: (error: unknown) => void };

/**
 * Requests that wait for a slot. One loop takes slots for all of them and hands the slots out in
 * order.
 */
class WaitingLine {
  readonly #table: SlotTable;
  readonly #clock: Clock;
  readonly #pace: Pace;
  readonly #waiting: Readonly<Record<RequestPriority, Set<Waiter>>> = {
    send: new Set(),
    urgent: new Set(),
    routine: new Set(),
  };
  /**
   * The slots of this process and those found at start, with the time at which each becomes free by
   * the monotonic clock (G5).
   */
  readonly #held = new Map<number, number>();
  #is_serving = false;
  /** When the last slot was handed out, by the monotonic clock. */
  #handed_elapsed = Number.NEGATIVE_INFINITY;

  constructor({ table, clock, found }: RateLimit, pace: Pace) {
    this.#table = table;
    this.#clock = clock;
    this.#pace = pace;
    for (const slot of found) this.#held.set(slot, clock.elapsed() + WINDOW_MS);
  }

  slot(priority: RequestPriority, signal: AbortSignal | undefined): Promise<number> {
    const line = this.#waiting[priority];
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter: Waiter = { resolve, reject };
    line.add(waiter);
    const onAbort = () => {
      line.delete(waiter);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (!this.#is_serving) void this.#serve();
    return promise.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  async end(slot: number): Promise<void> {
    this.#held.set(slot, this.#clock.elapsed() + WINDOW_MS);
    await this.#table.end(slot, this.#clock.now());
  }

  /**
   * Returns the known slots that are not free yet, even if the computer's clock was set since (G5).
   */
  #heldNow(): number[] {
    for (const [slot, free_at] of this.#held)
      if (free_at <= this.#clock.elapsed()) this.#held.delete(slot);
    return [...this.#held.keys()];
  }

  async #serve(): Promise<void> {
    this.#is_serving = true;
    while (this.#count() > 0) {
      try {
        const { per_minute, gap_ms } = await this.#pace.now();
        const early_ms = this.#handed_elapsed + gap_ms - this.#clock.elapsed();
        if (early_ms > 0) {
          await this.#clock.sleep(early_ms);
          continue;
        }
        const wanted = gap_ms > 0 ? 1 : this.#count();
        const { slots, wait_ms } = await this.#table.take({
          now: this.#clock.now(),
          max_per_minute: per_minute,
          wanted,
          held: this.#heldNow(),
        });
        for (const slot of slots) {
          const first = this.#takeFirst();
          // The request was aborted in the meantime, so the slot was not used.
          if (first === null) await this.#table.drop(slot);
          else {
            this.#held.set(slot, this.#clock.elapsed() + ABANDONED_MS);
            this.#handed_elapsed = this.#clock.elapsed();
            first.resolve(slot);
          }
        }
        if (this.#count() > 0 && slots.length < wanted) await this.#clock.sleep(wait_ms);
      } catch (error) {
        for (let waiter = this.#takeFirst(); waiter !== null; waiter = this.#takeFirst())
          waiter.reject(error);
      }
    }
    this.#is_serving = false;
  }

  #count(): number {
    const { send, urgent, routine } = this.#waiting;
    return send.size + urgent.size + routine.size;
  }

  #takeFirst(): Waiter | null {
    for (const line of [this.#waiting.send, this.#waiting.urgent, this.#waiting.routine]) {
      const [first] = line;
      if (first !== undefined) {
        line.delete(first);
        return first;
      }
    }
    return null;
  }
}

/**
 * Returns how long to wait before checking for a slot again. Without an end time, a request is
 * still out: check again soon. The same holds for a slot that is held only in memory.
 */
export function waitForSlot(first_ended_at: number | null, now: number): number {
  if (first_ended_at === null) return STILL_OUT_MS;
  const wait_ms = first_ended_at + WINDOW_MS - now;
  return wait_ms <= 0 ? CLOCK_SET_WAIT_MS : Math.min(wait_ms, WINDOW_MS);
}
