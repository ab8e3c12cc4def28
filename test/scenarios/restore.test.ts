/** After a restore, eligd repeats no call (G1) and loses nothing (G2). */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import {
  expectOneCallEach,
  expectOwnAnswers,
  needsOf,
  placesOf,
  questionsOf,
  writtenFor,
} from '../support/needs.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const SUBMISSIONS = 200;

function inTenDays(): string {
  return new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
}

function setBudget(clinic: Clinic, calls_per_day: number | null): void {
  const config = parse(readFileSync(clinic.file, 'utf8')) as { policy: Record<string, unknown> };
  config.policy.calls_per_day = calls_per_day;
  writeFileSync(clinic.file, stringify(config));
}

test.each([
  { when: 'before they were known', is_planned: false },
  { when: 'when they were planned and not yet sent', is_planned: true },
])(
  'a backup from before 200 submissions, $when, causes no second call and loses no answer',
  async ({ is_planned }) => {
    // Starts now, because the drop folder's files have real times.
    const machine = setMachineClock(Date.now());
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    const all = visits(SUBMISSIONS, () => ({ appointment_at: `${inTenDays()}T10:30` }));
    const backup = join(clinic.folder, 'copy.db');
    clinic.drop('first.csv', exportOf(all.slice(0, 1)));
    await clinic.once();
    if (is_planned) {
      setBudget(clinic, 1);
      clinic.drop('export.csv', exportOf(all));
      await clinic.once();
      setBudget(clinic, null);
    }
    expect(await service.ledger()).toHaveLength(1);
    expect((await clinic.run('backup', backup)).code).toBe(0);

    machine.pass({ hours: 2 });
    if (!is_planned) clinic.drop('export.csv', exportOf(all));
    await clinic.once();
    const sent = await service.ledger();
    expect(sent).toHaveLength(SUBMISSIONS);

    const { code, stdout, stderr } = await clinic.run('restore', backup);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('is kept');
    expect(stdout).toMatch(/front-desk: [12] files? (is|are) read again/);
    machine.pass({ minutes: 2 });
    await clinic.once();
    expect((await service.ledger()).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));

    await service.advance({ days: 12 });
    await clinic.once();
    const after = await service.ledger();
    expectOneCallEach(after, needsOf(questionsOf(all)));
    expect(writtenFor(clinic)).toEqual(placesOf(questionsOf(all)));
    expectOwnAnswers(clinic, after);
  },
  60_000,
);

test('eligd does not repeat calls made before a restore and listed late (G1)', async () => {
  const machine = setMachineClock(Date.now());
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { service: { settle_seconds: 60 } } });
  const all = visits(6, () => ({ appointment_at: `${inTenDays()}T10:30` }));
  const backup = join(clinic.folder, 'copy.db');
  clinic.drop('first.csv', exportOf(all.slice(0, 1)));
  await clinic.once();
  await clinic.run('backup', backup);
  await service.behave({ list_delay_seconds: 90 });
  clinic.drop('export.csv', exportOf(all));
  await clinic.once();
  const sent = await service.ledger();
  expect(sent).toHaveLength(6);

  const { stdout } = await clinic.run('restore', backup);
  expect(stdout).toContain('sends no requests to the service for the next 2 minutes');
  machine.pass({ seconds: 61 });
  const daemon = await clinic.daemon();
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  stop.abort();
  await running;
  await daemon.close();
  machine.pass({ seconds: 65 });
  await clinic.once();
  expect((await service.ledger()).map(({ id }) => id)).toEqual(sent.map(({ id }) => id));
});

test('restore takes a copy with its WAL, and refuses the database itself', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const database = join(clinic.state, 'eligd.db');
  const daemon = await clinic.daemon();
  clinic.drop('export.csv', exportOf(visits(3)));
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  while ((await service.ledger()).length < 3)
    await new Promise((resolve) => setTimeout(resolve, 50));
  // Copies the folder by hand: the newest rows are in the WAL.
  const taken = join(clinic.folder, 'taken');
  cpSync(clinic.state, taken, { recursive: true });
  stop.abort();
  await running;
  await daemon.close();
  expect(statSync(join(taken, 'eligd.db-wal')).size).toBeGreaterThan(0);
  for (const name of readdirSync(clinic.state).filter((each) => each.startsWith('eligd.db')))
    rmSync(join(clinic.state, name));

  const { code, stdout } = await clinic.run('restore', join(taken, 'eligd.db'));
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/restored as of .*: 3 appointments, 3 inquiries/),
  });
  expect(readdirSync(clinic.state).filter((name) => name.includes('restoring'))).toEqual([]);
  const same = await clinic.run('restore', database);
  expect({ code: same.code, stderr: same.stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('is the database itself'),
  });
});

