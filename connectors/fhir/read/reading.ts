/**
 * What is asked for next: the window of appointments once a day, and what has changed since in
 * between.
 */
import { addDays, DAY_MS, instantOf, localDate, MINUTE_MS } from '../../../src/domain/time.ts';
import type { FhirConfig } from '../config.ts';
import { isJson, type Resource, textAt } from '../element.ts';
import type { Capability } from '../server/capability.ts';

/** What the core keeps between pulls. */
export type Cursor = {
  /** Changes from this moment of the server's clock on have yet to be asked for; null: unknown. */
  since: string | null;
  /** The clinic's day on which the window was last read. */
  window_on: string | null;
  /** The same of claims. */
  claims_on: string | null;
  /** Whether the visits that were read could not be written back: `yes`. */
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
 * Clocks of a server's machines differ, and a resource may show in searches a while after its time
 * stamp.
 */
const OVERLAP_MS = 5 * MINUTE_MS;

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
    // What another version wrote: start over.
  }
  return NOTHING_READ;
}

/** Where the server lets eligd write now and did not, or the other way round, all is read again. */
export function withWritability(cursor: Cursor, is_read_only: boolean): Cursor {
  const read_only = is_read_only ? 'yes' : null;
  return cursor.read_only === read_only ? cursor : { ...cursor, read_only, window_on: null };
}

/** The day at the clinic, and how many days before and after it are read. */
export type Today = { config: FhirConfig; time_zone: string; now: number };

/** The first instant of the window: earlier visits are over. */
export function windowStart({ config, time_zone, now }: Today): number {
  return instantOf(addDays(localDate(now, time_zone), -config.days_back), 0, time_zone);
}

/**
 * A window a day, because an edited coverage leaves its appointment untouched; also whenever
 * changes cannot be asked for. Without a filter by status, since a cancellation must be seen.
 * Changes are not limited to the window: a visit may have been moved out of it.
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
 * The same window for a server that takes `date` once: it is asked from the first day on, and the
 * visits after the last day are left out here (`isWithin`).
 */
export function withOneDate(reading: Reading): Reading {
  return { ...reading, query: oneDateQuery(reading.query) };
}

export function oneDateQuery(query: readonly [string, string][]): [string, string][] {
  return query.filter(([name, value]) => name !== 'date' || !/^l[te]/.test(value));
}

/** Whether a visit begins before the window of appointments ends. */
export function isWithin(starts_at: string, { config, time_zone, now }: Today): boolean {
  const after = addDays(localDate(now, time_zone), config.days_ahead + 1);
  return Date.parse(starts_at) < instantOf(after, 0, time_zone);
}

/**
 * The cursor after `appointments` were read: the server's own latest time, and some of it again. It
 * never goes back, and a time that lies in the future, which a mistake in one resource makes, does
 * not count: nothing would be new any more.
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
