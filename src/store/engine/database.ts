import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, type SqliteDatabase, SqliteDialect, type Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import { EligdError, errorCode } from '../../domain/errors.ts';
import type { NotedFile } from './closing-note.ts';
import { damaged, unusable } from './damage.ts';
import { openKeyed, type Raw } from './driver.ts';
import { refuseExposed } from './exposed.ts';
import { databaseKeys } from './keys.ts';
import { MIGRATIONS } from './migrations.ts';
import { isSound, limitCache } from './page-cache.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;

/**
 * The transaction of one piece of work of `Store.write`. Pieces that share a commit have separate
 * effects.
 */
export type Tx = Transaction<Tables> & {
  /**
   * Runs `effect` after the work is durably committed, and never if it failed. Use it for log
   * lines, wakes of other stages, counters and changes in memory: a failed commit must leave no
   * trace of them. Effects run in order, before `write` resolves.
   */
  after: (effect: () => void) => void;
  /** Wakes planning after the commit. Call it with each `plan_due_at` that has come. */
  wakePlanning: () => void;
  /** Who acts, for the audit trail (`actingAs`); omitted: eligd itself. */
  actor?: string;
  /** Where `prepared` runs statements until the work ends; omitted: through Kysely. */
  database?: Pick<SqliteDatabase, 'prepare'>;
};

const CACHED_STATEMENTS_MAX = 400;

const DATABASES = new WeakMap<Db, SqliteDatabase>();

/** Returns the driver below Kysely, for a database that `openDatabase` opened. */
export const databaseBelow = (db: Db): SqliteDatabase | undefined => DATABASES.get(db);

const CHECKPOINT_PAGES = 8_000; // 32 MB

const BUSY_TIMEOUT_MS = 10_000;

const WAL_RETRY_MS = 20;

/** How long an empty file may be one that another process is just creating. */
const FIRST_PAGE_MS = 2_000;

/**
 * `eligd restore` writes its copy with this suffix and renames it after it has moved the old
 * database.
 */
export const RESTORING = '.restoring';

/**
 * Opens and returns the database at `path`, creates its folder and file if they do not exist, and
 * migrates it. Uses WAL with synchronous FULL: a commit is on the disk before the outside effect
 * that relies on it (G3).
 *
 * Checks the whole file, unless `file` says that a process before has left it sound. Throws
 * EligdError `configuration` when the folder cannot be created, the file is damaged or not a
 * database, or a newer eligd wrote the database.
 */
export async function openDatabase(path: string, file?: NotedFile): Promise<Db> {
  const existed = existsSync(path);
  if (!existed) refuseHalfRestored(path);
  refuseEmpty(path);
  const raw = openFile(path);
  try {
    raw.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    useWal(raw);
    raw.pragma('synchronous = FULL');
    limitCache(raw);
    // Webhook messages and answers are long: with the default of 1000 pages, a few hundred of them
    // would cause a checkpoint.
    raw.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    raw.pragma('foreign_keys = ON');
    // Deleted and replaced data is patient data: SQLite overwrites its bytes, also in free pages,
    // but not where it has moved rows from (rewrite.ts).
    raw.pragma('secure_delete = ON');
    if (!existed || file?.isKnownSound(raw) !== true) {
      if (existed) refuseDamaged(raw, path);
      file?.wasChecked();
    }
  } catch (error) {
    raw.close();
    throw unusable(path, error);
  }
  const database = withStatementCache(raw, (error) => file?.noteError(error));
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  DATABASES.set(db, database);
  try {
    await migrate(db, raw, path);
    // Otherwise a statement that changes many pages copies them, which is patient data, to a file
    // in /var/tmp. Only now, because a migration may sort whole tables.
    raw.pragma('temp_store = memory');
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}

/**
 * Returns the state of the database at `path` without creating, migrating or changing anything; for
 * `eligd check`. `behind`: the next start will migrate it. Throws like `openDatabase` for a damaged
 * or newer database.
 */
export function inspectDatabase(path: string): 'absent' | 'behind' | 'current' {
  refuseExposed(path);
  if (!existsSync(path)) return 'absent';
  refuseEmpty(path);
  let raw: Raw | undefined;
  try {
    const opened = openKeyed(path, { readonly: true });
    raw = opened.raw;
    if (opened.key === null) refusePlain(raw, path);
    refuseDamaged(raw, path);
    refuseNewer(raw, path);
    return isCurrent(raw) ? 'current' : 'behind';
  } catch (error) {
    throw unusable(path, error);
  } finally {
    raw?.close();
  }
}

/**
 * Refuses to start when a restore was interrupted after it had moved the old database: a new, empty
 * database would hide both.
 */
function refuseHalfRestored(path: string): void {
  if (!existsSync(path + RESTORING)) return;
  throw new EligdError('configuration', {
    what: `There is no database at ${path}, because a restore was interrupted.`,
    why: `${path}${RESTORING} exists, and the old database is next to it.`,
    next: 'Run the same "eligd restore" again.',
  });
}

/**
 * Refuses an empty file: every database of eligd has content, but SQLite would treat zero bytes as
 * a new database. Waits first, because another process may just be writing the first page.
 */
function refuseEmpty(path: string): void {
  for (let waited_ms = 0; waited_ms < FIRST_PAGE_MS; waited_ms += WAL_RETRY_MS) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.size > 0) return;
    pause(WAL_RETRY_MS);
  }
  throw new EligdError('configuration', {
    what: `The database ${path} is damaged: the file is empty (0 bytes).`,
    why: 'A full disk, a broken copy, or a program other than eligd emptied it.',
    next:
      'Stop eligd and run "eligd restore" with the newest backup. Only if eligd has never run ' +
      'here, delete the empty file.',
  });
}

