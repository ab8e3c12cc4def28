/** Work that is due while the computer is off, and files that eligd cannot read. */
import { existsSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** Runs the daemon until `until` holds, then turns the computer off. */
async function workday(clinic: Clinic, until: (events: string[]) => unknown): Promise<string[]> {
  const events: string[] = [];
  const log = (event: string) => void events.push(event);
  const daemon = await clinic.daemon({ log }, { idle_ms: 50 });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  try {
    await expect.poll(() => until(events), { timeout: 60_000 }).toBeTruthy();
  } finally {
    stop.abort();
    await run;
    await daemon.close();
  }
  return events;
}

/** The day on which eligd notes its jobs: from then on, it knows which ones it has missed. */
async function firstDay(clinic: Clinic): Promise<void> {
  await workday(clinic, (events) => events.includes('reconciliation_done') && hasJobs(clinic));
}

function hasJobs(clinic: Clinic): boolean {
  const db = new Database(join(clinic.state, 'eligd.db'), { readonly: true });
  try {
    return (
      db.prepare("select 1 from learned_settings where name = 'job:backup'").get() !== undefined
    );
  } finally {
    db.close();
  }
}

const backups = (clinic: Clinic) =>
  existsSync(join(clinic.state, 'backups'))
    ? readdirSync(join(clinic.state, 'backups')).filter((name) => name.startsWith('eligd-'))
    : [];

async function reasonsOf(clinic: Clinic): Promise<string[]> {
  const { stdout } = await clinic.run('list', '--attention', '--json');
  return (JSON.parse(stdout) as { entries: { reason: string }[] }).entries.map(
    ({ reason }) => reason,
  );
}

test('a computer that is off every night still makes backups and purges each day', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await firstDay(clinic);
  expect(backups(clinic)).toEqual([]);
  for (let day = 1; day <= 6; day += 1) {
    machine.pass({ days: 1 });
    const events = await workday(clinic, (seen) => seen.includes('backup_written'));
    // It does missed work once, not once for each day.
    expect(events.filter((event) => event === 'backup_written')).toHaveLength(1);
    expect(events.filter((event) => event === 'daily_summary')).toHaveLength(1);
    expect(events.filter((event) => event === 'audit_head')).toHaveLength(1);
    expect(backups(clinic)).toHaveLength(day);
  }
  // Four days off cause one backup.
  machine.pass({ days: 4 });
  await workday(clinic, (events) => events.includes('backup_written'));
  expect(backups(clinic)).toHaveLength(7);
  expect(await reasonsOf(clinic)).toEqual([]);
}, 60_000);

test('a backup that fails for two days raises an incident until one succeeds', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const config: Overrides = { backup: { folder: '/dev/null/backups' } };
  const clinic = makeClinic({ base_url: service.url, config });
  await firstDay(clinic);
  machine.pass({ days: 1 });
  await workday(clinic, (events) => events.includes('backup_failed'));
  expect(await reasonsOf(clinic)).toEqual([]);
  machine.pass({ days: 2 });
  await workday(clinic, (events) => events.includes('backup_failed'));
  await workday(clinic, async () => (await reasonsOf(clinic)).includes('backup_missing'));
  expect((await clinic.run('status')).stdout).toMatch(/^Backup: +no since/m);
}, 60_000);

test('each rejected file of eleven dropped together stays on the list', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  for (let number = 0; number < 9; number += 1)
    clinic.drop(`bad-${number}.csv`, `no,header\n${number},x\n`);
  clinic.drop('good-1.csv', exportOf(visits(2)));
  clinic.drop('good-2.csv', exportOf(visits(3)));
  // eligd reads the good files last, whatever the order of their times.
  const later = Date.now() / 1000 + 60;
  for (const name of ['good-1.csv', 'good-2.csv'])
    utimesSync(join(clinic.folder, 'dropbox/inbox', name), later, later);
  await clinic.once();
  const rejected = () => clinic.attention().filter(({ reason }) => reason === 'file_rejected');
  expect(rejected()).toHaveLength(9);
  clinic.drop('good-3.csv', exportOf(visits(4)));
  await clinic.once();
  expect(rejected()).toHaveLength(9);
  rmSync(join(clinic.folder, 'dropbox/rejected/bad-3.csv'));
  clinic.drop('bad-4.csv', exportOf(visits(5)));
  await clinic.once();
  const left = rejected().map(({ what_happened = '' }) => /bad-\d\.csv/.exec(what_happened)?.[0]);
  expect(left.toSorted()).toEqual([0, 1, 2, 5, 6, 7, 8].map((number) => `bad-${number}.csv`));
});

test('an export without rows raises an incident until an export has rows', async () => {
  // On a day off, an export without rows is as expected.
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { schedule: { pull_seconds: 0.1 } } });
  const all = exportOf(visits(2));
  clinic.drop('empty.csv', `${all.split('\n')[0]}\n`);
  await workday(clinic, async () => (await reasonsOf(clinic)).includes('export_empty'));
  clinic.drop('export.csv', all);
  await workday(clinic, async () => !(await reasonsOf(clinic)).includes('export_empty'));
}, 40_000);
