import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Who of the office typed the answer in; null: it came from the calling service.
  await sql`ALTER TABLE inquiries ADD COLUMN entered_by TEXT`.execute(db);
}
