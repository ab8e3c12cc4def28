import { readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';

/** The folder of package.json. */
export const PROJECT_ROOT = resolve(import.meta.dirname, '..', '..');

/** The file extension of modules: `.ts` in a working copy, `.js` in the package, which is built. */
export const MODULE_ENDING = extname(import.meta.filename);

/**
 * Program and first arguments of an eligd process. SIGUSR1 is disabled, because it would open
 * Node's debugger on a port that every user of the machine can reach.
 */
export const OWN_PROCESS: readonly [program: string, ...args: string[]] = [
  process.execPath,
  '--disable-sigusr1',
  join(PROJECT_ROOT, MODULE_ENDING === '.ts' ? 'src/main.ts' : 'dist/program/main.js'),
];

/**
 * Returns whether this copy is the installed package, which `npm run package` marks in its
 * package.json; otherwise it is a working copy.
 */
export function isInstalled(root = PROJECT_ROOT): boolean {
  const manifest: { installed?: unknown } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return manifest.installed === true;
}

/** Returns where a user finds a file that comes with eligd: by its place in the package. */
export function shippedFile(path: string, root = PROJECT_ROOT): string {
  return isInstalled(root) ? join(root, path) : path;
}
