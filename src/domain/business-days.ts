import { addDays, dayOfWeek, type LocalDate, yearOf } from './time.ts';

/**
 * US federal holidays on a fixed day (5 U.S.C. 6103); on a Saturday they are kept on the Friday, on
 * a Sunday on the Monday.
 */
const FIXED_HOLIDAYS = ['01-01', '06-19', '07-04', '11-11', '12-25'];

/**
 * Those on the nth Monday or Thursday of a month: [month, ISO day of week, which one; -1 is the
 * last].
 */
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

/** No more days are looked at: the clinic's list of closed days may have no end. */
const DAYS_MAX = 366;

const holidays_by_year = new Map<number, ReadonlySet<LocalDate>>();

/**
 * Whether payers' offices work on that day: Monday to Friday, no US federal holiday, not among the
 * clinic's `closed` days.
 */
export function isBusinessDay(date: LocalDate, closed: ReadonlySet<LocalDate>): boolean {
  return dayOfWeek(date) <= 5 && !closed.has(date) && !federalHolidays(yearOf(date)).has(date);
}

/** The first business day from a day on. */
export function nextBusinessDay(from: LocalDate, closed: ReadonlySet<LocalDate>): LocalDate {
  let date = from;
  for (let days = 0; days < DAYS_MAX && !isBusinessDay(date, closed); days += 1)
    date = addDays(date, 1);
  return date;
}

/**
 * The day by which the call should be done: the last business day before the visit; where none is
 * left, the next one from today on. Never a day that is past or on which nobody works
 * (docs/design.md "Planning rules").
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
  // A Saturday 1 January is observed in the year before.
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
