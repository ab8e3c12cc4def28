/**
 * A child of the bench: a daemon whose visits are planned, called, answered, checked, and written,
 * wave after wave, on a clock that runs faster, with the sandbox as a separate process. It samples
 * the memory of the process and measures the database at the end.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { createDaemon, type Daemon } from '../../src/daemon/index.ts';
import { DAY_MS, localDate } from '../../src/domain/time.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createEnv, scaledClock } from '../../src/ops/env.ts';
import { keepHeapSmall } from '../../src/ops/heap.ts';
import { openSecrets, serviceCredentials } from '../../src/ops/secrets.ts';
import { exportOf, visits } from '../support/visits.ts';
import { jobOfChild } from './measure.ts';

export type LongRunJob = { waves: number; visits_a_wave: number };
export type LongRunResult = {
  samples: { delivered: number; rss_mb: number; heap_mb: number; outside_mb: number }[];
  seconds: number;
  cpu_ms_per_visit: number;
  log_bytes_per_visit: number;
  bytes_per_visit: number;
  tables: { name: string; bytes_per_visit: number }[];
};

const SPEED = 120;
const ZONE = 'America/Chicago';
const MAIN = join(import.meta.dirname, '../../src/main.ts');
/** No wave takes longer. */
const WAVE_MS_MAX = 300_000;
const LOOK_MS = 1_000;

keepHeapSmall();
const { waves, visits_a_wave } = jobOfChild<LongRunJob>();
const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
const anchor_ms = Date.now();
const clock = scaledClock({ anchor_ms, speed: SPEED });
const sandbox = await startSandbox();
process.stdout.write(JSON.stringify(await longRun()));
sandbox.child.kill();
rmSync(folder, { recursive: true });

async function startSandbox() {
  const timing = ['--speed', String(SPEED), '--anchor-ms', String(anchor_ms)];
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--port', '0', '--json', ...timing], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  const url = await new Promise<string>((resolve) =>
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('}')) resolve((JSON.parse(said) as { url: string }).url);
    }),
  );
  return { child, url };
}

async function longRun(): Promise<LongRunResult> {
  configure();
  const config = await loadConfig(join(folder, 'eligd.yaml'));
  const secrets = openSecrets(folder, {});
  let log_bytes = 0;
  const daemon = await createDaemon({
    config,
    credentials: serviceCredentials(secrets, config.service.auth),
    secrets,
    env: createEnv({
      clock,
      log: (event, fields) => {
        log_bytes += JSON.stringify({ event, ...fields }).length;
      },
    }),
    version: '0.0.0',
  });
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  const samples: LongRunResult['samples'] = [];
  const started_ms = performance.now();
  for (let wave = 0; wave < waves; wave += 1) {
    drop(wave);
    await delivered(daemon, (wave + 1) * visits_a_wave);
    samples.push(await sample(daemon));
    console.error(JSON.stringify(samples.at(-1)));
  }
  const seconds = (performance.now() - started_ms) / 1_000;
  const { user, system } = process.cpuUsage();
  stop.abort();
  await running;
  await daemon.close();
  const count = waves * visits_a_wave;
  return {
    samples,
    seconds,
    cpu_ms_per_visit: (user + system) / 1_000 / count,
    log_bytes_per_visit: log_bytes / count,
    bytes_per_visit: statSync(join(folder, 'state/eligd.db')).size / count,
    tables: tables(count),
  };
}

function configure(): void {
  writeFileSync(
    join(folder, 'eligd.yaml'),
    `clinic: { name: A, time_zone: ${ZONE}, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${sandbox.url}", auth: oauth, submission: { max_per_minute: 0 } }
connectors: [{ id: front-desk, type: csv, folder: ./dropbox, stable_seconds: 0 }]
state: { path: ./state/eligd.db }
policy: { look_ahead_days: 14, min_lead_hours: 0, late_visits: buy }
schedule: { pull_seconds: 60 }
retention: { processed_days: null, rejected_days: null, outbox_days: null }
`,
  );
  const lines = ['USERNAME=clinic', 'PASSWORD=sandbox'].map((line) => `ELIGD_SERVICE_${line}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''), { mode: 0o600 });
  mkdirSync(join(folder, 'dropbox/inbox'), { recursive: true });
}

/** New patients with a visit on the next day, so that the payer answers within the hour. */
function drop(wave: number): void {
  const day = localDate(clock.now() + DAY_MS, ZONE);
  const first = wave * visits_a_wave;
  const added = visits(visits_a_wave, (index) => ({
    appointment_id: String(first + index),
    appointment_at: `${day}T${String(8 + (index % 9)).padStart(2, '0')}:30`,
    patient_id: `P${first + index}`,
    member_id: `W${100_000 + first + index}`,
  }));
  writeFileSync(join(folder, `dropbox/inbox/${wave}.csv`), exportOf(added));
}

/** Resolves when nearly all visits so far have a result: some calls have to be repeated later. */
async function delivered({ store }: Daemon, count: number): Promise<void> {
  const until_ms = performance.now() + WAVE_MS_MAX;
  while ((await countDelivered(store)) < count * 0.95) {
    if (performance.now() > until_ms) throw new Error('The visits of a wave were not written.');
    await sleep(LOOK_MS);
  }
}

async function countDelivered({ db }: Daemon['store']): Promise<number> {
  const { count } = await db
    .selectFrom('deliveries')
    .select((select) => select.fn.count<number>('appointment').distinct().as('count'))
    .where('state', '=', 'delivered')
    .executeTakeFirstOrThrow();
  return count;
}

async function sample({ store }: Daemon) {
  const { rss, heapUsed, heapTotal } = process.memoryUsage();
  const mb = (bytes: number) => Math.round(bytes / 1_000_000);
  return {
    delivered: await countDelivered(store),
    rss_mb: mb(rss),
    heap_mb: mb(heapUsed),
    outside_mb: mb(rss - heapTotal),
  };
}

function tables(count: number): LongRunResult['tables'] {
  const raw = new Database(join(folder, 'state/eligd.db'), { readonly: true });
  const rows = raw
    .prepare('select name, sum(pgsize) as bytes from dbstat group by name order by bytes desc')
    .all() as { name: string; bytes: number }[];
  raw.close();
  return rows.map(({ name, bytes }) => ({ name, bytes_per_visit: Math.round(bytes / count) }));
}
