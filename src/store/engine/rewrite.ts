/** Rewrites the database, so that its files hold nothing but the rows that it has now. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { sql } from 'kysely';
import { errorCode } from '../../domain/errors.ts';
import type { Db } from './database.ts';

/**
 * How it went. `too_large`: it takes more memory than it may. `busy`: another program is using the
 * database. Only after `done` is every page new.
 */
export type Rewritten = 'done' | 'too_large' | 'no_room' | 'busy';

/** The free room on the disk, in sizes of the database. */
const ROOM = 1.5;

/**
 * Rewrites every page of the database at `path`, if it has at most `bytes_max` bytes: SQLite keeps
 * a copy in memory (database.ts). Blocks.
 *
 * `secure_delete` overwrites deleted rows, but when SQLite moves rows to another page, their old
 * places stay as they were, and it does not find them when it deletes the rows. The old pages are
 * on the disk until the write-ahead log is emptied (wal.ts).
 */
export async function rewriteDatabase(db: Db, path: string, bytes_max: number): Promise<Rewritten> {
  return await db.connection().execute(async (own) => {
    const { rows } = await sql<{ bytes: number }>`select page_count * page_size as bytes
      from pragma_page_count, pragma_page_size`.execute(own);
    const bytes = rows[0]?.bytes ?? 0;
    if (bytes > bytes_max) return 'too_large';
    // All pages go through the write-ahead log, and other programs need room, too.
    const { bavail, bsize } = statfsSync(dirname(path));
    if (ROOM * bytes > bavail * bsize) return 'no_room';
    try {
      await sql`vacuum`.execute(own);
      return 'done';
    } catch (error) {
      const code = errorCode(error) ?? '';
      if (code.startsWith('SQLITE_BUSY')) return 'busy';
      if (code.startsWith('SQLITE_FULL')) return 'no_room';
      if (code.startsWith('SQLITE_NOMEM')) return 'too_large';
      throw error;
    }
  });
}
