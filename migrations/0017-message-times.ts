import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  // When each sender wrote its latest message about a visit: an older one that comes late, as from
  // a queue that is replayed, changes nothing.
  await sql`CREATE TABLE visit_messages (
    connector TEXT NOT NULL,
    source_id TEXT NOT NULL,                   -- the PMS's id of the appointment
    sender TEXT NOT NULL,
    written_at INTEGER NOT NULL,               -- by the sender's clock
    PRIMARY KEY (connector, source_id, sender)
  ) STRICT, WITHOUT ROWID`.execute(db);
  await sql`CREATE INDEX visit_messages_by_time ON visit_messages (written_at)`.execute(db);
}
