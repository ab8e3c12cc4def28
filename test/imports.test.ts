import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const CRUISER = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');
const FOLDERS = ['src', 'connectors', 'migrations'];

type Cruise = {
  modules: { source: string; dependencies: { resolved: string; dependencyTypes: string[] }[] }[];
  summary: { violations: { rule: { name: string }; from: string; to: string }[] };
};

async function cruise(folder: string): Promise<Cruise> {
  const folders = FOLDERS.filter((name) => existsSync(join(folder, name)));
  const args = [
    CRUISER,
    ...folders,
    '--config',
    join(folder, '.dependency-cruiser.cjs'),
    '--output-type',
    'json',
  ];
  const stdout = await new Promise<string>((done, fail) => {
    execFile(
      process.execPath,
      args,
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      (_, out, err) => {
        // The exit code is the number of violations, which the caller checks.
        if (out === '') fail(new Error(`dependency-cruiser printed nothing, but: ${err}`));
        else done(out);
      },
    );
  });
  return JSON.parse(stdout);
}

describe('the imports of this tree', () => {
  test('the imports keep to the rules, and were really read', async () => {
    const { modules, summary } = await cruise(ROOT);
    expect(summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)).toEqual(
      [],
    );
    // Under TypeScript 7 without @swc/core, dependency-cruiser reads no module at all, and passes.
    const read = modules.filter(
      ({ source }) => source.endsWith('.ts') && !source.startsWith('node_modules/'),
    );
    expect(read.length).toBeGreaterThan(50);
    const contract = modules.find(({ source }) => source === 'connectors/contract.ts');
    const types = contract?.dependencies.find(
      ({ resolved }) => resolved === 'src/domain/appointment.ts',
    );
    expect(types?.dependencyTypes).toContain('type-only');
  }, 120_000);
});

/**
 * A file in every folder that others must not import, so that a planted import has a target even in
 * an unfinished tree.
 */
const TARGETS = [
  ...[
    'domain',
    'records',
    'store',
    'service',
    'stages',
    'http',
    'ops',
    'cli',
    'sandbox',
    'office',
    'network',
  ].map((folder) => `src/${folder}/target.ts`),
  'src/stages/planning/index.ts',
  'src/stages/pull/index.ts',
  'src/stages/plan/index.ts',
  'src/stages/loop.ts',
  'src/service/signature.ts',
  'src/daemon/index.ts',
  'src/cli/commands/show.ts',
  'src/main.ts',
  'connectors/conformance/suite.ts',
  'connectors/one/index.ts',
  'connectors/two/index.ts',
  'connectors/hl7/in/target.ts',
  'migrations/target.ts',
];

type Plant = { rule: string; file: string; imports: string[] };

