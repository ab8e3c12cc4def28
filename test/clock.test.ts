/** Time and randomness come from `Env` (src/domain/env.ts), so that a simulation controls them. */
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const MACHINE = /\b(?:Date\.now\(|performance\.now\(|Math\.random\b|new Date\(\)|Temporal\.Now\b)/;

/** Without comments, which may name them. */
function code(file: string): string {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line)).join('\n');
}

test('only the real Env, the demo, and the sandbox read the clock of the machine', () => {
  const files = globSync('{src,connectors,migrations}/**/*.ts', { cwd: ROOT }).toSorted();
  expect(files.length).toBeGreaterThan(300);
  const readers = files.filter(
    (file) => !file.startsWith('src/sandbox/') && MACHINE.test(code(file)),
  );
  expect(readers).toEqual(['src/cli/commands/demo.ts', 'src/ops/env.ts']);
});
