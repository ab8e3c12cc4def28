import { type Kysely, sql } from 'kysely';

/**
 * A message is acknowledged when its text is committed, and read soon after. Until then the text
 * stands here. A row is short-lived, so the index costs little; the texts of one connector are read
 * in the order of their sources.
 */
const STATEMENTS = [
  `CREATE TABLE unread_messages (
    source INTEGER PRIMARY KEY REFERENCES sources (id) ON DELETE CASCADE,
    connector TEXT NOT NULL,
    text TEXT NOT NULL                         -- as the sender wrote it
  ) STRICT`,
  'CREATE INDEX unread_messages_connector ON unread_messages (connector)',
];

export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
