/**
 * Reads single cells. Each function returns a value or the *class* of its problem, never the text
 * itself (G6): classes and remedies go into reasons files and onto the attention list.
 */
import type { Specialty } from '../../src/domain/specialty.ts';

export type DateOrder = 'mdy' | 'dmy' | 'ymd';

/**
 * `fault` is the value class of a FieldProblem; a null `value` without a fault is an empty cell.
 */
export type Read<T> = { value: T | null; fault: string | null };

/**
 * Returns a copy of a cell to keep. The cell itself is a view into the text of its part of the
 * file, which would stay in memory with it.
 */
export const ownText = (cell: string): string => Buffer.from(cell).toString();

const EMPTY = { value: null, fault: null } as const;
const NULL_WORDS = new Set(['NULL', '\\N', 'N/A', '#N/A', '(null)', '<null>']);
/** Their first characters: looking up each cell takes longer than the rest of reading it. */
const NULL_BEGINNINGS = new Set([...NULL_WORDS].map((word) => word.charCodeAt(0)));

/**
 * Returns the cell trimmed, without what spreadsheets add to keep a number as text: `="00123"`,
 * `'00123`.
 */
export function cleanCell(cell: string): string {
  const trimmed = cell.trim();
  if (!trimmed.startsWith("'") && !trimmed.startsWith('=')) return trimmed;
  const text = /^'[0-9=+\-@]/.test(trimmed) ? trimmed.slice(1).trim() : trimmed;
  const is_wrapped = text.startsWith('="') && text.endsWith('"') && text.length > 2;
  return is_wrapped ? text.slice(2, -1).replaceAll('""', '"').trim() : text;
}

/**
 * Reads a cell that is not a name: a database's words for "nothing" count as empty. (Null is also a
 * family name.)
 */
export function plainCell(cell: string): string {
  const text = cleanCell(cell);
  return NULL_BEGINNINGS.has(text.charCodeAt(0)) && NULL_WORDS.has(text) ? '' : text;
}

/** Returns true for `1.23E+11`: a spreadsheet has removed the last digits of an ID. */
export function isScientific(text: string): boolean {
  return text.length > 4 && text.includes('+') && /^\d(?:[.,]\d+)?E\+\d+$/i.test(text);
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const FIRST_YEAR = 1850;
const LAST_YEAR = 2200;
const DAYS_IN_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** A date, and the time after it if the cell has one. */
export type DateParts = { year: number; month: number; day: number; rest: string };

const ISO_DATE = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T ,]+(.*))?$/is;
const COMPACT_DATE = /^(\d{4})(\d{2})(\d{2})(?:[T ]?(\d{4,6}.*))?$/is;
const NUMERIC_DATE = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?:[T ,]+(.*))?$/is;
const WEEKDAY = String.raw`(?:[a-z]{3,9}\.?,? +)?`;
const MONTH_NAME = String.raw`([a-z]{3,9})\.?`;
const DAY_NUMBER = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const NAMED_MONTH_FIRST = new RegExp(
  String.raw`^${WEEKDAY}${MONTH_NAME} +${DAY_NUMBER},? +(\d{4})(?:[T ,]+(?:at )?(.*))?$`,
  'is',
);
const NAMED_DAY_FIRST = new RegExp(
  String.raw`^${WEEKDAY}${DAY_NUMBER}[- .]+${MONTH_NAME}[- ,]+(\d{4})(?:[T ,]+(.*))?$`,
  'is',
);

/**
 * Reads the date at the beginning of a cell. The order is configured, never guessed: 13/04/2026
 * under `mdy` is impossible, not April.
 */
export function readDateParts(
  text: string,
  order: DateOrder,
  two_digit_years: boolean,
): Read<DateParts> {
  if (text === '') return EMPTY;
  const parts = matchDate(text, order, two_digit_years);
  if (typeof parts === 'string') return { value: null, fault: parts };
  const { year, month, day } = parts;
  if (isNoDate(year, month, day)) return EMPTY;
  return isCalendarDate(year, month, day)
    ? { value: parts, fault: null }
    : { value: null, fault: 'impossible date' };
}

