/**
 * Changes the key of the database and of eligd's copies of it: from plain text to a key, from one
 * key to another, or back to plain text.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { DatabaseKey } from '../../domain/database-key.ts';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { copiesOf, flush } from './backup.ts';
import { attachSource, copyAttached } from './copy.ts';
import { damaged, unusable } from './damage.ts';
import { openKeyed, openWith, type Raw } from './driver.ts';

/** Suffix of the new file until it is complete. */
const NEW = '.recoding';
/** Suffix of the old file after the new one has its name, until its bytes are overwritten. */
const OLD = '.before-recoding';

/** Names that `writeBackup` gives to incomplete copies. */
const UNFINISHED = /^\..+\.db\.part(?:-journal)?$/;

const WAL_HEADER_BYTES = 32;
const CHUNK = Buffer.alloc(1024 * 1024);

/** `left`: files that could not be read and were not changed. */
type Recoded = { changed: string[]; left: { file: string; why: string }[] };

/**
 * Rewrites the database at `path` and every copy that eligd made, next to it and in
 * `backup_folder`, with `key`; null: in plain text. The caller holds the instance lock.
 *
 * Each file is written next to the old one, checked, and flushed before it is renamed in one step,
 * so that a crash at any time leaves either the old file or the new one. Then the old bytes are
 * overwritten. The next call removes the remains of a process that died. Repeating it changes only
 * files that do not have the key yet.
 *
 * Throws when the database itself cannot be changed.
 */
export function recodeDatabase(
  path: string,
  backup_folder: string,
  key: DatabaseKey | null,
): Recoded {
  for (const folder of new Set([dirname(path), backup_folder]))
    if (existsSync(folder)) {
      clearRecodings(folder);
      clearUnfinished(folder);
    }
  const found: Recoded = { changed: [], left: [] };
  if (recodeFile(path, key)) found.changed.push(path);
  for (const file of copiesOf(path, backup_folder)) {
    try {
      if (recodeFile(file, key)) found.changed.push(file);
    } catch (error) {
      if (!(error instanceof EligdError)) throw error;
      found.left.push({ file, why: `${error.what} ${error.why}` });
    }
  }
  return found;
}

/** Returns the ID of the key that encrypts the database at `path`; null: it is in plain text. */
export function keyIdOfDatabase(path: string): string | null {
  try {
    return keyOfSound(path)?.id ?? null;
  } catch (error) {
    throw unusable(path, error);
  }
}

/**
 * Removes the files of a process that died while it changed a key: at the start of the daemon, and
 * before the next change. The caller holds the instance lock.
 */
export function clearRecodings(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (name.endsWith(NEW)) shred(file);
    // If the new file has not been renamed yet, this is a second name of the old file.
    else if (name.endsWith(OLD) && isSameFile(file, file.slice(0, -OLD.length))) rmSync(file);
    else if (name.endsWith(OLD)) shred(file);
  }
}

/** Removes incomplete copies of a process that died: no process will complete them. */
function clearUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) if (UNFINISHED.test(name)) shred(join(folder, name));
}

function isSameFile(one: string, other: string): boolean {
  const [a, b] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

function keyOfSound(path: string): DatabaseKey | null {
  const { raw, key } = openKeyed(path, { readonly: true, fileMustExist: true });
  try {
    // Throws for a file that no key opens.
    raw.prepare('select count(*) from sqlite_master').get();
    return key;
  } finally {
    raw.close();
  }
}

/** Rewrites a file. Returns whether that was necessary. */
function recodeFile(path: string, key: DatabaseKey | null): boolean {
  let copy: Raw | undefined;
  try {
    const source = keyOfSound(path);
    if (source?.id === key?.id) return false;
    closeSync(openSync(path + NEW, 'wx', 0o600));
    copy = openWith(path + NEW, key, { timeout: 0 });
    attachSource(copy, path, source);
    takeAlone(copy, path, source === null);
    if (copy.pragma('source.quick_check(1)', { simple: true }) !== 'ok') throw damaged(path);
    copyAttached(copy, 'BEGIN EXCLUSIVE');
    if (copy.pragma('main.integrity_check(1)', { simple: true }) !== 'ok')
      throw new Error('The new file is damaged.');
    takePlace(path);
    return true;
  } catch (error) {
    if (errorCode(error)?.startsWith('SQLITE_BUSY') === true) throw inUse(path);
    throw unusable(path, error);
  } finally {
    copy?.close();
    rmSync(path + NEW, { force: true });
  }
}

/**
 * Locks the source exclusively until `copy` is closed and merges its WAL into it. SQLite refuses
 * while another process has the file open.
 */
function takeAlone(copy: Raw, path: string, is_plain: boolean): void {
  copy.pragma('source.locking_mode = exclusive');
  const wal = `${path}-wal`;
  if (is_plain && copy.pragma('source.journal_mode', { simple: true }) === 'wal') {
    copy.pragma('source.wal_checkpoint(full)');
    if (existsSync(wal)) overwrite(wal, WAL_HEADER_BYTES);
  }
  if (copy.pragma('source.journal_mode = delete', { simple: true }) !== 'delete') throw inUse(path);
}

/**
 * Replaces the old file. Keeps the time of the file, because retention and the check of the last
 * backup rely on it.
 */
function takePlace(path: string): void {
  const { atime, mtime } = statSync(path);
  utimesSync(path + NEW, atime, mtime);
  flush(path + NEW);
  linkSync(path, path + OLD);
  renameSync(path + NEW, path);
  flush(dirname(path));
  shred(path + OLD);
}

/** Deletes a file and overwrites its bytes first. */
function shred(file: string): void {
  overwrite(file, 0);
  rmSync(file);
  flush(dirname(file));
}

/**
 * Overwrites a file with zeros, flushed to disk. Writes `first_bytes` first: SQLite ignores a WAL
 * without a header, but would use the old pages of a half-overwritten one.
 */
function overwrite(file: string, first_bytes: number): void {
  const handle = openSync(file, 'r+');
  try {
    const { size } = statSync(file);
    if (first_bytes > 0) {
      writeSync(handle, CHUNK, 0, Math.min(first_bytes, size), 0);
      fsyncSync(handle);
    }
    for (let at = 0; at < size; at += CHUNK.length)
      writeSync(handle, CHUNK, 0, Math.min(CHUNK.length, size - at), at);
    fsyncSync(handle);
    ftruncateSync(handle, 0);
  } finally {
    closeSync(handle);
  }
}

function inUse(path: string): EligdError {
  return new EligdError('temporary', {
    what: `${basename(path)} is in use; it was not changed.`,
    why: 'Another eligd command has it open.',
    next: 'Wait until that command finishes, then run this one again.',
  });
}
