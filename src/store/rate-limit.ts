import type { Clock } from '../domain/env.ts';
import type { Tx } from './database.ts';
import { readFact, writeFact } from './facts.ts';
import type { Store } from './store.ts';

const WINDOW_MS = 60_000;
/** A request ends within its time-out; a slot without an end that is older than this belongs to a process that died. */
const ABANDONED_MS = 10 * 60_000;
const PAUSE_FACT = 'requests_paused_until';

export type SlotOutcome = { slot: number } | { wait_ms: number };

/** How a request asks for leave; the shape is that of the client's `RequestGate`. */
export type RateLimiter = {
  enter: (priority: 'send' | 'urgent' | 'routine', signal?: AbortSignal) => Promise<{ leave: () => Promise<void> }>;
  pause: (until_ms: number) => Promise<void>;
};

/**
 * The rate limit (G5): at most `max_per_minute` requests in any sliding minute at the server, across restarts and for every
 * process on this database. A slot is committed before its request and is free again 60 s after the request ended, because
 * the server may count it anywhere between. Zero means no limit; a pause that the service asked for holds all the same.
 */
export function createRateLimiter(store: Store, clock: Clock, max_per_minute: number): RateLimiter {
  let paused_until: number | null = null;
  return {
    enter: async (_priority, signal) => {
      paused_until ??= await readPause(store);
      while (paused_until > clock.now()) await clock.sleep(paused_until - clock.now(), signal);
      if (max_per_minute === 0) return { leave: async () => {} };
      for (;;) {
        signal?.throwIfAborted();
        const outcome = await store.write((tx) => takeSlot(tx, clock.now(), max_per_minute));
        if ('slot' in outcome) return { leave: () => store.write((tx) => endSlot(tx, outcome.slot, clock.now())) };
        await clock.sleep(outcome.wait_ms, signal);
      }
    },
    pause: async (until_ms) => {
      paused_until = Math.max(until_ms, paused_until ?? (await readPause(store)));
      const until = paused_until;
      await store.write((tx) => writeFact(tx, PAUSE_FACT, String(until), clock.now()));
    },
  };
}

async function readPause(store: Store): Promise<number> {
  return Number((await readFact(store.db, PAUSE_FACT))?.value ?? 0);
}

async function takeSlot(tx: Tx, now: number, max_per_minute: number): Promise<SlotOutcome> {
  // What lies ahead was written before the clock was set back. It ended at the latest now, so a minute is enough for it.
  await tx.updateTable('rate_slots').set({ ended_at: now }).where('ended_at', '>', now).execute();
  await tx.updateTable('rate_slots').set({ taken_at: now }).where('taken_at', '>', now).execute();
  await tx
    .deleteFrom('rate_slots')
    .where((where) => where.or([where('ended_at', '<=', now - WINDOW_MS), where('taken_at', '<=', now - ABANDONED_MS)]))
    .execute();
  const { taken, first_free_at } = await tx
    .selectFrom('rate_slots')
    .select((select) => [select.fn.countAll<number>().as('taken'), select.fn.min('ended_at').as('first_free_at')])
    .executeTakeFirstOrThrow();
  if (taken >= max_per_minute) {
    // Without an end in sight a request is still out: look again soon.
    const wait_ms = first_free_at === null ? 50 : first_free_at + WINDOW_MS - now;
    return { wait_ms: Math.min(Math.max(wait_ms, 1), WINDOW_MS) };
  }
  const { id } = await tx
    .insertInto('rate_slots')
    .values({ taken_at: now, ended_at: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { slot: id };
}

async function endSlot(tx: Tx, slot: number, now: number): Promise<void> {
  await tx.updateTable('rate_slots').set({ ended_at: now }).where('id', '=', slot).execute();
}

/** At the start of the only daemon: slots of a process that died are taken to end now, the latest moment they can have. */
export async function endAbandonedSlots(store: Store, now: number): Promise<void> {
  await store.write(async (tx) => {
    await tx.updateTable('rate_slots').set({ ended_at: now }).where('ended_at', 'is', null).execute();
  });
}
