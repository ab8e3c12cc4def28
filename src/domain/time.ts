import { Temporal } from 'temporal-polyfill';

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;
/** `YYYY-MM-DD`, a day in the clinic's time zone. */
export type LocalDate = string;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** The day that an instant falls on in `time_zone` (IANA). */
export function localDate(at: Instant, time_zone: string): LocalDate {
  return Temporal.Instant.fromEpochMilliseconds(at)
    .toZonedDateTimeISO(time_zone)
    .toPlainDate()
    .toString();
}

/** The wall clock of `time_zone` at an instant: `2026-11-23T09:30`. For people. */
export function localDateTime(at: Instant, time_zone: string): string {
  return Temporal.Instant.fromEpochMilliseconds(at)
    .toZonedDateTimeISO(time_zone)
    .toPlainDateTime()
    .toString({ smallestUnit: 'minute' });
}

/**
 * The instant of a wall time in `time_zone`. A time in a daylight-saving gap moves forward, in an
 * overlap the first counts (docs/design.md "Time"; Temporal calls this `compatible`).
 */
export function instantOf(date: LocalDate, hour: number, time_zone: string, minute = 0): Instant {
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
  const first = { year, month: Math.min(month, 12), day: 1 };
  return month <= 12 && day <= Temporal.PlainDate.from(first).daysInMonth;
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

export function addDays(date: LocalDate, days: number): LocalDate {
  return Temporal.PlainDate.from(date).add({ days }).toString();
}

/** The same day so many months later or earlier, or the last one of a shorter month. */
export function addMonths(date: LocalDate, months: number): LocalDate {
  return Temporal.PlainDate.from(date).add({ months }).toString();
}

/** 1 for Monday to 7 for Sunday (ISO 8601). */
export function dayOfWeek(date: LocalDate): number {
  return Temporal.PlainDate.from(date).dayOfWeek;
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
