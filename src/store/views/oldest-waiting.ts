import { type SqlBool, sql } from 'kysely';
import type { Db } from '../engine/database.ts';

/** Returns since when the oldest open appointment without a written answer is known; null: none. */
export async function oldestWaiting(
  db: Db,
  ids: { above: number; to: number } | null = null,
): Promise<number | null> {
  const { oldest_at } = await db
    .selectFrom('appointments')
    .select((select) => select.fn.min('created_at').as('oldest_at'))
    .where('closed_reason', 'is', null)
    .where((where) =>
      ids === null
        ? sql<SqlBool>`true`
        : where.and([where('id', '>', ids.above), where('id', '<=', ids.to)]),
    )
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('deliveries')
            .select('deliveries.id')
            .whereRef('deliveries.appointment', '=', 'appointments.id')
            .where('deliveries.state', '=', 'delivered'),
        ),
      ),
    )
    .executeTakeFirstOrThrow();
  return oldest_at;
}
