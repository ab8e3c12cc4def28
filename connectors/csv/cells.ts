/**
 * Writes CSV that people open in a spreadsheet and programs import: CRLF, quotation marks where
 * needed, no formulas.
 */
import { type Options, stringify } from 'csv-stringify/sync';
import type { Rows } from '../contract.ts';

/** Spreadsheets run a cell that begins like this as a formula; some also accept the wide forms. */
const FORMULA_START = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu;

/** Also quotes values with semicolons, which some programs use as separators, and outer spaces. */
const OPTIONS: Options = { record_delimiter: 'windows', quoted_match: /;|^ | $/ };

/**
 * Returns the text of one cell. A text that would run as a formula gets a leading apostrophe, which
 * spreadsheets show as text and our own reader removes; line breaks become spaces, so that every
 * reader sees one line per record.
 */
export function cellText(value: string): string {
  const is_formula = FORMULA_START.test(value);
  const line = value.replaceAll(CONTROL, ' ');
  return is_formula || FORMULA_START.test(line) ? `'${line}` : line;
}

/** A number that spreadsheets show unchanged: no leading zero, and short enough. */
const SHORT_NUMBER = /^(?:0|[1-9]\d{0,10})$/;
/** `0012E3`, `12 PM`, `MAR-1`, `5-MAY`: letters that a spreadsheet reads as a number or a time. */
const READ_WITH_LETTERS = [
  /^[\d.,\s]+e\s*[-+]?\s*\d+$/i,
  /^[\d\s.:]+(?:am|pm|a|p)$/i,
  /^[\d\s./,-]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[\d\s./,'-]*$/i,
  /^(?:true|false)$/i,
];

/**
 * Returns whether a spreadsheet would convert it to a number, a date, or a time: leading zeros are
 * lost, long numbers are rounded, `1/2` becomes a day.
 */
function isChangedBySpreadsheet(id: string): boolean {
  if (SHORT_NUMBER.test(id) || id.includes('"')) return false;
  if (!/[a-z]/i.test(id)) return /\d/.test(id);
  return READ_WITH_LETTERS.some((pattern) => pattern.test(id));
}

/** An identifier. `="00123"` stays text after a double-click in Excel and LibreOffice. */
export type IdCell = { id: string };

function textOf(value: string | IdCell): string {
  const text = cellText(typeof value === 'string' ? value : value.id);
  const is_plain = typeof value === 'string' || text !== value.id || !isChangedBySpreadsheet(text);
  return is_plain ? text : `="${text}"`;
}

/**
 * Returns lines with their line ends. Pass many at once: stringify takes longer to start than to
 * write a line.
 */
export function csvLines(lines: readonly (readonly string[])[]): string {
  return stringify(
    lines.map((values) => values.map(textOf)),
    OPTIONS,
  );
}

/** Builds a whole file, with the byte order mark by which spreadsheets recognize UTF-8. */
export function csvFile(
  header: readonly string[],
  lines: readonly (readonly (string | IdCell)[])[],
): Buffer {
  const records = [header, ...lines].map((values) => values.map(textOf));
  return Buffer.from(stringify(records, { ...OPTIONS, bom: true }));
}

const LINES_PER_PIECE = 256;

/** Builds the same file in pieces; each time that it is read, it reads the lines again. */
export function csvPieces(
  header: readonly string[],
  lines: Rows<readonly (string | IdCell)[]>,
): AsyncIterable<Buffer> {
  return {
    async *[Symbol.asyncIterator]() {
      yield csvFile(header, []);
      let waiting: string[][] = [];
      for await (const line of lines) {
        waiting.push(line.map(textOf));
        if (waiting.length < LINES_PER_PIECE) continue;
        yield Buffer.from(stringify(waiting, OPTIONS));
        waiting = [];
      }
      if (waiting.length > 0) yield Buffer.from(stringify(waiting, OPTIONS));
    },
  };
}
