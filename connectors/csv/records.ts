/**
 * From text to rows of cells, such that one bad row costs one row (G7).
 *
 * csv-parse splits rows into cells; alone it would let a quotation mark that is never closed
 * swallow every row up to the next one, and with it other patients. So rows are cut here first: a
 * line with an even number of quotation marks is a row. One with an odd number either begins a cell
 * that goes over several lines, or has a stray mark; it is taken together with what follows only if
 * that gives exactly one proper row in which no column that we read goes over a line, and none of
 * the lines is a row by itself. Otherwise the line stands alone, and if it cannot be split so, it
 * alone is reported.
 */
import { parse } from 'csv-parse/sync';

/** `number` counts as a spreadsheet shows it, the header included, from 1. */
export type Row = { number: number; cells: string[] } | { number: number; fault: RowFault };
export type RowFault = 'stray quotation mark' | 'too long' | 'too few cells' | 'too many cells';

export type Shape = {
  separator: string;
  /** Cells of the header. */
  width: number;
  /** Cells that hold what we read: a line break inside one of them is a fault. */
  used: ReadonlySet<number>;
};

const MAX_LINE_CHARS = 1_000_000;
const MAX_LINES_OF_ROW = 200;

type Line = { text: string; is_odd: boolean; is_too_long: boolean };

/** Splits text that comes in pieces into rows; `push` gives those that are complete. */
export class RowReader {
  private readonly shape: Shape;
  private lines_to_skip: number;
  private rest = '';
  private is_skipping = false;
  private held: Line[] = [];
  /** Of the row before the next one. */
  private row_number: number;

  /** `begin.lines` lines (title and header) are left out; they make up `begin.rows` rows. */
  constructor(shape: Shape, begin: { lines: number; rows: number }) {
    this.shape = shape;
    this.lines_to_skip = begin.lines;
    this.row_number = begin.rows;
  }

  push(text: string): Row[] {
    let data = this.rest + text;
    // A carriage return at the end may be half of a line end.
    const cut = data.endsWith('\r') ? data.length - 1 : data.length;
    const tail = data.slice(cut);
    data = normalLineEnds(data.slice(0, cut));
    const lines: Line[] = [];
    let start = 0;
    for (let end = data.indexOf('\n'); end !== -1; end = data.indexOf('\n', start)) {
      lines.push(this.line(data.slice(start, end)));
      start = end + 1;
    }
    this.rest = data.slice(start) + tail;
    // Without this bound a file of one endless line would be held in memory.
    if (this.rest.length > MAX_LINE_CHARS) {
      this.is_skipping = true;
      this.rest = '';
    }
    return this.rows(lines, false);
  }

  end(): Row[] {
    const data = normalLineEnds(this.rest);
    this.rest = '';
    const texts = data.split('\n');
    if (texts.at(-1) === '' && !this.is_skipping) texts.pop();
    return this.rows(
      texts.map((text) => this.line(text)),
      true,
    );
  }

  private line(text: string): Line {
    const is_too_long = this.is_skipping || text.length > MAX_LINE_CHARS;
    this.is_skipping = false;
    return is_too_long
      ? { text: '', is_odd: false, is_too_long }
      : { text, is_odd: hasOddQuotes(text), is_too_long };
  }

  private rows(lines: Line[], is_end: boolean): Row[] {
    const queue = this.held.length === 0 ? lines : [...this.held, ...lines];
    this.held = [];
    const rows: Row[] = [];
    let plain: Numbered[] = [];
    const flush = () => {
      splitPlainLines(plain, this.shape, rows);
      plain = [];
    };
    let i = Math.min(this.lines_to_skip, queue.length);
    this.lines_to_skip -= i;
    while (i < queue.length) {
      const line = queue[i] as Line;
      const end = line.is_odd ? closingLine(queue, i) : null;
      if (end === 'not yet seen' && !is_end) {
        this.held = queue.slice(i);
        break;
      }
      this.row_number += 1;
      const cells =
        typeof end === 'number' ? multilineRow(queue.slice(i, end + 1), this.shape) : null;
      if (cells !== null && typeof end === 'number') {
        flush();
        rows.push({ number: this.row_number, cells });
        i = end + 1;
      } else {
        plain.push({ number: this.row_number, line });
        i += 1;
      }
    }
    flush();
    return rows;
  }
}

