/**
 * Writes a table as an Excel workbook: every cell is text, so no value becomes a number or a
 * formula.
 */
import type { Cell } from 'write-excel-file/node';
import type { IdCell } from './cells.ts';

/** Characters that XML cannot contain, and line breaks: a record is one line in the CSV as well. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff]+/gu;
/** The longest text in an Excel cell. */
const CELL_CHARS_MAX = 32_767;

export type WorkbookColumn = { name: string; width_chars: number };

/** Returns the bytes of an .xlsx file with one sheet; its first row stays visible. */
export async function workbookFile(
  sheet: string,
  columns: readonly WorkbookColumn[],
  lines: readonly (readonly (string | IdCell)[])[],
): Promise<Buffer> {
  // Loaded with the first workbook, because it takes 15 MB.
  const { default: writeExcelFile } = await import('write-excel-file/node');
  const header = columns.map(({ name }): Cell => ({ value: name, fontWeight: 'bold' }));
  const file = writeExcelFile([header, ...lines.map((line) => line.map(cellOf))], {
    sheet,
    columns: columns.map(({ width_chars }) => ({ width: width_chars })),
    stickyRowsCount: 1,
    orientation: 'landscape',
  });
  return await file.toBuffer();
}

function cellOf(value: string | IdCell): Cell {
  const text = (typeof value === 'string' ? value : value.id)
    .replaceAll(UNPRINTABLE, ' ')
    .slice(0, CELL_CHARS_MAX);
  if (text === '') return null;
  return { value: text, type: String, wrap: true, alignVertical: 'top' };
}
