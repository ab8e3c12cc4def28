/** Fits lines to the terminal: breaks them at spaces, and indents the rest like the text before. */
import type { Host, Output } from './context.ts';

/** In a narrower terminal, lines broken here are harder to read than lines the terminal breaks. */
const NARROWEST = 40;
/** The longest name in a first column. */
const NAME_MAX = 42;
/** Marks that begin a line and are not part of its text. */
const MARKS = /^(?:ok|!!|--|→|-|\*|…) /;
/** A command in quotes stays in one piece, so that it can be copied. */
const PIECES =
  /"(?:sudo |bin\/)?(?:eligd|systemctl|journalctl|timedatectl|chmod|chown) [^"]*"\S*|\S+/g;

/** Returns the host with lines fitted to its terminals; pipes and files get the lines unchanged. */
export function fittedHost(host: Host): Host {
  return { ...host, stdout: fitted(host.stdout), stderr: fitted(host.stderr) };
}

function fitted(to: Output): Output {
  if (to.isTTY !== true) return to;
  return {
    write: (text) => to.write(fitText(text, to.columns)),
    isTTY: true,
    get columns() {
      return to.columns;
    },
    unfitted: to,
  };
}

function fitText(text: string, columns = 80): string {
  // Text that moves the cursor is not prose.
  if (columns < NARROWEST || text.includes('\r') || text.includes('\u001b')) return text;
  return text
    .split('\n')
    .flatMap((line) => fitLine(line, columns))
    .join('\n');
}

/** Breaks a line if it does not fit. A word that is longer than a line stays whole. */
export function fitLine(line: string, columns: number): string[] {
  if (width(line) <= columns) return [line];
  const hang = hangOf(line, columns);
  const [indent = ''] = /^ */.exec(line) ?? [];
  const lines: string[] = [];
  let current = indent;
  let at = indent.length;
  for (const { 0: piece, index } of line.matchAll(PIECES)) {
    const gap = lines.length > 0 && current.trim() === '' ? '' : line.slice(at, index);
    at = index + piece.length;
    if (current.trim() !== '' && width(current + gap + piece) > columns) {
      lines.push(current);
      current = ' '.repeat(hang) + piece;
    } else current += gap + piece;
  }
  return [...lines, current];
}

/** Returns the column of the text after a mark, or after a name in a first column. */
function hangOf(line: string, columns: number): number {
  const indent = line.length - line.trimStart().length;
  const text = line.slice(indent);
  const [name = ''] = /^\S+(?: \S+)* {2,}/.exec(text) ?? [];
  const mark = MARKS.exec(text)?.[0] ?? '';
  const hang = indent + (name === '' || name.length > NAME_MAX ? mark.length : name.length);
  return hang > columns / 2 ? indent : hang;
}

function width(text: string): number {
  return [...text].length;
}
