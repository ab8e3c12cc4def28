/** Reads waiting periods in words: how long the longest one is. */
import { isNone } from '../none-words.ts';
import { numberOf, tokensOf } from './tokens.ts';

type WaitingPeriods =
  | { kind: 'none' }
  /** The longest of the stated periods. */
  | { kind: 'lasts'; months: number; days: number }
  /** No length is stated. */
  | { kind: 'words' };

const NO_WAIT = new Set([
  ...['no', 'waived', 'no waiting period', 'no waiting periods', 'no wait', 'no waits'],
  ...['none apply', 'no waiting period applies', 'no waiting periods apply', 'does not apply'],
  ...['all waived', 'none for any service', 'there are no waiting periods', 'not applicable'],
  ...['there is no waiting period', 'waiting periods waived', 'waiting period waived'],
  ...['waiting periods are waived', 'waiting period is waived', 'none required', '0', 'met'],
  ...['satisfied', 'waiting periods met', 'waiting period met', 'waiting periods satisfied'],
  ...['waiting periods have been met', 'waiting period has been met', 'all met', 'all satisfied'],
  ...['waiting periods have been satisfied', 'waiting period has been satisfied', 'has been met'],
  ...['waiting period satisfied', 'have been met', 'no waiting periods apply to this plan'],
]);
const MONTHS = new Set(['month', 'months', 'mo', 'mos', 'mth', 'mths']);
const YEARS = new Set(['year', 'years', 'yr', 'yrs']);
const WEEKS = new Set(['week', 'weeks', 'wk', 'wks']);
const DAYS = new Set(['day', 'days']);
const MONTHS_MAX = 600;

/**
 * Words that neither make a period longer nor start it on another day than the coverage. A text
 * with any other word remains words.
 */
const KNOWN = new Set([
  ...['preventive', 'preventative', 'diagnostic', 'basic', 'major', 'minor', 'restorative'],
  ...['orthodontic', 'orthodontics', 'orthodontia', 'ortho', 'endodontic', 'endodontics', 'endo'],
  ...['periodontic', 'periodontics', 'periodontal', 'perio', 'oral', 'surgery', 'surgical', 'tmj'],
  ...['prosthodontic', 'prosthodontics', 'prosthetics', 'prosthetic', 'crown', 'crowns', 'bridge'],
  ...['bridges', 'bridgework', 'denture', 'dentures', 'implant', 'implants', 'filling', 'fillings'],
  ...['extraction', 'extractions', 'root', 'canal', 'canals', 'inlays', 'onlays', 'restorations'],
  ...['class', 'type', 'i', 'ii', 'iii', 'iv', 'dental', 'service', 'services', 'care', 'work'],
  ...['treatment', 'treatments', 'procedure', 'procedures', 'benefits', 'coverage', 'waiting'],
  ...['wait', 'waits', 'period', 'periods', 'for', 'on', 'and', 'the', 'to', 'in', 'is', 'are'],
  ...['a', 'an', 'all', 'any', 'there', 'has', 'have', 'apply', 'applies', 'only', 'none', 'no'],
  ...['yes', 'waived', 'met', 'satisfied', 'with', 's', ',', ';', ':', '(', ')', '/', '&', '-'],
]);

/** Whole phrases that are removed before the words are read. */
const PHRASES: readonly RegExp[] = [
  /\b(?:from|after|following) (?:the )?effective date(?: of (?:the )?(?:coverage|plan|policy))?\b/g,
  /\bof (?:continuous )?coverage\b/g,
  /\b(?<=(?:wait|periods?) )of\b/g,
  /\bwaived (?:with|if) (?:proof of )?(?:prior|previous|creditable|continuous) coverage\b/g,
];

const JOINTS = new Set(['and', ',', '&', '/', '-', ';', '(']);

/**
 * Reads waiting periods. A period is never read as shorter than stated; uncertain text stays words.
 */
export function readWaitingPeriods(text: string): WaitingPeriods {
  const tokens = (tokensOf(text) ?? []).filter((token) => token !== '.');
  if (isNone(tokens.join(' '), NO_WAIT)) return { kind: 'none' };
  const plain = PHRASES.reduce((words, phrase) => words.replace(phrase, ''), tokens.join(' '));
  const is_known = (token: string) => KNOWN.has(token) || isUnit(token) || numberOf(token) !== null;
  if (!plain.split(' ').every((token) => token === '' || is_known(token))) return { kind: 'words' };
  const spans = spansOf(tokens);
  if (spans === null || spans.length === 0) return { kind: 'words' };
  const longest = spans.reduce((one, other) => (roughly(other) > roughly(one) ? other : one));
  if (longest.months > MONTHS_MAX) return { kind: 'words' };
  return roughly(longest) === 0 ? { kind: 'none' } : { kind: 'lasts', ...longest };
}

type Span = { months: number; days: number };

/** Returns every length in the text. Null: a number without a unit, or a unit without a number. */
function spansOf(tokens: readonly string[]): Span[] | null {
  const spans: Span[] = [];
  const units = new Set<number>();
  let end = -1;
  for (const [index, token] of tokens.entries()) {
    const is_one = (token === 'a' || token === 'an') && isUnit(tokens[index + 1]);
    const length = is_one ? 1 : numberOf(token);
    if (length === null) continue;
    const next = tokens[index + 1];
    // "six (6) months"
    if (next === '(' && numberOf(tokens[index + 2]) === length) continue;
    const at = next === '-' || next === ')' ? index + 2 : index + 1;
    const span = spanOf(length, tokens[at] ?? '');
    // A number without a unit may mean a longer period: "6 months basic, 12 major".
    if (span === null) return null;
    // "1 year and 6 months" is one length, "6 months, 12 months" is two.
    if (end !== -1 && tokens.slice(end + 1, index).every((each) => JOINTS.has(each))) return null;
    end = at;
    units.add(at);
    spans.push(span);
  }
  return tokens.every((token, index) => !isUnit(token) || units.has(index)) ? spans : null;
}

const isUnit = (token: string | undefined) => spanOf(1, token ?? '') !== null;

function spanOf(length: number, unit: string): Span | null {
  if (MONTHS.has(unit)) return { months: length, days: 0 };
  if (YEARS.has(unit)) return { months: 12 * length, days: 0 };
  if (WEEKS.has(unit)) return { months: 0, days: 7 * length };
  return DAYS.has(unit) ? { months: 0, days: length } : null;
}

const roughly = ({ months, days }: Span) => months * 31 + days;
