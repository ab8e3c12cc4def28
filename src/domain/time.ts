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
export function instantOf(date: LocalDate, hour: number, time_zone: string): Instant {
  const wall = Temporal.PlainDate.from(date).toPlainDateTime({ hour });
  return wall.toZonedDateTime(time_zone, { disambiguation: 'compatible' }).epochMilliseconds;
}

/**
 * Whether a text is a real day of the form `YYYY-MM-DD`, from the year 1000 on as the service's
 * dates are.
 */
export function isDate(text: string): boolean {
  if (!/^[1-9]\d{3}-\d{2}-\d{2}$/.test(text)) return false;
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  // Day 0 of the month that follows is the last of this one.
  return (
    month >= 1 &&
    month <= 12 &&
    day >= 1 &&
    day <= new Date(Date.UTC(Number(text.slice(0, 4)), month, 0)).getUTCDate()
  );
}

export function addDays(date: LocalDate, days: number): LocalDate {
  return Temporal.PlainDate.from(date).add({ days }).toString();
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
