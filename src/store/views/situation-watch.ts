/**
 * Counts the appointments in each situation, for a daemon that needs the counts often. Visits of
 * past days hardly change, and there are years of them: these are counted once an hour, a few
 * hundred at a time, so that other work does not wait. The others are counted each time.
 */
import { DAY_MS, HOUR_MS } from '../../domain/time.ts';
import type { Db } from '../engine/database.ts';
import { oldestWaiting } from './oldest-waiting.ts';
import { type SituationGroup, situationGroups } from './overview.ts';

/** Visits older than this are counted once an hour. */
const PAST_MS = 2 * DAY_MS;
const COUNTED_EVERY_MS = HOUR_MS;
const ROWS_AT_A_TIME = 250;

/** `oldest_at`: since when the longest-waiting appointment has waited; null: none is waiting. */
export type Situations = { groups: SituationGroup[]; oldest_at: number | null };

type Past = Situations & { visits_before: number; at: number };

export class SituationWatch {
  #past: Past | null = null;
  #counting: Promise<void> | null = null;

  async read(db: Db, now: number): Promise<Situations> {
    const is_old = this.#past === null || Math.abs(now - this.#past.at) >= COUNTED_EVERY_MS;
    if (is_old) {
      this.#counting ??= this.#countPast(db, now).finally(() => {
        this.#counting = null;
      });
      // Meanwhile, return the last known counts.
      if (this.#past === null) await this.#counting;
      else this.#counting.catch(() => {});
    }
    const past = this.#past;
    if (past === null) return { groups: await situationGroups(db, now), oldest_at: null };
    const recent = await situationGroups(db, now, { visits_from: past.visits_before });
    return { groups: merged([...past.groups, ...recent]), oldest_at: past.oldest_at };
  }

  async #countPast(db: Db, now: number): Promise<void> {
    const visits_before = now - PAST_MS;
    const { last } = await db
      .selectFrom('appointments')
      .select((select) => select.fn.max('id').as('last'))
      .executeTakeFirstOrThrow();
    const groups: SituationGroup[] = [];
    let oldest_at: number | null = null;
    for (let above = 0; above < (last ?? 0); above += ROWS_AT_A_TIME) {
      const ids = { above, to: above + ROWS_AT_A_TIME };
      groups.push(...(await situationGroups(db, now, { visits_before, ids })));
      const oldest = await oldestWaiting(db, ids);
      if (oldest !== null) oldest_at = Math.min(oldest, oldest_at ?? oldest);
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#past = { groups: merged(groups), oldest_at, visits_before, at: now };
  }
}

function merged(groups: readonly SituationGroup[]): SituationGroup[] {
  const same = Map.groupBy(groups, ({ kind, situation, reason }) =>
    JSON.stringify([kind, situation, reason]),
  );
  return [...same.values()].flatMap((each) => {
    const [first] = each;
    if (first === undefined) return [];
    const next = each.flatMap(({ next_at }) => (next_at === null ? [] : [next_at]));
    return [
      {
        ...first,
        count: each.reduce((sum, { count }) => sum + count, 0),
        next_at: next.length === 0 ? null : Math.min(...next),
        first_visit_at: Math.min(...each.map(({ first_visit_at }) => first_visit_at)),
      },
    ];
  });
}
