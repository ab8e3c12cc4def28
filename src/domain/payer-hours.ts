/** When payers answer the phone: lead time is counted in these hours, not in hours of the clock. */
import { isBusinessDay } from './business-days.ts';
import { addDays, HOUR_MS, type Instant, instantOf, type LocalDate, localDate } from './time.ts';

/** Hours of a day in minutes since midnight; `closes` is the first minute after the last one. */
export type DayHours = { opens: number; closes: number };

/** When a payer answers: these hours in each of the zones, on every business day. */
export type PayerHours = {
  hours: DayHours;
  /** IANA. A national payer has an office in each: from 08:00 Eastern to 17:00 Pacific. */
  zones: readonly string[];
  /** `YYYY-MM-DD`, besides US federal holidays. */
  holidays: ReadonlySet<LocalDate>;
};

/** The rules by which a call is in time or too late. */
export type LeadRules = {
  payer_hours: PayerHours;
  /** Payer hours; a nearer visit never gets a call. */
  min_lead_hours: number;
  /** Whether a call is bought that will hardly be answered before the visit. */
  late_visits: 'call_yourself' | 'buy';
  /** Business days from sending to the answer, while nothing is learned of the payer. */
  turnaround_days: number;
  /** Minute of the day (Eastern) until which a call may be sent and answered on that day. */
  same_day_cutoff: number | null;
};

type Opening = { from: Instant; to: Instant };

/** The calling services' day ends by this clock. */
const CUTOFF_ZONE = 'America/New_York';
/** No more days are looked at: a list of holidays may be wrong, and a visit years away. */
const DAYS_MAX = 750;
const REMEMBERED_MAX = 20_000;

const remembered = new Map<string, Instant>();

/** The hours of one payer: its own where the payer map has them, otherwise those of all. */
export function hoursOf(
  everybody: PayerHours,
  payer: { hours: DayHours | null; zone: string | null } | null,
): PayerHours {
  return {
    ...everybody,
    hours: payer?.hours ?? everybody.hours,
    zones: payer?.zone == null ? everybody.zones : [payer.zone],
  };
}

/** How many payer hours lie between two instants; 0 when `to` is not later. */
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

/** The instant at which so many payer hours have passed since `from`. */
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

/** The last instant from which so many payer hours pass before `until`. */
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

/** When the payer answers next before `until`, at `now` or later; null: not before. */
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
 * The last instant at which a call for a visit is bought: it leaves the payer the turnaround that
 * was learned (payer hours), and `min_lead_hours` in any case. While nothing is learned: the usual
 * business days, or the same-day cutoff of the last business day that ends before the visit.
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
  const usual = beforePayerHours(starts_at, rules.turnaround_days * hoursADay(hours), hours);
  const same_day =
    rules.same_day_cutoff === null ? 0 : lastCutoff(starts_at, rules.same_day_cutoff, hours);
  return Math.min(least, Math.max(usual, same_day));
}

/** The cutoff of the last business day on which the payer closes before the visit starts. */
function lastCutoff(starts_at: Instant, cutoff: number, hours: PayerHours): Instant {
  for (const day of daysFrom(addDays(firstDay(starts_at), 2), -1)) {
    const closes_at = openingsOn(day, hours).at(-1)?.to;
    if (closes_at !== undefined && closes_at <= starts_at) return wall(day, cutoff, CUTOFF_ZONE);
  }
  return 0;
}

/** Payer hours of a day without holiday and without a change to daylight saving. */
function hoursADay(hours: PayerHours): number {
  const usual = openingsOn('2026-01-07', { ...hours, holidays: new Set() });
  return usual.reduce((sum, { from, to }) => sum + to - from, 0) / HOUR_MS;
}

/**
 * When the payer answers on a day, earliest first; the hours of several zones run together. Around
 * the clock in several zones, a day begins in one while it goes on in another: such hours are those
 * of the day before.
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

/** The day before that of an instant: in another zone the payer's day may have begun earlier. */
function firstDay(at: Instant): LocalDate {
  return addDays(localDate(at, 'UTC'), -1);
}

/** Whether nothing of a day, in whatever zone, comes before an instant. */
function isAfter(day: LocalDate, at: Instant): boolean {
  return day > addDays(localDate(at, 'UTC'), 1);
}

function* daysFrom(first: LocalDate, step: 1 | -1): Generator<LocalDate> {
  for (let count = 0, day = first; count < DAYS_MAX; count += 1, day = addDays(day, step))
    yield day;
}

/** Zones' rules are slow to look up, and planning asks for the same few days all the time. */
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
