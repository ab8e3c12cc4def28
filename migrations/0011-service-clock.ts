import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // When it was sent and answered by the service's clock, as far as that was known: this machine's
  // may have been wrong (G1).
  await sql`ALTER TABLE inquiries ADD COLUMN sent_service_at INTEGER`.execute(db);
  await sql`ALTER TABLE inquiries ADD COLUMN answered_service_at INTEGER`.execute(db);
}
