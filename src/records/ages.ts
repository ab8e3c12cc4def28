/** Reads ages in words: `under 14`, `through age 18`, `ages 6-15`, `14 and older`. */
import { Cursor, tokensOf } from './frequency/tokens.ts';
import { isNone } from './none-words.ts';

/**
 * Ages in whole years, both ends included. An age within `sure` is covered, and an age outside
 * `possible` is not. For ages in between, the words are ambiguous ("to age 19" may or may not
 * include 19).
 */
export type AgeRule = { sure: AgeSpan; possible: AgeSpan };
type AgeSpan = { from: number; to: number };

const AGE_MAX = 120;
const span = (from: number, to: number): AgeSpan => ({ from, to });

/** Returns the rule for "limit 18": covered up to and including 18. */
export const upToAge = (years: number): AgeRule => ({
  sure: span(0, years),
  possible: span(0, years),
});

export function ageAllows(rule: AgeRule, age: number): 'yes' | 'no' | 'open' {
  const within = ({ from, to }: AgeSpan) => age >= from && age <= to;
  if (within(rule.sure)) return 'yes';
  return within(rule.possible) ? 'open' : 'no';
}

/** Returns the age in whole years on a day, both `YYYY-MM-DD`; null before the birth. */
export function ageOn(birth_date: string, day: string): number | null {
  const [year = 0, month = 0, date = 0] = birth_date.split('-').map(Number);
  const [at_year = 0, at_month = 0, at_date = 0] = day.split('-').map(Number);
  const had_birthday = at_month > month || (at_month === month && at_date >= date);
  const age = at_year - year - (had_birthday ? 0 : 1);
  return age < 0 ? null : age;
}

const PEOPLE = new Set([
  ...['children', 'child', 'dependents', 'dependent', 'patients', 'members', 'persons', 'those'],
]);
const LEADS = new Set([
  ...PEOPLE,
  ...['age', 'ages', 'aged', 'limit', 'limits', 'limited', 'only', 'for', 'covered', 'is', ':'],
  ...['if', 'the', 'benefit', 'eligible', 'payable', 'maximum', 'max'],
]);
const BEFORE_AGE = new Set(['age', 'ages', 'the', 'of', 'aged']);
const BELOW = new Set(['under', 'below']);
const AND = new Set(['and', 'or', '&']);
const YOUNGER = new Set(['under', 'younger', 'below']);
const OLDER = new Set(['over', 'older', 'up', 'above']);
const UNTIL = new Set(['to', 'until', 'till']);
const TO = new Set(['to', 'through', 'thru']);
const ORDINALS = new Set(['st', 'nd', 'rd', 'th']);
const NO_LIMIT = new Set([
  ...['no limit', 'no age limit', 'no age limits', 'unlimited', 'not applicable'],
  'does not apply',
]);

/**
 * Reads the words of an age limit. `none`: the payer said that there is no limit. Null: unreadable.
 * A bare "age 19" is a limit: up to 19.
 */
export function readAgeWords(text: string): AgeRule | 'none' | null {
  const tokens = tokensOf(text)?.filter((token) => token !== '.') ?? [];
  if (isNone(tokens.join(' '), NO_LIMIT)) return 'none';
  const cursor = new Cursor(tokens);
  const rule = cursor.attempt(() => readAge(cursor)) ?? bareAge(cursor);
  cursor.skip(new Set(['only', 'covered']));
  return cursor.isDone ? rule : null;
}

/** A limit for dependents does not say whether the subscriber is covered at another age. */
function ofDependents(rule: AgeRule | null, words: readonly string[]): AgeRule | null {
  const is_of_dependents = words.some((word) => /^dependents?$/.test(word));
  if (rule === null || !is_of_dependents || words.some((word) => /^child(?:ren)?$/.test(word)))
    return rule;
  return { ...rule, possible: span(0, AGE_MAX) };
}

function bareAge(cursor: Cursor): AgeRule | null {
  const from = cursor.at;
  cursor.skip(LEADS);
  const years = takeAge(cursor);
  const words = cursor.tokens.slice(from, cursor.at);
  return years === null ? null : ofDependents(upToAge(years), words);
}

/** Reads an age phrase at the cursor; null when there is none, as for a bare number. */
export function readAge(cursor: Cursor): AgeRule | null {
  const from = cursor.at;
  cursor.skip(LEADS);
  // Skips the "to" of "limited to patients under 19"; "to 19" alone is read below.
  cursor.attempt(() => (cursor.take('to') && cursor.takeAny(PEOPLE) !== null ? true : null));
  cursor.skip(LEADS);
  const rule =
    cursor.attempt(() => readBirthday(cursor)) ??
    cursor.attempt(() => readBetween(cursor)) ??
    cursor.attempt(() => readBelow(cursor)) ??
    cursor.attempt(() => readUpTo(cursor)) ??
    cursor.attempt(() => readAbove(cursor)) ??
    cursor.attempt(() => readWithTail(cursor));
  return ofDependents(rule, cursor.tokens.slice(from, cursor.at));
}