type Numbered = { number: number; line: Line };

function normalLineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

function hasOddQuotes(text: string): boolean {
  let is_odd = false;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) is_odd = !is_odd;
  return is_odd;
}

/**
 * The next line with an odd number of quotation marks: where a cell that begins on line `from`
 * would end.
 */
function closingLine(lines: readonly Line[], from: number): number | 'not yet seen' | null {
  let chars = lines[from]?.text.length ?? 0;
  for (let i = from + 1; i < lines.length; i += 1) {
    const line = lines[i] as Line;
    chars += line.text.length;
    if (i - from >= MAX_LINES_OF_ROW || chars > MAX_LINE_CHARS || line.is_too_long) return null;
    if (line.is_odd) return i;
  }
  return 'not yet seen';
}

function multilineRow(lines: readonly Line[], shape: Shape): string[] | null {
  const cells = strictRow(lines.map((line) => line.text).join('\n'), shape.separator);
  if (cells === null || cells.length !== shape.width) return null;
  for (const i of shape.used) if (cells[i]?.includes('\n')) return null;
  // Two patients in one row is the worst that can happen here; a line that is a row by itself is
  // taken as one.
  const is_row = (line: Line) => looseRow(line.text, shape.separator)?.length === shape.width;
  return lines.slice(1).some(is_row) ? null : cells;
}

/** Exactly one well-formed record, or null. */
export function strictRow(text: string, separator: string): string[] | null {
  try {
    const records = parse(text, { ...OPTIONS, delimiter: separator, relax_quotes: false });
    return records.length === 1 ? (records[0] ?? null) : null;
  } catch {
    return null;
  }
}

/** One record, quotation marks inside cells taken as they are; null when one is never closed. */
function looseRow(text: string, separator: string): string[] | null {
  try {
    const records = parse(text, { ...OPTIONS, delimiter: separator });
    return records.length === 1 ? (records[0] ?? null) : null;
  } catch {
    return null;
  }
}

const OPTIONS = {
  relax_quotes: true,
  relax_column_count: true,
  record_delimiter: '\n',
  bom: false,
} as const;

/**
 * Many lines in one call of csv-parse, which is what makes it fast; one by one when a stray mark
 * has joined some of them.
 */
function splitPlainLines(lines: readonly Numbered[], shape: Shape, rows: Row[]): void {
  const usable: Numbered[] = [];
  for (const numbered of lines) {
    if (!numbered.line.is_too_long && numbered.line.text.trim() !== '') usable.push(numbered);
  }
  const cells =
    splitTogether(usable, shape.separator) ??
    usable.map(({ line }) => looseRow(line.text, shape.separator));
  let at = 0;
  for (const { number, line } of lines) {
    if (line.is_too_long) rows.push({ number, fault: 'too long' });
    else if (usable[at]?.number === number) {
      const row = checkedRow(number, cells[at] ?? null, shape.width);
      if (row !== null) rows.push(row);
      at += 1;
    }
  }
}

function splitTogether(lines: readonly Numbered[], separator: string): string[][] | null {
  if (lines.length === 0) return [];
  try {
    const records = parse(lines.map(({ line }) => line.text).join('\n'), {
      ...OPTIONS,
      delimiter: separator,
    });
    return records.length === lines.length ? records : null;
  } catch {
    return null;
  }
}

/**
 * Null for a row of empty cells, which spreadsheets leave at the end. Empty cells beyond the header
 * are let pass.
 */
function checkedRow(number: number, cells: string[] | null, width: number): Row | null {
  if (cells === null) return { number, fault: 'stray quotation mark' };
  if (cells.every((cell) => cell.trim() === '')) return null;
  if (cells.length < width) return { number, fault: 'too few cells' };
  if (cells.length > width && cells.slice(width).some((cell) => cell.trim() !== ''))
    return { number, fault: 'too many cells' };
  return { number, cells };
}