const VIOLATIONS: Plant[] = [
  {
    rule: 'MLLP imports neither in nor out',
    file: 'connectors/hl7/mllp/a.ts',
    imports: ['../in/target.ts'],
  },
  { rule: 'no cycles', file: 'src/ops/circle-a.ts', imports: ['./circle-b.ts'] },
  { rule: 'everything resolves', file: 'src/ops/lost.ts', imports: ['./nowhere.ts'] },
  {
    rule: 'domain imports domain and records',
    file: 'src/domain/a.ts',
    imports: ['../store/target.ts'],
  },
  {
    rule: 'records import records and domain',
    file: 'src/records/a.ts',
    imports: ['../service/target.ts'],
  },
  {
    rule: 'domain takes only types from records',
    file: 'src/domain/b.ts',
    imports: ['../records/target.ts'],
  },
  {
    rule: 'records take only types from domain',
    file: 'src/records/b.ts',
    imports: ['../domain/target.ts'],
  },
  {
    rule: 'store imports domain and records',
    file: 'src/store/a.ts',
    imports: ['../ops/target.ts'],
  },
  {
    rule: 'service imports domain, records and the network',
    file: 'src/service/a.ts',
    imports: ['../store/target.ts'],
  },
  {
    rule: 'the contract imports domain and records',
    file: 'connectors/contract.ts',
    imports: ['../src/ops/target.ts'],
  },
  {
    rule: 'the contract takes only types',
    file: 'connectors/contract.ts',
    imports: ['../src/domain/target.ts'],
  },
  {
    rule: 'a connector imports the contract, domain and records',
    file: 'connectors/conformance/harness.ts',
    imports: ['../../src/store/target.ts'],
  },
  {
    rule: 'the conformance suite stays in tests',
    file: 'src/ops/c.ts',
    imports: ['../../connectors/conformance/suite.ts'],
  },
  {
    rule: 'a connector imports the contract, domain and records',
    file: 'connectors/one/a.ts',
    imports: ['../two/index.ts'],
  },
  {
    rule: 'a connector imports the contract, domain and records',
    file: 'connectors/one/b.ts',
    imports: ['../../src/ops/target.ts'],
  },
  {
    rule: 'nothing names a connector',
    file: 'src/daemon/a.ts',
    imports: ['../../connectors/one/index.ts'],
  },
  {
    rule: 'stages never import each other',
    file: 'src/stages/plan/a.ts',
    imports: ['../pull/index.ts'],
  },
  {
    rule: 'stages never import each other',
    file: 'src/stages/plan/b.ts',
    imports: ['../planning/index.ts'],
  },
  {
    rule: 'stages never import each other',
    file: 'src/stages/loop.ts',
    imports: ['./plan/index.ts'],
  },
  {
    rule: 'stages import domain, records, store, service and the contract',
    file: 'src/stages/submit/index.ts',
    imports: ['../../ops/target.ts'],
  },
  {
    rule: 'http imports store, domain and the signature',
    file: 'src/http/a.ts',
    imports: ['../service/target.ts'],
  },
  {
    rule: 'office imports domain, records, store, ops and the server',
    file: 'src/office/a.ts',
    imports: ['../stages/target.ts'],
  },
  {
    rule: 'only the daemon, commands and office import the office',
    file: 'src/http/c.ts',
    imports: ['../office/target.ts'],
  },
  {
    rule: 'ops imports domain, the network and the contract',
    file: 'src/ops/a.ts',
    imports: ['../store/target.ts'],
  },
  {
    rule: 'the sandbox imports nothing of ours',
    file: 'src/sandbox/a.ts',
    imports: ['../domain/target.ts'],
  },
  {
    rule: 'migrations import nothing of ours',
    file: 'migrations/a.ts',
    imports: ['../src/domain/target.ts'],
  },
  {
    rule: 'cli imports neither stages nor main',
    file: 'src/cli/a.ts',
    imports: ['../stages/target.ts'],
  },
  { rule: 'cli imports neither stages nor main', file: 'src/cli/b.ts', imports: ['../main.ts'] },
  {
    rule: 'no command imports another',
    file: 'src/cli/commands/hold.ts',
    imports: ['./show.ts'],
  },
  {
    rule: 'no command imports another',
    file: 'src/cli/shared.ts',
    imports: ['./commands/show.ts'],
  },
  {
    rule: 'only run, once, demo, preview, cost and purge import the daemon',
    file: 'src/cli/commands/status.ts',
    imports: ['../../daemon/index.ts'],
  },
  {
    rule: 'the daemon imports neither cli nor main',
    file: 'src/daemon/b.ts',
    imports: ['../cli/target.ts'],
  },
  {
    rule: 'SQLite and kysely stay in store',
    file: 'src/stages/collect/poll/index.ts',
    imports: ['kysely'],
  },
  { rule: 'SQLite and kysely stay in store', file: 'src/http/b.ts', imports: ['better-sqlite3'] },
  {
    rule: 'the network imports domain',
    file: 'src/network/a.ts',
    imports: ['../ops/target.ts'],
  },
  {
    rule: 'connectors get their connections from eligd',
    file: 'connectors/one/c.ts',
    imports: ['../../src/network/target.ts'],
  },
  { rule: 'connections are made in one place', file: 'src/service/b.ts', imports: ['undici'] },
  { rule: 'connections are made in one place', file: 'connectors/one/d.ts', imports: ['undici'] },
  {
    rule: 'node-cron stays in the daemon and the configuration',
    file: 'src/ops/b.ts',
    imports: ['node-cron'],
  },
];

