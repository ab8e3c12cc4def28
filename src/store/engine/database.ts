import { existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Kysely, type SqliteDatabase, SqliteDialect, type Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import * as start from '../../../migrations/0001-start.ts';
import * as webhooks from '../../../migrations/0002-webhooks.ts';
import * as patients from '../../../migrations/0003-patients.ts';
import * as claims from '../../../migrations/0004-claims.ts';
import * as journal from '../../../migrations/0007-journal.ts';
import * as purge from '../../../migrations/0008-purge.ts';
import * as givenNames from '../../../migrations/0009-given-names.ts';
import * as absentCalls from '../../../migrations/0010-absent-calls.ts';
import * as serviceClock from '../../../migrations/0011-service-clock.ts';
import * as incidents from '../../../migrations/0012-incidents.ts';
import * as patientIdentity from '../../../migrations/0013-patient-identity.ts';
import * as arrivals from '../../../migrations/0014-arrivals.ts';
import * as missedExports from '../../../migrations/0015-missed-exports.ts';
import * as announcedEnds from '../../../migrations/0016-announced-ends.ts';
import * as messageTimes from '../../../migrations/0017-message-times.ts';
import * as outcome from '../../../migrations/0018-outcome.ts';
import * as scrape from '../../../migrations/0019-scrape.ts';
import * as turnarounds from '../../../migrations/0020-turnarounds.ts';
import * as prices from '../../../migrations/0021-prices.ts';
import * as office from '../../../migrations/0022-office.ts';
import * as alerts from '../../../migrations/0023-alerts.ts';
import * as entered from '../../../migrations/0024-entered.ts';
import * as lookups from '../../../migrations/0025-lookups.ts';
import * as completedSources from '../../../migrations/0026-completed-sources.ts';
import * as planTerms from '../../../migrations/0027-plan-terms.ts';
import * as calls from '../../../migrations/0028-calls.ts';
import * as accessLog from '../../../migrations/0029-access-log.ts';
import * as attentionWords from '../../../migrations/0030-attention-words.ts';
import * as retention from '../../../migrations/0031-retention.ts';
import * as attentionInquiry from '../../../migrations/0032-attention-inquiry.ts';
import * as openAppointments from '../../../migrations/0033-open-appointments.ts';
import * as names from '../../../migrations/0034-names.ts';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { damaged, unusable } from './damage.ts';
import { openKeyed, type Raw } from './driver.ts';
import { databaseKeys } from './keys.ts';
import type { Tables } from './tables.ts';

export type Db = Kysely<Tables>;

/** What one piece of work of `Store.write` changes; others of the same commit have their own. */
export type Tx = Transaction<Tables> & {
  /**
   * Runs `effect` once the work is durably committed, and never when it failed. The log, the wakes
   * of other stages, counters and changes of memory belong here: a commit that fails leaves no
   * trace of what it would have done. Effects run in order, before `write` resolves.
   */
  after: (effect: () => void) => void;
  /** Who does the work, for the audit trail (`actingAs`); left out: eligd itself. */
  actor?: string;
  /** Where `prepared` runs statements, until the work ends; left out: they take kysely's way. */
  database?: Pick<SqliteDatabase, 'prepare'>;
};

/**
 * Every migration by name, in order. Forward only: a database is never changed back. The numbers
 * 0005 and 0006 were never used and stay free: databases in the field have later ones, and Kysely
 * refuses a migration that comes before one that was applied.
 */
const MIGRATIONS = {
  '0001-start': start,
  '0002-webhooks': webhooks,
  '0003-patients': patients,
  '0004-claims': claims,
  '0007-journal': journal,
  '0008-purge': purge,
  '0009-given-names': givenNames,
  '0010-absent-calls': absentCalls,
  '0011-service-clock': serviceClock,
  '0012-incidents': incidents,
  '0013-patient-identity': patientIdentity,
  '0014-arrivals': arrivals,
  '0015-missed-exports': missedExports,
  '0016-announced-ends': announcedEnds,
  '0017-message-times': messageTimes,
  '0018-outcome': outcome,
  '0019-scrape': scrape,
  '0020-turnarounds': turnarounds,
  '0021-prices': prices,
  '0022-office': office,
  '0023-alerts': alerts,
  '0024-entered': entered,
  '0025-lookups': lookups,
  '0026-completed-sources': completedSources,
  '0027-plan-terms': planTerms,
  '0028-calls': calls,
  '0029-access-log': accessLog,
  '0030-attention-words': attentionWords,
  '0031-retention': retention,
  '0032-attention-inquiry': attentionInquiry,
  '0033-open-appointments': openAppointments,
  '0034-names': names,
};

const MEMOISED_STATEMENTS_MAX = 400;

const DATABASES = new WeakMap<Db, SqliteDatabase>();

/** What is below kysely, of a database that `openDatabase` has opened. */
export const databaseBelow = (db: Db): SqliteDatabase | undefined => DATABASES.get(db);

const CHECKPOINT_PAGES = 8_000; // 32 MB

const BUSY_TIMEOUT_MS = 10_000;

const WAL_RETRY_MS = 20;

/** How long a file without a page may be one that another process is making. */
const FIRST_PAGE_MS = 2_000;

/**
 * `eligd restore` makes its copy under this ending, and gives it the name of the database when that
 * has been moved away.
 */
export const RESTORING = '.restoring';

/**
 * Opens the database at `path`, makes its folder and file when they are missing, and migrates it.
 * WAL, with synchronous FULL: a commit is on the disk before the outside effect that relies on it
 * (fact 2, G3).
 *
 * Throws EligdError `configuration` when the folder cannot be made, the file is no database or
 * damaged, or the database was written by a newer eligd.
 */
export async function openDatabase(path: string): Promise<Db> {
  const existed = existsSync(path);
  if (!existed) refuseHalfRestored(path);
  refuseEmpty(path);
  const raw = openFile(path);
  try {
    raw.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    useWal(raw);
    raw.pragma('synchronous = FULL');
    // Reports and answers are long: with the usual 1000 pages they would have a checkpoint every
    // few hundred.
    raw.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    raw.pragma('foreign_keys = ON');
    // What is deleted or replaced is patient data: its bytes are overwritten, also in free pages.
    raw.pragma('secure_delete = ON');
    if (existed) refuseDamaged(raw, path);
  } catch (error) {
    raw.close();
    throw unusable(path, error);
  }
  const database = memoised(raw);
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  DATABASES.set(db, database);
  try {
    await migrate(db, raw, path);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}

/**
 * What is at `path`, without making, migrating or changing anything; for `eligd check`.
 * `behind`: the next start will migrate it. Throws what `openDatabase` would throw for a damaged or
 * newer database.
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
 * A restore that was cut short after it had moved the old database away: a new, empty one would
 * hide both.
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
 * Every database of eligd has content: SQLite would take a file of zero bytes for a new one.
 * Another process may be about to write the first page of a file that it has just made, so this
 * waits.
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

/**
 * The database holds patient data: neither it nor its folder may be open to other users of this
 * machine.
 */
function refuseExposed(path: string): void {
  if (process.platform === 'win32') return;
  const folder = dirname(path);
  const isOpen = (each: string) => existsSync(each) && (statSync(each).mode & 0o077) !== 0;
  const mode = (each: string) => (statSync(each).mode & 0o777).toString(8);
  if (isOpen(folder))
    throw new EligdError('configuration', {
      what: `${folder} is open to other users of this machine, so eligd did not use it.`,
      why: `eligd keeps patient data in it, and its mode is ${mode(folder)} instead of 700.`,
      // Never a command that changes the folder: it may be /tmp, or serve other programs.
      next:
        `Give eligd its own folder: set state.path: ${join(folder, 'eligd', basename(path))}. ` +
        'eligd creates that folder. If there is already a database, stop eligd and move it ' +
        `there (every file whose name begins with ${basename(path)}).`,
    });
  if (isOpen(path))
    throw new EligdError('configuration', {
      what: `${path} is open to other users of this machine, so eligd did not use it.`,
      why: `It holds patient data, and its mode is ${mode(path)} instead of 600.`,
      next: `Run "chmod 600 ${path}".`,
    });
}

function openFile(path: string): Raw {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    refuseExposed(path);
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

/** With a key in place, nobody expects a database that anybody can read. */
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
 * SQLite does not wait for a busy database when it changes the journal, so two that make the same
 * one take turns here.
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
  if (raw.pragma('quick_check(1)', { simple: true }) !== 'ok') throw damaged(path);
}

/**
 * In one transaction that begins with the write lock: of two processes that start at once the
 * second finds the work done, and a crash in the middle leaves the old form. kysely's own lock and
 * transactions are none on SQLite.
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
 * kysely prepares a statement for each run, which costs more than running it; this keeps what was
 * prepared, and begins again when there is too much of it. SQLite itself compiles a statement again
 * at every run when a parameter could change its plan (a limit, or a state or connector next to an
 * order), so constants stand in the text of what runs often, as `sql.lit`. Transactions begin with
 * the write lock: one that reads first and finds, when it writes, that another process wrote in
 * between fails at once, whatever `busy_timeout` says.
 */
function memoised(raw: Raw): SqliteDatabase {
  const prepared = new Map<string, ReturnType<Raw['prepare']>>();
  return {
    prepare: (statement_text: string) => {
      // When a commit fails for want of room, SQLite itself has rolled back, and kysely's
      // rollback would put "no transaction is active" in the place of the reason.
      if (statement_text === 'rollback' && !raw.inTransaction)
        return asKysely(raw.prepare('select 1'));
      const text = statement_text === 'begin' ? 'begin immediate' : statement_text;
      const known = prepared.get(text);
      if (known !== undefined) return asKysely(known);
      const statement = raw.prepare(text);
      if (prepared.size >= MEMOISED_STATEMENTS_MAX) prepared.clear();
      prepared.set(text, statement);
      return asKysely(statement);
    },
    close: () => raw.close(),
  };
}

function asKysely(statement: ReturnType<Raw['prepare']>): ReturnType<SqliteDatabase['prepare']> {
  return statement as unknown as ReturnType<SqliteDatabase['prepare']>;
}
