import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // What payers said of the shares and limits of a plan: it serves everybody in the same group for
  // whom the payer names the same plan. `plan_key`: payer, tax ID and group (`domain/plan-key.ts`);
  // `mark`: the plan as the payer named it, with its amounts (`records/plan-terms.ts`). Two calls
  // that contradict each other make a term disputed, and nobody relies on it. Nothing in here is
  // about a patient.
  await sql`
    CREATE TABLE plan_terms (
      plan_key TEXT NOT NULL,
      benefit_year INTEGER NOT NULL,
      mark TEXT NOT NULL,
      name TEXT NOT NULL,
      title TEXT,
      benefits TEXT NOT NULL,
      said_on TEXT NOT NULL,
      inquiry INTEGER NOT NULL,
      is_disputed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (plan_key, benefit_year, mark, name)
    ) STRICT, WITHOUT ROWID`.execute(db);
  // How long the service took in hours in which the payer answers the phone; null: learned before
  // eligd counted these.
  await sql`ALTER TABLE turnarounds ADD COLUMN open_ms INTEGER`.execute(db);
  await sql`CREATE INDEX turnarounds_open ON turnarounds (payer, open_ms)`.execute(db);
}
