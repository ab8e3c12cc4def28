/** Who did what and who viewed which record, on the command line. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { run } from './capture.ts';
import { differences, pathsOf } from './json-page.ts';

async function clinicOf(count: number) {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(count)));
  await clinic.once();
  /** A command that `name` runs through sudo. */
  const as = (name: string, ...args: string[]) =>
    run([...args, '--config', clinic.file], {
      environment: { SUDO_USER: name },
      cwd: clinic.folder,
    });
  return { machine, service, clinic, as };
}

type Entry = {
  kind: string;
  at: string;
  actor: string | null;
  what: string;
  subject: string;
  appointment: string | null;
};

async function shown(clinic: Clinic, ...args: string[]): Promise<Entry[]> {
  const { code, stdout, stderr } = await clinic.run('audit', 'show', ...args, '--json');
  expect(code, stderr).toBe(0);
  return (JSON.parse(stdout) as { entries: Entry[] }).entries;
}

const looks = (entries: readonly Entry[]) =>
  entries
    .filter(({ kind }) => kind === 'saw')
    .map(({ actor, what, appointment }) => `${actor} ${what} ${appointment}`)
    .toSorted();

test('every view of a record is logged, and lists without names are not', async () => {
  const { clinic, as, service } = await clinicOf(2);
  const [first] = await service.ledger();
  for (const args of [['list'], ['list', '--attention'], ['payers'], ['inquiry', 'list']])
    expect((await as('nobody', ...args)).code).toBe(0);
  expect(await shown(clinic, '--by', 'nobody')).toEqual([]);

  for (const args of [
    ['show', '9001'],
    ['explain', '9002', '--json'],
    ['list', '--patients'],
    ['inquiry', 'get', first!.id, '--full'],
    ['verification', first!.id],
  ])
    expect((await as('maria', ...args)).code, args.join(' ')).toBe(0);
  expect(looks(await shown(clinic, '--by', 'maria'))).toEqual([
    'maria explain 9002',
    `maria inquiry ${first!.external_id}`,
    'maria list 9001',
    'maria list 9002',
    'maria show 9001',
    `maria verification ${first!.external_id}`,
  ]);

  // By patient, also in words, without naming a patient.
  const of_one = looks(await shown(clinic, '--patient', visits(2)[1]!.patient_id!));
  expect(of_one.filter((each) => each.endsWith('9001'))).toEqual([]);
  expect(of_one).toEqual(expect.arrayContaining(['maria explain 9002', 'maria list 9002']));
  const { stdout } = await clinic.run('audit', 'show', '--by', 'maria');
  expect(stdout).toMatch(/maria +saw: show +9001/);
  for (const { patient_name, member_id } of visits(2)) {
    expect(stdout).not.toContain(patient_name);
    expect(stdout).not.toContain(member_id);
  }
  // The log has no ID from the practice software, only the hash that the journal has.
  const raw = openSqlite(join(clinic.state, 'eligd.db'), { readonly: true });
  const rows = raw.prepare('select subject, patient from access_log').all() as object[];
  raw.close();
  expect(
    rows.map((row) => Object.values(row).every((each) => /^[0-9a-f]{12}$/.test(each))),
  ).toEqual(rows.map(() => true));
});

test('a view is shown while the database cannot be written, with a warning', async () => {
  const { clinic, as } = await clinicOf(1);
  const busy = openSqlite(join(clinic.state, 'eligd.db'));
  busy.exec('begin immediate');
  const { code, stdout, stderr } = await as('maria', 'show', '9001');
  busy.exec('rollback');
  busy.close();
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('9001') });
  expect(stderr).toContain('could not be written to the audit trail');
  expect(looks(await shown(clinic, '--by', 'maria'))).toEqual([]);
  expect((await as('maria', 'show', '9001')).stderr).toBe('');
  expect(looks(await shown(clinic, '--by', 'maria'))).toEqual(['maria show 9001']);
});

