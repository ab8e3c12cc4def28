import { createTask, parse, type ScheduledTask } from 'node-cron';
import { addDays, instantOf, localDate } from '../domain/time.ts';

/** February 29 comes every four years, or every eight. */
const DAYS_MAX = 8 * 366;

/** By line. They are asked about days and never started: the daemon's own clock decides. */
const tasks = new Map<string, ScheduledTask>();

/** By line and zone: from `after` until before `at` nothing falls due. It is asked every minute. */
const found = new Map<string, { after: number; at: number }>();

/**
 * When a line of cron (five fields, as the configuration takes them) falls due for the first time
 * after `after`, in epoch milliseconds. A wall time in a daylight-saving gap moves forward, in an
 * overlap the first counts.
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
  throw new Error('A line of cron that the configuration took never falls due.');
}

/** Asks about the wall time as if it were UTC, where no hour is skipped. */
function isDayOf(line: string, date: string, hour: number, minute: number): boolean {
  const task = tasks.get(line) ?? createTask(line, () => {}, { timezone: 'UTC' });
  tasks.set(line, task);
  return task.match(new Date(instantOf(date, hour, 'UTC', minute)));
}

const byNumber = (a: number, b: number) => a - b;
