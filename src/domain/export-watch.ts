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
export type Arrival = { at: Instant; rows: number };

export type ExportSettings = {
  time_zone: string;
  closed: ReadonlySet<LocalDate>;
  /** `07:30`: the hour of the configuration; null: it is learned. */
  expected_by: string | null;
  /** Since when eligd can have seen an export; nothing is missed before. */
  watching_since: Instant;
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
/** A file that waits is read soon after a start. */
const START_GRACE_MS = 15 * MINUTE_MS;

type Day = { first_minute: number; count: number; rows: number };

/** The days by which `judgeExports` judges, today first; it asks for no other arrivals. */
export function watchedDays(time_zone: string, now: Instant): { from: Instant; until: Instant }[] {
  const today = localDate(now, time_zone);
  return [today, ...sameWeekdays(today)].map((date) => boundsOf(date, time_zone));
}

/** What is wrong with a connector's exports at `now`; at most one thing. */
export function judgeExports(
  arrivals: readonly Arrival[],
  settings: ExportSettings,
  now: Instant,
): ExportTrouble | null {
  const { time_zone } = settings;
  const today = localDate(now, time_zone);
  const current = dayOf(arrivals, today, time_zone);
  const before = sameWeekdays(today)
    .map((date) => dayOf(arrivals, date, time_zone))
    .filter((day) => day !== null);
  if (current === null) return missing(before, settings, today, now);
  return shrunken(current, before);
}

function missing(
  before: readonly Day[],
  settings: ExportSettings,
  today: LocalDate,
  now: Instant,
): ExportTrouble | null {
  const { expected_by, closed, time_zone, watching_since } = settings;
  if (now - watching_since < START_GRACE_MS) return null;
  const due_minute = expected_by === null ? usualMinute(before) : minuteOf(expected_by);
  if (due_minute === null || minuteAt(now, time_zone) < due_minute) return null;
  // On a Saturday an export is missing only where exports come on Saturdays.
  const is_weekend = dayOfWeek(today) > 5;
  const is_free = is_weekend
    ? expected_by !== null || closed.has(today)
    : !isBusinessDay(today, closed);
  if (is_free) return null;
  return {
    reason: 'export_missing',
    what: `No appointment export arrived today by ${clock(due_minute)}.`,
    next:
      'Run the export in your practice software, and check its scheduled job ' +
      'and the drop folder.',
  };
}

function shrunken(current: Day, before: readonly Day[]): ExportTrouble | null {
  // Of several files a day, only all of them together say something.
  const usual_count = median(before.map(({ count }) => count)) ?? 1;
  if (current.count < usual_count) return null;
  if (current.rows === 0) {
    return {
      reason: 'export_empty',
      what: 'Today’s appointment export has no rows.',
      next: 'Check the filter of the export in your practice software, and run it again.',
    };
  }
  const usual_rows = before.length < WEEKS_MIN ? null : median(before.map(({ rows }) => rows));
  if (usual_rows === null || current.rows * 2 >= usual_rows) return null;
  return {
    reason: 'export_small',
    what:
      `Today’s appointment export has ${current.rows} rows; usually there are about ` +
      `${usual_rows}.`,
    next:
      'Check the filter of the export in your practice software. If it is right, no action is ' +
      'needed.',
  };
}

/** What arrived on one day of the clinic; null: nothing. */
function dayOf(arrivals: readonly Arrival[], date: LocalDate, time_zone: string): Day | null {
  const { from, until } = boundsOf(date, time_zone);
  const here = arrivals.filter(({ at }) => at >= from && at < until);
  if (here.length === 0) return null;
  return {
    first_minute: minuteAt(Math.min(...here.map(({ at }) => at)), time_zone),
    count: here.length,
    rows: here.reduce((sum, { rows }) => sum + rows, 0),
  };
}

function boundsOf(date: LocalDate, time_zone: string) {
  return { from: startOfDay(date, time_zone), until: startOfDay(addDays(date, 1), time_zone) };
}

function sameWeekdays(today: LocalDate): LocalDate[] {
  return Array.from({ length: LEARNED_WEEKS }, (_, week) => addDays(today, -7 * (week + 1)));
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

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}
