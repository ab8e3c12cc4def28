/** One daemon works on a database. */
import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { EligdError, errorCode } from '../../domain/errors.ts';
import { unusable } from './damage.ts';

export type InstanceLock = { release: () => void };

/**
 * The lock against a second daemon on the same state: an exclusive transaction held on a lock
 * database next to it, because Node has no flock. The system gives it back when the process dies,
 * however it dies.
 */
export function lockInstance(path: string): InstanceLock {
  const file = lockFile(path);
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
      next:
        'Wait until the other one finishes, or stop it (systemctl stop eligd, or Ctrl-C where ' +
        'it runs).',
    });
  }
  const held = raw;
  return { release: () => held.close() };
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
