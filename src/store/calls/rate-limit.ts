import { type SqlBool, sql } from 'kysely';
import type { Clock } from '../../domain/env.ts';
import { readFact, writeFact } from '../bookkeeping/facts.ts';
import type { Tx } from '../engine/database.ts';
import type { Store } from '../engine/store.ts';

const WINDOW_MS = 60_000;
/**
 * A request ends within its time-out; a slot without an end that is older than this belongs to a
 * process that died.
 */
const ABANDONED_MS = 10 * 60_000;
/**
 * No service has us wait longer at a time; beyond it a pause that was stored is the work of a clock
 * that was wrong.
 */
const PAUSE_MS_MAX = 60 * 60_000;
/** How soon to look again for a slot whose request is still out. */
const STILL_OUT_MS = 50;
/** How soon to look again where the clock and what is in memory disagree. */
const CLOCK_SET_WAIT_MS = 1_000;
/** Until when no request leaves (epoch milliseconds). */
export const PAUSE_FACT = 'requests_paused_until';

export type RequestPriority = 'send' | 'urgent' | 'routine';

/** How a request asks for leave; the shape is that of the client's `RequestGate`. */
export type RateLimiter = {
  enter: (
    priority: RequestPriority,
    signal?: AbortSignal,
  ) => Promise<{ leave: () => Promise<void> }>;
  pause: (until_ms: number) => Promise<void>;
};

/**
 * The rate limit (G5): at most `max_per_minute` requests in any sliding minute at the server,
 * across restarts and for every process on this database. A slot is committed before its request
 * and is free again 60 s after the request ended, because the server may count it anywhere between.
 * Zero means no limit; a pause that the service asked for holds all the same.
 *
 * Of the requests that wait in this process `send` goes first, then `urgent`, then `routine`; among
 * equals whoever came first. `found` are the slots that `endAbandonedSlots` has ended.
 */
export function createRateLimiter(
  store: Store,
  clock: Clock,
  max_per_minute: number,
  found: readonly number[] = [],
): RateLimiter {
  const pause = new Pause(store, clock);
  const line = new WaitingLine(store, clock, max_per_minute, found);
  return {
    enter: async (priority, signal) => {
      await pause.over(signal);
      if (max_per_minute === 0) return { leave: async () => {} };
      signal?.throwIfAborted();
      const slot = await line.slot(priority, signal);
      return { leave: () => line.end(slot) };
    },
    pause: (until_ms) => pause.set(until_ms),
  };
}

/**
 * How long the service has us wait. Measured by the clock that is never set; stored by the other
 * one, for the next process.
 */
