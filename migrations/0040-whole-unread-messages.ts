import { type Kysely, sql } from 'kysely';

/**
 * An unread message is one row that holds everything, added at the end of its table: a message
 * changes few pages when it is acknowledged. `sources` has its key once it is read. Before, each
 * acknowledgment changed a page of the index of the keys, which are random.
 *
 * No index has the keys of unread messages: the process that stores them knows them. Messages that
 * were set aside are few and are found by key.
 *
 * Unread messages keep their numbers, and with them their order. Nothing refers to their sources.
 */
const STATEMENTS = [
  'ALTER TABLE unread_messages RENAME TO unread_before',
  `CREATE TABLE unread_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,      -- in the order of arrival, and never used again
    connector TEXT NOT NULL,
    key TEXT NOT NULL,                         -- as in sources
    name TEXT NOT NULL,                        -- as in sources
    reply TEXT,                                -- as in sources
    received_at INTEGER NOT NULL,              -- when it came, or came again
    ended_runs INTEGER NOT NULL DEFAULT 0,     -- how often eligd ended while it read the message
    failed_at INTEGER,                         -- when it was set aside
    text TEXT                                  -- as the sender wrote it; null: nothing to read
  ) STRICT`,
  `INSERT INTO unread_messages
      (id, connector, key, name, reply, received_at, ended_runs, failed_at, text)
    SELECT s.id, u.connector, s.key, s.name, s.reply, u.received_at, u.ended_runs, u.failed_at,
        u.text
      FROM unread_before u JOIN sources s ON s.id = u.source`,
  'DROP TABLE unread_before',
  'DELETE FROM sources WHERE id IN (SELECT id FROM unread_messages)',
  // With failed_at, which is null, because SQLite then reads the index alone.
  `CREATE INDEX unread_messages_connector
    ON unread_messages (connector, id, received_at, failed_at) WHERE failed_at IS NULL`,
  `CREATE INDEX unread_messages_failed ON unread_messages (connector, key, failed_at)
    WHERE failed_at IS NOT NULL`,
  'ALTER TABLE messages_being_read RENAME COLUMN last_source TO last_message',
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
