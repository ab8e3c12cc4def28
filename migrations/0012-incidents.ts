import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // An incident that repeats is one entry: how often it was seen, and when last.
  await sql`ALTER TABLE attention ADD COLUMN count INTEGER NOT NULL DEFAULT 1`.execute(db);
  await sql`ALTER TABLE attention ADD COLUMN last_at INTEGER`.execute(db);
}
