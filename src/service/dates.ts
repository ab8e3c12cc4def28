/**
 * Dates in the wire's format (docs/service.md "Resources and their fields"; docs/service.md
 * "Timestamps" and "dates") and in HTTP headers.
 */
import { isDate, parseTimestamp } from '../domain/time.ts';

/**
 * Converts `2026-11-23` to the wire's `11-23-2026`. Throws a `RangeError` unless it is a real date
 * in that form.
 */
export function toWireDate(date: string): string {
  if (!isDate(date)) throw new RangeError('Not a date of the form YYYY-MM-DD.');
  const [year, month, day] = date.split('-');
  return `${month}-${day}-${year}`;
}

/**
 * Converts an ISO 8601 date-time to epoch milliseconds, rounded down; without a zone it is UTC.
 * Returns null for anything else.
 */
export function parseWireTimestamp(text: string): number | null {
  const at = parseTimestamp(text);
  return typeof at === 'number' ? at : null;
}

const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * Converts the three forms of an HTTP date (RFC 9110, 5.6.7) to epoch milliseconds; returns null
 * for anything else.
 */
export function parseHttpDate(text: string): number | null {
  const trimmed = text.trim();
  if (!IMF_FIXDATE.test(trimmed) && !RFC_850.test(trimmed) && !ASCTIME.test(trimmed)) return null;
  const parsed_ms = Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`);
  return Number.isNaN(parsed_ms) ? null : parsed_ms;
}

/**
 * The longest wait that a Retry-After can request: a larger value is probably in the wrong unit.
 */
const RETRY_AFTER_MAX_MS = 24 * 3_600_000;

/**
 * Returns a `Retry-After` (RFC 9110, 10.2.3) in milliseconds from now, at least 0 and at most a
 * day; null when it is absent or unreadable. A date is relative to the reply's own `Date`, so that
 * a wrong clock on either side does no harm; without that header, relative to `now_ms`.
 */
export function parseRetryAfter(
  retry_after: string | undefined,
  date: string | undefined,
  now_ms: number,
): number | null {
  if (retry_after === undefined) return null;
  const trimmed = retry_after.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed))
    return Math.min(Math.ceil(Number(trimmed) * 1000), RETRY_AFTER_MAX_MS);
  const until_ms = parseHttpDate(trimmed);
  if (until_ms === null) return null;
  const from_ms = (date === undefined ? null : parseHttpDate(date)) ?? now_ms;
  return Math.min(Math.max(until_ms - from_ms, 0), RETRY_AFTER_MAX_MS);
}