/** Where a span of ages begins: from birth on, or an age. */
function takeFirstAge(cursor: Cursor): number | null {
  const birth = cursor.attempt(() => {
    cursor.skip(BEFORE_AGE);
    cursor.take('from');
    return cursor.take('birth') || cursor.take('0') || cursor.take('zero') ? 0 : null;
  });
  return birth ?? takeAge(cursor);
}

function takeAge(cursor: Cursor): number | null {
  cursor.skip(BEFORE_AGE);
  const years = cursor.takeNumber();
  if (years === null || years < 1 || years > AGE_MAX) return null;
  // A number of months is not an age.
  if (/^(?:mo|mos|mth|mths|month|months|day|days)$/.test(cursor.peek() ?? '')) return null;
  if (cursor.take('years') || cursor.take('yrs') || cursor.take('yr') || cursor.take('year')) {
    const is_age =
      cursor.take('old') || cursor.take('of', 'age') || cursor.isDone || isAgeTail(cursor);
    if (!is_age) return null;
  }
  return years;
}

const isAgeTail = (cursor: Cursor) => AND.has(cursor.peek() ?? '');

function readBelow(cursor: Cursor): AgeRule | null {
  const is_below =
    cursor.takeAny(BELOW) !== null || cursor.take('younger', 'than') || cursor.take('less', 'than');
  const years = is_below ? takeAge(cursor) : null;
  return years === null ? null : upToAge(years - 1);
}

/** Reads `until the 19th birthday`: the coverage ends on that day. */
function readBirthday(cursor: Cursor): AgeRule | null {
  cursor.take('up');
  if (cursor.takeAny(UNTIL) === null) return null;
  cursor.take('the');
  const years = cursor.takeNumber();
  if (years === null || years < 1 || years > AGE_MAX) return null;
  return cursor.takeAny(ORDINALS) !== null && cursor.take('birthday') ? upToAge(years - 1) : null;
}

/** Reads `6 to 14` and `between 6 and 15`: either end may or may not be included. */
function readBetween(cursor: Cursor): AgeRule | null {
  const is_between = cursor.take('between');
  const from = takeFirstAge(cursor);
  const is_span = cursor.takeAny(is_between ? AND : TO) !== null;
  const to = is_span && from !== null ? takeAge(cursor) : null;
  if (from === null || to === null || to <= from) return null;
  const possible = span(from, to);
  // Nobody is younger than at birth.
  const first = from === 0 ? 0 : from + 1;
  return { sure: to - from < 2 ? span(AGE_MAX, 0) : span(first, to - 1), possible };
}

function readUpTo(cursor: Cursor): AgeRule | null {
  const is_included =
    cursor.take('up', 'to', 'and', 'including') ||
    cursor.take('to', 'and', 'including') ||
    cursor.take('through', 'and', 'including');
  if (is_included || cursor.take('through') || cursor.take('thru')) {
    if (!cursor.take('the', 'end', 'of')) cursor.take('end', 'of');
    const years = takeAge(cursor);
    return years === null ? null : upToAge(years);
  }
  const is_to =
    cursor.take('up', 'to') || cursor.take('to') || cursor.take('until') || cursor.take('till');
  const years = is_to ? takeAge(cursor) : null;
  if (years === null) return null;
  return { sure: span(0, years - 1), possible: span(0, years) };
}

function readAbove(cursor: Cursor): AgeRule | null {
  const is_above = cursor.take('over') || cursor.take('above') || cursor.take('older', 'than');
  const years = is_above ? takeAge(cursor) : null;
  if (years === null) return null;
  return { sure: span(years + 1, AGE_MAX), possible: span(years, AGE_MAX) };
}

/** Reads `14 and under`, `14 and older`, `ages 6-15`, `14+`. */
function readWithTail(cursor: Cursor): AgeRule | null {
  const years = takeFirstAge(cursor);
  if (years === null) return null;
  if (cursor.take('+')) return { sure: span(years, AGE_MAX), possible: span(years, AGE_MAX) };
  if (cursor.take('-')) {
    const last = takeAge(cursor);
    return last === null || last < years
      ? null
      : { sure: span(years, last), possible: span(years, last) };
  }
  if (years === 0 || cursor.takeAny(AND) === null) return null;
  if (cursor.takeAny(YOUNGER) !== null) return upToAge(years);
  if (cursor.takeAny(OLDER) !== null)
    return { sure: span(years, AGE_MAX), possible: span(years, AGE_MAX) };
  return null;
}
