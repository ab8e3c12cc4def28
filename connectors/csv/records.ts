/**
 * Splits text into rows of cells so that one bad row costs one row (G7) and no text inside a
 * cell becomes a row.
 *
 * If csv-parse read the whole file, an unclosed quotation mark would swallow every row up to the
 * next mark, and with it other patients. So this module splits the rows; csv-parse only reads the
 * header and rows of several lines. A line is a row, unless a quotation mark at the beginning of
 * one of its cells is still open at the line's end:
 *
 * - If the mark closes properly on a later line (RFC 4180), all lines up to that one are one row,
 *   whatever their cells contain.
 * - If it does, and the closing line alone would also be a row, two rows may each have a stray
 *   mark: all lines from the first to the last are reported, and none is a row.
 * - If it never closes, or not properly, only this line is reported and is not a row: a strict
 *   reader finds no row there, and the text after the mark may be someone's words.
 */
import { parse } from 'csv-parse/sync';

/** `number` is the row's number in a spreadsheet: it starts at 1 and includes the header. */
export type Row = CellRow | { number: number; fault: RowFault };
export type CellRow = { number: number; cells: string[] };
export type RowFault =
  | 'stray quotation mark'
  | 'unclear quotation mark'
  | 'line break in a cell'
  | 'too long'
  | 'too few cells'
  | 'too many cells';

export type Shape = {
  separator: string;
  /** The number of cells in the header. */
  width: number;
  /** The cells that eligd reads: a line break inside one of them is a fault. */
  used: ReadonlySet<number>;
};

const MAX_LINE_CHARS = 1_000_000;

/**
 * `text` is empty if the line is too long; `opens`: a quoted cell continues after the line;
 * `is_stray`: text follows the end of a quoted cell; `ends`: where a line that is too long ends if
 * it begins inside a quoted cell.
 */
type Line = { text: string; opens: boolean; is_stray: boolean } & (
  | { is_too_long: false }
  | { is_too_long: true; ends: LineEnd }
);
type LineEnd = 'inside' | 'outside' | 'improper';

/** The place in a cell at which a text ends: after a separator, in a plain or quoted cell, … */
type Place = 'begin' | 'plain' | 'quoted' | 'behind a mark' | 'improper';

/** The place reached in a line that is not kept, if it began outside or inside a quoted cell. */
type Skipped = { outside: Place; inside: Place };
const BEGIN: Skipped = { outside: 'begin', inside: 'quoted' };

/** Splits text that arrives in pieces into rows; `push` returns the complete ones. */
export class RowReader {
  private readonly shape: Shape;
  private lines_to_skip: number;
  private rest = '';
  /** The place reached in the current line, if it is too long to keep. */
  private skipped: Skipped | null = null;
  /**
   * Inside a cell that is too long to search: no line is a row until the line on which the cell may
   * end.
   */
  private is_lost = false;
  private held: Line[] = [];
  /** The number of the last row. */
  private row_number: number;

  /** Skips `begin.lines` lines (title and header), which form `begin.rows` rows. */
  constructor(shape: Shape, begin: { lines: number; rows: number }) {
    this.shape = shape;
    this.lines_to_skip = begin.lines;
    this.row_number = begin.rows;
  }

  /** Returns the rows that are complete after this piece. */
  push(text: string): Row[] {
    let data = this.rest + text;
    // A carriage return at the end may be half of a line break.
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
    // Without this limit, a file of one endless line would be held in memory.
    if (this.rest.length > MAX_LINE_CHARS) {
      this.skipped = this.skip(data.slice(start));
      this.rest = tail;
    }
    return this.rows(lines, false);
  }

  /** Returns the remaining rows at the end of the text. */
  end(): Row[] {
    const data = normalLineEnds(this.rest);
    this.rest = '';
    const texts = data.split('\n');
    if (texts.at(-1) === '' && this.skipped === null) texts.pop();
    return this.rows(
      texts.map((text) => this.line(text)),
      true,
    );
  }

  private line(text: string): Line {
    if (this.skipped !== null || text.length > MAX_LINE_CHARS) {
      const { outside, inside } = this.skip(text);
      this.skipped = null;
      const end = lineEnd(outside);
      const quotes = { opens: end === 'inside', is_stray: end === 'improper' };
      return { text: '', ...quotes, is_too_long: true, ends: lineEnd(inside) };
    }
    const end = text.includes('"') ? atLineEnd(text, this.shape.separator, false) : 'outside';
    return { text, opens: end === 'inside', is_stray: end === 'improper', is_too_long: false };
  }

