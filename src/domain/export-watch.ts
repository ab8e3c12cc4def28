/** Is the practice's export there, and is it whole? Judged by the arrivals of the last weeks. */
import { isBusinessDay } from './business-days.ts';
import {
  addDays,
  dayOfWeek,
  type Instant,
  type LocalDate,
  localDate,
  localDateTime,
  MINUTE_MS,
  startOfDay,
} from './time.ts';

/** An export that was read to its end. */
export type Arrival = { at: Instant; rows: number; source: number };

export type ExportSettings = {
  time_zone: string;
  closed: ReadonlySet<LocalDate>;
  /** `07:30`: the hour of the configuration; null: it is learned. */
  expected_by: string | null;
};

export type ExportTrouble = { reason: 'export_missing' | 'export_empty' | 'export_small' } & {
  what: string;
  next: string;
};

/** How far back the usual is learned, and how many weeks it takes. */
const LEARNED_WEEKS = 5;
const WEEKS_MIN = 3;
/** How much later than ever an export may come. */
const GRACE_MINUTES = 60;
/** An office that is closed for longer than this does not say so by its books. */
const CLOSED_DAYS_MAX = 60;
/** How long before the last arrival the usual is learned. */
export const LEARNED_DAYS = 7 * (LEARNED_WEEKS + 1);

/** `files`: the rows of each, as they arrived. */
type Day = { first_minute: number; files: readonly number[] };

/**
 * What the practice has on its books at the same time, which says whether a day without an export,
 * or a short export, is everyday life: an office that closes for a week has no visits in it.
 */
export type Book = {
  /** Days with a visit that was not cancelled, from the last export's day until today. */
  visit_days: ReadonlySet<LocalDate>;
  /** Visits of later days that were known before today, and how many of them came again today. */
  known_later: number;
  named_again: number;
  /** Whether there is a visit on a later day soon. */
  has_later: boolean;
};

/**
 * What is wrong with a connector's exports at `now`; at most one thing. `arrivals`: all since
 * `LEARNED_DAYS` before the last one.
 */
export function judgeExports(
  arrivals: readonly Arrival[],
  book: Book,
  settings: ExportSettings,
  now: Instant,
): ExportTrouble | null {
  const { time_zone } = settings;
  const today = localDate(now, time_zone);
  const current = dayOf(arrivals, today, time_zone);
  if (current !== null) {
    if (isDayOff(today, settings)) return null;
    return shrunken(current, daysBefore(arrivals, today, time_zone), book);
  }
  const due = firstMissed({ arrivals, book, settings }, today, now);
  if (due === null) return null;
  return {
    reason: 'export_missing',
    what:
      due.date === today
        ? `No appointment export arrived today by ${clock(due.minute)}.`
        : `No appointment export has arrived since before ${dateText(due.date)}.`,
    next:
      'Run the export in your practice software, and check its scheduled job ' +
      'and the drop folder.',
  };
}

/** Days from the last export to `today`, its day included, on which one could be missed. */
export function daysSince(last: Instant | null, today: LocalDate, time_zone: string): LocalDate[] {
  const first = last === null ? today : localDate(last, time_zone);
  const days = [first];
  for (let day = first; day < today && days.length < CLOSED_DAYS_MAX; ) {
    day = addDays(day, 1);
    days.push(day);
  }
  return days;
}

type Watch = { arrivals: readonly Arrival[]; book: Book; settings: ExportSettings };

/** The first day since the last export whose export should be there, with its minute. */
function firstMissed(
  watch: Watch,
  today: LocalDate,
  now: Instant,
): { date: LocalDate; minute: number } | null {
  const { arrivals, settings } = watch;
  const { time_zone } = settings;
  const last = arrivals.length === 0 ? null : Math.max(...arrivals.map(({ at }) => at));
  const days = daysSince(last, today, time_zone).slice(last === null ? 0 : 1);
  for (const date of days) {
    const minute = dueMinute(watch, date);
    if (minute === null || isFree(watch, date, today)) continue;
    // An export that comes shortly before midnight may be due after it.
    const is_due =
      date === today
        ? minuteAt(now, time_zone) >= minute
        : now >= startOfDay(date, time_zone) + minute * MINUTE_MS;
    if (is_due) return { date, minute };
  }
  return null;
}

