import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  // One row for every request to make a call (POST), and one for every inquiry that the service's
  // list has shown and that is not ours. Only retention erases rows.
  `CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    inquiry INTEGER REFERENCES inquiries (id), -- null: not ours, checked before any call
    specialty TEXT NOT NULL,
    external_id TEXT NOT NULL,                 -- canonical: trimmed, upper case
    match_key TEXT NOT NULL,                   -- empty when the list's echo could not be read
    given_name TEXT NOT NULL,                  -- tells twins apart; empty: not known
    body TEXT,                                 -- the exact request; null: not sent by this database
    sent_at INTEGER,                           -- by this machine's clock; null: not sent by it
    sent_service_at INTEGER,                   -- by the service's clock: sent, or its creation_ts
    -- out: its reply is awaited. accepted. lost: nobody knows. absent: proven by two lookups.
    -- unsent: the service provably did not take it; the next request uses the row again.
    fate TEXT NOT NULL,
    service_id TEXT UNIQUE,
    service_status TEXT NOT NULL,              -- the list's word of what serves no inquiry
    role TEXT,                                 -- serves, duplicate, unclaimed; null: no id
    seen_at INTEGER                            -- when a list showed what is not ours
  ) STRICT`,
  `CREATE INDEX calls_match ON calls (match_key)`,
  `CREATE INDEX calls_inquiry ON calls (inquiry) WHERE inquiry IS NOT NULL`,
  `CREATE INDEX calls_unclaimed ON calls (specialty) WHERE inquiry IS NULL`,
  // What has an id. The request that it came from is known where it serves.
  `INSERT INTO calls (inquiry, specialty, external_id, match_key, given_name, body, sent_at,
      sent_service_at, fate, service_id, service_status, role, seen_at)
    SELECT s.inquiry, s.specialty, s.external_id, s.match_key, s.given_name, i.body, i.sent_at,
      coalesce(i.sent_service_at, s.created_at), 'accepted', s.service_id, s.service_status,
      CASE s.role WHEN 'main' THEN 'serves' WHEN 'extra' THEN 'duplicate' ELSE 'unclaimed' END,
      s.first_seen_at
    FROM service_inquiries AS s
    LEFT JOIN inquiries AS i ON i.service_id = s.service_id`,
  // What was proven absent, and may be listed late.
  `INSERT INTO calls (inquiry, specialty, external_id, match_key, given_name, sent_at,
      sent_service_at, fate, service_status)
    SELECT inquiry, specialty, external_id, match_key, given_name, sent_at, sent_at, 'absent', ''
    FROM absent_calls`,
  // What is under way, or sought. The name is in the draft; where it is not known here, every name
  // may be meant.
  `INSERT INTO calls (inquiry, specialty, external_id, match_key, given_name, body, sent_at,
      sent_service_at, fate, service_status)
    SELECT id, specialty, upper(trim(external_id)), match_key, '', body, sent_at, sent_service_at,
      CASE state WHEN 'sending' THEN 'out' ELSE 'lost' END, ''
    FROM inquiries
    WHERE service_id IS NULL AND (state IN ('sending', 'uncertain', 'undecidable')
      OR (state = 'withdrawn' AND was_accepted = 1))`,
  'DROP TABLE service_inquiries',
  'DROP TABLE absent_calls',
  'ALTER TABLE inquiries DROP COLUMN body',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
