/**
 * Builds the JavaScript that the package runs from `src`, `connectors`, and their libraries.
 * Otherwise Node would strip the types of 400 files at every start and keep loader records of
 * 1,500, which takes twice the processor time until the first reconciliation and 60 MB more memory.
 * Names are not shortened, so that stack traces in logs are readable.
 */
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import type { LockedPackage } from './bill-of-materials.ts';

/** Relative to the program; as deep as `src/ops`, because PROJECT_ROOT is relative to it. */
const FOLDER = 'dist/program';
/** Libraries that stay separate packages: native code, fonts, and what the log loads later. */
const KEPT = ['better-sqlite3', 'better-sqlite3-multiple-ciphers', 'dejavu-fonts-ttf', 'pino'];

/**
 * Modules that a library (`of`) loads and eligd never uses there, and the code that replaces them.
 * - undici works without `node:http2` where that is missing. eligd never calls with HTTP/2
 *   (src/network/http.ts), and loading it takes 10 ms and 4 MB. Fastify needs it to start.
 * - fontkit unpacks WOFF2 fonts with brotli, which takes 0.8 MB. The PDF's fonts are TrueType.
 */
const UNUSED = [
  {
    name: 'node:http2',
    of: 'node_modules/undici/',
    code: "throw new Error('The package does not call with HTTP/2.');",
  },
  {
    name: 'brotli/decompress.js',
    of: 'node_modules/fontkit/',
    code: "export default () => { throw new Error('The package does not read WOFF2 fonts.'); };",
  },
];

const withoutUnused: Plugin = {
  name: 'without-unused',
  resolveId: (id, importer) =>
    UNUSED.some((each) => each.name === id && importer?.includes(each.of)) ? `unused:${id}` : null,
  load: (id) => UNUSED.find((each) => id === `unused:${each.name}`)?.code ?? null,
};

/** Builds `dist/program` and the connectors' modules in the folder `program`. */
export async function buildProgram(root: string, program: string): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: {
      [`${FOLDER}/main`]: join(root, 'src/main.ts'),
      // A separate file, because a thread starts with it.
      [`${FOLDER}/backup-thread`]: join(root, 'src/store/engine/backup-thread.ts'),
      [`${FOLDER}/compile-ahead`]: join(root, 'src/ops/compile-ahead.ts'),
      ...connectorModules(root),
    },
    external: (id) => KEPT.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [withoutUnused],
  });
  await bundle.write({
    dir: program,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${FOLDER}/[name]-[hash].js`,
    comments: false,
  });
  await bundle.close();
  cpSync(join(root, 'src/office/assets'), join(program, FOLDER, 'assets'), { recursive: true });
}

function connectorModules(root: string): Record<string, string> {
  const modules: Record<string, string> = {};
  for (const name of readdirSync(join(root, 'connectors')))
    for (const module of ['index', 'commands']) {
      const file = join(root, 'connectors', name, `${module}.ts`);
      if (existsSync(file) && !name.startsWith('template'))
        modules[`connectors/${name}/${module}`] = file;
    }
  return modules;
}

/**
 * Returns the packages that are loaded at run time; the built program contains the code of the
 * others.
 */
export function keptPackages(packages: Readonly<Record<string, LockedPackage>>): Set<string> {
  const kept = new Set<string>();
  const keep = (name: string, from: string): void => {
    const found = nearest(name, from, packages);
    if (found === null || kept.has(found)) return;
    kept.add(found);
    for (const each of Object.keys(packages[found]?.dependencies ?? {})) keep(each, found);
  };
  for (const name of KEPT) keep(name, '');
  return kept;
}

/** Returns the path where Node finds `name` for a module of the package at `from`. */
function nearest(
  name: string,
  from: string,
  packages: Readonly<Record<string, LockedPackage>>,
): string | null {
  const path = `${from}${from === '' ? '' : '/'}node_modules/${name}`;
  if (path in packages) return path;
  if (from === '') return null;
  const end = from.lastIndexOf('/node_modules/');
  return nearest(name, end === -1 ? '' : from.slice(0, end), packages);
}