function matchDate(text: string, order: DateOrder, two_digit_years: boolean): DateParts | string {
  const iso = ISO_DATE.exec(text);
  if (iso) return parts(iso[1], iso[3], iso[4], iso[5]);
  const compact = COMPACT_DATE.exec(text);
  if (compact) return parts(compact[1], compact[2], compact[3], compact[4]);
  const numeric = NUMERIC_DATE.exec(text);
  if (numeric) {
    if (order === 'ymd') return 'not a date in the configured order';
    const year = numeric[4] ?? '';
    if (year.length === 2 && !two_digit_years) return 'two-digit year';
    const full = year.length === 2 ? `20${year}` : year;
    return order === 'mdy'
      ? parts(full, numeric[1], numeric[3], numeric[5])
      : parts(full, numeric[3], numeric[1], numeric[5]);
  }
  const named = NAMED_MONTH_FIRST.exec(text);
  if (named) return namedParts(named[3], named[1], named[2], named[4]);
  const dayFirst = NAMED_DAY_FIRST.exec(text);
  if (dayFirst) return namedParts(dayFirst[3], dayFirst[2], dayFirst[1], dayFirst[4]);
  return 'not a date';
}

function parts(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  rest: string | undefined,
): DateParts {
  return { year: Number(year), month: Number(month), day: Number(day), rest: (rest ?? '').trim() };
}

function namedParts(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  rest: string | undefined,
) {
  const number = MONTHS.indexOf((month ?? '').slice(0, 3).toLowerCase()) + 1;
  return number === 0 ? 'not a date' : parts(year, String(number), day, rest);
}

/**
 * Returns true for `0001-01-01`, `1753-01-01`, `0000-00-00`, `9999-12-31`, which databases write
 * for "no date".
 */
export function isNoDate(year: number, month: number, day: number): boolean {
  const is_first = month === 1 && day === 1;
  if (year === 0) return month === 0 && day === 0;
  return (year < FIRST_YEAR && is_first) || (year > LAST_YEAR && month === 12 && day === 31);
}

/** Returns whether the calendar has this day, within the years that an export may name. */
export function isCalendarDate(year: number, month: number, day: number): boolean {
  if (
    year < FIRST_YEAR ||
    year > LAST_YEAR ||
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > (DAYS_IN_MONTH[month - 1] ?? 0)
  )
    return false;
  return month !== 2 || day < 29 || (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0));
}

/** Returns the date as `YYYY-MM-DD`. */
export function isoDate(date: DateParts): string {
  return `${String(date.year).padStart(4, '0')}-${pad(date.month)}-${pad(date.day)}`;
}

const pad = (number: number) => (number < 10 ? `0${number}` : String(number));

/** A wall time; `offset_minutes` is null if the clinic's zone applies. */
export type TimeParts = {
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  offset_minutes: number | null;
};

/** Hour, minute, second, fraction; morning or afternoon; offset; a zone's name in brackets. */
const CLOCK_TIME = new RegExp(
  [
    String.raw`^(\d{1,2})(?:[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?)?`,
    String.raw` ?(am?|pm?|a\.m\.?|p\.m\.?)?`,
    String.raw`(?: ?(z|utc|gmt|[+-]\d{2}(?::?\d{2})?))?`,
    String.raw`(?: ?\[[\w/+-]+\])?$`,
  ].join(''),
  'i',
);
const COMPACT_TIME = /^(\d{1,2})(\d{2})(\d{2})?(?: ?(z|[+-]\d{2}(?::?\d{2})?))?$/i;

