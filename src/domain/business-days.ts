import { addDays, dayOfWeek, type LocalDate, yearOf } from './time.ts';

/**
 * US federal holidays on a fixed date (5 U.S.C. 6103). One on a Saturday is observed on Friday, one
 * on a Sunday on Monday.
 */
const FIXED_HOLIDAYS = ['01-01', '06-19', '07-04', '11-11', '12-25'];

/** Holidays on the nth Monday or Thursday of a month: [month, ISO day of week, n; -1: last]. */
const FLOATING_HOLIDAYS: ReadonlyArray<
  readonly [month: string, day_of_week: number, which: number]
> = [
  ['01', 1, 3],
  ['02', 1, 3],
  ['05', 1, -1],
  ['09', 1, 1],
  ['10', 1, 2],
  ['11', 4, 4],
];

/** The search ends after this many days: the clinic's closed days may cover every day. */
const DAYS_MAX = 366;

const holidays_by_year = new Map<number, ReadonlySet<LocalDate>>();

/**
 * Returns whether payers' offices are open that day: Monday to Friday, not a US federal holiday,
 * and not one of the `closed` days.
 */
export function isBusinessDay(date: LocalDate, closed: ReadonlySet<LocalDate>): boolean {
  return dayOfWeek(date) <= 5 && !closed.has(date) && !federalHolidays(yearOf(date)).has(date);
}

/** Returns the first business day on or after a date. */
export function nextBusinessDay(from: LocalDate, closed: ReadonlySet<LocalDate>): LocalDate {
  let date = from;
  for (let days = 0; days < DAYS_MAX && !isBusinessDay(date, closed); days += 1)
    date = addDays(date, 1);
  return date;
}

/**
 * Returns the day by which the call should be done: the last business day before the visit, or, if
 * none is left, the next business day from today on. It is never a past day or a day on which
 * payers are closed (docs/design.md "Planning rules").
 */
export function desiredCompletionDate(
  visit: LocalDate,
  today: LocalDate,
  closed: ReadonlySet<LocalDate>,
): LocalDate {
  let date = addDays(visit, -1);
  while (date > today && !isBusinessDay(date, closed)) date = addDays(date, -1);
  return nextBusinessDay(date > today ? date : today, closed);
}

function federalHolidays(year: number): ReadonlySet<LocalDate> {
  const known = holidays_by_year.get(year);
  if (known !== undefined) return known;
  const days = new Set<LocalDate>();
  for (const day of FIXED_HOLIDAYS) days.add(observed(`${year}-${day}`));
  // New Year's Day on a Saturday is observed on December 31 of the year before.
  days.add(observed(`${year + 1}-01-01`));
  for (const [month, day_of_week, which] of FLOATING_HOLIDAYS)
    days.add(nthDayOfMonth(`${year}-${month}`, day_of_week, which));
  holidays_by_year.set(year, days);
  return days;
}

function observed(date: LocalDate): LocalDate {
  const day = dayOfWeek(date);
  if (day === 6) return addDays(date, -1);
  return day === 7 ? addDays(date, 1) : date;
}

function nthDayOfMonth(month: string, day_of_week: number, which: number): LocalDate {
  const first = `${month}-01`;
  const first_match = addDays(first, (day_of_week - dayOfWeek(first) + 7) % 7);
  if (which > 0) return addDays(first_match, (which - 1) * 7);
  const fifth = addDays(first_match, 28);
  return fifth.startsWith(month) ? fifth : addDays(first_match, 21);
}
