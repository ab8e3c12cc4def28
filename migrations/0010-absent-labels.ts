import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // External ids under which two looks did not find it, as a JSON array: it may be listed late, when the row has another one (G1).
  await sql`ALTER TABLE inquiries ADD COLUMN absent_labels TEXT NOT NULL DEFAULT '[]'`.execute(db);
  await sql`
    UPDATE inquiries SET absent_labels = json_array(external_id) WHERE EXISTS (
      SELECT 1 FROM audit WHERE subject = 'inquiry:' || inquiries.id AND from_state = 'uncertain' AND to_state = 'planned'
    )`.execute(db);
}
