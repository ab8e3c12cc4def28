import { createTask, parse, type ScheduledTask } from 'node-cron';
import { addDays, instantOf, localDate } from '../domain/time.ts';

/** February 29 comes every four years, or after eight. */
const DAYS_MAX = 8 * 366;

/** Tasks by cron line. They only answer whether a day matches and are never started. */
const tasks = new Map<string, ScheduledTask>();

/** By line and zone: nothing is due from `after` until `at`. The daemon asks every minute. */
const found = new Map<string, { after: number; at: number }>();

/**
 * Returns when a cron line (five fields, as in the configuration) is first due after `after`, in
 * epoch milliseconds. A wall-clock time in a daylight-saving gap moves forward; in an overlap, the
 * first one counts.
 */
export function nextDueAt(line: string, time_zone: string, after: number): number {
  const name = `${line} ${time_zone}`;
  const known = found.get(name);
  if (known !== undefined && known.after <= after && after < known.at) return known.at;
  const at = searchDueAt(line, time_zone, after);
  found.set(name, { after, at });
  return at;
}

function searchDueAt(line: string, time_zone: string, after: number): number {
  const fields = parse(line);
  const hours = fields.hour.toSorted(byNumber);
  const minutes = fields.minute.toSorted(byNumber);
  const first = localDate(after, time_zone);
  for (let days = 0; days < DAYS_MAX; days += 1) {
    const date = addDays(first, days);
    if (!isDayOf(line, date, hours[0] ?? 0, minutes[0] ?? 0)) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const at = instantOf(date, hour, time_zone, minute);
        if (at > after) return at;
      }
    }
  }
  throw new Error('A cron line in the validated configuration is never due.');
}

/** Tests the wall-clock time as if it were UTC, where no hour is skipped. */
function isDayOf(line: string, date: string, hour: number, minute: number): boolean {
  const task = tasks.get(line) ?? createTask(line, () => {}, { timezone: 'UTC' });
  tasks.set(line, task);
  return task.match(new Date(instantOf(date, hour, 'UTC', minute)));
}

const byNumber = (a: number, b: number) => a - b;
