/**
 * Builds the JavaScript that the package runs from `src`, `connectors`, and their libraries.
 * Otherwise Node would strip the types of 400 files at every start and keep loader records of
 * 1,500, which takes twice the processor time until the first reconciliation and 60 MB more memory.
 * Names are not shortened, so that stack traces in logs are readable.
 */
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ChunkingContext, type Plugin, rolldown } from 'rolldown';
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
    // As `includeDependenciesRecursively` below requires.
    preserveEntrySignatures: 'allow-extension',
  });
  await bundle.write({
    dir: program,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: `${FOLDER}/[name]-[hash].js`,
    comments: false,
    codeSplitting: {
      // Each set of modules below contains all that its modules import, or `common` does.
      includeDependenciesRecursively: false,
      groups: [{ name: chunkNames(root), debugName: 'loaded together' }],
    },
  });
  await bundle.close();
  cpSync(join(root, 'src/office/assets'), join(program, FOLDER, 'assets'), { recursive: true });
}

/** `one`: of the commands that show one visit. */
type Loaded = Record<'first' | 'run' | 'status' | 'list' | 'one', Set<string>>;

/** With what every command begins, also those that only print help, and the thread of a backup. */
const FIRST = [
  'src/main.ts',
  'src/cli/program.ts',
  'src/cli/exit.ts',
  'src/store/engine/backup-thread.ts',
];
/** What most commands load next. */
const NEXT = [
  'src/ops/config.ts',
  'src/ops/database-keys.ts',
  'src/ops/env.ts',
  'src/ops/journal.ts',
  'src/ops/log.ts',
  'src/ops/secrets.ts',
  'src/store/engine/keys.ts',
  'connectors/csv/index.ts',
];

/**
 * Returns a function that names the file of a module; null: rolldown decides. Node takes half a
 * millisecond for each file, so what is always loaded together is one file: `common` for what the
 * daemon and the commands that read the database load, and `daemon` for what none of the commands
 * load for which people wait.
 */
function chunkNames(root: string): (id: string, context: ChunkingContext) => string | null {
  let loaded: Loaded | null = null;
  return (id, context) => {
    loaded ??= {
      first: modulesOf(FIRST, root, context),
      run: modulesOf(['src/cli/commands/run.ts', ...NEXT], root, context),
      status: modulesOf(['src/cli/commands/status.ts', ...NEXT], root, context),
      list: modulesOf(['src/cli/commands/list.ts', ...NEXT], root, context),
      one: modulesOf(
        ['explain', 'show'].map((name) => `src/cli/commands/${name}.ts`),
        root,
        context,
      ),
    };
    const { first, run, status, list, one } = loaded;
    if (first.has(id) || !run.has(id)) return null;
    if (status.has(id) && list.has(id)) return 'common';
    return [status, list, one].some((each) => each.has(id)) ? null : 'daemon';
  };
}

/** Returns the given modules and everything that they import when they are loaded. */
function modulesOf(files: readonly string[], root: string, context: ChunkingContext): Set<string> {
  const found = new Set<string>();
  const add = (id: string): void => {
    if (found.has(id)) return;
    found.add(id);
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) add(next);
  };
  for (const file of files) add(join(root, file));
  return found;
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
