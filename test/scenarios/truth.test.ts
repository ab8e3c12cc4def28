/** Does eligd work? Every output gives the same answer. */
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

type Page = {
  health: Record<string, { is: string; why: string | null; since: string | null }>;
  incidents: { reason: string; connector: string | null; count: number }[];
};

async function statusOf(clinic: Clinic): Promise<{ code: number; page: Page }> {
  const { code, stdout } = await clinic.run('status', '--json');
  return { code, page: JSON.parse(stdout) as Page };
}

async function running(
  clinic: Clinic,
  work: (events: string[]) => Promise<void>,
): Promise<string[]> {
  const events: string[] = [];
  const daemon = await clinic.daemon({ log: (event) => void events.push(event) }, { idle_ms: 50 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  try {
    await work(events);
  } finally {
    stop.abort();
    await run;
    await daemon.close();
  }
  return events;
}

test('after a wrong password, every output says that no calls go out', async () => {
  const service = await startService();
  const port = await freePort();
  const clinic = makeClinic({
    base_url: service.url,
    config: { monitoring: { listen: `127.0.0.1:${port}` } },
    secrets: { ELIGD_SERVICE_USERNAME: 'clinic', ELIGD_SERVICE_PASSWORD: 'wrong' },
  });
  clinic.drop('export.csv', exportOf(visits(2)));
  const get = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`);
  await running(clinic, async () => {
    await expect
      .poll(async () => (await get('/readyz').catch(() => null))?.status, { timeout: 60_000 })
      .toBe(503);
    const ready = (await (await get('/readyz')).json()) as { answers: Record<string, string> };
    expect(ready.answers).toMatchObject({ daemon: 'yes', calls: 'no', answers: 'no' });
    const metrics = await (await get('/metrics')).text();
    expect(metrics).toMatch(/^eligd_calls_stopped 1$/m);
    expect(metrics).toMatch(/^eligd_health\{question="calls"\} 0$/m);
    await expect
      .poll(async () => (await statusOf(clinic)).page.health.calls?.is, { timeout: 60_000 })
      .toBe('no');
    const { code, page } = await statusOf(clinic);
    expect(code).toBe(1);
    expect(page.health.calls?.why).toContain('rejects our login (401)');
    expect(page.health.calls?.since).not.toBeNull();
    expect((await clinic.run('status')).stdout).not.toContain('go out.');
    const heartbeat = join(clinic.folder, 'dropbox/outbox/heartbeat.txt');
    await expect
      .poll(() => (existsSync(heartbeat) ? readFileSync(heartbeat, 'utf8') : ''))
      .toMatch(/^Calls: +no since .*rejects our login/m);
  });
});

test('status says if a daemon runs, and otherwise since when not', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(2)));
  await running(clinic, async () => {
    await expect
      .poll(async () => (await statusOf(clinic)).page.health, { timeout: 60_000 })
      .toMatchObject({
        daemon: { is: 'yes' },
        calls: { is: 'yes' },
        answers: { is: 'yes' },
        results: { is: 'yes' },
        export: { is: 'yes' },
        clock: { is: 'yes' },
      });
  });
  const { code, page } = await statusOf(clinic);
  expect(code).toBe(1);
  expect(page.health.daemon).toMatchObject({ is: 'no', why: 'eligd was stopped.' });
  expect(page.health.calls?.is).toBe('no');
  const { stdout } = await clinic.run('status');
  expect(stdout).toMatch(/^Running: +no since \d{4}-\d\d-\d\d \d\d:\d\d\. eligd was stopped\./m);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('a broken share raises one incident with a count, until it works again', async () => {
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { schedule: { pull_seconds: 0.05 } },
  });
  const dropbox = join(clinic.folder, 'dropbox');
  const away = join(clinic.folder, 'away');
  const incidents = async () => (await statusOf(clinic)).page.incidents;
  const log = await running(clinic, async (events) => {
    await expect
      .poll(async () => (await statusOf(clinic)).page.health.results?.is, { timeout: 60_000 })
      .toBe('yes');
    renameSync(dropbox, away);
    writeFileSync(dropbox, 'no folder');
    await expect.poll(incidents, { timeout: 60_000 }).toContainEqual(
      expect.objectContaining({
        reason: 'connector_cannot_read',
        connector: 'front-desk',
        count: expect.toSatisfy((count: number) => count > 5),
      }),
    );
    expect((await statusOf(clinic)).page.health.export?.is).toBe('no');
    expect((await clinic.run('list', '--attention')).stdout).toContain('connector_cannot_read');
    expect(events.filter((event) => event === 'connector_failed')).toHaveLength(1);
    rmSync(dropbox);
    renameSync(away, dropbox);
    await expect.poll(incidents, { timeout: 60_000 }).toEqual([]);
  });
  expect(log).toContain('connector_recovered');
}, 120_000);

test('check gives the same answers, and exits with 1 when the daemon is stopped', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await running(clinic, async () => {
    await expect
      .poll(async () => (await clinic.run('check')).stdout, { timeout: 60_000 })
      .toContain('ok daemon: Yes, calls can go out.');
  });
  const { code, stdout } = await clinic.run('check');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^!! daemon: Not true since .*eligd was stopped\. → Start it/m);
});

test('status reports a backup that is three days old, to the second', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await clinic.once();
  expect((await clinic.run('backup')).code).toBe(0);
  const folder = join(clinic.state, 'backups');
  const seconds = Math.floor(Date.now() / 1000) - 3 * 86_400 + 0.123_456;
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), seconds, seconds);
  const { stdout, stderr } = await clinic.run('status');
  expect(stdout).toMatch(/^Backup: +no since \d{4}-/m);
  expect(stderr).toBe('');
}, 120_000);
