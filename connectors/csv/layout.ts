/** Finds the header of a file, and with it the separator and the columns. */
import type { CanonicalColumn, ColumnMap, ColumnPlan, RowKind } from './columns.ts';
import { countKnown, missingColumn, planColumns } from './columns.ts';
import { isLeftOpen, strictRow } from './records.ts';

export type Layout = {
  separator: string;
  columns: ColumnPlan;
  /** The number of lines up to and including the header, and of the rows that they form. */
  begin: { lines: number; rows: number };
};

/**
 * Why no row of a file can be read. `field` is a canonical column, because an unknown header may
 * contain data.
 */
type NoLayout = { field: CanonicalColumn | 'file'; value_class: string; remedy: string };

const SEPARATORS = [',', ';', '\t', '|'];
/** Reports have a title and a date above the table. */
const ROWS_SEARCHED = 15;
const LINES_OF_HEADER = 20;
/** One known name may be a coincidence (`Patient` in a title); a header has at least two. */
const KNOWN_NAMES_MIN = 2;

type Candidate = { header: string[]; separator: string; known: number; begin: Layout['begin'] };

/** Returns the layout of a file from its decoded beginning, or why it has none. */
export function findLayout(
  head: string,
  config: { separator: string; columns: ColumnMap },
  kind: RowKind,
): Layout | NoLayout {
  if (head.trim() === '')
    return {
      field: 'file',
      value_class: 'empty',
      remedy: `Export the ${kind} again; this file is empty.`,
    };
  const lines = head.replaceAll(/\r\n?/g, '\n').split('\n');
  const separators = config.separator === 'auto' ? SEPARATORS : [config.separator];
  // Spreadsheets do not show Excel's own first line `sep=;` as a row.
  const sep_line = /^sep=(.)$/i.exec(lines[0] ?? '');
  const first = sep_line ? 1 : 0;
  let best: Candidate | null = null;
  for (let i = first; i < Math.min(lines.length, first + ROWS_SEARCHED); i += 1) {
    for (const separator of sep_line?.[1] && config.separator === 'auto'
      ? [sep_line[1]]
      : separators) {
      const found = headerAt(lines, i, separator, (header) =>
        countKnown(header, config.columns, kind),
      );
      if (found === null || (best !== null && found.known <= best.known)) continue;
      best = { ...found, begin: { lines: i + found.lines, rows: i - first + 1 } };
    }
  }
  return best === null || best.known < KNOWN_NAMES_MIN
    ? unknownHeader(kind)
    : layoutOf(best, config.columns, kind);
}

function headerAt(
  lines: readonly string[],
  at: number,
  separator: string,
  countOf: (header: readonly string[]) => number,
) {
  for (let count = 1; count <= LINES_OF_HEADER && at + count <= lines.length; count += 1) {
    const text = lines.slice(at, at + count).join('\n');
    // Nearly always; starting csv-parse for each separator and line takes longer than this.
    const is_plain = text !== '' && !text.includes('"');
    const header = is_plain ? text.split(separator) : strictRow(text, separator);
    if (header !== null) return { header, separator, known: countOf(header), lines: count };
    if (!isLeftOpen(lines[at] ?? '', separator)) return null;
  }
  return null;
}

function layoutOf(found: Candidate, map: ColumnMap, kind: RowKind): Layout | NoLayout {
  const columns = planColumns(found.header, map, kind);
  if ('claimed_twice' in columns) {
    const column = columns.claimed_twice;
    return {
      field: column,
      value_class: 'more than one column',
      remedy:
        `Two columns look like ${column}. Name the right one in the configuration under ` +
        `"columns:" as "${column}: <header name>".`,
    };
  }
  const missing = missingColumn(columns, kind);
  if (missing === null) return { separator: found.separator, columns, begin: found.begin };
  return {
    field: missing,
    value_class: 'no such column',
    remedy:
      'Add the column to the export, or name its header in the configuration, under "columns:" ' +
      `as "${missing}: <header name>".`,
  };
}

function unknownHeader(kind: RowKind): NoLayout {
  return {
    field: kind === 'claims' ? 'claim_id' : 'appointment_id',
    value_class: 'no header row found',
    remedy:
      'The first row must contain the column names. Export with headers, or name them in the ' +
      'configuration under "columns:".',
  };
}
