/** Where an error comes from: from what was to be stored, or from the database and the system. */
import { EligdError, errorCode } from '../../domain/errors.ts';

/**
 * SQLite's errors about values. Its plain SQLITE_ERROR is one of them: functions report a value
 * that they cannot read with it, such as malformed JSON.
 */
const OF_VALUES = /^SQLITE_(?:ERROR|CONSTRAINT|TOOBIG|MISMATCH|RANGE)(?:_|$)/;
/**
 * SQLite's errors about what it reads. A failure to write may pass, and small writes may succeed
 * during it (a quota), so it never is about a few rows.
 */
const OF_PAGES = /^SQLITE_(?:CORRUPT|IOERR_READ|IOERR_SHORT_READ)(?:_|$)/;
/** The codes of the system, such as ENOSPC and EIO. */
const OF_SYSTEM = /^E[A-Z0-9]+$/;

/**
 * Returns whether an error comes from what was to be stored, so that trying again cannot help.
 * Anything else (a full disk, a locked or damaged file, a replaced database) may pass.
 */
export function isOfContent(error: unknown): boolean {
  if (error instanceof EligdError) return false;
  const code = errorCode(error);
  if (code === null) return true;
  if (code.startsWith('SQLITE_')) return OF_VALUES.test(code);
  return !OF_SYSTEM.test(code);
}

/**
 * Returns whether an error of the database may come from a few rows, such as those of a damaged
 * page, so that other rows can still be written.
 */
export function mayBeOfFewRows(error: unknown): boolean {
  return !(error instanceof EligdError) && OF_PAGES.test(errorCode(error) ?? '');
}

/**
 * Returns whether an error comes neither from what was to be stored nor from a few rows, so that
 * everything else fails, too, until its cause has passed, such as a full disk.
 */
export function mayPass(error: unknown): boolean {
  return !isOfContent(error) && !mayBeOfFewRows(error);
}
