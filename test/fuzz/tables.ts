/**
 * Hostile tables against an oracle: csv-parse in its strict mode, which follows RFC 4180 and knows
 * nothing of our code, reads one record at a time, and begins again on the next line after an
 * improper record. Two guarantees: no row becomes an appointment that the oracle does not see in
 * the file, and no record that the oracle sees is dropped without an entry on the attention list.
 */
import { parse } from 'csv-parse/sync';
import { type Row, RowReader } from '../../connectors/csv/records.ts';
import { must, type Target } from './target.ts';

const WIDTH = 4;
const SEPARATOR = ',';
/** eligd reads ID, time, and name; the fourth cell is a note. */
const SHAPE = { separator: SEPARATOR, width: WIDTH, used: new Set([0, 1, 2]) };
const STRICT = { delimiter: SEPARATOR, record_delimiter: '\n', relax_column_count: true } as const;

type Seen = { cells: string[]; lines: number };

/** The records of the text as a strict reader sees them, and the lines that it had to give up. */
function strictly(text: string): { records: Seen[]; given_up: number } {
  const lines = text.replaceAll(/\r\n?/g, '\n').split('\n');
  const records: Seen[] = [];
  let given_up = 0;
  for (let at = 0; at < lines.length; ) {
    const found = recordAt(lines, at);
    if (found === null) given_up += 1;
    else if (found.cells.some((cell) => cell.trim() !== '')) records.push(found);
    at += found?.lines ?? 1;
  }
  return { records, given_up };
}

/** Stands for a mark inside an unquoted cell (5" crown), which is text as in every spreadsheet. */
const MASK = '\u001a';
/** Stands for a NUL, which csv-parse takes for the end of the text after a closing mark. */
const NUL_MASK = '\u0019';

type Improper = { code: string; bytes: number; index: number; field: string };

/** The record that begins on a line; null if no number of lines makes a proper one. */
function recordAt(lines: readonly string[], at: number): Seen | null {
  for (let count = 1; at + count <= lines.length; count += 1) {
    const text = Buffer.from(
      lines
        .slice(at, at + count)
        .join('\n')
        .replaceAll('\0', NUL_MASK),
    );
    const records = recordsOf(text);
    if (records === 'not closed') continue;
    if (records === null || records.length > 1) return null;
    const cells = (records[0] ?? ['']).map((cell) =>
      cell.replaceAll(MASK, '"').replaceAll(NUL_MASK, '\0'),
    );
    return { cells, lines: count };
  }
  return null;
}

function recordsOf(text: Buffer): string[][] | 'not closed' | null {
  for (;;) {
    try {
      return parse(text, STRICT);
    } catch (error) {
      const { code, bytes, index, field } = error as Improper;
      if (code === 'CSV_QUOTE_NOT_CLOSED') return 'not closed';
      if (code !== 'INVALID_OPENING_QUOTE') return null;
      text.write(MASK, bytes + (index === 0 ? 0 : 1) + Buffer.byteLength(field));
    }
  }
}

function rowsOf(text: string, chunk: number): Row[] {
  const reader = new RowReader(SHAPE, { lines: 0, rows: 1 });
  const rows: Row[] = [];
  for (let at = 0; at < text.length; at += chunk)
    rows.push(...reader.push(text.slice(at, at + chunk)));
  return [...rows, ...reader.end()];
}

const key = (cells: readonly string[]) => JSON.stringify(cells);

/** Throws if a guarantee is broken; returns a word for the outcome of the table. */
export function checkTable(text: string, chunk: number): string {
  const { records, given_up } = strictly(text);
  const rows = rowsOf(text, chunk);
  const taken = rows.flatMap((row) => ('cells' in row ? [row.cells] : []));
  const reported = rows.length - taken.length;
  const seen = new Map<string, number>();
  for (const { cells } of records) seen.set(key(cells), (seen.get(key(cells)) ?? 0) + 1);
  let beyond = 0;
  for (const cells of taken) {
    const left = seen.get(key(cells)) ?? 0;
    if (left > 0) seen.set(key(cells), left - 1);
    // If a mark ends a cell in the middle, the oracle gives the line up, and eligd takes it as
    // text.
    else if (cells.some((cell) => cell.includes('"'))) beyond += 1;
    else must(false, `A row that a strict reader does not see: ${key(cells)}`);
  }
  must(beyond <= given_up, 'More rows than lines that a strict reader gives up.');
  const dropped = records.length - (taken.length - beyond);
  must(dropped <= reported, `${dropped} records are gone, and ${reported} are reported.`);
  const faults = new Set(rows.flatMap((row) => ('fault' in row ? [row.fault] : [])));
  return [Math.min(taken.length, 3), Math.min(given_up, 2), ...[...faults].sort()].join(' ');
}

export async function tablesTarget(): Promise<Target> {
  return {
    name: 'tables',
    seeds: [
      '1,2031-01-07,Ann,note\n2,2031-01-08,Bob,"a ""b"" c"\n',
      '"1","2031-01-07","Ann","two\nlines"\n"2","2031-01-08","Bob","x"\n',
      '1,2031-01-07,Ann,"hello\n9,2031-01-07,Injected,paid\nend"\n2,2031-01-08,Bob,x\n',
      '1,2031-01-07,Ann,"note\n2,2031-01-08,Bob,note"\n3,2031-01-09,Cy,x\n',
      '1,2031-01-07,Ann,5" crown\n2,2031-01-08,Bob,"open\n3,2031-01-09,Cy,x\n',
      '"\n9,2031,Injected,paid\n"\u00001,2031-01-07,Ann,note\n2,2031-01-08,Bob,"a ""b"" c"\n',
    ],
    // biome-ignore format: a list of words reads better in lines than in a column
    telling: [
      '"', '""', '"""', ',', '\n', '\r\n', '\r', '",', ',"', '"\n', '\n"', '"x', 'x"', ' "', ';',
      '\n9,2031-01-07,Injected,paid\n', '9,2031-01-07,Injected,paid', '"\n9,2031,Injected,paid\n"',
    ],
    check: async (input) => {
      const text = input.toString('utf8').replaceAll(MASK, '').replaceAll(NUL_MASK, '');
      const whole = checkTable(text, Math.max(1, text.length));
      if (text.length < 1_000) must(checkTable(text, 7) === whole, 'Pieces change the rows.');
      return whole;
    },
    close: async () => {},
  };
}
