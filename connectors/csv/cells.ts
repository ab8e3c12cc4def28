/**
 * Writing CSV that people open in a spreadsheet and programs import: CRLF, quotation marks where
 * needed, no formulas.
 */

/**
 * Spreadsheets run a cell that begins so as a formula; the wide forms are the same to some of them.
 */
const FORMULA_START = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu;

/**
 * One cell. What would run as a formula gets a leading apostrophe, which spreadsheets show as text
 * and our own reader takes away again; line breaks become spaces, so that a record is one line for
 * every reader.
 */
export function csvCell(value: string): string {
  const is_formula = FORMULA_START.test(value);
  const line = value.replaceAll(CONTROL, ' ');
  const text = is_formula || FORMULA_START.test(line) ? `'${line}` : line;
  return /[",;]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvLine(values: readonly string[]): string {
  return `${values.map(csvCell).join(',')}\r\n`;
}

/** A whole file, with the byte order mark by which spreadsheets know UTF-8. */
export function csvFile(header: readonly string[], lines: readonly (readonly string[])[]): Buffer {
  return Buffer.from(`\ufeff${csvLine(header)}${lines.map(csvLine).join('')}`);
}
