/**
 * References in comments and pages lead somewhere: guarantees by number, sections of docs/ by
 * heading (a page's path and the heading in quotes), and files by name.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const THIS_FILE = 'test/references.test.ts';
const TRACKED = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));
const SOURCES = TRACKED.filter(
  (file) => /\.(?:ts|mjs|cjs|md)$/.test(file) && !/^test\/fixtures\//.test(file),
);
/** A connector that the reader of connectors/README.md writes, and files that `npm` makes. */
const WRITTEN_LATER = /mypms[./]|^dist\//;

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** The comments of a program, each line without its mark, or the whole text of a page. */
function prose(file: string, text: string): string {
  if (file.endsWith('.md')) return text.replaceAll(/\s+/g, ' ');
  const comments = text.match(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/ [^\n]*/g) ?? [];
  return comments.join(' ').replaceAll(/\s*\n?\s*(?:\/\/|\/?\*\*?\/?)\s/g, ' ');
}

function headings(page: string): string[] {
  if (!existsSync(join(ROOT, page))) return [];
  return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
}

/** "file: reference" of each broken reference. */
function broken(file: string, text: string): string[] {
  const told = prose(file, text);
  const names = (text.match(/\((?:G\d(?:, | and )?)+[,)]/g) ?? []).join(' ');
  const guarantees = [...`${told} ${names}`.matchAll(/\bG\d\b/g)].flatMap(([name]) =>
    headings('docs/guarantees.md').includes(name) ? [] : [name],
  );
  const sections = [...told.matchAll(/\b(docs\/[\w-]+\.md) "([^"]+)"/g)].flatMap(
    ([citation, page = '', heading = '']) => (headings(page).includes(heading) ? [] : [citation]),
  );
  const unnamed = [...told.matchAll(/\b(?:design|silences|specification), (?:"|section|fact)/g)];
  const files = [...told.matchAll(/(?<![\w./*<{-])[\w-][\w./-]*\.(?:ts|mjs|cjs|md)\b/g)].flatMap(
    ([name]) =>
      WRITTEN_LATER.test(name) || TRACKED.some((each) => `/${each}`.endsWith(`/${name}`))
        ? []
        : [name],
  );
  return [...guarantees, ...sections, ...unnamed.map(([citation]) => citation), ...files].map(
    (reference) => `${file}: ${reference}`,
  );
}

test('every guarantee, section, and file that a comment or a page names exists', () => {
  const checked = SOURCES.filter((file) => file !== THIS_FILE);
  expect(checked.length).toBeGreaterThan(400);
  expect(checked.flatMap((file) => broken(file, read(file)))).toEqual([]);
});

test.each([
  ['a guarantee', '/** Sent once (G9). */', 'G9'],
  ['a section', '/** Known (docs/service.md "List\n * pages"). */', 'docs/service.md "List pages"'],
  ['a page', '// See docs/services.md "List paging".', 'docs/services.md "List paging"'],
  ['an old citation', '/** Waits (design, "Ambiguous"). */', 'design, "'],
  ['a file', '/** See `stages/collect-report.ts`. */', 'stages/collect-report.ts'],
])('%s that does not exist is named', (_, text, reference) => {
  expect(broken('src/planted.ts', text)).toContain(`src/planted.ts: ${reference}`);
});

test('a reference that exists is not named', () => {
  const text = '/** G1: docs/service.md "List\n * paging", `store/engine/store.ts`. */';
  expect(broken('src/planted.ts', text)).toEqual([]);
});