test('after an interrupted restore, eligd does not start with an empty database', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const database = join(clinic.state, 'eligd.db');
  clinic.drop('export.csv', exportOf(visits(3)));
  await clinic.once();
  const backup = join(clinic.folder, 'copy.db');
  await clinic.run('backup', backup);
  renameSync(database, `${database}.replaced-20300107T150000Z`);
  writeFileSync(`${database}.restoring`, readFileSync(backup), { mode: 0o600 });
  const { code, stderr } = await clinic.run('once');
  expect({ code, stderr }).toEqual({
    code: 78,
    stderr: expect.stringContaining('Run the same "eligd restore" again'),
  });
  expect((await clinic.run('restore', backup)).code).toBe(0);
  await clinic.once();
});

test.each([
  ['is not there', (_: string) => {}, 'it does not exist'],
  ['is empty', (file: string) => writeFileSync(file, ''), 'an empty file'],
  [
    'is a text',
    (file: string) => writeFileSync(file, 'appointments of Tuesday\n'.repeat(100)),
    'it is not a database',
  ],
  ['is a folder', (file: string) => mkdirSync(file), 'it is not a file'],
  [
    'is the database of another program',
    (file: string) => foreign(file),
    'another program’s database',
  ],
])('restore refuses a file that %s, with the reason', async (_, make, why) => {
  const clinic = makeClinic({ base_url: 'http://127.0.0.1:9' });
  const file = join(clinic.folder, 'copy.db');
  make(file);
  const { code, stderr } = await clinic.run('restore', file);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(why) });
  expect(stderr).toContain('Use another backup');
});

function foreign(file: string): void {
  const raw = new Database(file);
  raw.exec('create table songs (title text)');
  raw.close();
}

test('restore refuses a damaged backup, and any backup while the daemon runs', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(3)));
  await clinic.once();
  const backup = join(clinic.folder, 'copy.db');
  await clinic.run('backup', backup);
  // Without the files that SQLite creates and deletes.
  const files = () => readdirSync(clinic.state).filter((name) => !/-(wal|shm)$/.test(name));
  const before = files();

  const broken = join(clinic.folder, 'broken.db');
  writeFileSync(broken, readFileSync(backup));
  truncateSync(broken, statSync(broken).size / 2);
  const refused = await clinic.run('restore', broken);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/not a sound copy/);

  const daemon = await clinic.daemon();
  try {
    const second = await clinic.run('restore', backup);
    expect(second.code).toBe(75);
    expect(second.stderr).toMatch(/Another eligd is running/);
  } finally {
    await daemon.close();
  }
  expect(files()).toEqual(before);
  expect((await clinic.run('backup', backup)).stderr).toMatch(/already exists/);
});

test('eligd refuses to back up a damaged database, and restore keeps it', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(3)));
  await clinic.once();
  const backup = join(clinic.folder, 'copy.db');
  await clinic.run('backup', backup);
  const database = join(clinic.state, 'eligd.db');
  const bytes = readFileSync(database);
  writeFileSync(database, bytes.fill(0x55, 8192));
  const { code, stderr } = await clinic.run('backup', join(clinic.folder, 'second.db'));
  expect({ code, stderr }).toEqual({
    code: 78,
    stderr: expect.stringMatching(/is damaged[\s\S]*"eligd restore" with the newest backup/),
  });
  expect(existsSync(join(clinic.folder, 'second.db'))).toBe(false);
  expect((await clinic.run('once')).code).toBe(78);
  expect((await clinic.run('restore', backup)).code).toBe(0);
  const [kept] = readdirSync(clinic.state).filter((name) => /\.replaced-\d+T\d+Z$/.test(name));
  expect(readFileSync(join(clinic.state, kept!))).toEqual(bytes);
  await clinic.once();
  expect(await service.ledger()).toHaveLength(3);
});

test('backups have mode 600, and eligd keeps the newest and all other files', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { backup: { keep: 2 } } });
  await clinic.once();
  const folder = join(clinic.state, 'backups');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'notes.txt'), 'mine');
  for (let count = 0; count < 4; count += 1) {
    expect((await clinic.run('backup')).code).toBe(0);
    machine.pass({ hours: 24 });
  }
  const names = readdirSync(folder).sort();
  expect(names).toHaveLength(3);
  expect(names[0]).toMatch(/^eligd-203001\d\d-\d{6}\.db$/);
  expect(statSync(join(folder, names[0]!)).mode & 0o777).toBe(0o600);
  expect(existsSync(join(folder, 'notes.txt'))).toBe(true);
});

test('a backup says that eligd has not created its tables yet', async () => {
  const clinic = makeClinic({ base_url: 'http://127.0.0.1:9' });
  mkdirSync(clinic.state, { recursive: true });
  const raw = new Database(join(clinic.state, 'eligd.db'));
  raw.pragma('journal_mode = WAL');
  raw.close();
  const { code, stderr } = await clinic.run('backup', join(clinic.folder, 'copy.db'));
  expect(code).toBe(1);
  expect(stderr).toMatch(/still empty, so there is nothing to back up/);
  expect(stderr).toMatch(/Start eligd/);
  expect(existsSync(join(clinic.folder, 'copy.db'))).toBe(false);
});
