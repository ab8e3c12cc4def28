/** eligd reports when it replaces a database that was lost, emptied, or deleted. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const database = (clinic: Clinic) => join(clinic.state, 'eligd.db');

function lose(clinic: Clinic): void {
  for (const end of ['', '-wal', '-shm', '.lock']) rmSync(database(clinic) + end, { force: true });
}

test('if there are backups, a new database sends nothing until it is released', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await clinic.once();
  expect((await clinic.run('backup')).code).toBe(0);
  lose(clinic);
  clinic.drop('export.csv', exportOf(visits(3)));
  await clinic.once();
  expect(await service.ledger()).toEqual([]);
  expect(clinic.attention()).toMatchObject([{ reason: 'submission_stopped' }]);
  const { stdout } = await clinic.run('status', '--json');
  expect(JSON.parse(stdout).halts).toMatchObject([{ reason: 'new_database' }]);
  machine.pass({ hours: 1 });
  await clinic.once();
  expect(await service.ledger()).toEqual([]);
  expect((await clinic.run('release', 'submission')).stdout).toContain('there was one before');
  await clinic.once();
  expect(await service.ledger()).toHaveLength(3);
});

test('if there are processed exports, a new database sends nothing until released', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(2)));
  await clinic.once();
  const calls = await service.ledger();
  lose(clinic);
  clinic.drop('again.csv', exportOf(visits(3)));
  await clinic.once();
  expect(await service.ledger()).toHaveLength(calls.length);
  expect(clinic.attention().map(({ reason }) => reason)).toContain('submission_stopped');
});

test('our calls in the service’s list show that there was a database before', async () => {
  setMachineClock();
  const service = await startService();
  const before = makeClinic({ base_url: service.url });
  before.drop('export.csv', exportOf(visits(3)));
  await before.once();
  expect(await service.ledger()).toHaveLength(3);
  // A new computer has neither a backup nor the drop folder.
  const now = makeClinic({ base_url: service.url });
  now.drop('export.csv', exportOf(visits(5)));
  await now.once();
  expect(await service.ledger()).toHaveLength(3);
  const { halts } = JSON.parse((await now.run('status', '--json')).stdout);
  expect(halts).toMatchObject([{ reason: 'new_database' }]);
  expect(now.attention().map(({ reason }) => reason)).toContain('submission_stopped');
  expect((await now.run('release', 'submission')).stdout).toContain('lists calls of ours');
  await now.once();
  expect(await service.ledger()).toHaveLength(5);
  await now.once();
  expect(await service.ledger()).toHaveLength(5);
});

test('calls of other programs in the list do not stop the first start', async () => {
  setMachineClock();
  const service = await startService();
  const others = makeClinic({ base_url: service.url });
  others.drop('export.csv', exportOf(visits(2, (index) => ({ member_id: `ACTIVE9${index}` }))));
  await others.once();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(3)));
  await clinic.once();
  expect(await service.ledger()).toHaveLength(5);
});

test('eligd treats a database of zero bytes as damaged', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  mkdirSync(clinic.state, { mode: 0o700 });
  writeFileSync(database(clinic), '', { mode: 0o600 });
  const { code, stderr } = await clinic.run('once');
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('(0 bytes)') });
  expect((await clinic.run('check')).stdout).toContain('(0 bytes)');
});

test('a daemon whose database is deleted saves it, stops calling, and exits', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(2)));
  const events: string[] = [];
  const daemon = await clinic.daemon({ log: (event) => void events.push(event) }, { idle_ms: 50 });
  const run = daemon.run(new AbortController().signal);
  await expect.poll(async () => (await service.ledger()).length, { timeout: 60_000 }).toBe(2);
  lose(clinic);
  clinic.drop('later.csv', exportOf(visits(5)));
  await expect(run).rejects.toThrow('was deleted while eligd was running');
  await daemon.close();
  expect(events).toContain('database_gone');
  expect(await service.ledger()).toHaveLength(2);
  const rescued = new Database(`${database(clinic)}.rescued.db`, { readonly: true });
  expect(rescued.prepare('select count(*) from inquiries').pluck().get()).toBe(2);
  rescued.close();
}, 20_000);

test('an idle daemon is told at once that its database was deleted', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  // At its own pace, which is a look every half minute.
  const daemon = await clinic.daemon();
  const run = daemon.run(new AbortController().signal);
  run.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  lose(clinic);
  const begun_ms = performance.now();
  await expect(run).rejects.toThrow('was deleted while eligd was running');
  expect(performance.now() - begun_ms).toBeLessThan(10_000);
  await daemon.close();
}, 60_000);

test('eligd refuses to back up a damaged database and keeps the good copies', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { backup: { keep: 1 } } });
  clinic.drop('export.csv', exportOf(visits(30)));
  await clinic.once();
  expect((await clinic.run('backup')).code).toBe(0);
  const raw = new Database(database(clinic));
  raw.unsafeMode(true);
  raw.pragma('writable_schema = ON');
  // The index of a table lost its rows, so a copy is intact but wrong.
  const other = "(select rootpage from sqlite_master where name = 'halts')";
  raw.exec(`update sqlite_master set rootpage = ${other} where name = 'audit_subject'`);
  raw.close();
  machine.pass({ minutes: 1 });
  const { code, stderr } = await clinic.run('backup');
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('is damaged') });
  const kept = readdirSync(join(clinic.state, 'backups'));
  expect(kept).toHaveLength(1);
  expect(existsSync(join(clinic.state, 'backups', kept[0] ?? ''))).toBe(true);
});
