/**
 * Reads single values of the service's answer: amounts, percentages, ages, dates, timestamps, yes
 * or no, text, codes. Each reader accepts any JSON value, never throws, and understands the formats
 * of `docs/service.md`. It reports doubtful values and does not guess.
 */
import { isRealDate, parseTimestamp } from '../domain/time.ts';
import type { Age, Money, Percent } from './eligibility.ts';
import { isNone, isUnanswered } from './none-words.ts';

/** What a reader found in one value. */
export type Reading<Value> =
  /** Missing, null, or blank: the value says nothing. */
  | { is: 'silent' }
  | { is: 'read'; value: Value }
  /** Kept in the record in the payer's words, for the office to check. */
  | { is: 'doubtful'; value: Value; why: Why }
  | { is: 'unreadable'; why: Why };

/** Why a value is under `unparsed`: fixed phrases without data that may be logged. */
export type Why =
  | 'unknown field'
  | 'unknown status'
  | 'not an object'
  | 'not a list'
  | 'not text'
  | 'too long'
  | 'not yes or no'
  | 'not an amount'
  | 'negative amount'
  | 'more than the whole'
  | 'not a percentage'
  | 'may be a fraction'
  | "may be the plan's share"
  | 'not an age'
  | 'not a date'
  | 'impossible date'
  | 'not a timestamp'
  | 'impossible timestamp'
  | 'not a pair'
  | 'no procedure code'
  | 'code answered more than once';

const SILENT = { is: 'silent' } as const;

const unreadable = (why: Why) => ({ is: 'unreadable', why }) as const;

/**
 * Words that payers use on purpose where an amount, a percentage, or an age belongs. They are kept,
 * and the office need not check them.
 */
const USUAL_WORDS = new Set([
  ...['unlimited', 'no limit', 'no maximum', 'no max', 'no minimum', 'no age limit'],
  'not covered',
]);

/** A copay with additional words, such as "$25 per office visit". */
const COPAY = new RegExp(
  String.raw`^(?:copay(?:ment)?:? )?(\$? ?[\d.,]+)(?: copay(?:ment)?)?` +
    '(?: ?(?:/|per|each) ?(?:office )?(?:visit|session|service))?$',
  'i',
);

/** Dates before this one are placeholders, such as 0001-01-01. */
const FIRST_YEAR = 1900;

/** Returns whether a value says nothing: missing, null, or only white space. */
export function isSilent(raw: unknown): raw is undefined | null | string {
  return raw === undefined || raw === null || (typeof raw === 'string' && raw.trim() === '');
}

export function readText(raw: unknown): Reading<string> {
  if (isSilent(raw)) return SILENT;
  if (typeof raw === 'string') return { is: 'read', value: raw };
  if (typeof raw === 'number') return { is: 'read', value: String(raw) };
  return unreadable('not text');
}

/**
 * A reader of something that limits what is paid. A value that it cannot read at all, such as a
 * list in place of text, is kept as words, because nothing in it says that there is no limit.
 */
export function neverLost<Value>(
  read: (raw: unknown) => Reading<Value>,
  fromWords: (words: string) => Value,
): (raw: unknown) => Reading<Value> {
  return (raw) => {
    const reading = read(raw);
    if (reading.is !== 'unreadable' || isEmptyValue(raw)) return reading;
    const texts = Array.isArray(raw) ? raw : [raw];
    const words = texts.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    return { is: 'doubtful', value: fromWords(words.join('; ')), why: reading.why };
  };
}

const isEmptyValue = (raw: unknown) =>
  typeof raw === 'object' && raw !== null && Object.keys(raw).length === 0;

/** Reads true and false, and yes, no, y, n, true, false as text. Not numbers: 0 may be a count. */
export function readYesNo(raw: unknown): Reading<boolean> {
  if (isSilent(raw)) return SILENT;
  if (typeof raw === 'boolean') return { is: 'read', value: raw };
  if (typeof raw === 'string') {
    if (/^\s*(?:true|yes|y)\s*$/i.test(raw)) return { is: 'read', value: true };
    if (/^\s*(?:false|no|n)\s*$/i.test(raw)) return { is: 'read', value: false };
  }
  return unreadable('not yes or no');
}

/**
 * Reads an amount in US dollars: a number, `1500.5`, `$1,500.00`, `1500 USD`. The decimals are
 * taken from the digits as written, without floating-point arithmetic. A number of more than 15
 * digits is no longer exact and is not read.
 */
export function readAmount(raw: unknown): Reading<Money> {
  if (isSilent(raw)) return SILENT;
  if (typeof raw === 'number') {
    if (raw < 0) return unreadable('negative amount');
    const digits = String(raw);
    if (!/^\d+(?:\.\d+)?$/.test(digits) || digits.replace('.', '').length > 15)
      return unreadable('not an amount');
    return { is: 'read', value: dollars(digits) };
  }
  if (typeof raw !== 'string') return unreadable('not an amount');
  const digits =
    /^(?:USD\s*)?\$?\s*(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:\s*USD)?$/i.exec(
      raw.trim(),
    )?.[1];
  // Three decimals may be thousands, because other countries write a period between thousands.
  return digits === undefined || /^[1-9]\d{0,2}\.\d{3}$/.test(digits)
    ? words(raw, 'not an amount')
    : { is: 'read', value: dollars(digits) };
}

