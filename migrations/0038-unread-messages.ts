import { type Kysely, sql } from 'kysely';

/**
 * A message is acknowledged when its text is committed, and read soon after. Until then the text
 * is stored here; the text of a message that could not be read stays until the purge.
 *
 * `received_at`: when it came, or came again. `ended_runs`: how often eligd ended while it read the
 * message. `failed_at`: when it was set aside. Rows are short-lived, so the index costs little; the
 * messages of a connector are read in the order of their sources. There is no ON DELETE CASCADE:
 * nothing may delete a message that is not read.
 *
 * `messages_being_read`: the last message of those that eligd began to read and has not finished.
 */
const STATEMENTS = [
  `CREATE TABLE unread_messages (
    source INTEGER PRIMARY KEY REFERENCES sources (id),
    connector TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    ended_runs INTEGER NOT NULL DEFAULT 0,
    failed_at INTEGER,
    text TEXT NOT NULL                         -- as the sender wrote it
  ) STRICT`,
  `CREATE INDEX unread_messages_connector ON unread_messages (connector, source, failed_at)
    WHERE failed_at IS NULL`,
  `CREATE INDEX unread_messages_failed ON unread_messages (failed_at)
    WHERE failed_at IS NOT NULL`,
  `CREATE TABLE messages_being_read (
    connector TEXT PRIMARY KEY,
    last_source INTEGER NOT NULL
  ) STRICT`,
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
