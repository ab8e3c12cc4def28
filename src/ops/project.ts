import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder that holds package.json. */
export const PROJECT_ROOT = resolve(import.meta.dirname, '..', '..');

/**
 * Program and first arguments of a process of eligd. SIGUSR1 would open Node's debugger on a port
 * that every user of the machine can reach.
 */
export const OWN_PROCESS: readonly [program: string, ...args: string[]] = [
  process.execPath,
  '--disable-sigusr1',
  join(PROJECT_ROOT, 'src/main.ts'),
];

/**
 * Whether this copy of eligd is the one of the package, which `npm run package` marks in its
 * package.json; otherwise it is a working copy.
 */
export function isInstalled(root = PROJECT_ROOT): boolean {
  const manifest: { installed?: unknown } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return manifest.installed === true;
}
