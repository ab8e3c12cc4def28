/**
 * `npm run bench -- size`: `eligd once` of the packaged program over an export of few and of many
 * rows, from the file to the calls, the lists, and the pages. Memory must not grow with the rows.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackaged } from './idle.ts';
import { printTable } from './measure.ts';
import { runOnce } from './once.ts';

/** Each installation runs once, because the second run would find its visits known. */
const ROUNDS = 3;

type Exports = { rows: number; file: string; rounds?: number }[];

/** `base_url`: of a service that takes every call. */
export async function benchSize(base_url: string, exports: Exports): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-bench-size-'));
  try {
    const main = await buildPackaged(folder);
    const measured: { rows: number; rss_mb: number; cpu_ms: number }[] = [];
    for (const { rows, file, rounds = ROUNDS } of exports) {
      const most = { rows, rss_mb: 0, cpu_ms: 0 };
      for (let round = 0; round < rounds; round += 1) {
        const clinic = makeClinic(join(folder, `${rows}-${round}`), base_url, file);
        const { rss_mb, cpu_ms } = await runOnce(main, clinic);
        most.rss_mb = Math.max(most.rss_mb, rss_mb);
        most.cpu_ms = Math.max(most.cpu_ms, cpu_ms);
        rmSync(clinic, { recursive: true });
      }
      measured.push(most);
    }
    const first_mb = measured[0]?.rss_mb ?? Number.NaN;
    printTable([
      ['once over an export', 'ms of CPU', 'RSS, MB', 'ratio'],
      ...measured.map(({ rows, rss_mb, cpu_ms }) => [
        `${rows} rows`,
        String(Math.round(cpu_ms)),
        String(Math.round(rss_mb)),
        (rss_mb / first_mb).toFixed(2),
      ]),
    ]);
    console.log();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function makeClinic(folder: string, base_url: string, file: string): string {
  mkdirSync(join(folder, 'dropbox/inbox'), { recursive: true });
  copyFileSync(file, join(folder, 'dropbox/inbox/export.csv'));
  writeFileSync(
    join(folder, 'eligd.yaml'),
    `clinic: { name: A, time_zone: America/Chicago, specialty: dental,
  tax_id: "123456789", billing_npi: "1234567893" }
service: { base_url: "${base_url}", auth: basic, submission: { max_per_minute: 0 } }
connectors: [{ id: front-desk, type: csv, folder: ./dropbox, stable_seconds: 0 }]
state: { path: ./state/eligd.db }
`,
  );
  const keys = 'ELIGD_SERVICE_PROJECT_ID=clinic\nELIGD_SERVICE_API_KEY=bench\n';
  writeFileSync(join(folder, '.env'), keys, { mode: 0o600 });
  return folder;
}
