import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Tells twins apart, who share everything else; empty when the service's echo had no name.
  await sql`ALTER TABLE service_inquiries ADD COLUMN given_name TEXT NOT NULL DEFAULT ''`.execute(
    db,
  );
}
