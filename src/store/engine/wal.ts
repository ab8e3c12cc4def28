import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Short, because the thread blocks meanwhile. */
const WAIT_MS = 1_000;

/**
 * Empties the write-ahead log, which still contains the bytes of deleted data. Returns false when a
 * program that reads the database prevents it.
 */
export async function emptyWal(db: Db): Promise<boolean> {
  return await db.connection().execute(async (own) => {
    const before = await sql<{ timeout: number }>`pragma busy_timeout`.execute(own);
    await sql`pragma busy_timeout = ${sql.lit(WAIT_MS)}`.execute(own);
    try {
      // https://sqlite.org/pragma.html#pragma_wal_checkpoint: the row says whether it was blocked.
      const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(own);
      return rows[0]?.busy === 0;
    } finally {
      const timeout = before.rows[0]?.timeout ?? WAIT_MS;
      await sql`pragma busy_timeout = ${sql.lit(timeout)}`.execute(own);
    }
  });
}