/** Reads `14:30`, `2:30 PM`, `1430`, `14:30:00.5-06:00`; null for anything else. */
export function readTime(text: string): TimeParts | null {
  const clock = CLOCK_TIME.exec(text);
  if (clock) {
    const half = clock[5]?.charAt(0).toLowerCase();
    if (half === undefined && clock[2] === undefined) return null;
    let hour = Number(clock[1]);
    if (half !== undefined) {
      if (hour < 1 || hour > 12) return null;
      hour = (hour % 12) + (half === 'p' ? 12 : 0);
    }
    const said = {
      hour,
      minute: Number(clock[2] ?? 0),
      second: Number(clock[3] ?? 0),
      millisecond: Number((clock[4] ?? '0').padEnd(3, '0').slice(0, 3)),
    };
    return checkedTime(said, clock[6]);
  }
  const compact = COMPACT_TIME.exec(text);
  if (compact === null) return null;
  const said = {
    hour: Number(compact[1]),
    minute: Number(compact[2]),
    second: Number(compact[3] ?? 0),
    millisecond: 0,
  };
  return checkedTime(said, compact[4]);
}

function checkedTime(
  said: Omit<TimeParts, 'offset_minutes'>,
  offset: string | undefined,
): TimeParts | null {
  if (said.hour > 23 || said.minute > 59 || said.second > 59) return null;
  const offset_minutes = offset === undefined ? null : offsetMinutes(offset);
  if (offset_minutes !== null && Math.abs(offset_minutes) > 18 * 60) return null;
  return { ...said, offset_minutes };
}

function offsetMinutes(offset: string): number {
  if (/^[a-z]/i.test(offset)) return 0;
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return offset.startsWith('-') ? -minutes : minutes;
}

const YES = new Set([
  'yes',
  'y',
  'true',
  't',
  '1',
  'x',
  'in',
  'in network',
  'in-network',
  'innetwork',
  'par',
  'participating',
]);
const NO = new Set([
  'no',
  'n',
  'false',
  'f',
  '0',
  'out',
  'out of network',
  'out-of-network',
  'oon',
  'nonpar',
  'non-par',
  'non participating',
]);

/** Reads a yes or no in the usual words. */
export function readYesNo(text: string): Read<boolean> {
  if (text === '') return EMPTY;
  const word = text.toLowerCase();
  if (YES.has(word)) return { value: true, fault: null };
  return NO.has(word)
    ? { value: false, fault: null }
    : { value: null, fault: 'neither yes nor no' };
}

const SPECIALTY_WORDS: [Specialty, RegExp][] = [
  ['mental_health', /mental|behaviou?ral|psych|counsel|therapist|lcsw|substance|^mh$/],
  ['dental', /dent|ortho(?!p)|endo(?!c)|perio|prostho|oral|pedo|hygien/],
  [
    'medical',
    new RegExp(
      'medic|physician|primary care|family|internal|cardio|pediatric|surgery|ob ?gyn|orthop' +
        '|endoc|derm|urgent',
    ),
  ],
];

/** Reads a word for a specialty. */
export function readSpecialty(text: string): Read<Specialty> {
  if (text === '') return EMPTY;
  const word = text.toLowerCase().replaceAll(/[_-]+/g, ' ');
  const found = SPECIALTY_WORDS.find(([, pattern]) => pattern.test(word));
  return found ? { value: found[0], fault: null } : { value: null, fault: 'unknown word' };
}

const PROCEDURE_CODE = /^[A-Z]?\d{4}[A-Z0-9]?(?:[.-][A-Z0-9]{1,4})?$/;
/**
 * A code of CDT, CPT, or HCPCS with a modifier (99213-25) or a clinic's own suffix (D0140.LTD):
 * payers use the code alone.
 */
