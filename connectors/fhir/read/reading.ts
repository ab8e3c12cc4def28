/** Decides what to read next: the window of appointments once a day, and the changes in between. */
import { addDays, DAY_MS, instantOf, localDate, MINUTE_MS } from '../../../src/domain/time.ts';
import type { FhirConfig } from '../config.ts';
import { isJson, type Resource, textAt } from '../element.ts';
import type { Capability } from '../server/capability.ts';

/** The state that the core stores between pulls. */
export type Cursor = {
  /** Changes from this time (server clock) on are not read yet; null: unknown. */
  since: string | null;
  /** The clinic's day on which the window was last read. */
  window_on: string | null;
  /** The day on which claims were last read. */
  claims_on: string | null;
  /** Whether the visits were read while writing was impossible: `yes`. */
  read_only: string | null;
};

export const NOTHING_READ: Cursor = {
  since: null,
  window_on: null,
  claims_on: null,
  read_only: null,
};

export type Reading =
  | { kind: 'window'; name: string; query: [string, string][] }
  | { kind: 'changes'; name: string; query: [string, string][] };

/**
 * The clocks of a server's machines differ, and a resource may appear in searches some time after
 * its time stamp.
 */
const OVERLAP_MS = 5 * MINUTE_MS;

/** Parses a stored cursor; of another form, it counts as if nothing had been read. */
export function readCursor(text: string | null): Cursor {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    const textOf = (name: keyof Cursor) => textAt(value, name) || null;
    if (isJson(value))
      return {
        since: textOf('since'),
        window_on: textOf('window_on'),
        claims_on: textOf('claims_on'),
        read_only: textOf('read_only'),
      };
  } catch {
    // Written by another version: start over.
  }
  return NOTHING_READ;
}

/**
 * Returns the cursor, reset if the server's write permission has changed, so that everything is
 * read again.
 */
export function withWritability(cursor: Cursor, is_read_only: boolean): Cursor {
  const read_only = is_read_only ? 'yes' : null;
  return cursor.read_only === read_only ? cursor : { ...cursor, read_only, window_on: null };
}

/** The clinic's current day, and how many days before and after it are read. */
export type Today = { config: FhirConfig; time_zone: string; now: number };

/** Returns the first instant of the window; earlier visits are past. */
export function windowStart({ config, time_zone, now }: Today): number {
  return instantOf(addDays(localDate(now, time_zone), -config.days_back), 0, time_zone);
}

/**
 * Returns a window once a day, because an edited coverage does not change its appointment, and
 * whenever changes cannot be searched. It does not filter by status, because cancellations must be
 * seen. Changes are not limited to the window: a visit may have moved out of it.
 */
export function nextReading(cursor: Cursor, capability: Capability, about: Today): Reading {
  const { config, time_zone, now } = about;
  const today = localDate(now, time_zone);
  const common: [string, string][] = [
    ...(capability.include('Appointment', 'actor')
      ? ([['_include', 'Appointment:actor']] as [string, string][])
      : []),
    ['_count', String(config.page_size)],
  ];
  if (
    cursor.since !== null &&
    cursor.window_on === today &&
    capability.searchParameter('Appointment', '_lastUpdated') !== false
  )
    return {
      kind: 'changes',
      name: `changes since ${cursor.since}`,
      query: [['_lastUpdated', `ge${cursor.since}`], ...common],
    };
  const last = addDays(today, config.days_ahead);
  const first = addDays(today, -config.days_back);
  const bounds: [string, string] =
    config.date_search === 'day'
      ? [`ge${first}`, `le${last}`]
      : [`ge${iso(windowStart(about))}`, `lt${iso(instantOf(addDays(last, 1), 0, time_zone))}`];
  return {
    kind: 'window',
    name: `appointments from ${first} to ${last}`,
    query: [['date', bounds[0]], ['date', bounds[1]], ...common],
  };
}

/**
 * Returns the same window for a server that accepts only one `date`: the search starts at the first
 * day, and `isWithin` removes the visits after the last day.
 */
export function withOneDate(reading: Reading): Reading {
  return { ...reading, query: oneDateQuery(reading.query) };
}

/** Returns the query without its upper limit of `date`. */
export function oneDateQuery(query: readonly [string, string][]): [string, string][] {
  return query.filter(([name, value]) => name !== 'date' || !/^l[te]/.test(value));
}

/** Returns whether a visit begins before the window of appointments ends. */
export function isWithin(starts_at: string, { config, time_zone, now }: Today): boolean {
  const after = addDays(localDate(now, time_zone), config.days_ahead + 1);
  return Date.parse(starts_at) < instantOf(after, 0, time_zone);
}

/**
 * Returns the cursor after `appointments` were read: the server's own latest time, minus an
 * overlap. It never goes back. A time in the future, which one wrong resource can cause, is
 * ignored: nothing would be newer than it.
 */
export function advance(
  cursor: Cursor,
  reading: Reading,
  appointments: readonly Resource[],
  { time_zone, now }: Pick<Today, 'time_zone' | 'now'>,
): Cursor {
  const isPossible = (at: number) => at < now + DAY_MS;
  const times = appointments
    .map((one) => Date.parse(textAt(one, 'meta', 'lastUpdated')))
    .filter(isPossible);
  const known = cursor.since === null ? [] : [Date.parse(cursor.since)].filter(isPossible);
  const latest = Math.max(...known, ...times.map((at) => at - OVERLAP_MS));
  return {
    since: Number.isFinite(latest) ? iso(latest) : null,
    window_on: reading.kind === 'window' ? localDate(now, time_zone) : cursor.window_on,
    claims_on: cursor.claims_on,
    read_only: cursor.read_only,
  };
}

const iso = (at: number) => new Date(at).toISOString();
