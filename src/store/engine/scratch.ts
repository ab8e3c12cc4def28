import { existsSync } from 'node:fs';
import { Kysely, SqliteDialect } from 'kysely';
import { migrate } from './database.ts';
import { openMemory, openSqlite, type Raw } from './driver.ts';
import type { Store } from './store.ts';
import type { Tables } from './tables.ts';
import { openWriteQueue } from './write-queue.ts';

/** Offsets in the file header that say whether the file uses a WAL (SQLite file format 1.3). */
const JOURNAL_BYTES = [18, 19];

/**
 * Opens a copy of the database at `path` in memory, to try something out: writes to the copy end
 * with the process, and the database itself is only read. Without a database at `path`, the copy is
 * empty. Needs no lock: the daemon may be running.
 */
export async function openScratch(path: string): Promise<Store> {
  const raw = existsSync(path) ? copyOf(path) : openMemory();
  raw.pragma('foreign_keys = ON');
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: raw }) });
  await migrate(db, raw, path);
  const queue = openWriteQueue(db);
  return {
    db,
    write: queue.write,
    onPlanDue: queue.onPlanDue,
    close: async () => {
      await queue.idle();
      await db.destroy();
    },
  };
}

function copyOf(path: string): Raw {
  const source = openSqlite(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
  try {
    const content = source.serialize();
    // A database in memory cannot use a WAL (sqlite.org/c3ref/deserialize.html).
    for (const at of JOURNAL_BYTES) content[at] = 1;
    return openMemory(content);
  } finally {
    source.close();
  }
}
