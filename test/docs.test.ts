/** The pages agree with the code about commands, states, files, and events, in both directions. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ConnectorType } from '../connectors/contract.ts';
import { EXIT_CODES } from '../src/cli/exit.ts';
import { allCommands } from '../src/cli/program.ts';
import { EVENTS } from '../src/domain/events.ts';
import { DELIVERY_STEPS, INQUIRY_STEPS } from '../src/domain/states.ts';

const ROOT = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const find = (pattern: string) =>
  globSync(pattern, {
    cwd: ROOT,
    exclude: (path) => /(^|\/)(node_modules|\.git)(\/|$)/.test(path),
  }).toSorted();

const PAGES = find('**/*.md');
const COMMANDS_PAGE = read('docs/commands.md');
const ARCHITECTURE = read('src/ARCHITECTURE.md');

/** The rows of the table with the header `header`, each as its cells. */
function table(page: string, ...header: string[]): string[][] {
  const lines = page.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const start = lines.findIndex((cells) => header.every((name, index) => cells[index] === name));
  if (start < 0) throw new Error(`There is no table ${header.join(', ')}.`);
  const length = lines.slice(start + 2).findIndex((cells) => cells.length === 0);
  return lines.slice(start + 2, length < 0 ? undefined : start + 2 + length);
}

/** The texts between single backquotes. */
function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

describe('docs/commands.md', () => {
  test('docs/commands.md has every command with its summary, and no other', () => {
    const documented = table(COMMANDS_PAGE, 'command', 'does').map(([command = '', does]) => [
      codeSpans(command)[0],
      does,
    ]);
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries(allCommands().map(({ name, summary }) => [name, summary])),
    );
    expect(documented).toHaveLength(allCommands().length);
  });

  test('each row of docs/commands.md has an example of its command', () => {
    for (const [command = '', , examples = ''] of table(COMMANDS_PAGE, 'command', 'does')) {
      const name = codeSpans(command)[0];
      expect(codeSpans(examples).map((example) => example.split(' ').slice(0, 2))).toContainEqual([
        'bin/eligd',
        name,
      ]);
    }
  });

  test('docs/commands.md has every exit code, and no other', () => {
    const [, sentence = ''] = /^Exit codes: (.*?)\n\n/ms.exec(COMMANDS_PAGE) ?? [];
    expect([...sentence.matchAll(/\d+/g)].map(([code]) => Number(code))).toEqual(
      Object.values(EXIT_CODES),
    );
  });
});

describe('src/ARCHITECTURE.md', () => {
  test.each([
    ['inquiry', INQUIRY_STEPS],
    ['delivery', DELIVERY_STEPS],
  ])('src/ARCHITECTURE.md has every state of the leg %s with every step', (leg, steps) => {
    const documented = table(ARCHITECTURE, leg, 'means').map(([state = '', , next = '']) => [
      codeSpans(state)[0],
      codeSpans(next),
    ]);
    expect(documented.toSorted()).toEqual(Object.entries(steps).toSorted());
  });

  test('src/ARCHITECTURE.md names only files that exist', () => {
    const named = codeSpans(ARCHITECTURE).filter((code) =>
      /^[\w./-]+\.(ts|cjs|md|yaml)$/.test(code),
    );
    expect(named.length).toBeGreaterThan(20);
    const places = ['', 'src'];
    expect(
      named.filter((file) => !places.some((place) => existsSync(join(ROOT, place, file)))),
    ).toEqual([]);
  });
});

describe('every page', () => {
  test.each(PAGES)('%s links only to pages and headings that exist', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = links.filter((target) => !/^[a-z]+:/.test(target) && !isThere(page, target));
    expect(broken).toEqual([]);
  });

  test.each(PAGES)('%s names only commands that exist', (page) => {
    const called = [...read(page).matchAll(/(?:^|[`\s])bin\/eligd ([a-z-]+)/gm)].map(
      ([, name]) => name,
    );
    const known = allCommands().map(({ name }) => name);
    expect(called.filter((name) => name === undefined || !known.includes(name))).toEqual([]);
  });

  test('the search for pages finds those in each folder', () => {
    expect(PAGES).toEqual(
      expect.arrayContaining(['README.md', 'docs/csv.md', 'src/sandbox/README.md']),
    );
  });
});

/** A file or folder next to the page, with the heading after `#`, if any. */
function isThere(page: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, file))) return false;
  if (heading === undefined) return true;
  const slugs = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return slugs.includes(heading);
}

async function eventsOf(folder: string): Promise<object> {
  const module: { default: ConnectorType } = await import(join(ROOT, folder, 'index.ts'));
  return module.default.events ?? {};
}

describe('the events of the log', () => {
  test.each(['src', ...find('connectors/*/index.ts').map(dirname)])(
    'each event is logged somewhere in %s, and no other',
    async (folder) => {
      const source = find(`${folder}/**/*.ts`).map(read).join('\n');
      // The first argument of every call of a log; a note on the configuration has the name of its
      // event.
      const named = [...source.matchAll(/\blog\(([^,)]*)|\bevent: ('\w+')/g)].map(
        ([, argument, event]) => argument ?? event ?? '',
      );
      const logged = new Set(
        named.flatMap((text) => [...text.matchAll(/'(\w+)'/g)].map(([, name]) => name)),
      );
      const declared = folder === 'src' ? EVENTS : await eventsOf(folder);
      expect([...logged].toSorted()).toEqual(Object.keys(declared).toSorted());
    },
  );
});
