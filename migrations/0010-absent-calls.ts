import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // Calls that two looks did not find, as a JSON array of external_id and sent_at: they may be listed late, when the inquiry has
  // another label or another call (G1).
  await sql`ALTER TABLE inquiries ADD COLUMN absent_calls TEXT NOT NULL DEFAULT '[]'`.execute(db);
  await sql`
    UPDATE inquiries SET absent_calls = json_array(json_object('external_id', external_id, 'sent_at', coalesce(sent_at, updated_at)))
    WHERE EXISTS (
      SELECT 1 FROM audit WHERE subject = 'inquiry:' || inquiries.id AND from_state = 'uncertain' AND to_state = 'planned'
    )`.execute(db);
}
