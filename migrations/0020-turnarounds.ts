import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  // How long the service took with the last calls to each payer. `payer` is made of the request's
  // carrier or payer ID (`domain/turnaround.ts`); nothing in here is about a patient.
  await sql`
    CREATE TABLE turnarounds (
      id INTEGER PRIMARY KEY,
      payer TEXT NOT NULL,
      took_ms INTEGER NOT NULL,
      learned_at INTEGER NOT NULL
    ) STRICT`.execute(db);
  await sql`CREATE INDEX turnarounds_payer ON turnarounds (payer, took_ms)`.execute(db);
}
