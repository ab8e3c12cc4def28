import { type Kysely, sql } from 'kysely';

/**
 * A visit or claim that planning has not seen since it changed is due at 0, by any clock. Before
 * this migration, other due times replaced the time of the change, so all are planned again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw('UPDATE appointments SET plan_due_at = 0 WHERE plan_due_at IS NOT NULL')
    .execute(db);
}
