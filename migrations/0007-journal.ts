import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE TABLE connector_journal (
    connector TEXT NOT NULL,
    key TEXT NOT NULL,                         -- such as the service's id of an inquiry
    value TEXT NOT NULL,                       -- such as the ids that the PMS gave
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (connector, key)
  ) STRICT, WITHOUT ROWID`.execute(db);
}
