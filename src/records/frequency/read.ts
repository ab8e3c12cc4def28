/**
 * Reads frequency limits in the words of payers' staff. Every word of a text must be understood:
 * text with one unknown word remains text, because nothing may be computed from half a sentence
 * (G8). test/records/frequency-wordings.ts lists real wordings and their meanings.
 */
import { type AgeRule, readAge } from '../ages.ts';
import { isNone } from '../none-words.ts';
import { areOfOneCode, takeCodes, takeList, takeServices } from './services.ts';
import { Cursor, tokensOf } from './tokens.ts';

export type Period =
  /** Counted back from the day of the visit, as are `days`. */
  | { kind: 'months'; months: number }
  | { kind: 'days'; days: number }
  | { kind: 'calendar_year' }
  /** The plan's own year, whatever day it begins. */
  | { kind: 'benefit_year' }
  /** "Per year", without saying which kind of year. */
  | { kind: 'year' }
  | { kind: 'lifetime' }
  /** One visit or one day of service. */
  | { kind: 'visit' };

export type Place = 'tooth' | 'surface' | 'quadrant' | 'arch';

export type FrequencyLimit = {
  count: number;
  period: Period;
  /** Applies to each of these places separately. Null: to the whole mouth. */
  place: Place | null;
  /** Other codes that count toward it, upper case. */
  shared: string[];
  /** Other services, named in words, count toward it. */
  is_shared_in_words: boolean;
  /** Counts treatments of only these codes ("not within 6 months of D1110"). Null: its own code. */
  of: string[] | null;
  /** The services that the words name ("2 cleanings"); empty: any. */
  services: string[];
};

/** All of the limits apply. An empty list: unlimited. */
export type Frequency = { limits: FrequencyLimit[]; age: AgeRule | null };

const UNLIMITED = new Set([
  ...['unlimited', 'no limit', 'no limits', 'no limitation', 'no limitations', 'no max'],
  ...['no frequency', 'no frequency limit', 'no frequency limits', 'no frequency limitation'],
  ...['no frequency limitations', 'no frequency restriction', 'no frequency restrictions'],
  ...['no restriction', 'no restrictions', 'not limited', 'no maximum', 'no set limit'],
  ...['no limit applies', 'there is no limit', 'no frequency applies', 'as needed', 'as necessary'],
  ...['not applicable', 'does not apply'],
]);

const SEPARATORS = new Set([',', ';', '.', '(', ')', 'and', 'but', '&', '-']);
const LEADS = new Set([
  ...['limited', 'limit', 'limits', 'to', 'of', 'maximum', 'max', 'up', 'covered', 'allowed'],
  ...['payable', 'frequency', 'is', 'are', 'eligible', 'allows', 'plan', 'covers', ':', 'at'],
  ...['benefit', 'benefits', 'pays', 'for', 'any', 'only'],
]);
const TAILS = new Set(['only', 'max', 'maximum', 'allowed', 'covered', 'payable', 'limit']);
const LINKS = new Set([
  'per',
  'every',
  'each',
  'in',
  'within',
  'during',
  '/',
  'a',
  'an',
  'any',
  'the',
]);
const ROLLING = new Set(['rolling', 'consecutive', 'continuous']);
const PEOPLE = new Set([
  'patient',
  'patients',
  'member',
  'members',
  'person',
  'insured',
  'enrollee',
  'individual',
  'covered',
]);
const PLAN_YEARS = new Set(['benefit', 'plan', 'contract', 'policy', 'coverage']);
const YEARS = new Set(['year', 'years', 'yr', 'yrs']);
const MONTHS = new Set(['month', 'months', 'mo', 'mos', 'mth', 'mths', 'mnth', 'mnths']);
const WEEKS = new Set(['week', 'weeks', 'wk', 'wks']);
const DAYS = new Set(['day', 'days']);
const PLACES: ReadonlyMap<string, Place> = new Map([
  ['tooth', 'tooth'],
  ['teeth', 'tooth'],
  ['surface', 'surface'],
  ['quadrant', 'quadrant'],
  ['quadrants', 'quadrant'],
  ['quad', 'quadrant'],
  ['arch', 'arch'],
]);
const AGE_WORDS = new Set([
  ...['age', 'ages', 'aged', 'old', 'older', 'over', 'above', 'under', 'below', 'younger'],
  ...['birthday', 'child', 'children', 'dependent', 'dependents'],
]);

/**
 * Reads a frequency limit. Null: not understood, so the payer's words are the only source. Text
 * that names another service than the `code` (upper case) is not understood either.
 */
export function readFrequency(text: string, code: string | null = null): Frequency | null {
  const tokens = tokensOf(text);
  if (tokens === null) return null;
  const said = tokens.filter((token) => token !== '.' && token !== ';').join(' ');
  if (said === '') return null;
  if (isNone(said, UNLIMITED)) return { limits: [], age: null };
  const cursor = new Cursor(tokens);
  const found: Frequency = { limits: [], age: null };
  const conditions = { ages: 0 };
  while (!cursor.isDone) {
    if (cursor.takeAny(SEPARATORS) !== null) continue;
    if (!readClause(cursor, found, conditions)) return null;
  }
  // A second limit for another age: which one applies is not computed.
  if (conditions.ages > 1 || (conditions.ages === 1 && found.limits.length > 1)) return null;
  const named = found.limits.map(({ services }) => services);
  if (!areOfOneCode(named, code)) return null;
  return found.limits.length === 0 && found.age === null ? null : found;
}