function openFile(path: string): Raw {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    refuseExposed(path);
    // SQLite opens a file that cannot be written, and fails at the first write.
    if (existsSync(path)) accessSync(path, constants.W_OK);
    const previous = process.umask(0o077);
    try {
      const { raw, key } = openKeyed(path);
      if (key === null) refusePlain(raw, path);
      return raw;
    } finally {
      process.umask(previous);
    }
  } catch (error) {
    throw unusable(path, error);
  }
}

/** Refuses a plain-text database when a key is set: the operator relies on encryption. */
function refusePlain(raw: Raw, path: string): void {
  if (databaseKeys().length === 0) return;
  raw.close();
  throw new EligdError('configuration', {
    what: `The database ${path} is not encrypted, but eligd has a database key.`,
    why: 'The key was set but the database was not encrypted with it, or it was decrypted.',
    next:
      'Stop eligd and run "eligd database encrypt". To keep the database as it is, remove the ' +
      'key (ELIGD_DATABASE_KEY, the credential database_key).',
  });
}

/**
 * Switches to WAL. SQLite does not wait for a busy database when it changes the journal mode, so
 * two processes that create the same database must retry here.
 */
function useWal(raw: Raw): void {
  for (let waited_ms = 0; ; waited_ms += WAL_RETRY_MS) {
    try {
      raw.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      if (errorCode(error)?.startsWith('SQLITE_BUSY') !== true || waited_ms >= BUSY_TIMEOUT_MS)
        throw error;
      pause(WAL_RETRY_MS);
    }
  }
}

function pause(duration_ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, duration_ms);
}

function refuseDamaged(raw: Raw, path: string): void {
  if (!isSound(raw)) throw damaged(path);
}

/**
 * Migrates in one transaction that starts with the write lock: if two processes start at once, the
 * second one finds the work done, and a crash leaves the old format. On SQLite, Kysely's own lock
 * and transactions have no effect.
 */
export async function migrate(db: Db, raw: Raw, path: string): Promise<void> {
  refuseNewer(raw, path);
  if (isCurrent(raw)) return;
  try {
    raw.exec('BEGIN IMMEDIATE');
    const { error } = await new Migrator({
      db,
      provider: { getMigrations: async () => MIGRATIONS },
    }).migrateToLatest();
    if (error !== undefined) throw error;
    raw.exec('COMMIT');
  } catch (error) {
    if (raw.inTransaction) raw.exec('ROLLBACK');
    throw unusable(path, error);
  }
}

function isCurrent(raw: Raw): boolean {
  return appliedMigrations(raw).length === Object.keys(MIGRATIONS).length;
}

/** Throws EligdError `configuration` when a newer eligd wrote the database. */
export function refuseNewer(raw: Raw, path: string): void {
  if (appliedMigrations(raw).every((name) => name in MIGRATIONS)) return;
  throw new EligdError('configuration', {
    what: `The database ${path} was written by a newer eligd.`,
    why:
      'It was migrated to a format that this version does not know, and going back could lose ' +
      'data.',
    next: 'Install the newer version again, or restore a backup that this version wrote.',
  });
}

function appliedMigrations(raw: Raw): string[] {
  const table = raw.prepare(`select 1 from sqlite_master where name = 'kysely_migration'`).get();
  return table === undefined
    ? []
    : (raw.prepare('select name from kysely_migration').pluck().all() as string[]);
}

/**
 * Returns the driver with a cache of prepared statements, which is cleared when it is full: Kysely
 * prepares a statement for each run, which costs more than running it. SQLite recompiles a
 * statement at each run when a parameter could change its plan (a limit, or a state or connector
 * with an order), so frequent statements contain such constants as text, by `sql.lit`. Transactions
 * start with the write lock: one that reads first and then writes fails at once if another process
 * wrote in between, regardless of `busy_timeout`.
 */
function withStatementCache(raw: Raw, onError: (error: unknown) => void): SqliteDatabase {
  const prepared = new Map<string, Statement>();
  return {
    prepare: (statement_text: string) => {
      // When a commit fails because the disk is full, SQLite has already rolled back. Kysely's
      // rollback would then replace the cause with "no transaction is active".
      if (statement_text === 'rollback' && !raw.inTransaction)
        return asKysely(raw.prepare('select 1'));
      const text = statement_text === 'begin' ? 'begin immediate' : statement_text;
      const known = prepared.get(text);
      if (known !== undefined) return known;
      const statement = watched(raw, text, onError);
      if (prepared.size >= CACHED_STATEMENTS_MAX) prepared.clear();
      prepared.set(text, statement);
      return statement;
    },
    close: () => raw.close(),
  };
}

/** Prepares a statement that tells `onError` its errors. */
function watched(raw: Raw, text: string, onError: (error: unknown) => void): Statement {
  const telling =
    <Given, Value>(work: (given: Given) => Value) =>
    (given: Given): Value => {
      try {
        return work(given);
      } catch (error) {
        onError(error);
        throw error;
      }
    };
  const statement = telling(() => asKysely(raw.prepare(text)))(null);
  return {
    reader: statement.reader,
    all: telling((parameters) => statement.all(parameters)),
    run: telling((parameters) => statement.run(parameters)),
    iterate: (parameters) => statement.iterate(parameters),
  };
}

type Statement = ReturnType<SqliteDatabase['prepare']>;

function asKysely(statement: ReturnType<Raw['prepare']>): Statement {
  return statement as unknown as Statement;
}
