import { type Kysely, sql } from 'kysely';

/** Calls of ours without an ID explain what a list shows. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`CREATE INDEX calls_unlisted ON calls (specialty)
    WHERE fate IN ('lost', 'absent')`.execute(db);
}
