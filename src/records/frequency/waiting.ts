/** Waiting periods in words: how long the longest one is. */
import { numberOf, tokensOf } from './tokens.ts';

export type WaitingPeriods =
  | { kind: 'none' }
  /** The longest of the lengths that are named. */
  | { kind: 'lasts'; months: number; days: number }
  /** No length is named. */
  | { kind: 'words' };

const NONE = new Set([
  ...['none', 'no', 'waived', 'no waiting period', 'no waiting periods', 'no wait', 'no waits'],
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

export function readWaitingPeriods(text: string): WaitingPeriods {
  const tokens = (tokensOf(text) ?? []).filter((token) => token !== '.');
  if (NONE.has(tokens.join(' '))) return { kind: 'none' };
  let longest: { months: number; days: number } | null = null;
  for (const [index, token] of tokens.entries()) {
    const length = numberOf(token);
    if (length === null) continue;
    const next = tokens[index + 1];
    // "six (6) months"
    if (next === '(' && numberOf(tokens[index + 2] ?? '') === length) continue;
    const unit = (next === '-' || next === ')' ? tokens[index + 2] : next) ?? '';
    const span = spanOf(length, unit);
    // A number without its unit may be a longer one: "6 months basic, 12 major".
    if (span === null) return { kind: 'words' };
    if (longest === null || roughly(span) > roughly(longest)) longest = span;
  }
  if (longest === null || longest.months > MONTHS_MAX) return { kind: 'words' };
  return roughly(longest) === 0 ? { kind: 'none' } : { kind: 'lasts', ...longest };
}

function spanOf(length: number, unit: string): { months: number; days: number } | null {
  if (MONTHS.has(unit)) return { months: length, days: 0 };
  if (YEARS.has(unit)) return { months: 12 * length, days: 0 };
  if (WEEKS.has(unit)) return { months: 0, days: 7 * length };
  return DAYS.has(unit) ? { months: 0, days: length } : null;
}

const roughly = ({ months, days }: { months: number; days: number }) => months * 31 + days;
