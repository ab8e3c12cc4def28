/** When payers answer the phone. Lead time is counted in these hours, not in clock hours. */
import { isBusinessDay } from './business-days.ts';
import { addDays, HOUR_MS, type Instant, instantOf, type LocalDate, localDate } from './time.ts';

/** Opening hours in minutes since midnight; the payer is closed from `closes` on. */
export type DayHours = { opens: number; closes: number };

/** When a payer answers the phone: these hours in each zone, on every business day. */
export type PayerHours = {
  hours: DayHours;
  /** IANA. A national payer has an office in each: from 08:00 Eastern to 17:00 Pacific. */
  zones: readonly string[];
  /** `YYYY-MM-DD`, in addition to US federal holidays. */
  holidays: ReadonlySet<LocalDate>;
};

/** The rules that decide whether a call is in time. */
export type LeadRules = {
  payer_hours: PayerHours;
  /** Payer hours; a visit that is sooner never gets a call. */
  min_lead_hours: number;
  /** Whether eligd pays for a call that will probably not be answered before the visit. */
  late_visits: 'call_yourself' | 'buy';
  /** Business days from sending to the answer, until eligd has learned the payer's turnaround. */
  turnaround_days: number;
  /** Minute of the day (Eastern) until which a call can be sent and answered on the same day. */
  same_day_cutoff: number | null;
};

type Opening = { from: Instant; to: Instant };

/** The time zone of the calling services' business day. */
const CUTOFF_ZONE = 'America/New_York';
/**
 * The search ends after this many days: holidays may cover every day, and a visit may be years
 * away.
 */
const DAYS_MAX = 750;
const REMEMBERED_MAX = 20_000;

const remembered = new Map<string, Instant>();

/** Returns the hours of one payer: those in the payer map, or else the default hours. */
export function hoursOf(
  default_hours: PayerHours,
  payer: { hours: DayHours | null; zone: string | null } | null,
): PayerHours {
  return {
    ...default_hours,
    hours: payer?.hours ?? default_hours.hours,
    zones: payer?.zone == null ? default_hours.zones : [payer.zone],
  };
}

/** Returns the number of payer hours between two instants; 0 when `to` is not later. */
export function payerHoursBetween(from: Instant, to: Instant, hours: PayerHours): number {
  let open_ms = 0;
  for (const day of daysFrom(firstDay(from), 1)) {
    const openings = openingsOn(day, hours);
    for (const each of openings)
      open_ms += Math.max(0, Math.min(each.to, to) - Math.max(each.from, from));
    if (isAfter(day, to)) break;
  }
  return open_ms / HOUR_MS;
}

/** Returns the instant at which this many payer hours have passed since `from`. */
export function afterPayerHours(from: Instant, count: number, hours: PayerHours): Instant {
  let left_ms = count * HOUR_MS;
  for (const day of daysFrom(firstDay(from), 1)) {
    for (const each of openingsOn(day, hours)) {
      const begin = Math.max(each.from, from);
      if (each.to <= begin) continue;
      if (each.to - begin >= left_ms) return begin + left_ms;
      left_ms -= each.to - begin;
    }
  }
  return Number.MAX_SAFE_INTEGER;
}

/** Returns the last instant from which this many payer hours pass before `until`. */
export function beforePayerHours(until: Instant, count: number, hours: PayerHours): Instant {
  let left_ms = count * HOUR_MS;
  for (const day of daysFrom(addDays(firstDay(until), 2), -1)) {
    for (const each of openingsOn(day, hours).toReversed()) {
      const end = Math.min(each.to, until);
      if (end <= each.from) continue;
      if (end - each.from >= left_ms) return end - left_ms;
      left_ms -= end - each.from;
    }
  }
  return 0;
}

/** Returns the payer's next opening from `now` on and before `until`; null: none. */
export function nextOpening(now: Instant, until: Instant, hours: PayerHours): Opening | null {
  for (const day of daysFrom(firstDay(now), 1)) {
    for (const { from, to } of openingsOn(day, hours)) {
      const opening = { from: Math.max(from, now), to: Math.min(to, until) };
      if (opening.from < opening.to) return opening;
    }
    if (isAfter(day, until)) return null;
  }
  return null;
}

