/**
 * A list of a gigabyte and answers that would stop a program, against the real eligd in 300 MB:
 *
 *     npm run hostile -- [--megabytes 1024] [--limit 300]
 *
 * The daemon and each `once` run in a control group of the memory controller if this machine allows
 * one; otherwise the peak of the process is compared with the limit.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parse, stringify } from 'yaml';
import { freePort } from '../support/free-port.ts';
import { exportOf, visits } from '../support/visits.ts';
import { startHugeService } from './huge-service.ts';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1024' },
    limit: { type: 'string', default: '300' },
  },
});
const MEGABYTE = 1_000_000;
const LIMIT_BYTES = Number(values.limit) * MEGABYTE;
const ROOT = join(import.meta.dirname, '../..');
const DAY_MS = 86_400_000;
const IDS = ['good', 'large', 'dots', 'deep'];
const POISON = {
  large: { results: '{"note":"~"}', pieces: 240 },
  dots: {
    results: JSON.stringify({
      procedure_codes: [
        [
          { procedure_code: '1110' },
          { frequency_limitations: `1 per year${'.'.repeat(600_000)}x` },
        ],
      ],
    }),
    pieces: 0,
  },
  deep: { results: `${'{"note":'.repeat(9_000)}1${'}'.repeat(9_000)}`, pieces: 0 },
};

/** Null: this machine allows no control group. */
function makeGroup(): { enter: string; peak: () => number; close: () => void } | null {
  const folder = `/sys/fs/cgroup/memory/eligd-hostile-${process.pid}`;
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'memory.limit_in_bytes'), String(LIMIT_BYTES));
    const peak = () => Number(readFileSync(join(folder, 'memory.max_usage_in_bytes'), 'utf8'));
    return { enter: join(folder, 'cgroup.procs'), peak, close: () => rmdirSync(folder) };
  } catch {
    if (existsSync(folder)) rmdirSync(folder);
    return null;
  }
}

const group = makeGroup();
const service = await startHugeService(Number(values.megabytes) * MEGABYTE, POISON);
const folder = mkdtempSync(join(tmpdir(), 'eligd-hostile-'));
const port = await freePort();
let peak_bytes = 0;

function eligd(...args: string[]): { child: ChildProcess; ended: Promise<string> } {
  const node = join(ROOT, 'node_modules/.bin/node');
  const command = [
    node,
    join(ROOT, 'src/main.ts'),
    ...args,
    '--config',
    join(folder, 'eligd.yaml'),
  ];
  const enter = group === null ? '' : `echo $$ > ${group.enter} && `;
  const child = spawn('sh', ['-c', `${enter}exec "$@"`, 'sh', ...command], {
    env: { PATH: process.env.PATH ?? '', ELIGD_LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout?.on('data', (text: Buffer) => {
    printed += String(text);
  });
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      peak_bytes = Math.max(peak_bytes, 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // It has ended.
    }
  }, 50);
  const ended = new Promise<string>((resolve) => {
    child.on('close', (code, signal) => {
      clearInterval(watch);
      if (signal === 'SIGKILL') console.error('It was killed: out of memory.');
      resolve(`${printed}\u0000${code ?? signal}`);
    });
  });
  return { child, ended };
}

function install(): void {
  const minimal = parse(readFileSync(join(ROOT, 'config/minimal.yaml'), 'utf8')) as object;
  const config = {
    ...minimal,
    service: {
      base_url: service.url,
      auth: 'oauth',
      settle_seconds: 0,
      submission: { max_per_minute: 0, mode: 'single' },
    },
    connectors: [{ id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0 }],
    monitoring: { listen: `127.0.0.1:${port}` },
    policy: { min_lead_hours: 0, late_visits: 'buy', look_ahead_days: 14 },
  };
  writeFileSync(join(folder, 'eligd.yaml'), stringify(config), { mode: 0o600 });
  writeFileSync(
    join(folder, '.env'),
    'ELIGD_SERVICE_USERNAME=clinic\nELIGD_SERVICE_PASSWORD=secret\n',
    { mode: 0o600 },
  );
  mkdirSync(join(folder, 'dropbox/inbox'), { recursive: true, mode: 0o700 });
  const day = new Date(Date.now() + 6 * DAY_MS).toISOString().slice(0, 10);
  const rows = visits(IDS.length, (index) => ({
    appointment_id: IDS[index] ?? '',
    appointment_at: `${day}T10:30`,
  }));
  writeFileSync(join(folder, 'dropbox/inbox/day.csv'), exportOf(rows), { mode: 0o600 });
}

/**
 * Runs the daemon until it has sent the calls; returns the longest time without an answer of
 * `/healthz`.
 */
async function runDaemon(): Promise<number> {
  const began = performance.now();
  const { child, ended } = eligd('run');
  let silent_ms = 0;
  let has_ended = false;
  void ended.then(() => {
    has_ended = true;
  });
  while (service.created.size < IDS.length && !has_ended) {
    if (performance.now() - began > 15 * 60_000) break;
    const asked = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    if (answer !== null) silent_ms = Math.max(silent_ms, performance.now() - asked);
    await sleep(100);
  }
  const took_s = Math.round((performance.now() - began) / 1000);
  console.log(`run: ${service.created.size} of ${IDS.length} calls sent after ${took_s} s`);
  child.kill('SIGTERM');
  const [, code] = (await ended).split('\u0000');
  if (service.created.size < IDS.length) throw new Error(`The daemon ended with ${code}.`);
  return silent_ms;
}

install();
try {
  const silent_ms = await runDaemon();
  console.log(`run: /healthz answered within ${Math.round(silent_ms)} ms`);
  for (let round = 1; round <= 3; round += 1) {
    const began = performance.now();
    const [, code] = (await eligd('once').ended).split('\u0000');
    console.log(`once ${round}: ${code}, ${Math.round((performance.now() - began) / 1000)} s`);
    if (code !== '0') throw new Error('It did not go through.');
  }
  const [listed = ''] = (await eligd('list', '--attention', '--json').ended).split('\u0000');
  const { entries } = JSON.parse(listed) as { entries: { appointment: string; reason: string }[] };
  for (const { appointment, reason } of entries) console.log(`attention: ${appointment} ${reason}`);
  const peak = group === null ? peak_bytes : group.peak();
  const how = group === null ? 'at its peak' : 'in a control group';
  console.log(
    `${Math.round(service.listed_bytes() / MEGABYTE)} MB of list read; ` +
      `${Math.round(peak_bytes / MEGABYTE)} MB resident, ${Math.round(peak / MEGABYTE)} MB ${how}`,
  );
  const unusable = entries.filter(({ reason }) => reason === 'answer_unusable');
  const named = unusable.map(({ appointment }) => appointment).sort();
  if (named.join() !== 'deep,large') throw new Error('The attention list does not say so.');
  if (peak_bytes > LIMIT_BYTES) throw new Error('It took more memory than allowed.');
} finally {
  service.close();
  group?.close();
  rmSync(folder, { recursive: true, force: true });
}
