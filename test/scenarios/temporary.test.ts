/** Temporary problems stay temporary, and a reload takes effect or says why it did not. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { startEligd } from '../support/process.ts';
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

test('SIGHUP applies valid files, and rejects others with the reason', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const right = readFileSync(clinic.file, 'utf8');
  const { child, ended } = startEligd(['run', '--config', clinic.file]);
  let log = '';
  child.stdout?.on('data', (text: Buffer) => {
    log += text;
  });
  const logged = async (part: string) =>
    await expect.poll(() => log, { timeout: 60_000 }).toContain(part);
  await logged('"reconciliation_done"');
  writeFileSync(clinic.file, right.replace('look_ahead_days: 14', 'look_ahead_days: many'));
  child.kill('SIGHUP');
  await logged('"reload_refused"');
  expect(log).toMatch(/reload_refused.*look_ahead_days/);
  writeFileSync(clinic.file, right.replace('look_ahead_days: 14', 'look_ahead_days: 9'));
  child.kill('SIGHUP');
  await logged('"reload_applied"');
  await logged('"look_ahead_days":9');
  expect(child.exitCode).toBe(null);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
}, 60_000);

test('SIGHUP checks payer map and fees, and keeps the old ones if the start fails', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const right = readFileSync(clinic.file, 'utf8');
  const payers = join(clinic.folder, 'payers.csv');
  const fees = join(clinic.folder, 'fees.csv');
  const { child, ended } = startEligd(['run', '--config', clinic.file]);
  let log = '';
  child.stdout?.on('data', (text: Buffer) => {
    log += text;
  });
  const logged = async (part: string | RegExp) =>
    await expect.poll(() => log, { timeout: 60_000 }).toMatch(part);
  const reload = async (answer: RegExp) => {
    log = '';
    child.kill('SIGHUP');
    await logged(answer);
    return log;
  };
  await logged('"reconciliation_done"');
  writeFileSync(payers, 'x,y\n');
  expect(await reload(/reload_refused.*payer map/)).not.toContain('daemon_stopping');
  rmSync(payers);
  writeFileSync(fees, 'x,y\n');
  expect(await reload(/reload_refused.*fee schedule/)).not.toContain('daemon_stopping');
  rmSync(fees);
  // Only the start itself finds that this database cannot be had.
  writeFileSync(join(clinic.folder, 'other'), '');
  writeFileSync(clinic.file, right.replace(/path: .*eligd\.db/, 'path: ./other/eligd.db'));
  await reload(/reload_refused[\s\S]*daemon_started[\s\S]*reconciliation_done/);
  writeFileSync(clinic.file, right.replace('look_ahead_days: 14', 'look_ahead_days: 9'));
  await reload(/reload_applied[\s\S]*"look_ahead_days":9/);
  expect(child.exitCode).toBe(null);
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
}, 90_000);
