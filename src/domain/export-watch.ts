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
/** How much later than usual an export may arrive. */
const GRACE_MINUTES = 60;
/** One of this many earlier days may be unusual: late, or with fewer exports. */
const UNUSUAL_SHARE = 4;
/** With more exports a day than this, one more or fewer is normal. */
const COUNTED_MAX = 6;
/** A scheduled job exports within this many minutes from day to day; a person does not. */
const SPREAD_MINUTES_MAX = 90;
/** How many days of the last weeks may differ from the usual number of exports. */
const IRREGULAR_DAYS_MAX = 1;
/** Visits on the books show that an office is closed for up to this many days, not more. */
const CLOSED_DAYS_MAX = 60;
/** How long before the last arrival eligd begins to learn the usual times and sizes. */
export const LEARNED_DAYS = 7 * (LEARNED_WEEKS + 1);

/** `minutes`: the minute of the day of each arrival. `files`: the number of rows of each file. */
type Day = { minutes: readonly number[]; files: readonly number[] };
type Days = ReadonlyMap<LocalDate, Day>;

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
  const days = daysOf(arrivals, time_zone);
  const current = days.get(today);
  if (current !== undefined) {
    if (isDayOff(today, settings)) return null;
    const found = sizeTrouble(current, daysBefore(days, today), book);
    if (found !== null) return found;
  }
  const due = firstMissed({ days, book, settings }, today, now);
  return due === null ? null : missing(due, today);
}

function missing({ date, minute, arrived, usual }: Missed, today: LocalDate): ExportTrouble {
  const when = date === today ? 'today' : `on ${dateText(date)}`;
  const none =
    date === today
      ? `No appointment export arrived today by ${clock(minute)}.`
      : `No appointment export arrived on ${dateText(date)}, and none has arrived since.`;
  const few = `Only ${arrived} of the usual ${usual} appointment exports arrived ${when}`;
  return {
    reason: 'export_missing',
    what: arrived === 0 ? none : `${few} by ${clock(minute)}.`,
    next:
      'Run the export in your practice software, and check its scheduled job ' +
      'and the drop folder.',
  };
}

/** Returns the days on which an export may be missing: from the last export's day to `today`. */
export function daysSince(last: Instant | null, today: LocalDate, time_zone: string): LocalDate[] {
  return datesSince(last === null ? today : localDate(last, time_zone), today);
}

function datesSince(first: LocalDate, today: LocalDate): LocalDate[] {
  const days = [first];
  for (let day = first; day < today && days.length < CLOSED_DAYS_MAX; ) {
    day = addDays(day, 1);
    days.push(day);
  }
  return days;
}

type Watch = { days: Days; book: Book; settings: ExportSettings };

/** The day and minute by which more exports should have arrived than did. */
type Missed = { date: LocalDate; minute: number; arrived: number; usual: number };

/** Returns the first day since the last export, including its day, on which one is missing. */
function firstMissed(watch: Watch, today: LocalDate, now: Instant): Missed | null {
  const { days, settings } = watch;
  const { time_zone } = settings;
  for (const date of datesSince(lastOf(days) ?? today, today)) {
    const arrived = days.get(date)?.minutes.length ?? 0;
    const due = dueMinutes(watch, date);
    const minute = due[arrived];
    if (minute === undefined || isNothingDue(watch, date, today)) continue;
    // The export of a day may be due after midnight.
    const is_due =
      date === today
        ? minuteAt(now, time_zone) >= minute
        : now >= startOfDay(date, time_zone) + minute * MINUTE_MS;
    if (is_due) return { date, minute, arrived, usual: due.length };
  }
  return null;
}

/** Returns the minutes of the day by which its first export is due, its second, and so on. */
function dueMinutes({ days, settings }: Watch, date: LocalDate): number[] {
  const { expected_by } = settings;
  const all = usualMinutes(daysBefore(days, date));
  // Someone may run the exports after the first one only now and then.
  const is_counted = all.length <= COUNTED_MAX && isRegular(days, date);
  const learned = is_counted ? all : all.slice(0, 1);
  if (expected_by === null) return learned;
  const first = minuteOf(expected_by);
  return [first, ...learned.slice(1).map((minute) => Math.max(minute, first))];
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

/** Groups arrivals by the clinic's day. Leaves out days without arrivals. */
function daysOf(arrivals: readonly Arrival[], time_zone: string): Days {
  const by_date = new Map<LocalDate, Arrival[]>();
  for (const arrival of arrivals.toSorted((one, other) => one.at - other.at)) {
    const date = localDate(arrival.at, time_zone);
    by_date.set(date, [...(by_date.get(date) ?? []), arrival]);
  }
  return new Map([...by_date].map(([date, each]) => [date, dayOf(each, time_zone)]));
}

function dayOf(arrivals: readonly Arrival[], time_zone: string): Day {
  // A file that arrives again replaces its earlier version.
  const latest = new Map<number, number>();
  for (const { source, rows } of arrivals) {
    latest.delete(source);
    latest.set(source, rows);
  }
  const minutes = arrivals.map(({ at }) => minuteAt(at, time_zone));
  return { minutes, files: [...latest.values()] };
}

/** Returns the days with exports on the same weekday of the last weeks before `date`. */
function daysBefore(days: Days, date: LocalDate): Day[] {
  const last = lastOf(days);
  let latest = addDays(date, -7);
  while (last !== null && latest > last) latest = addDays(latest, -7);
  return Array.from({ length: LEARNED_WEEKS }, (_, week) => addDays(latest, -7 * week))
    .map((each) => days.get(each))
    .filter((day) => day !== undefined);
}

/** Returns the day of the last arrival; null: none. */
function lastOf(days: Days): LocalDate | null {
  return [...days.keys()].toSorted().at(-1) ?? null;
}

/**
 * Returns the minutes by which the first arrival of such a day is due, the second, and so on, plus
 * a margin. Ends before an arrival whose time varies. Returns none without enough earlier days.
 */
function usualMinutes(before: readonly Day[]): number[] {
  if (before.length < WEEKS_MIN) return [];
  const unusual = Math.floor(before.length / UNUSUAL_SHARE);
  const counts = before.map(({ minutes }) => minutes.length).toSorted((a, b) => a - b);
  const found: number[] = [];
  for (let index = 0; index < (counts[unusual] ?? 0); index += 1) {
    const nth = before.flatMap(({ minutes }) => minutes.slice(index, index + 1));
    // A day that had fewer is one of the unusual ones already.
    const left_out = unusual - (before.length - nth.length);
    const [latest = 0, ...others] = nth.toSorted((a, b) => b - a).slice(left_out);
    if (index > 0 && latest - (others.at(-1) ?? latest) > SPREAD_MINUTES_MAX) break;
    found.push(latest + GRACE_MINUTES);
  }
  return found;
}

/**
 * Returns whether each day of the earlier weeks had the usual number of exports for its weekday. It
 * ignores the last week: an export that has been missing for days is still missing.
 */
function isRegular(days: Days, date: LocalDate): boolean {
  const last = lastOf(days) ?? date;
  const until = addDays(last < date ? last : date, -7);
  const counts = new Map<number, number[]>();
  for (const [day, { minutes }] of days) {
    if (day >= until) continue;
    const weekday = dayOfWeek(day);
    counts.set(weekday, [...(counts.get(weekday) ?? []), minutes.length]);
  }
  const irregular = [...counts.values()].flatMap((each) =>
    each.filter((count) => count !== median(each)),
  );
  return irregular.length <= IRREGULAR_DAYS_MAX;
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
