import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // The export that should have named the appointment and did not; null once it is named again.
  // The appointment counts as vanished when the next such export misses it too.
  await sql`ALTER TABLE appointments ADD COLUMN missed_source INTEGER`.execute(db);
}
