import { sql } from 'kysely';
import type { Clock } from '../../domain/env.ts';
import type { LearnedPace } from '../../domain/pace.ts';
import {
  ABANDONED_MS,
  limitRate,
  type RateLimiter,
  type SlotTable,
  WINDOW_MS,
  waitForSlot,
} from '../../domain/rate-limit.ts';
import { readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Store } from '../engine/store.ts';

/** No request may leave before this time (epoch milliseconds). */
export const PAUSE_SETTING = 'requests_paused_until';

/** The number of requests per minute since the last 429, and its time. */
const PACE_SETTING = 'requests_pace';

function readPace(text: string): LearnedPace | null {
  const [per_minute = Number.NaN, at = Number.NaN] = text.split(' ').map(Number);
  return per_minute >= 1 && at >= 0 ? { per_minute, at } : null;
}

/**
 * Creates the rate limiter for this database; `found` are the slots that `endAbandonedSlots` ended.
 */
export function createRateLimiter(
  store: Store,
  clock: Clock,
  max_per_minute: number,
  found: readonly number[] = [],
): RateLimiter {
  const table: SlotTable = {
    take: (asked) => store.write((tx) => takeSlots(tx, asked)),
    drop: (slot) => store.write((tx) => dropSlot(tx, slot)),
    end: (slot, now) => store.write((tx) => endSlot(tx, slot, now)),
    pausedUntil: async () => Number((await readLearned(store.db, PAUSE_SETTING))?.value ?? 0),
    pauseUntil: (until_ms, now) =>
      store.write((tx) => writeLearned(tx, PAUSE_SETTING, String(until_ms), now)),
    pace: async () => readPace((await readLearned(store.db, PACE_SETTING))?.value ?? ''),
    keepPace: ({ per_minute, at }) =>
      store.write((tx) => writeLearned(tx, PACE_SETTING, `${per_minute} ${at}`, at)),
  };
  return limitRate({ table, clock, max_per_minute, found });
}

/** Takes up to `wanted` free slots. Returns them and how long to wait before the next attempt. */
async function takeSlots(
  tx: Tx,
  { now, max_per_minute, wanted, held }: Parameters<SlotTable['take']>[0],
): Promise<{ slots: number[]; wait_ms: number }> {
  await FREE(tx, {
    ended_until: now - WINDOW_MS,
    taken_until: now - ABANDONED_MS,
    // No slot has the number 0; a list in a statement is never empty.
    held: [0, ...held],
  });
  let { taken, first_ended_at, last_at } = await takenSlots(tx);
  if (last_at !== null && last_at > now) {
    // Times in the future were written before the clock was set back. These slots ended at the
    // latest now, so they are held for a minute.
    await tx
      .updateTable('rate_slots')
      .set({
        taken_at: sql`case when taken_at > ${now} then ${now} else taken_at end`,
        ended_at: sql`case when ended_at > ${now} then ${now} else ended_at end`,
      })
      .execute();
    ({ taken, first_ended_at } = await takenSlots(tx));
  }
  const free = Math.min(wanted, max_per_minute - Math.max(taken, held.length));
  if (free <= 0) return { slots: [], wait_ms: waitForSlot(first_ended_at, now) };
  const rows = await TAKE(tx, { now }, free);
  return { slots: rows.map(({ id }) => id), wait_ms: waitForSlot(first_ended_at, now) };
}

const TAKE = prepared<{ now: number }>()((tx, place, count: number) =>
  tx
    .insertInto('rate_slots')
    .values(Array.from({ length: count }, () => ({ taken_at: place('now'), ended_at: null })))
    .returning('id'),
);

const FREE = prepared<{
  ended_until: number;
  taken_until: number;
  held: readonly number[];
}>()((tx, place) =>
  tx
    .deleteFrom('rate_slots')
    .where((where) =>
      where.or([
        where('ended_at', '<=', place('ended_until')),
        where('taken_at', '<=', place('taken_until')),
      ]),
    )
    // Keep the held slots: if the clock was set forward, they only seem old, and the next process
    // must find them.
    .where('id', 'not in', place('held')),
);

type Taken = { taken: number; first_ended_at: number | null; last_at: number | null };

async function takenSlots(tx: Tx): Promise<Taken> {
  const [found] = await TAKEN(tx, {});
  const times = [found?.last_taken_at ?? null, found?.last_ended_at ?? null];
  const known = times.filter((each) => each !== null);
  return {
    taken: found?.taken ?? 0,
    first_ended_at: found?.first_ended_at ?? null,
    last_at: known.length === 0 ? null : Math.max(...known),
  };
}

const TAKEN = prepared()((tx) =>
  tx
    .selectFrom('rate_slots')
    .select((select) => [
      select.fn.countAll<number>().as('taken'),
      select.fn.min<number | null>('ended_at').as('first_ended_at'),
      select.fn.max<number | null>('ended_at').as('last_ended_at'),
      select.fn.max<number | null>('taken_at').as('last_taken_at'),
    ]),
);

async function dropSlot(tx: Tx, slot: number): Promise<void> {
  await tx.deleteFrom('rate_slots').where('id', '=', slot).execute();
}

async function endSlot(tx: Tx, slot: number, now: number): Promise<void> {
  await END(tx, { slot, now });
}

const END = prepared<{ slot: number; now: number }>()((tx, place) =>
  tx
    .updateTable('rate_slots')
    .set({ ended_at: place('now') })
    .where('id', '=', place('slot')),
);

/**
 * Ends every slot now, at the start of the only daemon. For a slot of a dead process this is the
 * latest possible end; for the others the clock may have been set since. Returns them, for the rate
 * limiter to hold.
 */
export async function endAbandonedSlots(store: Store, now: number): Promise<number[]> {
  const rows = await store.write(
    async (tx) =>
      await tx.updateTable('rate_slots').set({ ended_at: now }).returning('id').execute(),
  );
  return rows.map(({ id }) => id);
}
