import { type Kysely, sql } from 'kysely';

/**
 * Intake compares the stored text itself, so that a damaged one is replaced when the practice
 * management system sends the visit again. Nothing reads its hash.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`ALTER TABLE appointments DROP COLUMN content_hash`.execute(db);
}
