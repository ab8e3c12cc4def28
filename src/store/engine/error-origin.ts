/** Where an error comes from: from what was to be stored, or from the database and the system. */
import { EligdError, errorCode } from '../../domain/errors.ts';

/**
 * SQLite's errors about values. Its plain SQLITE_ERROR is one of them: functions report a value
 * that they cannot read with it, such as malformed JSON.
 */
const OF_VALUES = /^SQLITE_(?:ERROR|CONSTRAINT|TOOBIG|MISMATCH|RANGE)(?:_|$)/;
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
