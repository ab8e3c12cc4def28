import { type Kysely, sql } from 'kysely';

/**
 * Planning takes a further call back when a visit no longer needs it, but not one that the office
 * has ordered. Calls that were ordered before this version are found in the audit trail, unless the
 * office has withdrawn them.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`ALTER TABLE inquiries ADD COLUMN is_ordered INTEGER NOT NULL DEFAULT 0`.execute(db);
  await sql`UPDATE inquiries SET is_ordered = 1
    WHERE NOT (state = 'withdrawn' AND reason LIKE 'Requested by %') AND EXISTS (
      SELECT 1 FROM audit WHERE subject = 'inquiry:' || inquiries.id
        AND from_state IS NULL AND reason LIKE '% It is another call about the same visit.')
  `.execute(db);
}
