import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram, keptPackages } from '../../systemd/built-program.ts';
import { copyPackage } from '../../systemd/packed-files.ts';

const NOBODY = 65_534;
const ROOT = resolve(import.meta.dirname, '../..');

describe('the program that the package brings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-program-'));
  const program = join(folder, 'eligd');
  const configuration = join(folder, 'eligd.yaml');
  const eligd = (...args: string[]) =>
    execFileSync(process.execPath, [join(program, 'dist/program/main.js'), ...args], {
      encoding: 'utf8',
    });

  beforeAll(async () => {
    await buildProgram(ROOT, program);
    for (const part of ['package.json', 'bin', 'config']) {
      cpSync(join(ROOT, part), join(program, part), { recursive: true });
    }
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    for (const path of keptPackages(packages))
      copyPackage(path, { root: ROOT, program, architecture: process.arch, is_run: true });
    mkdirSync(join(folder, 'report'));
    writeFileSync(
      configuration,
      `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "http://127.0.0.1:9", auth: basic }
connectors: [{ id: front-desk, type: csv, folder: ./dropbox }]
state: { path: ./state/eligd.db }
report: { folder: ./report }
`,
    );
    writeFileSync(
      join(folder, '.env'),
      'ELIGD_SERVICE_PROJECT_ID=clinic\nELIGD_SERVICE_API_KEY=secret\n',
      { mode: 0o600 },
    );
  }, 120_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  it('the packaged program has every command and every connector', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(eligd('--version')).toBe(`${version}\n`);
    expect(eligd('--help')).toMatch(/^ {2}fhir /m);
    const schema = eligd('config', 'schema');
    for (const type of ['csv', 'fhir', 'hl7']) expect(schema).toContain(`connector ${type}`);
  });

  it('the packaged program does all due work, and copies the database in a thread', async () => {
    expect(() => eligd('once', '--config', configuration)).toThrow();
    const database = join(folder, 'state/eligd.db');
    const copy = join(folder, 'copy.db');
    const thread = pathToFileURL(join(program, 'dist/program/backup-thread.js')).href;
    const { writeBackupAside } = (await import(
      thread
    )) as typeof import('../../src/store/engine/backup-thread.ts');
    const { appointments } = await writeBackupAside(database, copy, 0);
    expect(appointments).toBe(0);
    expect(existsSync(copy)).toBe(true);
    expect(existsSync(join(folder, 'dropbox/outbox/schedule.html'))).toBe(true);
    const pdf = readFileSync(join(folder, 'report/schedule.pdf'), 'latin1');
    expect(pdf).toMatch(/^%PDF-/);
    expect(pdf).toContain('DejaVuSansCondensed');
    expect(pdf).toMatch(/%%EOF\s*$/);
  });

  it('each part of the packaged program loads with nothing but the packages beside it', () => {
    const parts = [
      ...readdirSync(join(program, 'dist/program')).filter((name) => /-.{8}\.js$/.test(name)),
      ...['csv', 'fhir', 'hl7'].map((name) => `../../connectors/${name}/index.js`),
    ];
    const script = `for (const part of ${JSON.stringify(parts)}) await import('./' + part);
      console.log('loaded');`;
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: join(program, 'dist/program'),
      encoding: 'utf8',
    });
    expect(parts.length).toBeGreaterThan(50);
    expect(output).toBe('loaded\n');
  });

  // Loading is not enough: what a library does when it is first used shows only in a run.
  it('the packaged program serves, calls, and shows the demo', () => {
    const output = eligd('demo', '--exit');
    expect(output).toMatch(/of 40 appointments are verified/);
  }, 120_000);

  it.each([['status'], ['list'], ['explain', 'inquiry:1'], ['show', 'inquiry:1']])(
    'a packaged command that only reads loads nothing for connections: %s',
    (...words) => {
      const list = 'process.on("exit", () => console.error(process.moduleLoadList.join("\\n")))';
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [
          ...['--import', `data:text/javascript,${list}`, join(program, 'dist/program/main.js')],
          ...[...words, '--config', configuration],
        ],
        { encoding: 'utf8' },
      );
      if (words[0] === 'status') expect(stdout).toContain('Running:');
      expect(stderr).toContain('NativeModule fs');
      expect(stderr).not.toMatch(/^NativeModule (?:http2?|tls)$/m);
    },
  );

  it("a packaged command uses the compiled code in Node's program for Node's own modules", () => {
    const list = `import module from 'node:module';
      const { internalBinding } = module.createRequire('/')('internal/test/binding');
      process.on('exit', () => {
        const used = internalBinding('builtins').getCacheUsage();
        const names = (key) => [...used[key]].join(' ');
        console.error('with: ' + names('compiledWithCache'));
        console.error('without: ' + names('compiledWithoutCache'));
      });`;
    const { stderr } = spawnSync(
      process.execPath,
      [
        ...['--expose-internals', '--import', `data:text/javascript,${encodeURIComponent(list)}`],
        ...[join(program, 'dist/program/main.js'), 'status', '--config', configuration],
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toMatch(/^with: .*\binternal\/crypto\/hash\b/m);
    expect(stderr).toMatch(/^without: $/m);
  });

  it('the packaged program is compiled for its user, who can read but not change it', () => {
    const uid = process.geteuid?.() === 0 ? NOBODY : Number(process.geteuid?.());
    for (const shared of [folder, program]) chmodSync(shared, 0o755);
    const compiled = join(program, 'compiled');
    const compile = join(program, 'dist/program/compile-ahead.js');
    execFileSync('sh', [
      '-c',
      'umask 077 && exec "$@"',
      'sh',
      ...[process.execPath, compile, compiled, String(uid)],
    ]);
    const [made = ''] = readdirSync(compiled);
    expect(made).toMatch(new RegExp(`^${process.version}-${process.arch}-.*-${uid}$`));
    const start = () =>
      spawnSync(process.execPath, [join(program, 'dist/program/main.js'), '--version'], {
        ...(uid === NOBODY && { uid, gid: NOBODY }),
        cwd: '/',
        encoding: 'utf8',
        env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
      });
    const { stderr } = start();
    expect(stderr).toMatch(/\/program\/program-.* was accepted/);
    expect(stderr.match(/ was accepted/g)).toHaveLength(
      stderr.match(/reading cache/g)?.length ?? 0,
    );
    chmodSync(join(compiled, made), 0o777);
    expect(start().stderr).not.toContain('accepted');
  });

  it.each([
    ['an installation', { installed: true }, 'built'],
    ['a working copy', {}, 'sources'],
  ])('bin/eligd chooses between sources and %s in a package with %s', (name, manifest, runs) => {
    const root = join(folder, name);
    for (const part of ['src', 'dist/program', 'bin'])
      mkdirSync(join(root, part), { recursive: true });
    cpSync(join(ROOT, 'bin/eligd'), join(root, 'bin/eligd'));
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    writeFileSync(join(root, 'package.json'), JSON.stringify(manifest, null, 2));
    writeFileSync(join(root, 'src/main.ts'), 'console.log("sources")');
    writeFileSync(join(root, 'dist/program/main.js'), 'console.log("built")');
    expect(execFileSync(join(root, 'bin/eligd'), { encoding: 'utf8' })).toBe(`${runs}\n`);
  });

  it('the package has native packages and what they load, and no other', () => {
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
    const kept = keptPackages(lock.packages);
    for (const name of ['better-sqlite3', 'dejavu-fonts-ttf', 'pino', 'thread-stream'])
      expect(kept).toContain(`node_modules/${name}`);
    for (const name of ['kysely', 'undici', 'zod', 'fastify', 'pdfkit', 'brotli'])
      expect(kept).not.toContain(`node_modules/${name}`);
  });
});