/** Imports that the rules must allow: a rule that refuses everything would pass the tests above. */
const ALLOWED: { file: string; source: string }[] = [
  {
    file: 'src/records/ok.ts',
    source: "import type { value } from '../domain/target.ts'; export type Ok = typeof value;",
  },
  {
    file: 'src/domain/ok.ts',
    source: "import type { value } from '../records/target.ts'; export type Ok = typeof value;",
  },
  {
    file: 'src/ops/ok.ts',
    source:
      "import { value } from './target.ts'; export const f = () => { using x = value; return x; };",
  },
  {
    file: 'src/stages/plan/ok.ts',
    source: "export * from '../loop.ts'; export * as own from './index.ts';",
  },
  {
    file: 'src/stages/deliver/index.ts',
    source: "export type { Connector } from '../../../connectors/contract.ts';",
  },
  {
    file: 'src/http/ok.ts',
    source: "export * from '../service/signature.ts'; export * as store from '../store/target.ts';",
  },
  { file: 'src/network/ok.ts', source: "export * from 'undici';" },
  {
    file: 'connectors/conformance/network.ts',
    source: "export * from '../../src/network/target.ts';",
  },
  { file: 'src/service/ok.ts', source: "export type { Dispatcher } from 'undici';" },
  { file: 'src/ops/config-values.ts', source: "export * from 'node-cron';" },
  { file: 'src/cli/commands.ts', source: "export * from './commands/show.ts';" },
  { file: 'src/cli/commands/demo.ts', source: "export * from '../../daemon/index.ts';" },
  {
    file: 'src/store/ok.ts',
    source: "export { Kysely } from 'kysely'; export * from '../../migrations/target.ts';",
  },
];

describe('a planted violation', () => {
  let folder: string;
  let planted: Cruise;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eligd-imports-'));
    await cp(CONFIG, join(folder, '.dependency-cruiser.cjs'));
    await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const files = new Map<string, string>();
    const add = (file: string, source: string) =>
      files.set(file, `${files.get(file) ?? ''}${source}\n`);
    for (const file of TARGETS) add(file, 'export const value = 1;');
    add('connectors/contract.ts', 'export type Connector = string;');
    add('src/ops/circle-b.ts', "export * as a from './circle-a.ts';");
    for (const { file, imports } of VIOLATIONS)
      for (const path of imports) add(file, `import '${path}';`);
    for (const { file, source } of ALLOWED) add(file, source);
    for (const [file, source] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), source);
    }
    planted = await cruise(folder);
  }, 60_000);

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test.each(VIOLATIONS)('a violation of "$rule" in $file is found', ({ rule, file, imports }) => {
    const found = planted.summary.violations.filter(
      (violation) => violation.from === file && violation.rule.name === rule,
    );
    const target = (imports[0] ?? '').replace(/^[./]+/, '');
    expect(found.some(({ to }) => to.includes(target))).toBe(true);
  });

  test.each(ALLOWED)('no violation is found in the correct file $file', ({ file }) => {
    expect(planted.modules.some(({ source }) => source === file)).toBe(true);
    expect(planted.summary.violations.filter(({ from }) => from === file)).toEqual([]);
  });

  test('every rule has a planted violation here', async () => {
    const rules: { forbidden: { name: string }[] } = createRequire(import.meta.url)(CONFIG);
    const names = rules.forbidden.map(({ name }) => name);
    expect([...new Set(VIOLATIONS.map(({ rule }) => rule))].toSorted()).toEqual(names.toSorted());
    expect(await readFile(join(folder, '.dependency-cruiser.cjs'), 'utf8')).toBe(
      await readFile(CONFIG, 'utf8'),
    );
  });
});
