import { Kysely, SqliteDialect } from 'kysely';
import type { Tx } from './database.ts';
import { openSqlite } from './driver.ts';
import type { Tables } from './tables.ts';
import { openWriteQueue } from './write-queue.ts';

/**
 * Runs one transaction of a process that is not the daemon, on a database known to be undamaged:
 * does not create, check or migrate it. Throws SQLite's error when the database stays locked for
 * `wait_ms` or cannot be written.
 */
export async function writeBriefly<Value>(
  path: string,
  wait_ms: number,
  work: (tx: Tx) => Promise<Value>,
): Promise<Value> {
  const raw = openSqlite(path, { fileMustExist: true, timeout: wait_ms });
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: {
        // Take the write lock at the start: a transaction that reads first fails at once if another
        // process wrote in between.
        prepare: (text) => raw.prepare(text === 'begin' ? 'begin immediate' : text) as never,
        close: () => raw.close(),
      },
    }),
  });
  try {
    raw.pragma('synchronous = FULL');
    raw.pragma('foreign_keys = ON');
    raw.pragma('secure_delete = ON');
    return await openWriteQueue(db).write(work);
  } finally {
    await db.destroy();
  }
}
