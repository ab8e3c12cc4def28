import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // When exports were read to their end, and how many rows they had: what is usual is learned from
  // the last weeks. Older ones are deleted.
  await sql`CREATE TABLE arrivals (
    id INTEGER PRIMARY KEY,
    connector TEXT NOT NULL,
    source INTEGER NOT NULL, -- the same file may come again
    at INTEGER NOT NULL,
    rows INTEGER NOT NULL
  ) STRICT`.execute(db);
  await sql`CREATE INDEX arrivals_at ON arrivals (connector, at)`.execute(db);
  await sql`CREATE INDEX appointments_last_source ON appointments (last_source)`.execute(db);
}
