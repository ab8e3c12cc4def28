import { stripVTControlCharacters, styleText } from 'node:util';
import { type CliContext, type Output, verbatim } from './context.ts';

export type Column = {
  title: string;
  align?: 'left' | 'right';
  /** Never cut, even in a narrow terminal: users copy it, such as an ID. */
  is_whole?: boolean;
  /** The style of a cell where colors are shown. */
  style?: (text: string) => Style | null;
};

export type Style = 'red' | 'green' | 'yellow' | 'dim';

/**
 * Returns whether to color: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is dumb.
 */
export function isColored(to: Output, environment: CliContext['environment']): boolean {
  return to.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

export type Cell = string | number | boolean | null;

const GAP = '  ';
const NARROWEST = 8;

/**
 * Prints rows as aligned columns. In a terminal it cuts the widest columns until a row fits; if
 * that is not enough, it prints each row as a list of its cells. In a pipe or a file it prints
 * everything. Null is shown as `-`.
 */
export function printTable(
  to: Output,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  is_colored = false,
): void {
  const cells = rows.map((row) => columns.map((_, index) => cellText(row[index] ?? null)));
  const widths = columns.map((column, index) =>
    Math.max(width(column.title), ...cells.map((row) => width(row[index] ?? ''))),
  );
  if (to.isTTY === true && to.columns !== undefined && !shrink(widths, columns, to.columns)) {
    to.write(listed(columns, cells));
    return;
  }
  const line = (texts: readonly string[], are_cells: boolean) =>
    texts
      .map((text, index) => {
        const room = widths[index] ?? 0;
        const shown = pad(cut(text, room), room, columns[index]?.align ?? 'left');
        const style = is_colored && are_cells ? columns[index]?.style?.(text) : null;
        return style == null ? shown : styleText(style, shown, { validateStream: false });
      })
      .join(GAP)
      .trimEnd();
  const lines = [
    line(
      columns.map(({ title }) => title),
      false,
    ),
    ...cells.map((row) => line(row, true)),
  ];
  verbatim(to).write(`${lines.join('\n')}\n`);
}

/** Prints one value as JSON, for programs. */
export function printJson(to: Output, value: unknown): void {
  verbatim(to).write(`${JSON.stringify(value, null, 2)}\n`);
}

function cellText(cell: Cell): string {
  return cell === null ? '-' : oneLine(String(cell));
}

/** Returns a text as one line without control characters: PMS data must not move the cursor. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\s]+/gu, ' ');
}

/** Returns each row as its first cell, followed by a line for each other cell. */
function listed(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const [{ title = '' } = {}, ...others] = columns;
  const indent = Math.max(...others.map(({ title }) => width(title))) + 1;
  return rows
    .map(([first = '', ...cells]) => {
      const named = cells.map(
        (cell, index) => `  ${pad(`${others[index]?.title}:`, indent, 'left')}  ${cell}\n`,
      );
      const heading = first.startsWith(title) ? first : `${title} ${first}`;
      return `${heading}\n${named.join('')}`;
    })
    .join('');
}

/** Narrows `widths` in place until a row fits into `room`. Returns whether it fits. */
function shrink(widths: number[], columns: readonly Column[], room: number): boolean {
  let excess =
    widths.reduce((total, each) => total + each, 0) + GAP.length * (widths.length - 1) - room;
  while (excess > 0) {
    const widest = widths.reduce<number | null>((best, each, index) => {
      if (columns[index]?.is_whole === true || each <= NARROWEST) return best;
      return best === null || each > (widths[best] ?? 0) ? index : best;
    }, null);
    if (widest === null) return false;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return true;
}

function width(text: string): number {
  return [...text].length;
}

function cut(text: string, room: number): string {
  return width(text) <= room ? text : `${[...text].slice(0, room - 1).join('')}…`;
}

function pad(text: string, room: number, align: 'left' | 'right'): string {
  const blanks = ' '.repeat(Math.max(0, room - width(text)));
  return align === 'right' ? blanks + text : text + blanks;
}