/** A part of the text: a limit, or a detail of the limit before it. */
function readClause(cursor: Cursor, found: Frequency, conditions: { ages: number }): boolean {
  const limit = cursor.attempt(() => readGap(cursor)) ?? cursor.attempt(() => readLimit(cursor));
  if (limit !== null) {
    found.limits.push(limit);
    return true;
  }
  const last = found.limits.at(-1);
  if (last !== undefined && last.place === null) {
    const place = cursor.attempt(() => readPlace(cursor));
    if (place !== null) {
      last.place = place;
      return true;
    }
  }
  if (last !== undefined && cursor.attempt(() => (readShared(cursor, last) ? true : null)))
    return true;
  if (last !== undefined && cursor.attempt(() => readRolling(cursor, last))) return true;
  const from = cursor.at;
  const age = cursor.attempt(() => readAge(cursor));
  // "Up to two" is not an age.
  if (age === null || !cursor.tokens.slice(from, cursor.at).some((token) => AGE_WORDS.has(token)))
    return false;
  found.age = age;
  conditions.ages += 1;
  return true;
}

/** Reads `2 per calendar year`, `once every 6 months`, `1x/12 mos per tooth`, `twice annually`. */
function readLimit(cursor: Cursor): FrequencyLimit | null {
  skipLeads(cursor);
  const count = takeCount(cursor);
  const services = takeServices(cursor, count);
  if (services === null) return null;
  const parts: { period: Period | null; place: Place | null } = { period: null, place: null };
  // "every 6 months" means once; "per 6 months" alone is incomplete.
  const is_every = count === null && cursor.peek() === 'every';
  if (count === null && !is_every) return null;
  while (!cursor.isDone) {
    if (!readPart(cursor, parts)) break;
  }
  if (parts.period === null || count === 0) return null;
  cursor.skip(TAILS);
  return {
    count: count ?? 1,
    period: parts.period,
    place: parts.place,
    shared: [],
    is_shared_in_words: false,
    of: null,
    services,
  };
}

function skipLeads(cursor: Cursor): void {
  for (;;) {
    const is_negated =
      cursor.take('no', 'more', 'than') ||
      cursor.take('not', 'more', 'than') ||
      cursor.take('not', 'to', 'exceed');
    if (!is_negated && cursor.takeAny(LEADS) === null) return;
  }
}

function takeCount(cursor: Cursor): number | null {
  if (cursor.take('once')) return 1;
  if (cursor.take('twice')) return 2;
  return cursor.takeNumber();
}

type Parts = { period: Period | null; place: Place | null };

/** Reads one of `per calendar year`, `per tooth`, `annually`, `per patient`. */
function readPart(cursor: Cursor, parts: Parts): boolean {
  if (parts.place === null) {
    const place = cursor.attempt(() => readPlace(cursor));
    if (place !== null) {
      parts.place = place;
      return true;
    }
  }
  if (cursor.attempt(() => readPerson(cursor))) return true;
  if (parts.period !== null) return false;
  parts.period = cursor.attempt(() => readPeriod(cursor));
  return parts.period !== null;
}

function takeLinks(cursor: Cursor): string[] {
  const links: string[] = [];
  for (let link = cursor.takeAny(LINKS); link !== null; link = cursor.takeAny(LINKS))
    links.push(link);
  return links;
}

function readPlace(cursor: Cursor): Place | null {
  const links = takeLinks(cursor);
  if (!links.some((link) => link === 'per' || link === '/' || link === 'each')) return null;
  const place = PLACES.get(cursor.peek() ?? '');
  if (place === undefined) return null;
  cursor.at += 1;
  return place;
}

/** `per patient` adds nothing; "per patient lifetime" is a period. */
function readPerson(cursor: Cursor): true | null {
  if (takeLinks(cursor).length === 0) return null;
  if (cursor.takeAny(PEOPLE) === null) return null;
  return /^(?:lifetime|life|s)$/.test(cursor.peek() ?? '') ? null : true;
}

const YEAR: Period = { kind: 'year' };

