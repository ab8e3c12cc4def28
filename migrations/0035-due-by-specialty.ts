import { type Kysely, sql } from 'kysely';

/**
 * Each specialty is sent on its own. Without the specialty in the index, a step read every planned
 * inquiry to learn that another specialty has none, so a long list took longer for each inquiry.
 * The row ID ends every index, so naming it only made this one larger.
 */
const STATEMENTS = [
  'DROP INDEX inquiries_due',
  'CREATE INDEX inquiries_due ON inquiries (state, specialty, visit_at)',
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
