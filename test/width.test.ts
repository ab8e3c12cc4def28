/** Every line of code and prose that we write is at most 100 columns wide. */
import { expect, test } from 'vitest';
import { ownFiles } from './support/own-files.ts';

const WIDEST_COLUMNS = 100;

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
