/** A shortcut for the form in which nearly all exports write a date. */
import { isCalendarDate, isNoDate, type Read } from './values.ts';

const ZERO = 48;
const DASH = 45;

/**
 * Reads the usual form, `YYYY-MM-DD` and nothing else, which takes a fraction of the time; null for
 * any other text.
 */
export function readUsualDate(text: string): Read<string> | null {
  if (text.length !== 10 || text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return null;
  const year = numberAt(text, 0) * 100 + numberAt(text, 2);
  const month = numberAt(text, 5);
  const day = numberAt(text, 8);
  // Not a number if a character is not a digit.
  if (!(year + month + day >= 0)) return null;
  if (isNoDate(year, month, day)) return { value: null, fault: null };
  return isCalendarDate(year, month, day)
    ? { value: text, fault: null }
    : { value: null, fault: 'impossible date' };
}

/** Returns the number of the two digits at a place; NaN if they are not digits. */
function numberAt(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}
