import { Temporal } from 'temporal-polyfill';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;
/** `YYYY-MM-DD`, a day in the clinic's time zone. */
export type LocalDate = string;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** A time during which a zone's clock differs from UTC by the same amount. */
type Span = { from: Instant; until: Instant; offset_ms: number };

/**
 * By zone. Temporal takes long for each question, and eligd asks about the same few months again
 * and again.
 */
const spans = new Map<string, Span[]>();

/** By how much the clock of `time_zone` (IANA) is ahead of UTC at an instant. */
function offsetAt(at: Instant, time_zone: string): number {
  const known = spans.get(time_zone) ?? [];
  let span = known.find(({ from, until }) => from <= at && at < until);
  if (span === undefined) {
    const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(time_zone);
    // The transition at this very instant begins the span.
    const begin = zoned.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
    const end = zoned.getTimeZoneTransition('next');
    span = {
      from: begin?.epochMilliseconds ?? Number.NEGATIVE_INFINITY,
      until: end?.epochMilliseconds ?? Number.POSITIVE_INFINITY,
      offset_ms: zoned.offsetNanoseconds / 1_000_000,
    };
    spans.set(time_zone, [...known, span]);
  }
  return span.offset_ms;
}

/** The wall clock of a zone as ISO text, with milliseconds. */
function wallText(at: Instant, time_zone: string): string {
  return new Date(at + offsetAt(at, time_zone)).toISOString();
}

/** The day that an instant falls on in `time_zone` (IANA). */
export function localDate(at: Instant, time_zone: string): LocalDate {
  return wallText(at, time_zone).slice(0, 10);
}

/** The wall clock of `time_zone` at an instant: `2026-11-23T09:30`. For people. */
export function localDateTime(at: Instant, time_zone: string): string {
  return wallText(at, time_zone).slice(0, 16);
}

/**
 * The instant of a wall time in `time_zone`. A time in a daylight-saving gap moves forward, in an
 * overlap the first counts (docs/design.md "Time"; Temporal calls this `compatible`).
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

/** The first instant of a day in `time_zone`. */
export function startOfDay(date: LocalDate, time_zone: string): Instant {
  return instantOf(date, 0, time_zone);
}

/**
 * Whether a text is a real day of the form `YYYY-MM-DD`, from the year 1000 on as the service's
 * dates are.
 */
export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match !== null && isRealDate(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** Whether there is such a day, from the year 1000 on. `month` is 1 to 12. */
export function isRealDate(year: number, month: number, day: number): boolean {
  if (year < 1000 || month < 1 || day < 1) return false;
  // Day 0 of the next month is the last of this one.
  return month <= 12 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** ISO 8601: date, time, fraction of a second, and "Z" or an offset. */
const TIMESTAMP = new RegExp(
  String.raw`^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?` +
    String.raw`\s*(?:([Zz])|([+-])(\d{2}):?(\d{2}))?$`,
);

/**
 * An ISO 8601 date-time; without a zone it is UTC, and what is finer than a millisecond is cut off.
 * `malformed`: another form; `impossible`: this form, but no such day or time.
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

/** Throws when `date` is no real day. */
export function addDays(date: LocalDate, days: number): LocalDate {
  if (!isDate(date)) return Temporal.PlainDate.from(date).add({ days }).toString();
  return new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The same day so many months later or earlier, or the last one of a shorter month. */
export function addMonths(date: LocalDate, months: number): LocalDate {
  return Temporal.PlainDate.from(date).add({ months }).toString();
}

/** 1 for Monday to 7 for Sunday (ISO 8601). */
export function dayOfWeek(date: LocalDate): number {
  if (!isDate(date)) return Temporal.PlainDate.from(date).dayOfWeek;
  return new Date(Date.parse(date)).getUTCDay() || 7;
}

export function yearOf(date: LocalDate): number {
  return Number(date.slice(0, 4));
}

/** The earlier of two due times, where null is never. */
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}

/**
 * A moment as the clinic's wall clock with its offset, `2026-11-23T09:30:00-06:00`; a text that is
 * no instant stays as it is.
 */
export function wallClockText(text: string, time_zone: string): string {
  const at_ms = Date.parse(text);
  if (Number.isNaN(at_ms)) return text;
  const wall = Temporal.Instant.fromEpochMilliseconds(at_ms).toZonedDateTimeISO(time_zone);
  return wall.toString({ smallestUnit: 'second', timeZoneName: 'never' });
}
