/** Applies a frequency limit to a treatment history on the day of a visit. */

import { addDays, addMonths } from '../../domain/time.ts';
import type { EligibilityRecord, Treatment } from '../eligibility.ts';
import type { Frequency, FrequencyLimit, Period } from './read.ts';

/** The treatments on file. `is_whole`: false if an entry could not be read. */
export type History = { treatments: readonly Treatment[]; is_whole: boolean };

/** Null: no history was given. An empty one means that nothing is on file. */
export function historyOf({
  treatment_history,
  unparsed,
}: Pick<EligibilityRecord, 'treatment_history' | 'unparsed'>): History | null {
  if (treatment_history?.answered !== true) return null;
  const is_whole = !unparsed.some(({ path }) => path.startsWith('results.treatment_history'));
  return { treatments: treatment_history.treatments, is_whole };
}

/** What eligd knows about the plan year. */
type PlanYear = { is_calendar: boolean | null };

export type LimitUse = {
  /**
   * `used`: no other treatment is allowed that day. `short`: fewer than the visit has. `open`:
   * uncertain.
   */
  standing: 'free' | 'used' | 'short' | 'open';
  /** The days that count toward the limit, earliest first. */
  counted: string[];
  /** The first day on which another treatment is allowed; null: never, or uncertain. */
  next: string | null;
};

/** Applies all limits of a frequency on one day; the most restrictive result counts. */
export function useOf(frequency: Frequency, code: string, moment: Moment): LimitUse {
  const uses = frequency.limits.map((limit) => useOfLimit(limit, code, moment));
  const used = uses.filter(({ standing }) => standing === 'used');
  if (used.length > 0) {
    const is_never = used.some(({ next }) => next === null);
    const next = is_never
      ? null
      : (used
          .map((use) => use.next ?? '')
          .sort()
          .at(-1) ?? null);
    return { standing: 'used', counted: used[0]?.counted ?? [], next };
  }
  return (
    uses.find(({ standing }) => standing === 'short') ??
    uses.find(({ standing }) => standing === 'open') ?? {
      standing: 'free',
      counted: uses[0]?.counted ?? [],
      next: null,
    }
  );
}

/** `planned`: the codes of the visit; a code scheduled twice appears twice. */
type Moment = { day: string; history: History; plan: PlanYear; planned: readonly string[] };

function useOfLimit(limit: FrequencyLimit, code: string, moment: Moment): LimitUse {
  const { day, history, plan, planned } = moment;
  if (limit.period.kind === 'visit') {
    const is_short = plannedAlike(limit, code, planned) > limit.count;
    return { standing: is_short ? 'short' : 'free', counted: [], next: null };
  }
  const past = history.treatments.filter(({ date }) => date <= day);
  const uses = windowsOf(limit.period, day, plan).map((since) =>
    useWithin(limit, code, { past: past.filter(({ date }) => date > since), history, planned }),
  );
  const [first] = uses;
  if (first === undefined || uses.every(({ standing }) => standing === 'free'))
    return { standing: 'free', counted: first?.counted ?? [], next: null };
  if (!uses.every(({ standing }) => standing === 'used')) {
    const is_short = uses.every(({ standing }) => standing === 'used' || standing === 'short');
    return { standing: is_short ? 'short' : 'open', counted: first.counted, next: null };
  }
  const nexts = uses.map(({ counted }) => nextAllowed(limit, counted, day));
  const next = nexts.includes(null) ? null : (nexts.map(String).sort().at(-1) ?? null);
  return { standing: 'used', counted: first.counted, next };
}

function useWithin(
  limit: FrequencyLimit,
  code: string,
  { past, history, planned }: { past: readonly Treatment[] } & Pick<Moment, 'history' | 'planned'>,
): Pick<LimitUse, 'standing' | 'counted'> {
  const codes = limit.of ?? [code, ...limit.shared];
  const own = past.filter((one) => one.code !== null && codes.includes(one.code));
  // The planned place is unknown, so treatments at a place may or may not count.
  const sure = limit.place === null ? own.filter((one) => !isPlaced(one)) : [];
  const others = past.filter(
    (one) => one.code === null || (limit.is_shared_in_words && !codes.includes(one.code)),
  );
  const counted = own.map(({ date }) => date);
  if (sure.length >= limit.count) return { standing: 'used', counted };
  const alike = plannedAlike(limit, code, planned);
  const added = limit.of === null ? Math.max(1, alike) : alike;
  if (limit.of === null && added > 1 && own.length + added > limit.count)
    return { standing: 'short', counted };
  const room = limit.count - own.length - others.length - added;
  const is_open = (limit.of === null ? room < 0 : room <= 0) || !history.is_whole;
  return { standing: is_open ? 'open' : 'free', counted };
}

