/**
 * Changes the key of the database and of the copies that eligd made of it: from plain text to a
 * key, from one key to another, or back to plain text.
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

/** The new file until it is whole. */
const NEW = '.recoding';
/** The old file from the moment that the new one has its name until its bytes are overwritten. */
const OLD = '.before-recoding';

/** As `writeBackup` names a copy until it is whole. */
const UNFINISHED = /^\..+\.db\.part(?:-journal)?$/;

const WAL_HEADER_BYTES = 32;
const CHUNK = Buffer.alloc(1024 * 1024);

/** `left`: files that could not be read, and stay as they are. */
export type Recoded = { changed: string[]; left: { file: string; why: string }[] };

/**
 * Writes the database at `path` and every copy that eligd made, next to it and in `backup_folder`,
 * with `key`; null: in plain text. The caller holds the lock of the instance.
 *
 * Each file is written again next to the old one, checked, and flushed before it takes its name in
 * one step, so that whenever the process dies there is the old file or the new one. The old bytes
 * are then overwritten. What a process left that died is cleared away by the next call. Doing it
 * again changes only what is not as it should be.
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

/** The id of the key that the database at `path` is encrypted with; null: it is in plain text. */
export function keyIdOfDatabase(path: string): string | null {
  try {
    return keyOfSound(path)?.id ?? null;
  } catch (error) {
    throw unusable(path, error);
  }
}

/**
 * Clears away what a process left that died while it changed a key: at the start of the daemon, and
 * before the next change. The caller holds the lock of the instance.
 */
export function clearRecodings(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (name.endsWith(NEW)) shred(file);
    // Before the new file took its name, this is another name of the old one.
    else if (name.endsWith(OLD) && isSameFile(file, file.slice(0, -OLD.length))) rmSync(file);
    else if (name.endsWith(OLD)) shred(file);
  }
}

/** Copies that were being written when their process died: nobody completes them. */
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

/** Whether the file had to be changed. */
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
 * Nobody else reads or writes the source until `copy` is closed, and its WAL is part of it. SQLite
 * refuses while another process has it open.
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

/** The age of a copy says when it goes, and whether the last backup is fresh. */
function takePlace(path: string): void {
  const { atime, mtime } = statSync(path);
  utimesSync(path + NEW, atime, mtime);
  flush(path + NEW);
  linkSync(path, path + OLD);
  renameSync(path + NEW, path);
  flush(dirname(path));
  shred(path + OLD);
}

/** Deletes a file whose bytes must not be found afterwards. */
function shred(file: string): void {
  overwrite(file, 0);
  rmSync(file);
  flush(dirname(file));
}

/**
 * Zeros, on the disk. `first_bytes` before everything else: without its header a WAL holds nothing
 * for SQLite, and with half of its pages it would hold old ones.
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
