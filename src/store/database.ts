import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { Kysely, type SqliteDatabase, SqliteDialect, sql, type Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import * as start from '../../migrations/0001-start.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

/** Every migration by name, in order. Forward only: a database is never changed back. */
const MIGRATIONS = { '0001-start': start };

const MEMOISED_STATEMENTS_MAX = 400;

/**
 * Opens the database at `path`, makes its folder and file when they are missing, and migrates it. WAL, with synchronous FULL:
 * a commit is on the disk before the outside effect that relies on it (fact 2, G3).
 *
 * Throws EligdError `configuration` when the folder cannot be made, the file is no database or damaged, or the database was
 * written by a newer eligd.
 */
export async function openDatabase(path: string): Promise<Db> {
  const existed = existsSync(path);
  const raw = openFile(path);
  try {
    raw.pragma('journal_mode = WAL');
    raw.pragma('synchronous = FULL');
    raw.pragma('foreign_keys = ON');
    raw.pragma('busy_timeout = 10000');
    if (existed) refuseDamaged(raw, path);
  } catch (error) {
    raw.close();
    throw unusable(path, error);
  }
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: memoised(raw) }) });
  try {
    await migrate(db, path);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}

function openFile(path: string): Database.Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const previous = process.umask(0o077);
    try {
      return new Database(path);
    } finally {
      process.umask(previous);
    }
  } catch (error) {
    throw unusable(path, error);
  }
}

function refuseDamaged(raw: Database.Database, path: string): void {
  if (raw.pragma('quick_check(1)', { simple: true }) === 'ok') return;
  throw new EligdError('configuration', {
    what: `The database ${path} is damaged.`,
    why: 'SQLite’s own check finds errors in it.',
    next: 'Keep the file, put the newest backup in its place, and start again: what the service has is found by its list before anything is sent.',
  });
}

function unusable(path: string, error: unknown): EligdError {
  if (error instanceof EligdError) return error;
  return new EligdError('configuration', {
    what: `The database ${path} cannot be opened.`,
    why: `The system says ${errorCode(error) ?? 'that it is no SQLite database'}.`,
    next: 'Check state.path in the configuration, the permissions of its folder, and the space on the disk.',
    cause: error,
  });
}

async function migrate(db: Db, path: string): Promise<void> {
  const known = new Set(Object.keys(MIGRATIONS));
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const table = await sql<{ name: string }>`select name from sqlite_master where name = 'kysely_migration'`.execute(db);
  if (table.rows.length > 0) {
    const done = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
    if (done.rows.some(({ name }) => !known.has(name))) {
      throw new EligdError('configuration', {
        what: `The database ${path} was written by a newer eligd.`,
        why: 'It has been migrated to a form that this version does not know, and going back could lose what is in it.',
        next: 'Install the newer version again, or restore a backup that this version wrote.',
      });
    }
  }
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw unusable(path, error);
}

/**
 * kysely prepares every statement anew, which costs more than running it; this keeps what was prepared, the least recently
 * used going first.
 */
function memoised(raw: Database.Database): SqliteDatabase {
  const prepared = new Map<string, Database.Statement>();
  return {
    prepare: (text: string) => {
      const known = prepared.get(text);
      const statement = known ?? raw.prepare(text);
      prepared.delete(text);
      prepared.set(text, statement);
      if (prepared.size > MEMOISED_STATEMENTS_MAX) {
        const oldest = prepared.keys().next().value;
        if (oldest !== undefined) prepared.delete(oldest);
      }
      return statement as unknown as ReturnType<SqliteDatabase['prepare']>;
    },
    close: () => raw.close(),
  };
}

export type InstanceLock = { release: () => void };

/**
 * The lock against a second daemon on the same state: an exclusive transaction held on a lock database beside it, because
 * Node has no flock. The system gives it back when the process dies, however it dies.
 */
export function lockInstance(path: string): InstanceLock {
  const file = join(dirname(path), `${path.split('/').at(-1)}.lock`);
  let raw: Database.Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    raw = new Database(file, { timeout: 0 });
    raw.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    raw?.close();
    if (errorCode(error)?.startsWith('SQLITE_BUSY') !== true) throw unusable(file, error);
    throw new EligdError('temporary', {
      what: 'Another eligd is running on this database.',
      why: `${file} is locked. Two at once could make the same paid call twice.`,
      next: 'Wait until the other one is done, or stop it (systemctl stop eligd, or Ctrl-C where it runs).',
    });
  }
  const held = raw;
  return { release: () => held.close() };
}
