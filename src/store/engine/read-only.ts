/** Reads the database from a process that is not the daemon. */
import { existsSync } from 'node:fs';
import { Kysely, SqliteDialect } from 'kysely';
import { EligdError, errorCode } from '../../domain/errors.ts';
import type { Db } from './database.ts';
import { keyTrouble, openSqlite } from './driver.ts';
import type { Tables } from './tables.ts';

/**
 * Runs `work` on a consistent snapshot of the database at `path`, read-only and without the
 * instance lock: the daemon may be running. Does not create or migrate anything.
 *
 * Throws EligdError `configuration` when there is no database yet, it cannot be read, or it has the
 * format of another version.
 */
export async function readDatabase<Value>(
  path: string,
  work: (db: Db) => Promise<Value>,
): Promise<Value> {
  if (!existsSync(path)) {
    throw new EligdError('configuration', {
      what: `There is no database at ${path} yet.`,
      why: 'eligd has not run with this configuration, or it ran with a different state.path.',
      next:
        'Start it with "eligd run" or "eligd once", or name the right configuration with ' +
        '--config FILE.',
    });
  }
  let db: Db | undefined;
  try {
    const database = openSqlite(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
    db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
    return await db.transaction().execute(work);
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    await db?.destroy();
  }
}

function unreadable(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code?.startsWith('SQLITE_') !== true) return error;
  const wrong_key = code === 'SQLITE_NOTADB' ? keyTrouble(path) : null;
  if (wrong_key !== null) return wrong_key;
  // SQLite's error for a table or column that does not exist.
  if (code === 'SQLITE_ERROR') {
    return new EligdError('configuration', {
      what: `The database ${path} does not have the format that this version of eligd reads.`,
      why: 'It is empty, or another version of eligd wrote it.',
      next:
        'Use the version that runs as the daemon; "eligd once" or "eligd run" of a newer ' +
        'version brings the database up to date.',
      cause: error,
    });
  }
  return new EligdError('configuration', {
    what: `The database ${path} cannot be read.`,
    why: `The system reports ${code}.`,
    next:
      'Check state.path in the configuration, the permissions of the file and its folder, and ' +
      'the disk.',
    cause: error,
  });
}
