/** Ensures that only one daemon works on a database. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { unusable } from './damage.ts';
import { refuseExposed } from './exposed.ts';

export type InstanceLock = {
  release: () => void;
  /** The count of sends that the lock file holds. */
  sends: SendCount;
};

/**
 * Counts the sends in a file next to the database. The database counts them as well, so a database
 * that was replaced by an older one does not agree with the file (G1).
 */
export type SendCount = { read: () => number; write: (count: number) => void };

/**
 * Takes the lock that keeps a second daemon from the same state: an exclusive lock on a small
 * database next to it, because Node has no flock. The system releases it when the process ends for
 * any reason. The `user_version` of the small database is the count of sends. eligd does not flush
 * it: only a crash of the machine can lose it, and after another boot nothing relies on it.
 */
export function lockInstance(path: string): InstanceLock {
  const file = lockFile(path);
  let raw: Database.Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    refuseExposed(path);
    if (existsSync(file)) accessSync(file, constants.W_OK);
    raw = new Database(file, { timeout: 0 });
    // Keeps the lock after the end of a transaction.
    raw.pragma('locking_mode = EXCLUSIVE');
    raw.pragma('journal_mode = MEMORY');
    raw.exec('BEGIN EXCLUSIVE; COMMIT');
    if (raw.pragma('user_version', { simple: true }) === 0) raw.pragma('user_version = 1');
    raw.pragma('synchronous = OFF');
  } catch (error) {
    raw?.close();
    if (errorCode(error)?.startsWith('SQLITE_BUSY') !== true) throw unusable(file, error);
    throw new EligdError('temporary', {
      what: 'Another eligd is running on this database.',
      why: `${file} is locked. Two at once could make the same paid call twice.`,
      next:
        'Wait until the other one finishes, or stop it (systemctl stop eligd, or Ctrl-C where ' +
        'it runs).',
    });
  }
  const held = raw;
  return {
    release: () => held.close(),
    sends: {
      read: () => held.pragma('user_version', { simple: true }) as number,
      write: (count) => held.pragma(`user_version = ${count}`),
    },
  };
}

/** Returns whether a daemon holds the lock, without taking it or creating its file. */
export function isInstanceRunning(path: string): boolean {
  const file = lockFile(path);
  if (!existsSync(file)) return false;
  let raw: Database.Database | undefined;
  try {
    raw = new Database(file, { readonly: true, timeout: 0 });
    raw.prepare('select count(*) from sqlite_master').get();
    return false;
  } catch (error) {
    if (errorCode(error)?.startsWith('SQLITE_BUSY') === true) return true;
    throw unusable(file, error);
  } finally {
    raw?.close();
  }
}

function lockFile(path: string): string {
  return join(dirname(path), `${basename(path)}.lock`);
}
