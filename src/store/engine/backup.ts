/**
 * Copies of the database, made while the daemon runs and used by `eligd restore`. A copy is a
 * single file without WAL: a consistent snapshot of the database, written from scratch, so that it
 * contains no purged data.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { copyDatabase } from './copy.ts';
import { damaged, unusable } from './damage.ts';
import { refuseNewer } from './database.ts';
import { keyTrouble, openSqlite, type Raw } from './driver.ts';

/**
 * The content of a verified copy. `backed_up_at`: the time of the snapshot; for a file that was
 * copied in another way, the time of its last step.
 */
export type CopyContent = {
  backed_up_at: number;
  appointments: number;
  inquiries: number;
  answers: number;
  deliveries: number;
};

/**
 * The learned setting in a copy that holds the time of its snapshot, in milliseconds since 1970.
 */
const BACKED_UP_AT = 'backed_up_at';

/**
 * Writes a copy of the database at `path` to `file`, which must not exist. Opens, checks and counts
 * the copy before it gets its name. Blocks during the copy, so the daemon calls it in a thread
 * (`backup-thread.ts`). The database may have an older format.
 */
export function writeBackup(path: string, file: string, now: number): CopyContent {
  if (existsSync(file)) {
    throw new EligdError('failed', {
      what: `${file} already exists.`,
      why: 'A backup never replaces another file.',
      next: 'Use another name, or move that file away.',
    });
  }
  const part = join(dirname(file), `.${basename(file)}.part`);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(part, { force: true });
    checkSource(path);
    copyDatabase(path, part);
    writeSnapshotTime(part, now);
    const content = inspectCopy(part);
    flush(part);
    renameSync(part, file);
    flush(dirname(file));
    return content;
  } catch (error) {
    rmSync(part, { force: true });
    if (error instanceof EligdError) throw error;
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error) ?? '')) throw unusable(path, error);
    throw new EligdError('failed', {
      what: `The backup ${file} could not be written.`,
      why: `The system reports ${errorCode(error) ?? 'an unknown error'}.`,
      next:
        'Check the free disk space and the permissions of the folder. The database itself is ' +
        'unchanged.',
      cause: error,
    });
  }
}

/**
 * Checks the whole source first: SQLite copies the readable part of a damaged database, and that
 * copy would pass every check.
 */
function checkSource(path: string): void {
  const source = openSqlite(path, { readonly: true, fileMustExist: true, timeout: 10_000 });
  try {
    if (source.pragma('integrity_check(1)', { simple: true }) !== 'ok') throw damaged(path);
    if (source.prepare('select 1 from sqlite_master').get() === undefined)
      throw new EligdError('failed', {
        what: `The database ${path} is still empty, so there is nothing to back up.`,
        why: 'eligd was stopped before it had created the tables.',
        next: 'Start eligd ("systemctl start eligd"), and then make the backup.',
      });
  } finally {
    source.close();
  }
}

function writeSnapshotTime(part: string, now: number): void {
  const copy = openSqlite(part);
  try {
    copy
      .prepare(
        `insert into ${settingsTable(copy)} (name, value, updated_at) values (?, ?, ?)
         on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at`,
      )
      .run(BACKED_UP_AT, String(now), now);
  } finally {
    copy.close();
  }
}

/**
 * Opens a copy, has SQLite check it, and returns the counts of its content. Throws when it is not
 * an undamaged database of this or an older version of eligd.
 */
export function inspectCopy(file: string): CopyContent {
  refuseUnreadable(file);
  let raw: Raw | undefined;
  try {
    raw = openSqlite(file, { readonly: true, fileMustExist: true });
    const result = raw.pragma('integrity_check(1)', { simple: true });
    if (result !== 'ok') throw notSound(file, 'SQLite’s integrity check found errors in it');
    refuseNewer(raw, file);
    const count = (table: string) =>
      raw?.prepare(`select count(*) from ${table}`).pluck().get() as number;
    const at = raw
      .prepare(`select value from ${settingsTable(raw)} where name = ?`)
      .pluck()
      .get(BACKED_UP_AT) as string | undefined;
    const last_step_at = raw.prepare('select max(at) from audit').pluck().get() as number | null;
    return {
      backed_up_at:
        at === undefined ? (last_step_at ?? Math.floor(statSync(file).mtimeMs)) : Number(at),
      appointments: count('appointments'),
      inquiries: count('inquiries'),
      answers: count('answers'),
      deliveries: count('deliveries'),
    };
  } catch (error) {
    if (error instanceof EligdError) throw error;
    const wrong_key = errorCode(error) === 'SQLITE_NOTADB' ? keyTrouble(file) : null;
    if (wrong_key !== null) throw wrong_key;
    throw notSound(
      file,
      WHY_NOT[errorCode(error) ?? ''] ??
        `the system reports ${errorCode(error) ?? 'an unknown error'}`,
    );
  } finally {
    raw?.close();
  }
}

const WHY_NOT: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'it is not a database',
  SQLITE_ERROR: 'it is another program’s database, or an empty file',
  SQLITE_CORRUPT: 'it is damaged',
};

/**
 * Checks the file first, because SQLite reports only that it cannot open it, without the reason.
 */