  private skip(text: string): Skipped {
    const { outside, inside } = this.skipped ?? BEGIN;
    const { separator } = this.shape;
    return {
      outside: placeAfter(outside, text, separator),
      inside: placeAfter(inside, text, separator),
    };
  }

  private rows(lines: Line[], is_end: boolean): Row[] {
    const queue = this.held.length === 0 ? lines : [...this.held, ...lines];
    this.held = [];
    const rows: Row[] = [];
    const report = (count: number, fault: RowFault) => {
      for (let n = 0; n < count; n += 1) rows.push({ number: this.nextNumber(), fault });
      i += count;
    };
    let i = Math.min(this.lines_to_skip, queue.length);
    this.lines_to_skip -= i;
    while (i < queue.length) {
      const line = queue[i] as Line;
      if (this.is_lost) {
        const lost_end = endInsideCell(line, this.shape.separator);
        this.is_lost = lost_end === 'inside';
        // A mark in the middle of the cell: the cell was never closed, and this line is not part of
        // it.
        if (lost_end === 'improper') continue;
        report(1, 'unclear quotation mark');
        continue;
      }
      const end = line.opens ? closingLine(queue, i, this.shape.separator) : null;
      if (end === 'not yet seen' && !is_end) {
        this.held = queue.slice(i);
        break;
      }
      if (end === 'too far') {
        this.is_lost = true;
        report(1, line.is_too_long ? 'too long' : 'unclear quotation mark');
        continue;
      }
      const found =
        typeof end === 'number' ? multilineRow(queue.slice(i, end + 1), this.shape) : 'not closed';
      if (found === 'unclear' && typeof end === 'number') {
        report(end + 1 - i, 'unclear quotation mark');
      } else if (typeof found !== 'string' && typeof end === 'number') {
        const row = joinedRow(this.nextNumber(), found, this.shape);
        if (row !== null) rows.push(row);
        i = end + 1;
      } else {
        const row = rowOfLine(this.nextNumber(), line, this.shape);
        if (row !== null) rows.push(row);
        i += 1;
      }
    }
    return rows;
  }

  private nextNumber(): number {
    this.row_number += 1;
    return this.row_number;
  }
}

function normalLineEnds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

/**
 * Returns whether a line ends inside a quoted cell, given whether its beginning is `inside` one.
 */
function atLineEnd(text: string, separator: string, inside: boolean): LineEnd {
  return lineEnd(placeAfter(inside ? BEGIN.inside : BEGIN.outside, text, separator));
}

/** Returns whether a quoted cell of the line continues on the next one. */
export function isLeftOpen(line: string, separator: string): boolean {
  return line.includes('"') && atLineEnd(line, separator, false) === 'inside';
}

/** Returns where a line ends if it begins inside a quoted cell. */
function endInsideCell(line: Line, separator: string): LineEnd {
  return line.is_too_long ? line.ends : atLineEnd(line.text, separator, true);
}

function lineEnd(place: Place): LineEnd {
  if (place === 'quoted') return 'inside';
  return place === 'improper' ? 'improper' : 'outside';
}

/**
 * Returns the place at which `text` ends if it continues at `from`. A mark inside an unquoted cell
 * is text; a mark that ends a cell in the middle is improper, and so is the rest of the line.
 */
function placeAfter(from: Place, text: string, separator: string): Place {
  let place = from;
  for (let at = 0; at < text.length; ) {
    if (place === 'improper') return place;
    if (place === 'begin') {
      place = text[at] === '"' ? 'quoted' : 'plain';
      if (place === 'quoted') at += 1;
    } else if (place === 'plain') {
      const next = text.indexOf(separator, at);
      if (next === -1) return place;
      place = 'begin';
      at = next + separator.length;
    } else if (place === 'quoted') {
      const mark = text.indexOf('"', at);
      if (mark === -1) return place;
      place = 'behind a mark';
      at = mark + 1;
    } else if (text[at] === '"') {
      place = 'quoted';
      at += 1;
    } else if (text.startsWith(separator, at)) {
      place = 'begin';
      at += separator.length;
    } else {
      place = 'improper';
    }
  }
  return place;
}

