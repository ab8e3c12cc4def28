/**
 * Reads and writes HL7 times (`20261124093000-0600`, section 2.A.22), and reads forms that vendors
 * use instead (`2026-11-24T09:30`).
 */
import { Temporal } from 'temporal-polyfill';
import { HOUR_MS, instantOf, isDate, MINUTE_MS } from '../../../src/domain/time.ts';

const DATE = String.raw`(\d{4})-?(\d{2})-?(\d{2})`;
const CLOCK = String.raw`(\d{2})(?::?(\d{2})(?::?(\d{2})(?:\.(\d{1,9}))?)?)?`;
const OFFSET = String.raw`(Z|[+-]\d{2}:?(?:\d{2})?)`;
const FORM = new RegExp(String.raw`^${DATE}(?:[T ]?${CLOCK})?\s*${OFFSET}?$`);

/** The kind of value found instead of the expected one; never the value (G6). */
export type Fault = { fault: string };

/** A time as written. `offset_minutes`: null if it has no offset. */
type Written = {
  day: string;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  offset_minutes: number | null;
};

/**
 * Returns the instant in ISO 8601, UTC with milliseconds. A wall time without an offset is the
 * clinic's (docs/design.md "Time").
 */
export function readInstant(text: string, time_zone: string): string | Fault {
  const written = readWritten(text);
  if ('fault' in written) return written;
  const { day, hour, minute, second, millisecond, offset_minutes } = written;
  const minute_ms =
    offset_minutes === null
      ? instantOf(day, hour, time_zone, minute)
      : Date.parse(day) + hour * HOUR_MS + (minute - offset_minutes) * MINUTE_MS;
  return new Date(minute_ms + second * 1000 + millisecond).toISOString();
}

/** Returns why `readInstant` cannot read a text; null: it can. */
export function instantFault(text: string): Fault | null {
  const written = readWritten(text);
  return 'fault' in written ? written : null;
}

function readWritten(text: string): Written | Fault {
  const found = FORM.exec(text);
  if (found === null) return { fault: 'not a time' };
  const [, year, month, date, hour, minute = '0', second = '0', fraction = '0', offset] = found;
  if (hour === undefined) return { fault: 'a day without a time' };
  const day = `${year}-${month}-${date}`;
  if (!isDate(day) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60)
    return { fault: 'an impossible time' };
  const offset_minutes = offset === undefined ? null : offsetMinutes(offset);
  if (offset !== undefined && offset_minutes === null)
    return { fault: 'a time with an impossible offset' };
  return {
    day,
    hour: Number(hour),
    minute: Number(minute),
    second: Math.min(Number(second), 59),
    millisecond: Number(fraction.padEnd(3, '0').slice(0, 3)),
    offset_minutes,
  };
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
