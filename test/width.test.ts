/**
 * Every line of code and prose that we write is at most 100 columns wide, and a file of the program
 * has fewer than 400 lines.
 */
import { expect, test } from 'vitest';
import { ownFiles } from './support/own-files.ts';

const WIDEST_COLUMNS = 100;
const LINES_MAX = 399;

/** In a page: a row of a table, code, or a link that has no space to break at. */
function isExempt(file: string, line: string): boolean {
  return file.endsWith('.md') && /^\s*\||^ {4}|^\s*(?:[-*] )?\S+$/.test(line);
}

/** "file:line" of each line that is too wide; a column is a character, not a byte. */
function wideLines(file: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      [...line].length > WIDEST_COLUMNS && !isExempt(file, line) ? [`${file}:${index + 1}`] : [],
    );
}

test('no line that we write is wider than 100 columns', () => {
  const files = ownFiles();
  expect(files.length).toBeGreaterThan(400);
  expect(files.flatMap(({ path, text }) => wideLines(path, text))).toEqual([]);
});

test('a line that is too wide is named, and a wide character counts once', () => {
  const wide = 'word '.repeat(21);
  expect(wideLines('a.md', `| ${wide} |\n    ${wide}\n${wide}\n`)).toEqual(['a.md:3']);
  expect(wideLines('a.ts', `${'─'.repeat(100)}\n${'x'.repeat(101)}\n`)).toEqual(['a.ts:2']);
});

/** The code that ships; a test file is as long as its cases. */
const isProgram = (path: string): boolean => /^(?:src|connectors|migrations)\/.*\.ts$/.test(path);

/** "file: lines" of each file of the program that is too long. */
function longFiles(files: readonly { path: string; text: string }[]): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    return isProgram(path) && lines > LINES_MAX ? [`${path}: ${lines}`] : [];
  });
}

test('every file of the program has fewer than 400 lines', () => {
  const files = ownFiles();
  expect(files.filter(({ path }) => isProgram(path)).length).toBeGreaterThan(300);
  expect(longFiles(files)).toEqual([]);
});

test('a file that is too long is named', () => {
  const lines = (count: number) => 'x\n'.repeat(count);
  const paths = ['src/a.ts', 'connectors/csv/b.ts', 'test/c.ts'];
  expect(longFiles(paths.map((path) => ({ path, text: lines(400) })))).toEqual([
    'src/a.ts: 400',
    'connectors/csv/b.ts: 400',
  ]);
  expect(longFiles([{ path: 'src/a.ts', text: lines(399) }])).toEqual([]);
});