function dueMinute({ arrivals, settings }: Watch, date: LocalDate): number | null {
  const { expected_by, time_zone } = settings;
  if (expected_by !== null) return minuteOf(expected_by);
  return usualMinute(daysBefore(arrivals, date, time_zone));
}

/** On a Saturday an export is missing only where exports come on Saturdays. */
function isDayOff(date: LocalDate, { expected_by, closed }: ExportSettings): boolean {
  if (dayOfWeek(date) > 5) return expected_by !== null || closed.has(date);
  return !isBusinessDay(date, closed);
}

function isFree({ book, settings }: Watch, date: LocalDate, today: LocalDate): boolean {
  if (isDayOff(date, settings)) return true;
  if (book.visit_days.has(date)) return false;
  // The office is closed: its book goes on on a later day. Without any later visit nobody knows.
  return book.has_later || [...book.visit_days].some((day) => day > date && day <= today);
}

function shrunken(current: Day, before: readonly Day[], book: Book): ExportTrouble | null {
  // Of several files a day, only all of them together say something.
  const usual_count = median(before.map(({ files }) => files.length)) ?? 1;
  if (current.files.length < usual_count) return null;
  // An export that is run again takes the place of the one before.
  const rowsOf = ({ files }: Day) => files.slice(-usual_count).reduce((sum, rows) => sum + rows, 0);
  const rows = rowsOf(current);
  const usual_rows = before.length < WEEKS_MIN ? null : median(before.map(rowsOf));
  if (rows === 0) {
    if (usual_rows === 0) return null;
    return {
      reason: 'export_empty',
      what: 'Today’s appointment export has no row that eligd can use.',
      next:
        'Look for rejected rows on the attention list, check the filter of the export in your ' +
        'practice software, and run it again.',
    };
  }
  if (usual_rows === null || rows * 2 >= usual_rows) return null;
  // It has most of what was on the books: the weeks to come are quiet.
  if (book.known_later > 0 && book.named_again * 2 > book.known_later) return null;
  return {
    reason: 'export_small',
    what: `Today’s appointment export has ${rows} rows; usually there are about ${usual_rows}.`,
    next:
      'Check the filter of the export in your practice software. If it is right, no action is ' +
      'needed.',
  };
}

/** What arrived on one day of the clinic; null: nothing. */
function dayOf(arrivals: readonly Arrival[], date: LocalDate, time_zone: string): Day | null {
  const { from, until } = boundsOf(date, time_zone);
  const here = arrivals
    .filter(({ at }) => at >= from && at < until)
    .toSorted((one, other) => one.at - other.at);
  const [first] = here;
  if (first === undefined) return null;
  // The same file again says nothing new.
  const latest = new Map<number, number>();
  for (const { source, rows } of here) {
    latest.delete(source);
    latest.set(source, rows);
  }
  return { first_minute: minuteAt(first.at, time_zone), files: [...latest.values()] };
}

function boundsOf(date: LocalDate, time_zone: string) {
  return { from: startOfDay(date, time_zone), until: startOfDay(addDays(date, 1), time_zone) };
}

/** The same weekday of the last weeks in which something arrived, before `date`. */
function daysBefore(arrivals: readonly Arrival[], date: LocalDate, time_zone: string): Day[] {
  const last = Math.max(...arrivals.map(({ at }) => at));
  let latest = addDays(date, -7);
  while (arrivals.length > 0 && startOfDay(latest, time_zone) > last) latest = addDays(latest, -7);
  return Array.from({ length: LEARNED_WEEKS }, (_, week) => addDays(latest, -7 * week))
    .map((each) => dayOf(arrivals, each, time_zone))
    .filter((day) => day !== null);
}

/** The latest first arrival of these days, with some grace; null: not enough is known. */
function usualMinute(before: readonly Day[]): number | null {
  if (before.length < WEEKS_MIN) return null;
  return Math.max(...before.map(({ first_minute }) => first_minute)) + GRACE_MINUTES;
}

function minuteAt(at: Instant, time_zone: string): number {
  return minuteOf(localDateTime(at, time_zone).slice(11));
}

function minuteOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
}

function clock(minute: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}

/** `03/29/2030`. */
function dateText(date: LocalDate): string {
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year}`;
}

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}
