import { type Kysely, sql } from 'kysely';

/**
 * Each start reads whom open visits and claims name as their payer. Closed ones stay for as long as
 * an installation keeps them and are not in this index, so a visit is written to it twice: when it
 * becomes known and when it is over. SQLite prefers an index in which it can search, so the column
 * that is always null here leads it.
 */
const STATEMENT = `CREATE INDEX appointments_open ON appointments (closed_reason, connector)
  WHERE superseded_at IS NULL AND closed_reason IS NULL`;

export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(STATEMENT).execute(db);
}
