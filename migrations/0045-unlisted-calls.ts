import { type Kysely, sql } from 'kysely';

/** What a list shows is judged by the calls of ours that no list has shown yet. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`CREATE INDEX calls_unlisted ON calls (specialty)
    WHERE fate IN ('out', 'lost', 'absent')`.execute(db);
}
