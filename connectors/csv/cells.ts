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

/** What a spreadsheet would make a number of: leading zeros are lost, long numbers are rounded. */
const LOOKS_LIKE_A_NUMBER = /^(?:0\d+|\d{12,})$/;

/** An identifier. `="00123"` stays text at a double click in Excel and LibreOffice. */
export type IdCell = { id: string };

function cellOf(value: string | IdCell): string {
  if (typeof value === 'string') return csvCell(value);
  return LOOKS_LIKE_A_NUMBER.test(value.id) ? `"=""${value.id}"""` : csvCell(value.id);
}

export function csvLine(values: readonly (string | IdCell)[]): string {
  return `${values.map(cellOf).join(',')}\r\n`;
}

/** A whole file, with the byte order mark by which spreadsheets know UTF-8. */
export function csvFile(
  header: readonly string[],
  lines: readonly (readonly (string | IdCell)[])[],
): Buffer {
  return Buffer.from(`\ufeff${csvLine(header)}${lines.map(csvLine).join('')}`);
}