class Pause {
  readonly #store: Store;
  readonly #clock: Clock;
  #until_elapsed: number | null = null;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async over(signal: AbortSignal | undefined): Promise<void> {
    this.#until_elapsed ??= this.#elapsedAt(
      Number((await readFact(this.#store.db, PAUSE_FACT))?.value ?? 0),
    );
    for (let left_ms = this.#left(); left_ms > 0; left_ms = this.#left())
      await this.#clock.sleep(left_ms, signal);
  }

  async set(until_ms: number): Promise<void> {
    const until = Math.min(until_ms, this.#clock.now() + PAUSE_MS_MAX);
    this.#until_elapsed = Math.max(this.#until_elapsed ?? 0, this.#elapsedAt(until));
    await this.#store.write((tx) => writeFact(tx, PAUSE_FACT, String(until), this.#clock.now()));
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
 * Requests that wait for a slot. One of them at a time looks for slots, for as many as wait, and
 * hands them out in order.
 */
class WaitingLine {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #max_per_minute: number;
  readonly #waiting: Readonly<Record<RequestPriority, Set<Waiter>>> = {
    send: new Set(),
    urgent: new Set(),
    routine: new Set(),
  };
  /**
   * The slots of this process and those that it found, and when each is free again by the clock
   * that is never set (G5).
   */
  readonly #held = new Map<number, number>();
  #is_serving = false;

  constructor(store: Store, clock: Clock, max_per_minute: number, found: readonly number[]) {
    this.#store = store;
    this.#clock = clock;
    this.#max_per_minute = max_per_minute;
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
    await this.#store.write((tx) => endSlot(tx, slot, this.#clock.now()));
  }

  /**
   * Which of the slots that are known here are not free yet, whatever the machine's clock was set
   * to since (G5).
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
        const wanted = this.#count();
        const { slots, wait_ms } = await this.#store.write((tx) =>
          takeSlots(tx, this.#clock.now(), this.#max_per_minute, { wanted, held: this.#heldNow() }),
        );
        for (const slot of slots) {
          const first = this.#takeFirst();
          // Whoever wanted it has gone away meanwhile, and no request was made.
          if (first === null) await this.#store.write((tx) => dropSlot(tx, slot));
          else {
            this.#held.set(slot, this.#clock.elapsed() + ABANDONED_MS);
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

/** Takes up to `wanted` free slots, and says after which time it is worthwhile to look for more. */
async function takeSlots(
  tx: Tx,
  now: number,
  max_per_minute: number,
  { wanted, held }: { wanted: number; held: readonly number[] },
): Promise<{ slots: number[]; wait_ms: number }> {
  await tx
    .deleteFrom('rate_slots')
    .where((where) =>
      where.or([
        where('ended_at', '<=', now - WINDOW_MS),
        where('taken_at', '<=', now - ABANDONED_MS),
      ]),
    )
    // Were the clock set forward, the next process would not know of them.
    .where(sql<SqlBool>`id not in (select value from json_each(${JSON.stringify(held)}))`)
    .execute();
  let { taken, first_ended_at, last_at } = await takenSlots(tx);
  if (last_at !== null && last_at > now) {
    // What lies ahead was written before the clock was set back. It ended at the latest now, so a
    // minute is enough for it.
    await tx
      .updateTable('rate_slots')
      .set({ taken_at: sql`min(taken_at, ${now})`, ended_at: sql`min(ended_at, ${now})` })
      .execute();
    ({ taken, first_ended_at } = await takenSlots(tx));
  }
  const free = Math.min(wanted, max_per_minute - Math.max(taken, held.length));
  if (free <= 0) return { slots: [], wait_ms: waitFor(first_ended_at, now) };
  const rows = await tx
    .insertInto('rate_slots')
    .values(Array.from({ length: free }, () => ({ taken_at: now, ended_at: null })))
    .returning('id')
    .execute();
  return { slots: rows.map(({ id }) => id), wait_ms: waitFor(first_ended_at, now) };
}

type Taken = { taken: number; first_ended_at: number | null; last_at: number | null };

async function takenSlots(tx: Tx): Promise<Taken> {
  return await tx
    .selectFrom('rate_slots')
    .select((select) => [
      select.fn.countAll<number>().as('taken'),
      select.fn.min('ended_at').as('first_ended_at'),
      sql<number | null>`max(max(taken_at, coalesce(ended_at, 0)))`.as('last_at'),
    ])
    .executeTakeFirstOrThrow();
}

/**
 * Without an end in sight a request is still out: looked for again soon. So is one that is only
 * held in memory.
 */
function waitFor(first_ended_at: number | null, now: number): number {
  if (first_ended_at === null) return STILL_OUT_MS;
  const wait_ms = first_ended_at + WINDOW_MS - now;
  return wait_ms <= 0 ? CLOCK_SET_WAIT_MS : Math.min(wait_ms, WINDOW_MS);
}

async function dropSlot(tx: Tx, slot: number): Promise<void> {
  await tx.deleteFrom('rate_slots').where('id', '=', slot).execute();
}

async function endSlot(tx: Tx, slot: number, now: number): Promise<void> {
  await tx.updateTable('rate_slots').set({ ended_at: now }).where('id', '=', slot).execute();
}

/**
 * At the start of the only daemon: every slot is taken to end now. Of those of a process that died
 * this is the latest moment they can have; of the others nobody knows what the clock was set to
 * meanwhile. Returns them, for the rate limiter to hold.
 */
export async function endAbandonedSlots(store: Store, now: number): Promise<number[]> {
  const rows = await store.write(
    async (tx) =>
      await tx.updateTable('rate_slots').set({ ended_at: now }).returning('id').execute(),
  );
  return rows.map(({ id }) => id);
}
