import { readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';

/** The folder that holds package.json. */
export const PROJECT_ROOT = resolve(import.meta.dirname, '..', '..');

/** Of modules: `.ts` in a working copy, `.js` in the package, whose program is built. */
export const MODULE_ENDING = extname(import.meta.filename);

/**
 * Program and first arguments of a process of eligd. SIGUSR1 would open Node's debugger on a port
 * that every user of the machine can reach.
 */
export const OWN_PROCESS: readonly [program: string, ...args: string[]] = [
  process.execPath,
  '--disable-sigusr1',
  join(PROJECT_ROOT, MODULE_ENDING === '.ts' ? 'src/main.ts' : 'dist/program/main.js'),
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
