/** A copy of the tree without git, as a connector's author has it, to change and to run. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const PARTS = ['src', 'connectors', 'migrations', 'config', 'bin', 'package.json', 'tsconfig.json'];
const TEST_PARTS = [
  'vitest.config.ts',
  'test/connectors/template',
  'test/connectors/template-cursor',
];

export type Ended = { code: number; output: string };

export function copyOfTree(): {
  path: string;
  run: (program: string, args: readonly string[], env?: NodeJS.ProcessEnv) => Promise<Ended>;
  remove: () => void;
} {
  const path = mkdtempSync(join(tmpdir(), 'eligd-tree-'));
  for (const part of [...PARTS, ...TEST_PARTS])
    cpSync(join(ROOT, part), join(path, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  return {
    path,
    run: (program, args, env = {}) => ended(program, args, { cwd: path, env }),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

function ended(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((done) => {
    execFile(
      program,
      args,
      { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) =>
        done({
          code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1,
          output: `${stdout}${stderr}`,
        }),
    );
  });
}
