/** The results for the visits of several days, in numbers. Read-only. */
import { sql } from 'kysely';
import type { SituationWord } from '../../domain/situation.ts';
import { allTurnarounds } from '../calls/turnarounds.ts';
import type { Db } from '../engine/database.ts';
import { situationAt } from './situation.ts';

/** Each open visit is in exactly one of these; self-pay and canceled visits are in none. */
export type DayCount = {
  /** The answer has been written into the practice management system. */
  verified: number;
  /** eligd has the answer and has not written it yet. */
  answered: number;
  asked: number;
  planned: number;
  overdue: number;
  attention: number;
};

const COUNTED_AS: Readonly<Record<SituationWord, keyof DayCount | null>> = {
  delivered: 'verified',
  answered: 'answered',
  asking: 'asked',
  planned: 'planned',
  waiting: 'planned',
  attention: 'attention',
  closed: null,
};

export async function dayCounts(
  db: Db,
  { from, to }: { from: number; to: number },
  now: number,
): Promise<DayCount> {
  const rows = await db
    .selectFrom('appointments')
    .select([situationAt(now).as('situation'), isOverdue.as('is_overdue')])
    .where('superseded_at', 'is', null)
    .where('kind', '=', sql.lit('appointment'))
    .where('starts_at', '>=', from)
    .where('starts_at', '<', to)
    .execute();
  const counts: DayCount = {
    verified: 0,
    answered: 0,
    asked: 0,
    planned: 0,
    overdue: 0,
    attention: 0,
  };
  for (const { situation, is_overdue } of rows) {
    const counted = COUNTED_AS[situation];
    if (counted !== null)
      counts[counted === 'asked' && is_overdue === 1 ? 'overdue' : counted] += 1;
  }
  return counts;
}

const isOverdue = sql<number>`exists (
  select 1 from inquiry_appointments l join inquiries i on i.id = l.inquiry
  where l.appointment = appointments.id and i.state = 'open' and i.overdue_since is not null)`;

/** Returns how long the service takes with each payer, slowest first; `payer` as in requests. */
export async function turnaroundsByPayer(
  db: Db,
  limit: number,
): Promise<{ payer: string; median_ms: number; calls: number }[]> {
  const known = [...(await allTurnarounds(db))].flatMap(([key, { median_ms, calls }]) => {
    const [, about, payer = ''] = key.split('|');
    return about === 'benefits' ? [{ payer, median_ms, calls }] : [];
  });
  return known.toSorted((a, b) => b.median_ms - a.median_ms).slice(0, limit);
}
