/** Temporary problems stay temporary. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/service.ts';

test('a port in use stops nothing else, and eligd listens on it once it is free', async () => {
  const service = await startService();
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const clinic = makeClinic({
    base_url: service.url,
    config: { monitoring: { listen: `127.0.0.1:${port}` } },
  });
  const events: string[] = [];
  const daemon = await clinic.daemon({ log: (event) => void events.push(event) }, { idle_ms: 50 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  const reasons = async () => {
    const { stdout } = await clinic.run('list', '--attention', '--json');
    return (JSON.parse(stdout) as { entries: { reason: string }[] }).entries.map(
      ({ reason }) => reason,
    );
  };
  try {
    await expect.poll(() => events, { timeout: 5000 }).toContain('reconciliation_done');
    await expect.poll(reasons).toEqual(['port_taken']);
    other.close();
    const ready = () => fetch(`http://127.0.0.1:${port}/healthz`).then(({ status }) => status);
    await expect.poll(() => ready().catch(() => 0), { timeout: 60_000 }).toBe(200);
    await expect.poll(reasons).toEqual([]);
    expect(events.filter((event) => event === 'port_taken')).toHaveLength(1);
  } finally {
    stop.abort();
    await run;
    await daemon.close();
  }
}, 30_000);

test('every page works when eligd cannot read the backup folder', async () => {
  const service = await startService();
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'eligd-backups-'));
  // An unreachable share looks like a file that is not a folder.
  const away = join(folder, 'share');
  writeFileSync(away, '');
  const clinic = makeClinic({
    base_url: service.url,
    config: { monitoring: { listen: `127.0.0.1:${port}` }, backup: { folder: away } },
  });
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  const page = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  try {
    await expect
      .poll(
        () =>
          page('/healthz').then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 60_000 },
      )
      .toBe(200);
    const metrics = await page('/metrics');
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toMatch(/^eligd_last_backup_timestamp_seconds NaN$/im);
    expect(await (await page('/readyz')).text()).toContain('"backup":"unknown"');
    const { stdout } = await clinic.run('status');
    expect(stdout).toContain('The backup folder cannot be read (ENOTDIR).');
    // eligd cannot tell if this database is the first one, so it sends nothing until it can.
    expect((await clinic.run('list', '--attention')).stdout).toMatch(/there\s+may\s+be\s+backups/);
  } finally {
    stop.abort();
    await run;
    await daemon.close();
    rmSync(folder, { recursive: true });
  }
}, 30_000);

test('a database that cannot be written is a temporary failure of the start', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await clinic.once();
  const uid = process.getuid?.() === 0 ? 65_534 : undefined;
  const files = [
    ...readdirSync(clinic.state).map((name) => join(clinic.state, name)),
    clinic.state,
  ];
  if (uid !== undefined) {
    const all = readdirSync(clinic.folder, { recursive: true, encoding: 'utf8' });
    for (const name of ['', ...all]) chownSync(join(clinic.folder, name), uid, -1);
  }
  for (const file of files) chmodSync(file, file === clinic.state ? 0o500 : 0o400);
  // What systemd passes on; the folder under /run says since when the start fails.
  const runtime = mkdtempSync(join(tmpdir(), 'eligd-runtime-'));
  const unit = { NOTIFY_SOCKET: join(runtime, 'notify'), RUNTIME_DIRECTORY: runtime };
  chmodSync(runtime, 0o755);
  const start = (environment: Record<string, string> = {}) => {
    const started_ms = Date.now();
    const { status, stderr } = spawnSync(
      resolve(import.meta.dirname, '../../bin/eligd'),
      ['run', '--config', clinic.file],
      {
        ...{ encoding: 'utf8', timeout: 60_000 },
        env: { PATH: process.env.PATH, ...environment },
        ...(uid === undefined ? {} : { uid, gid: uid }),
      },
    );
    expect(stderr).toMatch(/^eligd: The database .* cannot be opened for writing\./);
    expect(stderr.match(/cannot be opened/g)).toHaveLength(1);
    expect(status).toBe(75);
    return Date.now() - started_ms;
  };
  start();
  start(unit);
  // Each attempt waits as long as the earlier ones have failed.
  const failing_ms = 5000;
  const failure = { first_at: Date.now() - failing_ms, told_at: null };
  writeFileSync(join(runtime, 'alert-failed.json'), JSON.stringify(failure));
  expect(start(unit)).toBeGreaterThan(failing_ms);
  for (const file of files.reverse()) chmodSync(file, 0o700);
  rmSync(runtime, { recursive: true });
}, 90_000);

test('a read-only state folder is a temporary failure', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eligd-read-only-'));
  // Root can write everywhere, so the test runs as another user.
  const uid = process.getuid?.() === 0 ? 65_534 : process.getuid?.();
  if (uid !== undefined) chownSync(folder, uid, -1);
  chmodSync(folder, 0o500);
  const module = pathToFileURL(resolve(import.meta.dirname, '../../src/store/engine/database.ts'));
  const script =
    `import('${module}').then(({ openDatabase }) => openDatabase('${folder}/eligd.db'))` +
    '.catch(({ kind, what }) => console.log(kind, what))';
  const { stdout } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    ...(uid === undefined ? {} : { uid }),
  });
  rmSync(folder, { recursive: true });
  expect(stdout).toMatch(/^temporary The database .* cannot be opened for writing\./);
});
