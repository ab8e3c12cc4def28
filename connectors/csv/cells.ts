/**
 * Writing CSV that people open in a spreadsheet and programs import: CRLF, quotation marks where
 * needed, no formulas.
 */
import { type Options, stringify } from 'csv-stringify/sync';

/**
 * Spreadsheets run a cell that begins so as a formula; the wide forms are the same to some of them.
 */
const FORMULA_START = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu;

/** Also quoted: what programs with a semicolon for a separator would split, and outer spaces. */
const OPTIONS: Options = { record_delimiter: 'windows', quoted_match: /;|^ | $/ };

/**
 * The text of one cell. What would run as a formula gets a leading apostrophe, which spreadsheets
 * show as text and our own reader takes away again; line breaks become spaces, so that a record is
 * one line for every reader.
 */
export function cellText(value: string): string {
  const is_formula = FORMULA_START.test(value);
  const line = value.replaceAll(CONTROL, ' ');
  return is_formula || FORMULA_START.test(line) ? `'${line}` : line;
}

/** What a spreadsheet would make a number of: leading zeros are lost, long numbers are rounded. */
const LOOKS_LIKE_A_NUMBER = /^(?:0\d+|\d{12,})$/;

/** An identifier. `="00123"` stays text at a double click in Excel and LibreOffice. */
export type IdCell = { id: string };

function textOf(value: string | IdCell): string {
  if (typeof value === 'string') return cellText(value);
  return LOOKS_LIKE_A_NUMBER.test(value.id) ? `="${value.id}"` : cellText(value.id);
}

export function csvLine(values: readonly (string | IdCell)[]): string {
  return stringify([values.map(textOf)], OPTIONS);
}

/** A whole file, with the byte order mark by which spreadsheets know UTF-8. */
export function csvFile(
  header: readonly string[],
  lines: readonly (readonly (string | IdCell)[])[],
): Buffer {
  const records = [header, ...lines].map((values) => values.map(textOf));
  return Buffer.from(stringify(records, { ...OPTIONS, bom: true }));
}