function readPeriod(cursor: Cursor): Period | null {
  if (cursor.take('annually') || cursor.take('yearly')) return YEAR;
  if (cursor.take('per', 'annum') || cursor.take('a', 'year')) return YEAR;
  const links = takeLinks(cursor);
  if (links.length === 0) return null;
  cursor.skip(PEOPLE);
  if (cursor.take('lifetime') || cursor.take('life', 'time') || cursor.take('life'))
    return { kind: 'lifetime' };
  if (cursor.take('date', 'of', 'service') || cursor.take('day', 'of', 'service'))
    return { kind: 'visit' };
  if (cursor.take('visit') || cursor.take('appointment')) return { kind: 'visit' };
  if ((cursor.take('calendar') || cursor.take('cal')) && cursor.takeAny(YEARS) !== null)
    return { kind: 'calendar_year' };
  const plan_year = cursor.takeAny(PLAN_YEARS);
  if (plan_year !== null) {
    // A contract may last two years.
    const is_year = plan_year === 'benefit' && cursor.take('period');
    return is_year || cursor.takeAny(YEARS) !== null ? { kind: 'benefit_year' } : null;
  }
  if (cursor.take('other', 'year')) return { kind: 'months', months: 24 };
  return readSpan(cursor);
}

/** Reads `12 months`, `rolling 12-month period`, `24 consecutive months`, `year`, `5 yrs`. */
function readSpan(cursor: Cursor): Period | null {
  const is_rolling = cursor.takeAny(ROLLING) !== null;
  const length = cursor.takeNumber();
  if (length === 0) return null;
  cursor.take('-');
  const is_from_day_to_day = cursor.takeAny(ROLLING) !== null || is_rolling;
  const unit = cursor.peek() ?? '';
  if (![YEARS, MONTHS, WEEKS, DAYS].some((words) => words.has(unit))) return null;
  cursor.at += 1;
  const is_day_to_day = cursor.takeAny(ROLLING) !== null || is_from_day_to_day;
  cursor.take('period');
  if (DAYS.has(unit)) return { kind: 'days', days: length ?? 1 };
  if (WEEKS.has(unit)) return { kind: 'days', days: 7 * (length ?? 1) };
  if (MONTHS.has(unit)) return { kind: 'months', months: length ?? 1 };
  // A single year may mean the calendar year, the plan year, or twelve months.
  if ((length === null || length === 1) && !is_day_to_day) return YEAR;
  return { kind: 'months', months: 12 * (length ?? 1) };
}

/** Reads `not within 6 months of the last one`, `at least 6 months apart`. */
function readGap(cursor: Cursor): FrequencyLimit | null {
  const is_not_within =
    cursor.take('not', 'within') ||
    cursor.take('not', 'payable', 'within') ||
    cursor.take('not', 'covered', 'within');
  if (!is_not_within) {
    cursor.take('must', 'be');
    cursor.take('at', 'least');
    cursor.take('separated', 'by');
  }
  const period = readSpan(cursor);
  if (period === null || period.kind === 'year') return null;
  const limit = {
    count: 1,
    period,
    place: null,
    shared: [],
    is_shared_in_words: false,
    services: [],
  };
  if (!is_not_within) {
    if (cursor.take('apart')) return { ...limit, of: null };
    const services = cursor.take('between') && !cursor.isDone ? takeServices(cursor, null) : null;
    return services === null ? null : { ...limit, of: null, services };
  }
  if (!cursor.take('of')) return { ...limit, of: null };
  if (cursor.take('each', 'other')) return { ...limit, of: null };
  const codes = takeCodes(cursor);
  if (codes.length > 0) return { ...limit, of: codes };
  cursor.skip(new Set(['the', 'a']));
  if (!cursor.take('last') && !cursor.take('previous') && !cursor.take('prior')) return null;
  const services = takeServices(cursor, null) ?? [];
  cursor.take('one');
  return { ...limit, of: null, services };
}

/** Reads `shared with D1120`, `combined with cleanings`: other services count as well. */
function readShared(cursor: Cursor, limit: FrequencyLimit): boolean {
  const is_shared =
    cursor.take('shared', 'with') ||
    cursor.take('shares', 'with') ||
    cursor.take('shares', 'frequency', 'with') ||
    cursor.take('frequency', 'shared', 'with') ||
    cursor.take('combined', 'with') ||
    cursor.take('in', 'combination', 'with') ||
    cursor.take('combination', 'with') ||
    cursor.take('any', 'combination', 'of') ||
    cursor.take('in', 'any', 'combination', 'of') ||
    cursor.take('in', 'any', 'combination', 'with') ||
    cursor.take('includes') ||
    cursor.take('including');
  if (!is_shared) return false;
  const list = takeList(cursor);
  if (list === null) return false;
  limit.shared.push(...list.codes);
  limit.is_shared_in_words ||= list.has_words;
  return true;
}

/**
 * Reads `2 per year, rolling`: twelve months, not the calendar year. `to the day` means the same.
 */
function readRolling(cursor: Cursor, { period }: FrequencyLimit): true | null {
  const is_rolling =
    cursor.takeAny(ROLLING) !== null ||
    cursor.take('to', 'the', 'day') ||
    cursor.take('to', 'the', 'date') ||
    cursor.take('day', 'to', 'day') ||
    cursor.take('from', 'date', 'of', 'service') ||
    cursor.take('from', 'the', 'date', 'of', 'service') ||
    cursor.take('from', 'last', 'date', 'of', 'service') ||
    cursor.take('from', 'the', 'last', 'date', 'of', 'service');
  return is_rolling && (period.kind === 'months' || period.kind === 'days') ? true : null;
}