const MODIFIED_CODE = /^([A-Z]\d{4}|\d{4}[A-Z0-9])[.-][A-Z0-9]{1,4}$/;
const DIAGNOSIS_CODE = /^[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?$/;

/**
 * Reads the codes of a cell, uppercase, without repeats. Keeps a clinic's own one-word codes
 * between separators; of `D0120 - Periodic exam`, only the code. `lost`: a piece contained no code.
 */
function readCodes(text: string, pattern: RegExp): { codes: string[]; lost: boolean } {
  const { all, lost } = readEveryCode(text, pattern);
  return { codes: [...new Set(all)], lost };
}

/** Reads the codes with repeats, in the order of the cell. */
function readEveryCode(text: string, pattern: RegExp): { all: string[]; lost: boolean } {
  const all: string[] = [];
  let lost = false;
  for (const piece of text.toUpperCase().split(/[,;|\n]+/)) {
    const words = piece.split(/\s+/).filter((word) => word !== '');
    const known = words.filter((word) => pattern.test(word));
    if (known.length > 0) all.push(...known);
    else if (words.length === 1 && words[0] !== undefined && /^[A-Z0-9][A-Z0-9.-]*$/.test(words[0]))
      all.push(words[0]);
    else if (words.length > 0) lost = true;
  }
  return { all, lost };
}

const withoutModifier = (code: string) => MODIFIED_CODE.exec(code)?.[1] ?? code;

/** Reads the procedure codes of a cell, without modifiers and repeats. */
export function readProcedureCodes(text: string): { codes: string[]; lost: boolean } {
  const { codes, lost } = readCodes(text, PROCEDURE_CODE);
  return { codes: [...new Set(codes.map(withoutModifier))], lost };
}

/** No visit has more of one procedure: teeth and their surfaces. */
const COUNT_MAX = 99;

/** Returns how often each repeated code is in the cell; null: none is repeated. */
export function readProcedureCounts(text: string): Record<string, number> | null {
  const counts = new Map<string, number>();
  for (const code of readEveryCode(text, PROCEDURE_CODE).all.map(withoutModifier))
    counts.set(code, Math.min(COUNT_MAX, (counts.get(code) ?? 0) + 1));
  const repeated = [...counts].filter(([, count]) => count > 1);
  return repeated.length === 0 ? null : Object.fromEntries(repeated);
}

const FEE = /^\$?\s*(\d{1,3}(?:,\d{3})+|\d{1,7})(\.\d{1,2})?$/;

/**
 * Reads fees in the order of the codes, separated by `;`, `|`, or spaces: dollars as decimal text
 * by code. A piece may be empty; a code that is listed twice has the sum, unless one of its pieces
 * is empty. Null if the two cells do not match, or a piece is not an amount.
 */
export function readProcedureFees(codes: string, fees: string): Record<string, string> | null {
  const { all } = readEveryCode(codes, PROCEDURE_CODE);
  const is_separated = /[;|\n]/.test(fees);
  const pieces = is_separated
    ? fees.split(/[;|\n]/).map((piece) => piece.trim())
    : fees.split(/\s/).flatMap((piece) => (piece === '' ? [] : [piece.replace(/,$/, '')]));
  if (pieces.length !== all.length) return null;
  const cents = new Map<string, number>();
  const open = new Set<string>();
  for (const [index, piece] of pieces.entries()) {
    const code = withoutModifier(all[index] ?? '');
    if (piece === '') open.add(code);
    if (piece === '') continue;
    const [, whole = '', decimals = ''] = FEE.exec(piece) ?? [];
    if (whole === '') return null;
    const fee = Number(whole.replaceAll(',', '')) * 100 + Number(decimals.slice(1).padEnd(2, '0'));
    cents.set(code, (cents.get(code) ?? 0) + fee);
  }
  return Object.fromEntries(
    [...cents]
      .filter(([code]) => !open.has(code))
      .map(([code, sum]) => [
        code,
        `${Math.trunc(sum / 100)}.${String(sum % 100).padStart(2, '0')}`,
      ]),
  );
}

/** Reads the diagnosis codes of a cell, without repeats. */
export const readDiagnosisCodes = (text: string) => readCodes(text, DIAGNOSIS_CODE);
