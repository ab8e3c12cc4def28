/** Every line of code and prose that we write is at most 100 columns wide. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const WIDEST_COLUMNS = 100;
const WRITTEN_HERE = /\.(?:ts|mjs|cjs|md|yaml)$|^(?:\.ci|bin|systemd)\//;
const COPIED_OR_GENERATED = /^(?:test\/fixtures|config\/schemas)\//;

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
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  const written = files.filter(
    (file) => WRITTEN_HERE.test(file) && !COPIED_OR_GENERATED.test(file),
  );
  expect(written.length).toBeGreaterThan(400);
  expect(
    written.flatMap((file) => wideLines(file, readFileSync(join(ROOT, file), 'utf8'))),
  ).toEqual([]);
});

test('a line that is too wide is named, and a wide character counts once', () => {
  const wide = 'word '.repeat(21);
  expect(wideLines('a.md', `| ${wide} |\n    ${wide}\n${wide}\n`)).toEqual(['a.md:3']);
  expect(wideLines('a.ts', `${'─'.repeat(100)}\n${'x'.repeat(101)}\n`)).toEqual(['a.ts:2']);
});
