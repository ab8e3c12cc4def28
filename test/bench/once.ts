/**
 * `npm run bench -- once`: `eligd once` of the packaged program with nothing to do, in a clinic
 * with two weeks of answered visits and in one with 100,000 more. Each run relies on the check and
 * the comparison of the one before, as from cron.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackaged, MEMORY_OPTIONS } from './idle.ts';
import { inTurn, measureInChild, printTable } from './measure.ts';
import type { OnceClinicJob } from './once-clinic.ts';

const ROUNDS = 5;
const VISITS = 100_000;

type Usage = { cpu_ms: number; rss_mb: number };

/**
 * Prints what the process has used, at its end. Its most memory is not in `resourceUsage`, which
 * counts the bench's memory before the program starts in the child.
 */
const USAGE = `import { readFileSync } from 'node:fs';
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const [, rss_kb] = /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  const used = { cpu_ms: (user + system) / 1000, rss_mb: rss_kb / 1024 };
  process.stderr.write(JSON.stringify(used) + '\\n');
});`;

/** `base_url`: of a service whose list is empty. */
export async function benchOnce(base_url: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-once-'));
  try {
    const main = await buildPackaged(folder);
    const [few, many] = [join(folder, 'few'), join(folder, 'many')];
    const clinics = [
      { folder: few, visits: 0 },
      { folder: many, visits: VISITS },
    ];
    const job: OnceClinicJob = { clinics };
    await measureInChild('once-clinic.ts', job);
    for (const clinic of [few, many]) {
      pointTo(clinic, base_url);
      await runOnce(main, clinic);
    }
    const rss = { few: 0, many: 0 };
    const measure = async (name: 'few' | 'many') => {
      const { cpu_ms, rss_mb } = await runOnce(main, name === 'few' ? few : many);
      rss[name] = Math.max(rss[name], rss_mb);
      return cpu_ms;
    };
    const cpu = await inTurn(ROUNDS, {
      few: () => measure('few'),
      many: () => measure('many'),
    });
    const ratio = (a: number, b: number) => (a / b).toFixed(2);
    printTable([
      ['once with nothing to do', 'ms of CPU', 'RSS, MB'],
      ['two weeks of visits', String(Math.round(cpu.few.median)), String(Math.round(rss.few))],
      [
        `and ${VISITS} in the past`,
        String(Math.round(cpu.many.median)),
        String(Math.round(rss.many)),
      ],
      ['ratio', ratio(cpu.many.median, cpu.few.median), ratio(rss.many, rss.few)],
    ]);
    console.log();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Makes a clinic use this service. */
export function pointTo(clinic: string, base_url: string): void {
  const file = join(clinic, 'eligd.yaml');
  const text = readFileSync(file, 'utf8').replace(/base_url: \S+/, `base_url: ${base_url}`);
  writeFileSync(file, text.replace('auth: oauth', 'auth: basic'));
  const keys = 'ELIGD_SERVICE_PROJECT_ID=clinic\nELIGD_SERVICE_API_KEY=bench\n';
  writeFileSync(join(clinic, '.env'), keys, { mode: 0o600 });
}

/** Runs `eligd once` in the folder of a clinic, and returns what it used. */
export async function runOnce(main: string, clinic: string): Promise<Usage> {
  return await runCommand(main, clinic, ['once']);
}

/**
 * Runs a command in the folder of a clinic, and returns what it used. `as`: by default, the user of
 * the bench; `codes`: the exit codes of a command that has done its work.
 */
export async function runCommand(
  main: string,
  clinic: string,
  words: readonly string[],
  { as, codes = [0] }: { as?: number; codes?: readonly number[] } = {},
): Promise<Usage> {
  const usage = `data:text/javascript,${encodeURIComponent(USAGE)}`;
  const config = ['--config', join(clinic, 'eligd.yaml')];
  const args = [...MEMORY_OPTIONS, '--import', usage, main, ...words, ...config];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
    ...(as === undefined ? {} : { uid: as, gid: as }),
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise<number>((done) => child.once('close', done));
  if (!codes.includes(code)) throw new Error(`eligd ${words[0]} ended with ${code}: ${said}`);
  return JSON.parse(said.trim().split('\n').at(-1) ?? '') as Usage;
}
