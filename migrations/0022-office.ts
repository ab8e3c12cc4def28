import { type Kysely, sql } from 'kysely';

/** The office's page: who is logged in, wrong passwords, and who looked at what. */
const STATEMENTS = [
  // The cookie's value is not in the database, only its SHA-256. password_mark changes with the
  // password, which ends the session.
  `CREATE TABLE office_sessions (
    token_hash TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    csrf TEXT NOT NULL,
    password_mark TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT`,
  // Names are not kept, only one of 4096 buckets: made-up names cannot fill the table, and it does
  // not say who exists.
  `CREATE TABLE office_failures (
    bucket INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL
  ) STRICT`,
  // A page that showed a patient's data. subject: appointment:12, or the day of a schedule.
  `CREATE TABLE office_views (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    page TEXT NOT NULL,
    subject TEXT NOT NULL
  ) STRICT`,
  'CREATE INDEX office_views_subject ON office_views (subject, id)',
  'CREATE INDEX office_views_at ON office_views (at)',
  // The page reads the visits of a day, of every connector.
  'CREATE INDEX appointments_day ON appointments (starts_at) WHERE superseded_at IS NULL',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
