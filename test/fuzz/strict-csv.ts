/**
 * A strict reader of RFC 4180, written from the RFC alone, to compare the connector with: a cell
 * that begins with a mark ends with one, a doubled mark is one, and only a separator, a line end,
 * or the end of the file follows its end. Any separator and line end will do.
 *
 * The RFC does not define what follows an error. This reader sees no record in the line on which a
 * broken record begins, and continues after that line. It never reads part of a whole record as
 * another one. Unlike the RFC, it accepts a mark within a cell that is not quoted (5" crown), where
 * only one reading is possible.
 *
 * `broken`: the lines on which a broken record begins.
 */
export function strictRecords(
  text: string,
  separator: string,
): { records: string[][]; broken: string[] } {
  const records: string[][] = [];
  const broken: string[] = [];
  for (let at = 0; at < text.length; ) {
    const record = recordAt(text, at, separator);
    if (record === null) {
      const next = afterLine(text, at);
      broken.push(text.slice(at, next));
      at = next;
    } else {
      records.push(record.cells);
      at = record.next;
    }
  }
  return { records, broken };
}

type Found<Value> = { next: number } & Value;

function recordAt(
  text: string,
  begin: number,
  separator: string,
): Found<{ cells: string[] }> | null {
  const cells: string[] = [];
  for (let at = begin; ; ) {
    const cell = text[at] === '"' ? quotedAt(text, at + 1) : plainAt(text, at, separator);
    if (cell === null) return null;
    cells.push(cell.value);
    if (text[cell.next] === separator) at = cell.next + 1;
    else if (isEnd(text, cell.next)) return { cells, next: afterLine(text, cell.next) };
    else return null;
  }
}

function quotedAt(text: string, begin: number): Found<{ value: string }> | null {
  let value = '';
  for (let at = begin; at < text.length; at += 1) {
    if (text[at] !== '"') value += text[at];
    else if (text[at + 1] === '"') {
      value += '"';
      at += 1;
    } else return { value, next: at + 1 };
  }
  return null;
}

function plainAt(text: string, begin: number, separator: string): Found<{ value: string }> {
  let at = begin;
  while (!isEnd(text, at) && text[at] !== separator) at += 1;
  return { value: text.slice(begin, at), next: at };
}

function isEnd(text: string, at: number): boolean {
  return at >= text.length || text[at] === '\n' || text[at] === '\r';
}

function afterLine(text: string, begin: number): number {
  let at = begin;
  while (!isEnd(text, at)) at += 1;
  return text.startsWith('\r\n', at) ? at + 2 : at + 1;
}
