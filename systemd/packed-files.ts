/** Selects and copies the files of an installed package that the clinic's server needs. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Files of packages that are not needed at run time: sources, tests, benchmarks, pages, other
 * systems.
 */
const NOT_RUN = [
  /^better-sqlite3(?:-multiple-ciphers)?\/(?:deps|src)(?:\/|$)/,
  // The fonts that are not on the printed sheet.
  /^dejavu-fonts-ttf\/(?!package\.json|ttf$|ttf\/DejaVuSansCondensed(?:-Bold)?\.ttf$|LICENSE)./,
  /\/(?:tests?|__tests__|benchmarks?|bench|examples?|docs|\.github)(?:\/|$)/,
  /\.(?:map|markdown|ya?ml|taprc|gyp|gypi|h|html|sh|mk|stamp|d)$/,
  /\/(?:(?:binding\.)?Makefile|\.(?:gitattributes|npmignore|prettierignore))$/,
  /\.[cm]?ts$/,
];
/**
 * What the compiler reads for a clinic's own connector: the types of `eligd/connector` name these
 * two libraries.
 */
const CONTRACT_TYPES =
  /^(?:undici|zod)\/(?:package\.json$|(?!src\/|v3\/|(?:v4-?\/?)?mini\/).*\.d\.ts$)/;
/** Debian's policy requires the full license; bill-of-materials.ts reads it. */
const LICENSE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * Returns whether the package for `architecture` (Node's name: x64, arm64) includes a file or a
 * folder. `path` is relative to node_modules. Of the eight binaries of each of the two SQLites, it
 * includes only the one for this system; the others take 33 MB. Of a package whose code is in the
 * built program, it includes only the license and the types. (A clinic's own connector has its own
 * zod and uses only the types from here.)
 */
export function isPacked(
  path: string,
  { architecture, is_run }: { architecture: string; is_run: boolean },
): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^better-sqlite3(?:-multiple-ciphers)?\/prebuilds\/./.test(path))
    return name === `linux-${architecture}.node`;
  if (LICENSE.test(name) || CONTRACT_TYPES.test(path)) return true;
  return is_run && !/\.md$/i.test(name) && !NOT_RUN.some((pattern) => pattern.test(path));
}

/**
 * `root` and `program`: the folders of the working copy and of the package. `architecture`: Node's
 * name. `is_run`: whether the package's code is loaded, and not a part of the built program.
 */
type PackageWanted = { root: string; program: string; architecture: string; is_run: boolean };

/**
 * Copies what is needed of the package at `path`, such as `node_modules/pino`, without the packages
 * nested in it, which have their own lines in the lockfile.
 */
export function copyPackage(
  path: string,
  { root, program, architecture, is_run }: PackageWanted,
): void {
  const from = join(root, path);
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || file.slice(from.length).includes('/node_modules/')) continue;
    const inside = file.slice(join(root, 'node_modules').length + 1);
    if (!isPacked(inside, { architecture, is_run })) continue;
    const to = join(program, file.slice(root.length + 1));
    mkdirSync(dirname(to), { recursive: true });
    cpSync(file, to);
    if (to.endsWith('.node')) removeSymbols(to, architecture);
  }
}

/** Removes what only a debugger reads. Without binutils, the file stays as it is. */
export function removeSymbols(binary: string, architecture: string): void {
  const prefix = architecture === 'arm64' ? 'aarch64-linux-gnu-' : 'x86_64-linux-gnu-';
  const { error } = spawnSync(`${prefix}strip`, ['--strip-unneeded', binary]);
  if (error !== undefined)
    console.error(
      `eligd: ${prefix}strip is not installed, so the package keeps the symbols of ` +
        `${basename(binary)} and is larger. Install binutils (for another machine: ` +
        'binutils-aarch64-linux-gnu on Debian).',
    );
}
