/** The data that alerts depend on. */
import { localDate } from '../../domain/time.ts';
import { readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Db } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Store } from '../engine/store.ts';

/** Returns the number of open attention items for each reason, and since when. */
export async function countAttention(
  db: Db,
): Promise<{ reason: string; count: number; since: number }[]> {
  return await BY_REASON(db, {});
}

const BY_REASON = prepared()((db) =>
  db
    .selectFrom('attention')
    .select((select) => [
      'reason',
      select.fn.countAll<number>().as('count'),
      select.fn.min('since').as('since'),
    ])
    .where('resolved_at', 'is', null)
    .groupBy('reason'),
);

const OPEN_VISITS = prepared()((db) =>
  db
    .selectFrom('attention')
    .select((select) => select.fn.countAll<number>().as('open'))
    .where('resolved_at', 'is', null)
    .where('appointment', 'is not', null),
);

const GROWTH = 'attention_days';
const DAYS_KEPT = 21;

/**
 * Returns how many items about visits are open, and the maximum of each recent day before today.
 */
export async function attentionGrowth(
  store: Store,
  time_zone: string,
  now: number,
): Promise<{ open: number; usual: number[] }> {
  const [count] = await OPEN_VISITS(store.db, {});
  const open = count?.open ?? 0;
  const today = localDate(now, time_zone);
  const setting = await readLearned(store.db, GROWTH);
  const days = (setting === null ? {} : JSON.parse(setting.value)) as Record<string, number>;
  const most = Math.max(open, days[today] ?? 0);
  if (most !== days[today]) {
    const kept = Object.entries({ ...days, [today]: most }).toSorted(([a], [b]) =>
      a < b ? 1 : -1,
    );
    const value = JSON.stringify(Object.fromEntries(kept.slice(0, DAYS_KEPT)));
    await store.write((tx) => writeLearned(tx, GROWTH, value, now));
  }
  const usual = Object.entries(days).flatMap(([day, count]) => (day < today ? [count] : []));
  return { open, usual };
}