/**
 * Counts the visit's codes toward the limit. With a limit per place, each may be at another place.
 */
function plannedAlike(limit: FrequencyLimit, code: string, planned: readonly string[]): number {
  const codes = limit.of ?? [code, ...limit.shared];
  return limit.place === null ? planned.filter((one) => codes.includes(one)).length : 0;
}

/** Returns whether a treatment was done on a tooth, a surface, or a quadrant. */
function isPlaced({ teeth, surfaces, quadrants }: Treatment): boolean {
  return [teeth, surfaces, quadrants].some((places) => places !== null && places.length > 0);
}

/**
 * Returns the state of a limit regardless of the day of the visit: `free` for the next treatment,
 * or used until `next`. Null: it depends on the day, the place, or other codes, or is unknown.
 */
export function useOnAnyDay(
  limit: FrequencyLimit,
  code: string,
  { history, plan }: Pick<Moment, 'history' | 'plan'>,
): LimitUse | null {
  const { count, period, place, shared, is_shared_in_words, of } = limit;
  const is_of_others = shared.length > 0 || is_shared_in_words || of !== null;
  if (place !== null || is_of_others || period.kind === 'visit') return null;
  const own = history.treatments.filter((one) => one.code === code);
  const counted = own.map(({ date }) => date).sort();
  const latest = counted.at(-1) ?? '';
  // Words that may mean several years say nothing for sure.
  const has_one_meaning = windowsOf(period, '2000-01-01', plan).length === 1;
  if (own.some(isPlaced) || !has_one_meaning) return null;
  const unclear = history.treatments.filter((one) => one.code === null).length;
  if (own.length < count)
    return history.is_whole && own.length + unclear < count
      ? { standing: 'free', counted, next: null }
      : null;
  const use = useOfLimit(limit, code, { day: latest, history, plan, planned: [] });
  return use.standing === 'open' ? null : { ...use, counted };
}

/**
 * Returns the dates after which treatments count, one for each possible meaning of the words. A
 * plan year that begins on an unknown day may have begun at any time in the last twelve months.
 */
function windowsOf(period: Period, day: string, { is_calendar }: PlanYear): string[] {
  const calendar = `${Number(day.slice(0, 4)) - 1}-12-31`;
  const twelve_months = addMonths(day, -12);
  switch (period.kind) {
    case 'months':
      return [addMonths(day, -period.months)];
    case 'days':
      return [addDays(day, -period.days)];
    case 'calendar_year':
      return [calendar];
    case 'benefit_year':
      return is_calendar === true ? [calendar] : [twelve_months, day];
    case 'year':
      return is_calendar === true ? [calendar] : [calendar, twelve_months, day];
    case 'lifetime':
      return [''];
    case 'visit':
      return [];
  }
}

/** Returns the first day after `day` on which the limit allows another treatment. */
function nextAllowed(
  { count, period }: FrequencyLimit,
  counted: readonly string[],
  day: string,
): string | null {
  // The oldest treatment that counts against the next one.
  const oldest = counted.at(-count) ?? counted[0] ?? day;
  switch (period.kind) {
    case 'months':
      return firstOutside(oldest, period.months);
    case 'days':
      return addDays(oldest, period.days);
    case 'lifetime':
    case 'visit':
      return null;
    default:
      return `${Number(day.slice(0, 4)) + 1}-01-01`;
  }
}

/** Returns the first day whose look-back period of this many months excludes the treatment. */
function firstOutside(treatment: string, months: number): string {
  let day = addMonths(treatment, months);
  // At the end of a long month, this takes at most three steps.
  while (addMonths(day, -months) < treatment) day = addDays(day, 1);
  return day;
}