/**
 * The same, including amounts below zero, which a payer takes back from a claim (`-120.00`,
 * `($120.00)`).
 */
export function readSignedAmount(raw: unknown): Reading<Money> {
  if (typeof raw === 'number' && raw < 0) return negated(readAmount(-raw));
  if (typeof raw !== 'string') return readAmount(raw);
  const below = /^(?:-\s*(.+)|(\$?)-\s*(.+)|\((.+)\))$/.exec(raw.trim());
  if (below === null) return readAmount(raw);
  const [, after = '', , behind = '', within = ''] = below;
  const reading = readAmount(after || behind || within);
  return reading.is === 'read' && 'amount' in reading.value ? negated(reading) : readAmount(raw);
}

function negated(reading: Reading<Money>): Reading<Money> {
  if (reading.is !== 'read' || !('amount' in reading.value)) return reading;
  const { amount, currency } = reading.value;
  return {
    is: 'read',
    value: { amount: /^0*\.0*$/.test(amount) ? amount : `-${amount}`, currency },
  };
}

/**
 * Returns digits with an optional decimal point and group separators as an amount with two or more
 * decimals.
 */
function dollars(digits: string): Money {
  const [whole = '', decimals = ''] = digits.replaceAll(',', '').split('.');
  const kept = decimals.replace(/(?<!0)0+$/, '').padEnd(2, '0');
  return { amount: `${whole.replace(/^0+(?=\d)/, '') || '0'}.${kept}`, currency: 'USD' };
}

/**
 * Keeps text in place of a number as received. The office should check it unless it is one of the
 * usual words.
 */
function words(raw: string, why: Why): Reading<{ text: string }> {
  const value = { text: raw };
  return isNone(raw, USUAL_WORDS) || isUnanswered(raw)
    ? { is: 'read', value }
    : { is: 'doubtful', value, why };
}

/**
 * Returns `whole - part`, exactly. Null when either is not a number in the same currency;
 * `overdrawn` when the part exceeds the whole.
 */
export function subtractMoney(whole: Money | null, part: Money | null): Money | null | 'overdrawn' {
  if (whole === null || part === null || !('amount' in whole) || !('amount' in part)) return null;
  if (whole.currency !== part.currency) return null;
  const decimals = Math.max(decimalsOf(whole.amount), decimalsOf(part.amount));
  const rest = scaled(whole.amount, decimals) - scaled(part.amount, decimals);
  if (rest < 0n) return 'overdrawn';
  const digits = rest.toString().padStart(decimals + 1, '0');
  return {
    ...dollars(`${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`),
    currency: whole.currency,
  };
}

/**
 * Returns the exact sum of amounts in the form of `Money` (decimal text with two or more decimals).
 */
