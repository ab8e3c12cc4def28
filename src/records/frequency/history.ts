/** What a treatment history makes of a frequency limit, on the day of a visit. */

import { addDays, addMonths } from '../../domain/time.ts';
import type { Treatment } from '../eligibility.ts';
import type { Frequency, FrequencyLimit, Period } from './read.ts';

/** What is on file. `is_whole`: false where an entry could not be read. */
export type History = { treatments: readonly Treatment[]; is_whole: boolean };

/** What is known of the plan's year. */
export type PlanYear = { is_calendar: boolean | null };

export type LimitUse = {
  /**
   * `used`: no other one on that day. `short`: not as many as the visit has. `open`: it cannot be
   * told.
   */
  standing: 'free' | 'used' | 'short' | 'open';
  /** The days that count toward the limit, earliest first. */
  counted: string[];
  /** The first day on which another one is allowed; null: never, or it cannot be told. */
  next: string | null;
};

/** All limits of a frequency on one day; the one that stands in the way counts. */
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

/** `planned`: the codes of the visit, one that is scheduled twice twice. */
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
  // Which place is planned nobody has said, so what was done at a place may or may not count.
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

/** How many of the visit count toward the limit. Of several at a place, each may have its own. */
function plannedAlike(limit: FrequencyLimit, code: string, planned: readonly string[]): number {
  const codes = limit.of ?? [code, ...limit.shared];
  return limit.place === null ? planned.filter((one) => codes.includes(one)).length : 0;
}

/** Whether a treatment was done to a tooth, a surface or a quadrant. */
export function isPlaced({ teeth, surfaces, quadrants }: Treatment): boolean {
  return [teeth, surfaces, quadrants].some((places) => places !== null && places.length > 0);
}

/**
 * The days after which treatments count, one for each meaning that the words may have. A plan year
 * that begins on an unknown day is between no time at all and twelve months old.
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

/** The first day after `day` on which the limit allows another one. */
function nextAllowed(
  { count, period }: FrequencyLimit,
  counted: readonly string[],
  day: string,
): string | null {
  // The oldest of those that count against the next one.
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

/** The first day from which so many months, looked back, do not reach the treatment. */
export function firstOutside(treatment: string, months: number): string {
  let day = addMonths(treatment, months);
  // The last days of a long month: three days at most.
  while (addMonths(day, -months) < treatment) day = addDays(day, 1);
  return day;
}
