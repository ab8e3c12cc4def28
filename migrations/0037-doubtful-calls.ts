import { type Kysely, sql } from 'kysely';

/**
 * A lookup could be taken early, because the operator asked for it or because the IDs in a reply
 * proved wrong, and counted as proof that the service does not have the call. From now on, each row
 * says from when a lookup proves that. `doubtful_calls` keeps until when an inquiry waits for the
 * office to say whose a listed call is. The index finds listed calls whose requests could not be
 * read, by their labels; nearly every call is readable and not in it.
 */
const STATEMENTS = [
  'ALTER TABLE inquiries ADD COLUMN absence_at INTEGER',
  `UPDATE inquiries SET absence_at = lookup_at WHERE state = 'uncertain'`,
  `CREATE TABLE doubtful_calls (
    inquiry INTEGER NOT NULL REFERENCES inquiries (id) ON DELETE CASCADE,
    service_id TEXT NOT NULL,
    wait_until INTEGER NOT NULL,
    PRIMARY KEY (inquiry, service_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX calls_unreadable ON calls (match_key, external_id)
    WHERE match_key = '' AND external_id > ''`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
