import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Whether an appointment has a delivered record is asked for each appointment. SQLite, which has
  // no statistics here, took the index on the state alone, and read every delivery each time.
  await sql`DROP INDEX deliveries_appointment`.execute(db);
  await sql`CREATE INDEX deliveries_appointment ON deliveries (appointment, state)`.execute(db);
}
