/** A few lines of CSV, read and written without eligd's own code, which the scenarios check. */

export function csvText(header: readonly string[], lines: readonly (readonly string[])[]): string {
  const cell = (value: string) =>
    /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  return [header, ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

/** The value that a spreadsheet shows: `="0123"` is the text 0123, with its zero. */
export const asShown = (cell: string) => /^="(.*)"$/.exec(cell)?.[1] ?? cell;

/** The lines by header name. Every missing cell is empty. */
export function readCsv(text: string, separator = ','): Record<string, string>[] {
  const [header = [], ...lines] = cellsOf(text.replace(/^\ufeff/, ''), separator);
  return lines.map((line) =>
    Object.fromEntries(header.map((name, index) => [name, asShown(line[index] ?? '')])),
  );
}

function cellsOf(text: string, separator: string): string[][] {
  const lines: string[][] = [];
  const line: string[] = [];
  let cell = '';
  let is_quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (is_quoted) {
      if (character !== '"') cell += character;
      else if (text[at + 1] === '"') cell += text[at++] ?? '';
      else is_quoted = false;
    } else if (character === '"') is_quoted = true;
    else if (character === separator || character === '\n') {
      line.push(cell);
      cell = '';
      if (character === '\n') lines.push(line.splice(0));
    } else if (character !== '\r') cell += character;
  }
  return lines;
}
