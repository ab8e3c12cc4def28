import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  // What was wrong and from when to when. Stored, so that a restart tells nobody a second time.
  // about: the connector or the target; empty for the installation. gone_at: since when it is no
  // longer so, until that has lasted.
  await sql`CREATE TABLE alerts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    about TEXT NOT NULL,
    detail TEXT NOT NULL,
    since INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    gone_at INTEGER,
    ended_at INTEGER,
    reminded_at INTEGER NOT NULL
  ) STRICT`.execute(db);
  await sql`CREATE INDEX alerts_open ON alerts (begun_at) WHERE ended_at IS NULL`.execute(db);
  // One row for each message to each target. kind: begin, reminder or end.
  await sql`CREATE TABLE alert_messages (
    id INTEGER PRIMARY KEY,
    alert INTEGER NOT NULL,
    target TEXT NOT NULL,
    kind TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    sent_at INTEGER
  ) STRICT`.execute(db);
  await sql`CREATE INDEX alert_messages_unsent ON alert_messages (due_at)
    WHERE sent_at IS NULL`.execute(db);
}
