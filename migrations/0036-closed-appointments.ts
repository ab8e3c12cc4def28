import { type Kysely, sql } from 'kysely';

/**
 * "eligd status" and "eligd once" count the visits that are over, which are nearly all of them
 * after a year. Without this index they read the whole table. A visit is written to it once, when
 * it is over.
 */
const STATEMENT = `CREATE INDEX appointments_closed
  ON appointments (kind, closed_reason, starts_at) WHERE closed_reason IS NOT NULL`;

export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(STATEMENT).execute(db);
}
