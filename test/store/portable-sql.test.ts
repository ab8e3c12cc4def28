/**
 * Groups of clinics will use another engine than SQLite. Statements outside `store/engine`
 * therefore use what both accept where that costs nothing. This test reads the sources; what only
 * SQLite has is listed with its reason.
 */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

const FORBIDDEN: readonly [name: string, pattern: RegExp][] = [
  ['a JSON function of SQLite', /\bjson_(?:each|tree|extract|object|array|group_array)\b/g],
  ['a scalar min or max of two', /(?<!Math\.|fn\.)\b(?:min|max)\((?:[^()`]|\([^()]*\))*,/g],
  ['a function of SQLite', /\b(?:instr|iif|ifnull|strftime|julianday|group_concat)\(/g],
  ['a word of SQLite', /\browid\b|\bpragma\b|\bsqlite_master\b|\binsert or\b|\bvacuum\b/gi],
  ['LIKE with a value and without ESCAPE', /\blike (?:\$\{|\?)(?![^`]*\bescape\b)/gi],
];

/** What has no equal that costs nothing. */
const ALLOWED = new Map([
  [
    'src/store/views/listed-appointments.ts: json_tree',
    'a search through every name in the stored text of a visit; each engine has its own',
  ],
  ['src/store/views/listed-appointments.ts: instr(', 'part of that search'],
  [
    'src/store/bookkeeping/purge-answers.ts: instr(',
    'LIKE takes twice as long on a record, and a purge reads every record',
  ],
  [
    'src/store/bookkeeping/chain-check.ts: sqlite_master',
    'each engine lists its triggers in its own place',
  ],
]);

/** Orders whose values are never empty for a reason that the statement does not show. */
const NEVER_EMPTY = new Map([
  ['src/store/views/overview.ts: reason', 'of the attention list, where it is required'],
]);

const files = globSync(['src/store/**/*.ts', 'src/stages/**/*.ts', 'src/daemon/**/*.ts'], {
  cwd: ROOT,
}).filter((file) => !file.startsWith('src/store/engine/'));

/** The file without its comments. */
function code(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

function found(text: string, file: string): string[] {
  return FORBIDDEN.flatMap(([name, pattern]) =>
    [...text.matchAll(pattern)].map(([word]) => `${file}: ${word.trim()} (${name})`),
  ).filter((each) => ![...ALLOWED.keys()].some((allowed) => each.startsWith(allowed)));
}

/** The columns that may be empty, in any table. */
function nullableColumns(): Set<string> {
  const tables = readFileSync(join(ROOT, 'src/store/engine/tables.ts'), 'utf8');
  return new Set([...tables.matchAll(/^ {2}(\w+): [^;]*\| null;/gm)].map(([, name = '']) => name));
}

/**
 * The orders by a column that may be empty, of statements that say neither where empty values go
 * nor that there are none.
 */
function vagueOrders(text: string, file: string, nullable: ReadonlySet<string>): string[] {
  return [...text.matchAll(/\.orderBy\(\s*'(?:\w+\.)?(\w+)'([^\n]*)/g)].flatMap(
    ({ 1: column = '', 2: rest = '', index }) => {
      const statement = text.slice(Math.max(0, index - 700), index);
      const has_values = new RegExp(`where\\(\\s*'(?:\\w+\\.)?${column}', '(?:is not|[<>=]+)'`);
      const is_clear =
        !nullable.has(column) ||
        rest.includes('nulls') ||
        has_values.test(statement) ||
        NEVER_EMPTY.has(`${file}: ${column}`);
      return is_clear ? [] : [`${file}: ${column}`];
    },
  );
}

describe('statements for more than one engine', () => {
  test('no statement outside store/engine has what only SQLite understands', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap((file) => found(code(file), file))).toEqual([]);
  });

  test('every exception is still in use', () => {
    const all = files.flatMap((file) =>
      FORBIDDEN.flatMap(([, pattern]) =>
        [...code(file).matchAll(pattern)].map(([word]) => `${file}: ${word.trim()}`),
      ),
    );
    for (const each of ALLOWED.keys()) expect(all).toContain(each);
  });

  test.each([
    'select value from json_each(?)',
    'min(taken_at, 5)',
    'max(coalesce(a, 0), b)',
    "json_extract(content, '$.a')",
    'name like ?',
    'PRAGMA data_version',
  ])('%s is found', (statement) => {
    expect(found(`sql\`${statement}\``, 'src/store/a.ts')).toHaveLength(1);
  });

  test.each(['max(taken_at)', 'Math.min(a, b)', "name like ? escape '!'", "like 'a:%'"])(
    '%s is fine',
    (statement) => {
      expect(found(`sql\`${statement}\``, 'src/store/a.ts')).toEqual([]);
    },
  );

  test('every order by a column that may be empty says where the empty ones go', () => {
    const nullable = nullableColumns();
    expect(nullable).toContain('poll_at');
    expect(files.flatMap((file) => vagueOrders(code(file), file, nullable))).toEqual([]);
    const vague = "db.selectFrom('inquiries').orderBy('poll_at').execute()";
    expect(vagueOrders(vague, 'src/store/a.ts', nullable)).toHaveLength(1);
  });
});