test('an action names its user in the history and in the trail', async () => {
  const { clinic, as, machine } = await clinicOf(3);
  machine.pass({ minutes: 1 });
  expect((await as('maria', 'retry', '9001')).code).toBe(0);
  expect((await as('tom', 'release', 'submission')).code).toBe(0);
  expect((await as('tom', 'payers', 'map', 'Cigna PPO Plus', '62308')).code).toBe(0);
  expect((await as('tom', 'user', 'add', 'front', '--sign-on', 'front@example.org')).code).toBe(0);
  expect((await clinic.run('explain', '9001')).stdout).toContain('maria ran “eligd retry”.');
  const trail = (await shown(clinic)).filter(({ kind }) => kind === 'did');
  const told = trail.map(({ actor, what, subject }) => `${actor} ${what} ${subject}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'tom released submission',
      'tom mapped payers',
      'tom added user:front',
    ]),
  );
  expect(told.find((each) => each.startsWith('maria '))).toMatch(/^maria retry appointment:\d+$/);
  // eligd's own steps have no user, and are shown with a patient only.
  expect(trail.filter(({ actor }) => actor === null)).toEqual([]);
  const all = await shown(clinic, '--patient', '9001');
  expect(all.some(({ actor }) => actor === null)).toBe(true);
});

test('the trail of a patient has the call under a former member ID', async () => {
  const { clinic } = await clinicOf(1);
  const [visit] = visits(1);
  clinic.drop('corrected.csv', exportOf([{ ...visit!, member_id: 'ACTIVE2000' }]));
  await clinic.once();
  const subjects = (await shown(clinic, '--patient', visit!.patient_id)).map(
    (each) => each.subject,
  );
  expect([...new Set(subjects)]).toEqual(
    expect.arrayContaining(['appointment:1', 'inquiry:1', 'inquiry:2']),
  );
});

test('verify says that the logs are intact, or what is wrong and what to do', async () => {
  const { clinic, as } = await clinicOf(1);
  await as('maria', 'show', '9001');
  const whole = await clinic.run('audit', 'verify');
  expect(whole).toMatchObject({ code: 0, stderr: '' });
  expect(whole.stdout).toMatch(/Audit trail: +\d+ entries since .*, unchanged\./);
  for (const line of whole.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const [, head = ''] = /head (\d+:[0-9a-f]{32})/.exec(whole.stdout) ?? [];
  expect((await clinic.run('audit', 'verify', '--head', head)).code).toBe(0);
  const other = await clinic.run('audit', 'verify', '--head', `1:${'0'.repeat(32)}`);
  expect(other).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('that is in the journal'),
  });

  const raw = openSqlite(join(clinic.state, 'eligd.db'));
  const trigger = raw
    .prepare("select sql from sqlite_master where name = 'access_log_no_delete'")
    .pluck()
    .get() as string;
  raw.exec('drop trigger access_log_no_delete; drop trigger access_log_no_update');
  raw.exec("update access_log set actor = 'tom' where id = 1");
  raw.exec(trigger);
  raw.close();
  const broken = await clinic.run('audit', 'verify', '--json');
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.stdout)).toMatchObject({ ok: false, logs: [{ fault: null }, {}] });
  expect(broken.stderr).toContain('The access log was changed.');
});

test('docs/json.md documents the output of these commands', async () => {
  const { clinic, as } = await clinicOf(1);
  await as('maria', 'show', '9001');
  await as('maria', 'legal-hold', 'add', visits(1)[0]!.patient_id!);
  for (const args of [
    ['audit', 'show', '--patient', '9001'],
    ['audit', 'verify', '--head', `1:${'0'.repeat(32)}`],
    ['legal-hold', 'list'],
    ['purge', '--dry-run'],
  ]) {
    const { stdout } = await clinic.run(...args, '--json');
    const value = JSON.parse(stdout) as { schema: string };
    expect(differences(value.schema, new Set(pathsOf(value)))).toMatchObject({
      undocumented: [],
      unseen: [],
    });
  }
});

test('a copy of the database and a change of the subscription name the user', async () => {
  const { clinic, as } = await clinicOf(1);
  const did: string[][] = [
    ['backup', join(clinic.folder, 'copy.db')],
    ['subscription', 'set', '--url', 'https://clinic.example/hook'],
    ['subscription', 'delete'],
  ];
  for (const args of did) expect((await as('maria', ...args)).code).toBe(0);
  const entries = await shown(clinic, '--by', 'maria');
  expect(entries.map(({ what, subject }) => `${subject} ${what}`).toSorted()).toEqual([
    'database copied',
    'subscription deleted',
    'subscription set',
  ]);
});