/**
 * Returns the last instant at which eligd pays for a call for a visit. It leaves the payer its
 * learned turnaround (payer hours), and always `min_lead_hours`. Until the turnaround is learned,
 * it leaves the usual business days, or ends at the same-day cutoff of the last business day that
 * ends before the visit.
 */
export function callBy(
  starts_at: Instant,
  { hours, turnaround_hours }: { hours: PayerHours; turnaround_hours: number | null },
  rules: LeadRules,
): Instant {
  const least = beforePayerHours(starts_at, rules.min_lead_hours, hours);
  if (rules.late_visits === 'buy') return least;
  if (turnaround_hours !== null)
    return Math.min(least, beforePayerHours(starts_at, turnaround_hours, hours));
  const usual = beforePayerHours(starts_at, usualHours(rules.turnaround_days, hours), hours);
  const same_day =
    rules.same_day_cutoff === null ? 0 : lastCutoff(starts_at, rules.same_day_cutoff, hours);
  return Math.min(least, Math.max(usual, same_day));
}

/** Returns the cutoff of the last business day on which the payer closes before the visit. */
function lastCutoff(starts_at: Instant, cutoff: number, hours: PayerHours): Instant {
  for (const day of daysFrom(addDays(firstDay(starts_at), 2), -1)) {
    const closes_at = openingsOn(day, hours).at(-1)?.to;
    if (closes_at !== undefined && closes_at <= starts_at) return wall(day, cutoff, CUTOFF_ZONE);
  }
  return 0;
}

/** Payer hours of so many business days without a change to daylight saving. */
export function usualHours(days: number, hours: PayerHours): number {
  const openings = openingsOn('2026-01-07', { ...hours, holidays: new Set() });
  return (days * openings.reduce((sum, { from, to }) => sum + to - from, 0)) / HOUR_MS;
}

/**
 * Returns when the payer answers on a day, earliest first; overlapping hours of several zones are
 * joined. With hours around the clock in several zones, a day begins in one zone before it ends in
 * another; the overlap belongs to the day before.
 */
function openingsOn(day: LocalDate, payer: PayerHours): Opening[] {
  const openings = openingsByZone(day, payer);
  const [first] = openings;
  const before = openingsByZone(addDays(day, -1), payer).at(-1);
  if (first === undefined || before === undefined || before.to <= first.from) return openings;
  return openings
    .map(({ from, to }) => ({ from: Math.max(from, before.to), to }))
    .filter(({ from, to }) => from < to);
}

function openingsByZone(day: LocalDate, { hours, zones, holidays }: PayerHours): Opening[] {
  if (!isBusinessDay(day, holidays)) return [];
  const each = zones
    .map((zone) => ({ from: wall(day, hours.opens, zone), to: wall(day, hours.closes, zone) }))
    .toSorted((a, b) => a.from - b.from);
  const joined: Opening[] = [];
  for (const opening of each) {
    const last = joined.at(-1);
    if (last !== undefined && opening.from <= last.to) last.to = Math.max(last.to, opening.to);
    else joined.push(opening);
  }
  return joined;
}

/** Returns the day before an instant's: in another zone, the payer's day may have begun earlier. */
function firstDay(at: Instant): LocalDate {
  return addDays(localDate(at, 'UTC'), -1);
}

/** Returns whether a day begins after an instant in every zone. */
function isAfter(day: LocalDate, at: Instant): boolean {
  return day > addDays(localDate(at, 'UTC'), 1);
}

function* daysFrom(first: LocalDate, step: 1 | -1): Generator<LocalDate> {
  for (let count = 0, day = first; count < DAYS_MAX; count += 1, day = addDays(day, step))
    yield day;
}

/** Caches the instants: zone rules are slow to look up, and planning asks for the same few days. */
function wall(day: LocalDate, minute: number, zone: string): Instant {
  const key = `${day} ${minute} ${zone}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const at =
    minute === 24 * 60
      ? instantOf(addDays(day, 1), 0, zone)
      : instantOf(day, Math.floor(minute / 60), zone, minute % 60);
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(key, at);
  return at;
}
