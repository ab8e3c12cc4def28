import { type Kysely, sql } from 'kysely';

/**
 * Names that the glossary replaces: single values by name are learned settings, a second inquiry
 * for one need is a duplicate call, and SUCCESS without results is an empty success. SQLite renames
 * the table in the triggers of `audit` and `access_log` as well.
 */
const STATEMENTS = [
  'ALTER TABLE facts RENAME TO learned_settings',
  'ALTER TABLE inquiries RENAME COLUMN hollow_since TO empty_since',
  "UPDATE attention SET reason = 'duplicate_call' WHERE reason = 'extra_call'",
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
