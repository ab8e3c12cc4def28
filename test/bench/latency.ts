/**
 * A child of the bench: from the time when the service reports an end to the record in `outbox/`,
 * through a whole installation. It leaves out the service's grouping: both clocks are moved to its
 * end.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDaemon } from '../../src/daemon/index.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createEnv, realClock } from '../../src/ops/env.ts';
import { openSecrets, serviceCredentials } from '../../src/ops/secrets.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { freePort } from '../support/free-port.ts';
import { exportOf, visits } from '../support/visits.ts';

export type LatencyResult = { latencies_ms: number[] };

const VISITS = 60;
const STEP_MINUTES = 5;
const DAY_MS = 86_400_000;

const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-'));
const sandbox = await startSandbox({ port: 0, db: ':memory:', seed: 1, speed: 1 });
const port = await freePort();
const outbox = join(folder, 'dropbox/outbox');
writeFileSync(
  join(folder, 'eligd.yaml'),
  `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${sandbox.url}", auth: oauth, submission: { max_per_minute: 0 } }
connectors: [{ id: front-desk, type: csv, folder: ./dropbox, stable_seconds: 0 }]
state: { path: ./state/eligd.db }
webhook: { listen: "127.0.0.1:${port}", public_url: "http://127.0.0.1:${port}/hook" }
policy: { look_ahead_days: 14, min_lead_hours: 0, late_visits: buy }
`,
);
const secrets = ['SERVICE_USERNAME=clinic', 'SERVICE_PASSWORD=sandbox', 'WEBHOOK_SECRET=sandbox'];
writeFileSync(join(folder, '.env'), secrets.map((line) => `ELIGD_${line}\n`).join(''), {
  mode: 0o600,
});
mkdirSync(join(folder, 'dropbox/inbox'), { recursive: true });
const day = new Date(Date.now() + 7 * DAY_MS).toISOString().slice(0, 10);
writeFileSync(
  join(folder, 'dropbox/inbox/export.csv'),
  exportOf(visits(VISITS, () => ({ appointment_at: `${day}T12:00` }))),
);

const config = await loadConfig(join(folder, 'eligd.yaml'));
const own = openSecrets(folder, {});
const credentials = serviceCredentials(own, config.service.auth);
let ahead_ms = 0;
const clock = { ...realClock, now: () => Date.now() + ahead_ms };
const env = createEnv({ log: () => {}, clock });
const daemon = await createDaemon({ config, credentials, secrets: own, env, version: 'bench' });
const ending = new AbortController();
const running = daemon.run(ending.signal);
try {
  process.stdout.write(JSON.stringify({ latencies_ms: await measure() } satisfies LatencyResult));
} finally {
  ending.abort();
  await running;
  await daemon.close();
  await sandbox.close();
  rmSync(folder, { recursive: true });
}

/**
 * Advances the service's clock in steps, because its events are grouped, and waits after each until
 * eligd has written the answers.
 */
async function measure(): Promise<number[]> {
  while ((await ledger()).length < VISITS || (await subscription()) === null) await sleep(50);
  const ends = (await ledger())
    .map(({ steps }) => Date.parse(steps.at(-1)?.at ?? ''))
    .sort((a, b) => a - b);
  const latencies: number[] = [];
  for (let ended = 0; ended < ends.length; ) {
    const to = (ends[ended] ?? 0) + STEP_MINUTES * 60_000;
    const due = ends.filter((end) => end <= to).length;
    await post('/_sandbox/advance', { to: new Date(to).toISOString() });
    ahead_ms = Math.max(ahead_ms, to - Date.now());
    const started_ms = performance.now();
    for (let written = ended; written < due; ) {
      await sleep(2);
      const now_written = Math.min(due, count());
      for (; written < now_written; written += 1) latencies.push(performance.now() - started_ms);
    }
    ended = due;
  }
  return latencies;
}

type Entry = { steps: { at: string }[] };

async function ledger(): Promise<Entry[]> {
  return ((await (await fetch(`${sandbox.url}/_sandbox/ledger`)).json()) as { inquiries: Entry[] })
    .inquiries;
}

async function subscription(): Promise<unknown> {
  const authorization = `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`;
  const response = await fetch(`${sandbox.url}/api/v0/subscription/`, {
    headers: { authorization },
  });
  return response.ok ? await response.json() : null;
}

async function post(path: string, body: object): Promise<void> {
  await fetch(sandbox.url + path, { method: 'POST', body: JSON.stringify(body) });
}

/** Lines of answers in `outbox/`. */
function count(): number {
  if (!existsSync(outbox)) return 0;
  const files = readdirSync(outbox).filter(
    (name) => name.startsWith('eligibility-') && name.endsWith('.csv'),
  );
  return files.reduce(
    (sum, name) => sum + readFileSync(join(outbox, name), 'utf8').split('\r\n').length - 2,
    0,
  );
}
