import { type Kysely, sql } from 'kysely';

/**
 * What the service reports by itself. Times are milliseconds since 1970-01-01T00:00:00Z, flags 0 or
 * 1.
 */
const CHANGES = [
  // One row per message that was acknowledged; never deleted, because the same message may come
  // again at any time (G3).
  `CREATE TABLE inbox (
    id INTEGER PRIMARY KEY,
    message_hash TEXT NOT NULL UNIQUE,
    body BLOB,                                 -- the raw message; null once it is drained
    received_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX inbox_waiting ON inbox (id) WHERE body IS NOT NULL`,

  // Inquiries of messages that are nobody's yet: a request is out, and its reply may bring the id.
  `CREATE TABLE inbox_unknown (
    service_id TEXT PRIMARY KEY,
    has_ended INTEGER NOT NULL,                -- the message said that the inquiry is over
    first_seen_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,

  // 1 while the inquiry is known to have been open when eligd already listened, and no message has
  // told of its end. An answer that is found by asking with this still at 1 is one that the webhook
  // has missed.
  `ALTER TABLE inquiries ADD COLUMN is_unannounced INTEGER NOT NULL DEFAULT 0`,
  'CREATE INDEX inquiries_unannounced ON inquiries (is_unannounced, state, answered_at) ' +
    'WHERE answered_at IS NOT NULL',
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of CHANGES) await sql.raw(statement).execute(db);
}
