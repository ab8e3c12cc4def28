/**
 * The hours in which payers answer the phone, for the sandbox's payer hours: 09:00 to 18:00 Eastern
 * without daylight saving time, Monday to Friday, except US holidays.
 */
import { addDays, DAY_MS, type Day, dayOf, HOUR_MS, startOf } from './calendar.ts';

const OPENS_MS = 14 * HOUR_MS;
const CLOSES_MS = 23 * HOUR_MS;

const FIXED_HOLIDAYS = new Set(['01-01', '06-19', '07-04', '11-11', '12-25']);
/** Month, day of week (0 is Sunday), and the days of the month on which the holiday can fall. */
const OTHER_HOLIDAYS: readonly [month: string, weekday: number, from: number, to: number][] = [
  ['01', 1, 15, 21],
  ['02', 1, 15, 21],
  ['05', 1, 25, 31],
  ['09', 1, 1, 7],
  ['10', 1, 8, 14],
  ['11', 4, 22, 28],
];

/** Returns the instant by which a payer has answered the phone for this long since `from_ms`. */
export function afterOpenTime(from_ms: number, open_ms: number): number {
  let left_ms = open_ms;
  for (let day = dayOf(from_ms); ; day = addDays(day, 1)) {
    if (!isBusinessDay(day)) continue;
    const begin = Math.max(startOf(day) + OPENS_MS, from_ms);
    const end = startOf(day) + CLOSES_MS;
    if (begin >= end) continue;
    if (end - begin > left_ms) return begin + left_ms;
    left_ms -= end - begin;
  }
}

/** Returns whether a payer answers the phone at an instant. */
export function isOpen(at_ms: number): boolean {
  const since_ms = at_ms - startOf(dayOf(at_ms));
  return isBusinessDay(dayOf(at_ms)) && since_ms >= OPENS_MS && since_ms < CLOSES_MS;
}

function isBusinessDay(day: Day): boolean {
  const weekday = new Date(startOf(day) + DAY_MS / 2).getUTCDay();
  if (weekday === 0 || weekday === 6 || FIXED_HOLIDAYS.has(day.slice(5))) return false;
  const date = Number(day.slice(8));
  return !OTHER_HOLIDAYS.some(
    ([month, on, from, to]) =>
      month === day.slice(5, 7) && on === weekday && date >= from && date <= to,
  );
}