function refuseUnreadable(file: string): void {
  try {
    if (!statSync(file).isFile()) throw notSound(file, 'it is not a file');
    accessSync(file, constants.R_OK);
  } catch (error) {
    if (error instanceof EligdError) throw error;
    if (errorCode(error) !== 'EACCES') throw notSound(file, 'it does not exist');
    throw new EligdError('failed', {
      what: `${file} cannot be read.`,
      why: 'The user that eligd runs as cannot read files there.',
      next:
        `Make a copy for that user, and name the copy: install -o eligd -m 600 ${file} ` +
        '/var/lib/eligd/backups/',
    });
  }
}

function notSound(file: string, why: string): EligdError {
  return new EligdError('failed', {
    what: `${file} is not a sound copy of eligd’s database.`,
    why: `eligd checked it: ${why}.`,
    next: 'Use another backup; "eligd backup" and the daemon check every backup that they write.',
  });
}

/** `eligd-20261121-033000.db`: the names of scheduled backups sort by time (UTC). */
const NAME = /^eligd-\d{8}-\d{6}\.db$/;

/** The name of a backup by `eligd backup --before-upgrade`. */
const BEFORE_UPGRADE = /^before-upgrade-from-.*\.db$/;

/** Returns the name of a backup before an upgrade from `version`. */
export function beforeUpgradeName(version: string, now: number): string {
  return `before-upgrade-from-${version.replaceAll(/[^\w.+~-]/g, '_')}-${backupName(now)}`;
}

/** Returns the name of a scheduled backup that is made at `now`. */
export function backupName(now: number): string {
  const digits = new Date(now).toISOString().replaceAll(/[-:]/g, '');
  return `eligd-${digits.slice(0, 8)}-${digits.slice(9, 15)}.db`;
}

/**
 * Deletes all but the newest `keep` scheduled backups in the folder. Returns how many it deleted.
 * Other files stay.
 */
export function rotateBackups(folder: string, keep: number): number {
  const old = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
    .slice(keep);
  for (const name of old) rmSync(join(folder, name));
  return old.length;
}

/**
 * Deletes copies that no rotation covers and that were last written before `before`: those from
 * before an upgrade, and databases at `path` that a restore has replaced. They contain data that
 * retention has deleted elsewhere. Returns how many it deleted.
 */
export function deleteOldCopies(path: string, folder: string, before: number): number {
  const old = oldCopies(path, folder, before);
  for (const file of old) rmSync(file.path);
  return old.filter((file) => !/-(?:wal|shm)$/.test(file.path)).length;
}

/**
 * Returns the copies that `deleteOldCopies` deletes, with the time when each was written (epoch
 * milliseconds).
 */
export function oldCopies(
  path: string,
  folder: string,
  before: number,
): { path: string; at: number }[] {
  const replaced = `${basename(path)}.replaced-`;
  return [
    ...namesIn(folder)
      .filter((name) => BEFORE_UPGRADE.test(name))
      .map((name) => join(folder, name)),
    ...namesIn(dirname(path))
      .filter((name) => name.startsWith(replaced))
      .map((name) => join(dirname(path), name)),
  ]
    .map((file) => ({ path: file, at: Math.floor(statSync(file).mtimeMs) }))
    .filter(({ at }) => at < before);
}

/**
 * Returns every copy of the database at `path` that eligd made, next to it and in the backup
 * folder.
 */
export function copiesOf(path: string, folder: string): string[] {
  const beside = `${basename(path)}.`;
  const is_copy = (name: string) =>
    name.startsWith(beside) &&
    /^(?:replaced-\w+|rescued\.db|restoring)$/.test(name.slice(beside.length));
  const is_backup = (name: string) => NAME.test(name) || BEFORE_UPGRADE.test(name);
  const found = [
    ...namesIn(dirname(path))
      .filter(is_copy)
      .map((name) => join(dirname(path), name)),
    ...namesIn(folder)
      .filter(is_backup)
      .map((name) => join(folder, name)),
  ];
  return [...new Set(found)];
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Returns whether eligd has made any copy in the folder. */
export function hasBackups(folder: string): boolean {
  return namesIn(folder).some((name) => NAME.test(name) || BEFORE_UPGRADE.test(name));
}

/**
 * Returns the newest scheduled backup by name and its modification time; null when there is none.
 */
function newestBackup(folder: string): { file: string; at: number } | null {
  const name = namesIn(folder)
    .filter((each) => NAME.test(each))
    .sort()
    .at(-1);
  return name === undefined
    ? null
    : { file: join(folder, name), at: Math.floor(statSync(join(folder, name)).mtimeMs) };
}

/**
 * Returns when the newest scheduled backup was written. The folder may be on a disk or share that
 * is not available; `unreadable`: the error code in that case.
 */
export function lastBackup(folder: string): {
  newest_at: number | null;
  unreadable: string | null;
} {
  try {
    return { newest_at: newestBackup(folder)?.at ?? null, unreadable: null };
  } catch (error) {
    return { newest_at: null, unreadable: errorCode(error) ?? 'failed' };
  }
}

/** Flushes a file or folder from the system's memory to the disk. */
export function flush(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Returns the name of the table of learned settings in a copy; before migration 0034 it was
 * "facts".
 */
export function settingsTable(raw: Raw): 'learned_settings' | 'facts' {
  const is_named = raw.prepare("select 1 from sqlite_master where name = 'learned_settings'").get();
  return is_named === undefined ? 'facts' : 'learned_settings';
}
