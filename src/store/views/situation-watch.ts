/**
 * How many appointments are in each situation, for a daemon that is asked again and again. A visit
 * that was days ago hardly changes any more, and there are years of them: these are counted once
 * an hour, a few hundred at a time, so that nothing waits for it. The others are counted each time.
 */
import { DAY_MS, HOUR_MS } from '../../domain/time.ts';
import type { Db } from '../engine/database.ts';
import { oldestWaiting } from './oldest-waiting.ts';
import { type SituationGroup, situationGroups } from './overview.ts';

/** Visits that were so long ago are counted once an hour. */
const PAST_MS = 2 * DAY_MS;
const COUNTED_EVERY_MS = HOUR_MS;
const ROWS_AT_A_TIME = 250;

/** `oldest_at`: since when the appointment waits that waits longest; null: none does. */
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
      // What is known is told meanwhile.
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
