/** Judges by the exports of the last weeks whether the practice's export has arrived complete. */
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
  /** `07:30`: the configured time; null: learned from earlier exports. */
  expected_by: string | null;
};

export type ExportTrouble = { reason: 'export_missing' | 'export_empty' | 'export_small' } & {
  what: string;
  next: string;
};

/** How many weeks eligd learns from, and how many of them must have exports. */
const LEARNED_WEEKS = 5;
const WEEKS_MIN = 3;
/** How much later than the latest earlier export an export may arrive. */
const GRACE_MINUTES = 60;
/** Visits on the books show that an office is closed for up to this many days, not more. */
const CLOSED_DAYS_MAX = 60;
/** How long before the last arrival eligd begins to learn the usual times and sizes. */
export const LEARNED_DAYS = 7 * (LEARNED_WEEKS + 1);

/** `files`: the number of rows of each file, in order of arrival. */
type Day = { first_minute: number; files: readonly number[] };

/**
 * The visits on the practice's books. They show whether a day without an export, or a short export,
 * is normal: an office that closes for a week has no visits in that week.
 */
export type Book = {
  /** Days with a visit that was not canceled, from the day of the last export until today. */
  visit_days: ReadonlySet<LocalDate>;
  /**
   * Visits on later days known before today, and how many of them today's export contains again.
   */
  known_later: number;
  named_again: number;
  /** Whether there is a visit on one of the next days. */
  has_later: boolean;
};

/**
 * Returns the problem with a connector's exports at `now`; at most one. `arrivals`: all since
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
    return sizeTrouble(current, daysBefore(arrivals, today, time_zone), book);
  }
  const due = firstMissed({ arrivals, book, settings }, today, now);
  if (due === null) return null;
  return {
    reason: 'export_missing',
    what:
      due.date === today
        ? `No appointment export arrived today by ${clock(due.minute)}.`
        : `No appointment export arrived on ${dateText(due.date)}, and none has arrived since.`,
    next:
      'Run the export in your practice software, and check its scheduled job ' +
      'and the drop folder.',
  };
}

/** Returns the days on which an export may be missing: from the last export's day to `today`. */
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

/** Returns the first day since the last export whose own export is missing, and its due minute. */
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
    if (minute === null || isNothingDue(watch, date, today)) continue;
    // The export of a day may be due after midnight.
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

/** Returns whether no export is due. On a weekend one is due only if earlier weekends had one. */
function isDayOff(date: LocalDate, { expected_by, closed }: ExportSettings): boolean {
  if (dayOfWeek(date) > 5) return expected_by !== null || closed.has(date);
  return !isBusinessDay(date, closed);
}

function isNothingDue({ book, settings }: Watch, date: LocalDate, today: LocalDate): boolean {
  if (isDayOff(date, settings)) return true;
  if (book.visit_days.has(date)) return false;
  // The next visits are on a later day, so the office is closed. With no later visits, it is
  // unknown.
  return book.has_later || [...book.visit_days].some((day) => day > date && day <= today);
}

function sizeTrouble(current: Day, before: readonly Day[], book: Book): ExportTrouble | null {
  // If several files arrive each day, judge only their total.
  const usual_count = median(before.map(({ files }) => files.length)) ?? 1;
  if (current.files.length < usual_count) return null;
  // An export that is run again replaces the previous one.
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
  // The export has most of the visits already on the books: the coming weeks are quiet.
  if (book.known_later > 0 && book.named_again * 2 > book.known_later) return null;
  return {
    reason: 'export_small',
    what: `Today’s appointment export has ${rows} rows; usually there are about ${usual_rows}.`,
    next:
      'Check the filter of the export in your practice software. If it is right, no action is ' +
      'needed.',
  };
}

/** Returns what arrived on one day of the clinic; null: nothing. */
function dayOf(arrivals: readonly Arrival[], date: LocalDate, time_zone: string): Day | null {
  const { from, until } = boundsOf(date, time_zone);
  const here = arrivals
    .filter(({ at }) => at >= from && at < until)
    .toSorted((one, other) => one.at - other.at);
  const [first] = here;
  if (first === undefined) return null;
  // A file that arrives again replaces its earlier version.
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

/** Returns the days with exports on the same weekday of the last weeks before `date`. */
function daysBefore(arrivals: readonly Arrival[], date: LocalDate, time_zone: string): Day[] {
  const last = Math.max(...arrivals.map(({ at }) => at));
  let latest = addDays(date, -7);
  while (arrivals.length > 0 && startOfDay(latest, time_zone) > last) latest = addDays(latest, -7);
  return Array.from({ length: LEARNED_WEEKS }, (_, week) => addDays(latest, -7 * week))
    .map((each) => dayOf(arrivals, each, time_zone))
    .filter((day) => day !== null);
}

/** Returns the latest first arrival of these days plus a margin; null: too few days. */
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
