/** A new connector needs no change in `src/`, so nothing there names one. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { builtInTypes } from '../../src/ops/built-in-connectors.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The connector of a new configuration, of the demo, and of the schema's example is `csv`. */
const DEFAULTS: Record<string, RegExp> = {
  'src/ops/new-config.ts': /type: csv$/,
  'src/cli/commands/demo.ts': /type: csv$/,
  'src/ops/config-schema.ts': /examples: \['csv'\]/,
};

/** `payers.csv` and `csv-parse` are about a file format, not the connector. */
const NAMES = new RegExp(
  builtInTypes()
    .map((name) => (name === 'csv' ? `(?:connectors/|type: |['"\`])csv\\b(?!-)` : `\\b${name}\\b`))
    .join('|'),
  'i',
);

/** "file:line" of each line of code that names a connector; comments may name its standard. */
function named(file: string, text: string): string[] {
  return text
    .split('\n')
    .flatMap((line, index) =>
      NAMES.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line) && !DEFAULTS[file]?.test(line)
        ? [`${file}:${index + 1}`]
        : [],
    );
}

test('no code in src/ names a connector', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).toSorted();
  expect(files.length).toBeGreaterThan(200);
  expect(files.flatMap((file) => named(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});

test('a name in a path, a word or a string is found', () => {
  const text = [
    "import '../../connectors/csv/index.ts';",
    "load: () => import('./commands/fhir.ts'),",
    "if (type === 'hl7') return;",
    '// HL7 table 0278',
    "import { parse } from 'csv-parse/sync';",
  ].join('\n');
  expect(named('a.ts', text)).toEqual(['a.ts:1', 'a.ts:2', 'a.ts:3']);
});
