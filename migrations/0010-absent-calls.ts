import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // Calls that two looks did not find. They may be listed late, when the inquiry has another label,
  // content or call (G1).
  `CREATE TABLE absent_calls (
    inquiry INTEGER NOT NULL REFERENCES inquiries (id),
    specialty TEXT NOT NULL,
    external_id TEXT NOT NULL,                 -- canonical: trimmed, upper case
    match_key TEXT NOT NULL,
    given_name TEXT NOT NULL,                  -- empty when it is not known any more
    sent_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX absent_calls_match ON absent_calls (match_key)`,
  `CREATE INDEX absent_calls_inquiry ON absent_calls (inquiry)`,
  // Of calls before this version the trail knows that there were some: the inquiry's present label
  // and content stand for them.
  `INSERT INTO absent_calls (inquiry, specialty, external_id, match_key, given_name, sent_at)
    SELECT id, specialty, upper(trim(external_id)), match_key, '', coalesce(sent_at, updated_at)
    FROM inquiries WHERE EXISTS (
      SELECT 1 FROM audit WHERE subject = 'inquiry:' || inquiries.id
        AND from_state = 'uncertain' AND to_state = 'planned'
    )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
