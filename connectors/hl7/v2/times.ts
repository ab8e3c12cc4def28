/**
 * Reads and writes HL7 times (`20261124093000-0600`, section 2.A.22), and reads forms that vendors
 * use instead (`2026-11-24T09:30`).
 */
import { Temporal } from 'temporal-polyfill';
import { instantOf, isDate } from '../../../src/domain/time.ts';

const DATE = String.raw`(\d{4})-?(\d{2})-?(\d{2})`;
const CLOCK = String.raw`(\d{2})(?::?(\d{2})(?::?(\d{2})(?:\.(\d{1,9}))?)?)?`;
const OFFSET = String.raw`(Z|[+-]\d{2}:?(?:\d{2})?)`;
const FORM = new RegExp(String.raw`^${DATE}(?:[T ]?${CLOCK})?\s*${OFFSET}?$`);

/** The kind of value found instead of the expected one; never the value (G6). */
export type Fault = { fault: string };

/**
 * Returns the instant in ISO 8601, UTC with milliseconds. A wall time without an offset is the
 * clinic's (docs/design.md "Time").
 */
export function readInstant(text: string, time_zone: string): string | Fault {
  const found = FORM.exec(text);
  if (found === null) return { fault: 'not a time' };
  const [, year, month, day, hour, minute = '0', second = '0', fraction = '0', offset] = found;
  if (hour === undefined) return { fault: 'a day without a time' };
  const parts = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (!isDate(`${year}-${month}-${day}`) || parts[3] > 23 || parts[4] > 59 || parts[5] > 60)
    return { fault: 'an impossible time' };
  const millisecond = Number(fraction.padEnd(3, '0').slice(0, 3));
  if (offset !== undefined) {
    const minutes = offsetMinutes(offset);
    if (minutes === null) return { fault: 'a time with an impossible offset' };
    const utc = Date.UTC(
      parts[0],
      parts[1] - 1,
      parts[2],
      parts[3],
      parts[4] - minutes,
      Math.min(parts[5], 59),
      millisecond,
    );
    return new Date(utc).toISOString();
  }
  const minute_ms = instantOf(`${year}-${month}-${day}`, parts[3], time_zone, parts[4]);
  return new Date(minute_ms + Math.min(parts[5], 59) * 1000 + millisecond).toISOString();
}

function offsetMinutes(offset: string): number | null {
  if (offset === 'Z') return 0;
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  if (minutes > 18 * 60 || Number(digits.slice(2)) > 59) return null;
  return offset.startsWith('-') ? -minutes : minutes;
}

/**
 * Returns the day as written, and ignores the time and offset after it: a time zone must not move a
 * birth date.
 */
export function readDate(text: string): string | Fault {
  const found = FORM.exec(text);
  if (found === null) return { fault: 'not a date' };
  const date = `${found[1]}-${found[2]}-${found[3]}`;
  return isDate(date) ? date : { fault: 'an impossible date' };
}

/** Formats the clinic's wall time with its offset: `20261124093000-0600`. */
export function writeInstant(at: string | number, time_zone: string): string {
  const moment = Temporal.Instant.fromEpochMilliseconds(new Date(at).getTime()).toZonedDateTimeISO(
    time_zone,
  );
  const wall = moment
    .toPlainDateTime()
    .toString({ smallestUnit: 'second' })
    .replaceAll(/[-:T]/g, '');
  return wall + moment.offset.replace(':', '').slice(0, 5);
}
