import { type Kysely, sql } from 'kysely';

/** Open entries about a call are found by the call, so that no page reads the whole list for it. */
const STATEMENT = 'CREATE INDEX attention_inquiry ON attention (inquiry) WHERE resolved_at IS NULL';

export async function up(db: Kysely<never>): Promise<void> {
  await sql.raw(STATEMENT).execute(db);
}