/**
 * Returns the line that closes the cell which line `from` leaves open; null if it ends improperly.
 */
function closingLine(
  lines: readonly Line[],
  from: number,
  separator: string,
): number | 'not yet seen' | 'too far' | null {
  if (lines[from]?.is_too_long) return 'too far';
  let chars = lines[from]?.text.length ?? 0;
  for (let i = from + 1; i < lines.length; i += 1) {
    const line = lines[i] as Line;
    const end = endInsideCell(line, separator);
    if (end === 'improper') return null;
    chars += line.text.length + 1;
    if (chars > MAX_LINE_CHARS || line.is_too_long) return 'too far';
    if (end === 'outside') return i;
  }
  return 'not yet seen';
}

/** Returns the cells of lines whose quotation marks may belong together. */
function multilineRow(lines: readonly Line[], shape: Shape): string[] | 'unclear' | 'not closed' {
  const cells = looseRow(lines.map((line) => line.text).join('\n'), shape.separator);
  if (cells === null) return 'not closed';
  // Two patients in one row would be the worst error here; text of one patient's note that becomes
  // a row would be just as bad.
  const last = checkedRow(0, looseRow(lines.at(-1)?.text ?? '', shape.separator), shape);
  return last !== null && 'cells' in last ? 'unclear' : cells;
}

/** Returns the cells if the text is exactly one well-formed record; otherwise null. */
export function strictRow(text: string, separator: string): string[] | null {
  try {
    const records = parse(text, { ...OPTIONS, delimiter: separator, relax_quotes: false });
    return records.length === 1 ? (records[0] ?? null) : null;
  } catch {
    return null;
  }
}

/** Returns one record, with quotation marks inside cells as text; null if one is never closed. */
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

/** Returns null for an empty line. */
function rowOfLine(number: number, line: Line, shape: Shape): Row | null {
  if (line.is_too_long) return { number, fault: 'too long' };
  if (line.opens || line.is_stray) return { number, fault: 'stray quotation mark' };
  if (line.text.trim() === '') return null;
  return checkedRow(number, cellsOfLine(line.text, shape.separator), shape);
}

/**
 * Returns the cells of a line on which every quoted cell ends properly. A mark inside an unquoted
 * cell is text.
 */
export function cellsOfLine(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const cells: string[] = [];
  for (let at = 0; ; ) {
    const is_quoted = text[at] === '"';
    const mark = is_quoted ? closingMark(text, at + 1) : at;
    const next = text.indexOf(separator, is_quoted ? mark + 1 : at);
    const end = next === -1 ? text.length : next;
    cells.push(is_quoted ? text.slice(at + 1, mark).replaceAll('""', '"') : text.slice(at, end));
    if (next === -1) return cells;
    at = next + separator.length;
  }
}

/**
 * Returns the end of the quoted cell whose text begins at `from`; two marks stand for one inside
 * it.
 */
function closingMark(text: string, from: number): number {
  let mark = text.indexOf('"', from);
  while (mark !== -1 && text[mark + 1] === '"') mark = text.indexOf('"', mark + 2);
  return mark === -1 ? text.length : mark;
}

const isEmpty = (cell: string): boolean => cell === '' || cell.trim() === '';

/**
 * Returns null for a row of empty cells, which spreadsheets leave at the end. Empty cells beyond
 * the header are allowed.
 */
function checkedRow(number: number, cells: string[] | null, { width }: Shape): Row | null {
  if (cells === null) return { number, fault: 'stray quotation mark' };
  if (cells.every(isEmpty)) return null;
  if (cells.length < width) return { number, fault: 'too few cells' };
  if (cells.length > width && !cells.slice(width).every(isEmpty))
    return { number, fault: 'too many cells' };
  return { number, cells };
}

/** The same for a row of several lines, whose cells may contain line breaks. */
function joinedRow(number: number, cells: string[], shape: Shape): Row | null {
  const row = checkedRow(number, cells, shape);
  const is_broken = [...shape.used].some((i) => cells[i]?.includes('\n'));
  if (row === null || 'fault' in row || !is_broken) return row;
  return { number, fault: 'line break in a cell' };
}
