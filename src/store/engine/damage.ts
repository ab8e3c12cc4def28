/** Errors for a database that cannot be used: damaged, without its key, or not accessible. */
import { EligdError, errorCode } from '../../domain/errors.ts';
import { keyTrouble } from './driver.ts';

/** Returns the error for a damaged database; only a backup helps. */
export class DamagedDatabase extends EligdError {}

export function damaged(path: string, cause?: unknown): DamagedDatabase {
  return new DamagedDatabase('configuration', {
    what: `The database ${path} is damaged.`,
    why: 'SQLite’s integrity check found errors in it, or it is not a database.',
    next:
      'Check that state.path names the right file. Then stop the daemon and run "eligd ' +
      'restore" with the newest backup. It keeps the damaged file, and eligd compares the ' +
      'service’s list before it sends anything.',
    cause,
  });
}

export function unusable(path: string, error: unknown): EligdError {
  if (error instanceof EligdError) return error;
  const code = errorCode(error) ?? '';
  if (code === 'SQLITE_NOTADB') return keyTrouble(path) ?? damaged(path, error);
  if (code.startsWith('SQLITE_CORRUPT')) return damaged(path, error);
  if (/^(SQLITE_FULL|SQLITE_IOERR|ENOSPC|EIO)/.test(code)) {
    return new EligdError('temporary', {
      what: `The database ${path} could not be written.`,
      why:
        code === 'SQLITE_FULL' || code === 'ENOSPC'
          ? 'Its disk is full.'
          : `Its disk reported an error (${code}).`,
      next:
        'Free up space or replace the disk. Nothing is lost, and eligd starts again ' +
        'automatically when it can.',
      cause: error,
    });
  }
  if (/^(EACCES|EPERM|EROFS|SQLITE_READONLY|SQLITE_CANTOPEN)/.test(code)) {
    return new EligdError('temporary', {
      what: `The database ${path} cannot be opened for writing.`,
      why: `The system reports ${code}: its folder is read-only, or belongs to another user.`,
      next:
        'Check the permissions of the folder, the disk, and state.path in the configuration. ' +
        'eligd starts again automatically when it can.',
      cause: error,
    });
  }
  return new EligdError('configuration', {
    what: `The database ${path} cannot be opened.`,
    why: `The system reports ${errorCode(error) ?? 'that it is not a SQLite database'}.`,
    next:
      'Check state.path in the configuration, the permissions of its folder, and the free disk ' +
      'space.',
    cause: error,
  });
}
