/**
 * `npm run bench -- idle`: the cost of the packaged program from its start to the first
 * reconciliation, and while it has nothing to do with only a CSV folder, next to fastify with an
 * open database. The measure of a start is processor time, because others may use the machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
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
import { setTimeout as sleep } from 'node:timers/promises';
import { buildProgram } from '../../systemd/built-program.ts';
import { inTurn, printTable } from './measure.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ROUNDS = 5;
/**
 * Until V8 has returned the memory of the start, which it does within two minutes. From then on,
 * the memory hardly changes.
 */
const SETTLE_MS = 120_000;
/**
 * eligd does most of its idle work every minute, and nothing in a shorter rhythm that does not fit
 * into one: whole minutes have the same share of everything, and one is enough. The two programs
 * are idle at the same time, because two windows in a row take twice as long.
 */
const IDLE_MS = 60_000;
/** Root may not use compiled code, so the daemon runs as another user, as its unit has it. */
const NOBODY = 65_534;
const is_root = process.getuid?.() === 0;
export const USER_ID = is_root ? NOBODY : Number(process.getuid?.());

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

const UNIT = readFileSync(join(ROOT, 'systemd/eligd.service'), 'utf8');
/** The options of Node in the unit that limit its memory. */
export const MEMORY_OPTIONS = UNIT.match(/--max-\S+/g) ?? [];

/** `base_url`: of a service whose list is empty. */
export async function benchIdle(base_url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-idle-'));
  try {
    const eligd = await prepare(folder, base_url);
    const bare = ['-e', BARE];
    const starts = await inTurn(ROUNDS, {
      eligd: () => {
        // A start does not read the list again that an earlier one has read within the hour.
        rmSync(join(folder, 'own/state'), { recursive: true, force: true });
        return startMs(eligd, 'reconciliation_done');
      },
      bare: () => startMs(bare, 'listening'),
    });
    const idle = await Promise.all([idleOf(eligd), idleOf(bare)]);
    const names = ['eligd, CSV alone', 'fastify and better-sqlite3'] as const;
    printTable([
      ['idle', 'start, ms of CPU', 'RSS, MB', '% of a core'],
      ...[starts.eligd, starts.bare].map(({ median }, index) => [
        names[index] ?? '',
        String(Math.round(median)),
        String(Math.round(idle[index]?.rss_mb ?? 0)),
        (idle[index]?.percent ?? 0).toFixed(3),
      ]),
    ]);
    console.log();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const BARE = `
const app = require('fastify')();
new (require('better-sqlite3'))(':memory:').exec('create table t (a)');
app.listen({ port: 0 }).then(() => console.log('listening'));`;

/** Builds the packaged program in the folder, compiled ahead, and returns its main file. */
export async function buildPackaged(folder: string): Promise<string> {
  const program = join(folder, 'eligd');
  await buildProgram(ROOT, program);
  for (const part of ['package.json', 'config'])
    cpSync(join(ROOT, part), join(program, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(program, 'node_modules'));
  const compile = join(program, 'dist/program/compile-ahead.js');
  const compiling = node([compile, join(program, 'compiled'), String(USER_ID)]);
  await new Promise((done) => compiling.once('exit', done));
  return join(program, 'dist/program/main.js');
}

/** Arguments of Node for the daemon as its unit starts it. */
async function prepare(folder: string, base_url: string): Promise<string[]> {
  const main = await buildPackaged(folder);
  const own = [join(folder, 'own'), join(folder, 'own/dropbox'), join(folder, '.env')];
  mkdirSync(join(folder, 'own/dropbox'), { recursive: true });
  const configuration = join(folder, 'eligd.yaml');
  writeFileSync(
    configuration,
    `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${base_url}", auth: basic, submission: { max_per_minute: 0 } }
connectors: [{ id: front-desk, type: csv, folder: ./own/dropbox }]
state: { path: ./own/state/eligd.db }
`,
  );
  writeFileSync(
    join(folder, '.env'),
    'ELIGD_SERVICE_PROJECT_ID=clinic\nELIGD_SERVICE_API_KEY=bench\n',
    { mode: 0o600 },
  );
  chmodSync(folder, 0o755);
  for (const path of own) chownSync(path, USER_ID, USER_ID);
  return [...MEMORY_OPTIONS, main, 'run', '--config', configuration];
}

function node(args: string[], user: { uid?: number; gid?: number } = {}): ChildProcess {
  const env = { ...process.env, MALLOC_ARENA_MAX: '1' };
  const stdio = ['ignore' as const, 'pipe' as const, 'inherit' as const];
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio, ...user });
}

/** Milliseconds of processor time until `word` is printed. */
async function startMs(args: string[], word: string): Promise<number> {
  const child = await started(args, word);
  const used_ms = cpuMs(child);
  await ended(child);
  return used_ms;
}

async function idleOf(args: string[]): Promise<{ rss_mb: number; percent: number }> {
  const child = await started(args, '');
  await sleep(SETTLE_MS);
  const before_ms = exactCpuMs(child);
  await sleep(IDLE_MS);
  const percent = ((exactCpuMs(child) - before_ms) / IDLE_MS) * 100;
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  await ended(child);
  return { rss_mb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024, percent };
}

async function started(args: string[], word: string): Promise<ChildProcess> {
  const child = node(args, is_root ? { uid: NOBODY, gid: NOBODY } : {});
  let said = '';
  await new Promise<void>((done, reject) => {
    child.once('exit', () => reject(new Error(`It ended without "${word}":\n${said}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(word)) done();
    });
  });
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill();
  await new Promise((done) => child.once('exit', done));
}

function cpuMs({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** Processor time in nanoseconds: an idle minute takes less than two hundredths of a second. */
function exactCpuMs({ pid }: ChildProcess): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' '),
  );
  return threads.reduce((sum, [used_ns]) => sum + Number(used_ns), 0) / 1_000_000;
}
