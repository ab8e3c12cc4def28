import { Temporal } from 'temporal-polyfill';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;
/** `YYYY-MM-DD`, a day in the clinic's time zone. */
export type LocalDate = string;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** A period in which a zone's offset from UTC does not change. */
type Span = { from: Instant; until: Instant; offset_ms: number };

/** Spans by zone: Temporal is slow, and eligd asks about the same few months again and again. */
const spans = new Map<string, Span[]>();
/** Those of 25 years; messages with made-up years must not fill the list. */
const SPANS_MAX = 50;

/** Returns how far the clock of `time_zone` (IANA) is ahead of UTC at an instant. */
function offsetAt(at: Instant, time_zone: string): number {
  const known = spans.get(time_zone) ?? [];
  let span = known.find(({ from, until }) => from <= at && at < until);
  if (span === undefined) {
    const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(time_zone);
    // A transition at exactly this instant begins the span.
    const begin = zoned.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
    const end = zoned.getTimeZoneTransition('next');
    span = {
      from: begin?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      until: end?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset_ms: zoned.offsetNanoseconds / 1_000_000,
    };
    spans.set(time_zone, [...known.slice(1 - SPANS_MAX), span]);
  }
  return span.offset_ms;
}

/** Returns the wall-clock time of a zone as ISO text, with milliseconds. */
function wallText(at: Instant, time_zone: string): string {
  return new Date(at + offsetAt(at, time_zone)).toISOString();
}

/** Returns the day of an instant in `time_zone` (IANA). */
export function localDate(at: Instant, time_zone: string): LocalDate {
  return wallText(at, time_zone).slice(0, 10);
}

/** Returns the wall-clock time of an instant for people: `2026-11-23T09:30`. */
export function localDateTime(at: Instant, time_zone: string): string {
  return wallText(at, time_zone).slice(0, 16);
}

/**
 * Returns the instant of a wall-clock time in `time_zone`. A time in a daylight-saving gap moves
 * forward; in an overlap, the first one counts (docs/design.md "Time"; Temporal calls this
 * `compatible`).
 */
export function instantOf(date: LocalDate, hour: number, time_zone: string, minute = 0): Instant {
  const as_utc = Date.parse(date) + hour * HOUR_MS + minute * MINUTE_MS;
  if (isDate(date)) {
    const offset_ms = offsetAt(as_utc - DAY_MS, time_zone);
    const is_steady = [as_utc - offset_ms, as_utc + DAY_MS].every(
      (at) => offsetAt(at, time_zone) === offset_ms,
    );
    if (is_steady) return as_utc - offset_ms;
  }
  const wall = Temporal.PlainDate.from(date).toPlainDateTime({ hour, minute });
  return wall.toZonedDateTime(time_zone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/** Returns the first instant of a day in `time_zone`. */
export function startOfDay(date: LocalDate, time_zone: string): Instant {
  return instantOf(date, 0, time_zone);
}

/**
 * Returns whether a text is a real date of the form `YYYY-MM-DD`, from the year 1000 on as in the
 * service's dates.
 */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match !== null && isRealDate(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Returns whether the calendar has this day, from the year 1000 on. `month` is 1 to 12. */
export function isRealDate(year: number, month: number, day: number): boolean {
  if (year < 1000 || month < 1 || day < 1) return false;
  // Every month has these days, and most dates are among them.
  if (month <= 12 && day <= 28) return true;
  // Day 0 of the next month is the last day of this month.
  return month <= 12 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** ISO 8601: date, time, fraction of a second, and "Z" or an offset. */
const TIMESTAMP = new RegExp(
  String.raw`^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?` +
    String.raw`\s*(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$`,
);

/**
 * Returns the instant of an ISO 8601 date-time. Without a zone it is UTC; digits below milliseconds
 * are dropped. `malformed`: another form; `impossible`: this form, but no such day or time.
 */
export function parseTimestamp(text: string): Instant | 'malformed' | 'impossible' {
  const match = TIMESTAMP.exec(text.trim());
  if (match === null) return 'malformed';
  const number = (index: number) => Number(match[index] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [offset_hours, offset_minutes] = [number(10), number(11)];
  if (!isRealDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return 'impossible';
  if (offset_hours > 23 || offset_minutes > 59) return 'impossible';
  const millisecond = Number((match[7] ?? '').padEnd(3, '0').slice(0, 3));
  const offset_ms =
    (offset_hours * HOUR_MS + offset_minutes * MINUTE_MS) * (match[9] === '-' ? -1 : 1);
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond) - offset_ms;
}

/**
 * Returns the day this many days later, or earlier for a negative number. Throws when `date` is not
 * a real date.
 */
export function addDays(date: LocalDate, days: number): LocalDate {
  if (!isDate(date)) return Temporal.PlainDate.from(date).add({ days }).toString();
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the same day this many months later or earlier, or the last day of a shorter month. */
export function addMonths(date: LocalDate, months: number): LocalDate {
  return Temporal.PlainDate.from(date).add({ months }).toString();
}

/** Returns 1 for Monday to 7 for Sunday (ISO 8601). */
export function dayOfWeek(date: LocalDate): number {
  if (!isDate(date)) return Temporal.PlainDate.from(date).dayOfWeek;
  return new Date(Date.parse(date)).getUTCDay() || 7;
}

/** Returns the year of a day. */
export function yearOf(date: LocalDate): number {
  return Number(date.slice(0, 4));
}

/** Returns the earlier of two due times; null means never. */
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

/**
 * Returns an instant as the clinic's wall-clock time with its offset, `2026-11-23T09:30:00-06:00`.
 * A text that is not an instant is returned unchanged.
 */
export function wallClockText(text: string, time_zone: string): string {
  const at_ms = Date.parse(text);
  if (Number.isNaN(at_ms)) return text;
  const wall = Temporal.Instant.fromEpochMilliseconds(at_ms).toZonedDateTimeISO(time_zone);
  return wall.toString({ smallestUnit: 'second', timeZoneName: 'never' });
}