export function sumOf(amounts: readonly string[]): string {
  const decimals = Math.max(2, ...amounts.map(decimalsOf));
  const digits = amounts
    .reduce((sum, amount) => sum + scaled(amount, decimals), 0n)
    .toString()
    .padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const decimalsOf = (amount: string) => amount.length - amount.indexOf('.') - 1;

const scaled = (amount: string, decimals: number) =>
  BigInt(amount.replace('.', '') + '0'.repeat(decimals - decimalsOf(amount)));

/**
 * Reads a percentage: 80, `80`, `80%`, `12.5 %`. A value above 0 and up to 1 without the sign may
 * be a fraction (0.8 for 80) and is kept as words, and so are values outside 0 to 100.
 */
export function readPercent(raw: unknown): Reading<Percent> {
  if (isSilent(raw)) return SILENT;
  const said = typeof raw === 'number' ? String(raw) : raw;
  if (typeof said !== 'string') return unreadable('not a percentage');
  const parts = /^(\d{1,3}(?:\.\d{1,6})?)\s*(%?)$/.exec(said.trim());
  if (parts === null) return words(said, 'not a percentage');
  const value = Number(parts[1]);
  if (value > 100) return words(said, 'not a percentage');
  if (value > 0 && value <= 1 && parts[2] === '')
    return { is: 'doubtful', value: { text: said }, why: 'may be a fraction' };
  return { is: 'read', value };
}

type Shares = { plan?: Percent; patient: Percent };

/**
 * Reads the service's `coinsurance_percentage`: the patient's share. Payers' staff also say "80 per
 * cent coinsurance" and mean the plan's. So a bare number over 50 counts, and is flagged for the
 * office to check. A text that says whose share it is ("plan pays 80%", "20% patient
 * responsibility") gives both.
 */
export function readCoinsurance(raw: unknown): Reading<Shares> {
  const named = typeof raw === 'string' ? namedShares(raw) : null;
  if (named !== null) return { is: 'read', value: named };
  const reading = readPercent(raw);
  if (reading.is === 'silent' || reading.is === 'unreadable') return reading;
  const value = { patient: reading.value };
  if (reading.is === 'doubtful') return { ...reading, value };
  const is_high = typeof reading.value === 'number' && reading.value > 50;
  return is_high
    ? { is: 'doubtful', value, why: "may be the plan's share" }
    : { is: 'read', value };
}

const PERCENT = String.raw`(\d{1,3}(?:\.\d{1,6})?) ?(?:%|percent|per cent)`;
const PLAN = '(?:the )?(?:plan|payer|payor|insurance|insurer|carrier)';
const PATIENT = '(?:the )?(?:patient|member|insured)';
const PAYS =
  '(?: (?:pays|covers|owes|share|share is|responsibility|responsibility is|is responsible for))?';
const SAID_OF = [
  [new RegExp(`^${PLAN}${PAYS}:? ${PERCENT}$`, 'i'), 'plan'],
  [new RegExp(`^${PERCENT} (?:paid by |covered by )?${PLAN}${PAYS}$`, 'i'), 'plan'],
  [new RegExp(`^${PATIENT}${PAYS}:? ${PERCENT}$`, 'i'), 'patient'],
  [new RegExp(`^${PERCENT} (?:paid by )?${PATIENT}${PAYS}$`, 'i'), 'patient'],
] as const;

function namedShares(said: string): { plan: number; patient: number } | null {
  for (const [pattern, whose] of SAID_OF) {
    const share = Number(pattern.exec(said.trim().replace(/\.$/, ''))?.[1] ?? Number.NaN);
    if (Number.isNaN(share) || share > 100) continue;
    // Rounds, so that 100 - 33.3 is 66.7.
    const rest = Math.round((100 - share) * 1e6) / 1e6;
    return whose === 'plan' ? { plan: share, patient: rest } : { plan: rest, patient: share };
  }
  return null;
}

/**
 * Reads a copay: an amount, alone or with words that identify it: `$25 copay`, `25.00 per visit`.
 */
export function readCopay(raw: unknown): Reading<Money> {
  if (typeof raw !== 'string') return readAmount(raw);
  const amount = COPAY.exec(raw.trim())?.[1];
  return readAmount(amount === undefined || readAmount(amount).is !== 'read' ? raw : amount);
}

/**
 * Reads an age in whole years from 1 to 120, as a number or digits; anything else is kept as words.
 */
export function readAge(raw: unknown): Reading<Age> {
  if (isSilent(raw)) return SILENT;
  const said = typeof raw === 'number' ? String(raw) : raw;
  if (typeof said !== 'string') return unreadable('not an age');
  const years = /^\d{1,3}$/.test(said.trim()) ? Number(said) : 0;
  return years >= 1 && years <= 120 ? { is: 'read', value: years } : words(said, 'not an age');
}

/**
 * Reads a date in the form MM-DD-YYYY, MM/DD/YYYY, or YYYY-MM-DD and returns it as YYYY-MM-DD. In
 * the American forms, the month always comes first.
 */
export function readDate(raw: unknown): Reading<string> {
  if (isSilent(raw)) return SILENT;
  if (typeof raw !== 'string') return unreadable('not a date');
  const said = raw.trim();
  const american = /^(\d{1,2})([-/])(\d{1,2})\2(\d{4})$/.exec(said);
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(said);
  if (american === null && iso === null) return unreadable('not a date');
  const [year, month, day] = (
    american === null ? [iso?.[1], iso?.[2], iso?.[3]] : [american[4], american[1], american[3]]
  ).map(Number);
  if (year === undefined || month === undefined || day === undefined)
    return unreadable('not a date');
  if (year < FIRST_YEAR || !isRealDate(year, month, day)) return unreadable('impossible date');
  return { is: 'read', value: `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}` };
}

/**
 * Reads an ISO 8601 timestamp with Z, with an offset, or without a zone, which means UTC. Returns
 * it in UTC with milliseconds; more precise digits are dropped.
 */
export function readTimestamp(raw: unknown): Reading<string> {
  if (isSilent(raw)) return SILENT;
  if (typeof raw !== 'string') return unreadable('not a timestamp');
  const at = parseTimestamp(raw);
  if (at === 'malformed') return unreadable('not a timestamp');
  if (at === 'impossible') return unreadable('impossible timestamp');
  const moment = new Date(at);
  if (moment.getUTCFullYear() < FIRST_YEAR || moment.getUTCFullYear() > 9999)
    return unreadable('impossible timestamp');
  return { is: 'read', value: moment.toISOString() };
}

const pad = (value: number, length: number) => String(value).padStart(length, '0');

/**
 * Normalizes a procedure code for comparison: trimmed, upper case, and for a dental code (CDT) with
 * its leading D, which the service allows to be omitted. Any other text keeps its form.
 */
export function comparableCode(said: string, isDental: boolean): string {
  const code = said.trim().toUpperCase();
  return isDental && /^\d{4}$/.test(code) ? `D${code}` : code;
}
