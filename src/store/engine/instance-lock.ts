/** One daemon works on a database. */
import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { unusable } from './damage.ts';

export type InstanceLock = {
  release: () => void;
  /** How often something was sent, as the lock file has it; 0 for a new file. */
  sends: SendCount;
};

/**
 * A count in a file next to the database, of what the database counts as well. An older database
 * in the place of this one does not agree with it (G1).
 */
export type SendCount = { read: () => number; write: (count: number) => void };

/**
 * The lock against a second daemon on the same state: an exclusive lock held on a small database
 * next to it, because Node has no flock. The system releases it when the process ends, however it
 * ends. The small database holds the count of sends as its `user_version`. The count is not
 * flushed: only a crash of the machine can lose it, and after that nothing relies on it.
 */
export function lockInstance(path: string): InstanceLock {
  const file = lockFile(path);
  let raw: Database.Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
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

/** Whether a daemon holds the lock, without taking it or making its file. */
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
