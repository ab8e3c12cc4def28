import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const WRITTEN_HERE = /\.(?:ts|mjs|cjs|md|yaml)$|^(?:\.ci|bin|systemd)\//;
const COPIED_OR_GENERATED = /^(?:test\/fixtures|config\/schemas)\//;

/** Every text that we write: code, pages, and configuration; paths start at the project. */
export function ownFiles(): { path: string; text: string }[] {
  return execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((path) => WRITTEN_HERE.test(path) && !COPIED_OR_GENERATED.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}
