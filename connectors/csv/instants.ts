/** Converts the clinic's dates and times to instants. */
import { Temporal } from 'temporal-polyfill';
import { addDays, DAY_MS, startOfDay } from '../../src/domain/time.ts';
import { type DateParts, isoDate, type TimeParts } from './values.ts';

/**
 * Returns the instant of a wall time in the contract's form. Without an offset, it is the clinic's
 * time: a time in a daylight-saving gap moves forward; in an overlap, the first one counts.
 */
export function instantText(date: DateParts, time: TimeParts, time_zone: string): string {
  if (time.offset_minutes !== null) {
    const utc = Date.UTC(
      date.year,
      date.month - 1,
      date.day,
      time.hour,
      time.minute - time.offset_minutes,
      time.second,
      time.millisecond,
    );
    return new Date(utc).toISOString();
  }
  const ahead_ms = aheadAllDay(date, time_zone);
  if (ahead_ms !== null) {
    const { hour, minute, second, millisecond } = time;
    const wall_ms = Date.UTC(
      date.year,
      date.month - 1,
      date.day,
      hour,
      minute,
      second,
      millisecond,
    );
    return new Date(wall_ms - ahead_ms).toISOString();
  }
  const wall = Temporal.PlainDateTime.from({ ...calendar(date), ...clockOf(time) });
  return new Date(
    wall.toZonedDateTime(time_zone, { disambiguation: 'compatible' }).epochMilliseconds,
  ).toISOString();
}

/** Far more days than an export has. */
const DAYS_MAX = 2_000;
const days = new Map<string, number | null>();

/**
 * Returns the zone's offset from UTC on that day, in milliseconds; null if its clocks change that
 * day. The visits of an export share few days.
 */
function aheadAllDay(date: DateParts, time_zone: string): number | null {
  const key = `${date.year}-${date.month}-${date.day} ${time_zone}`;
  let ahead_ms = days.get(key);
  if (ahead_ms === undefined) {
    const day = isoDate(date);
    const begin = startOfDay(day, time_zone);
    const is_usual = startOfDay(addDays(day, 1), time_zone) - begin === DAY_MS;
    ahead_ms = is_usual ? Date.UTC(date.year, date.month - 1, date.day) - begin : null;
    if (days.size >= DAYS_MAX) days.clear();
    days.set(key, ahead_ms);
  }
  return ahead_ms;
}

const calendar = ({ year, month, day }: DateParts) => ({ year, month, day });
const clockOf = ({ hour, minute, second, millisecond }: TimeParts) => ({
  hour,
  minute,
  second,
  millisecond,
});
