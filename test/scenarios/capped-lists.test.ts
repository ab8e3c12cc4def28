/**
 * The service truncates its list without saying so, and the database has lost its rows (G1).
 * `ELIGD_CAPS=1-300` tries 260 visits with every cap in the range, in both ways; it takes about
 * an hour.
 */
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { NPI } from '../support/ways.ts';

const RANGE = /^(\d+)-(\d+)$/.exec(process.env.ELIGD_CAPS ?? '');
const VISITS = RANGE === null ? 30 : 260;
const CAPS =
  RANGE === null
    ? [1, 2, 7, 20, 29, 30]
    : Array.from({ length: Number(RANGE[2]) - Number(RANGE[1]) + 1 }, (_, index) => index).map(
        (index) => index + Number(RANGE[1]),
      );

/** Ways to truncate the list: only `limit` raises the cap, or nothing does. */
const CUTS = [
  ...CAPS.map((list_page_size) => ({ list_paging: 'limit', list_page_size })),
  ...(RANGE === null ? [] : CAPS).map((list_truncate) => ({ list_paging: 'none', list_truncate })),
  { list_paging: 'none', list_truncate: 10 },
  { list_paging: 'none', list_truncate: 10, list_filter: 'refused' },
  { list_paging: 'none', list_truncate: 10, list_order: 'reverse' },
];

test.each(CUTS)(
  'with a lost database and a truncated list (%o), no payer is called twice',
  async (cut) => {
    setMachineClock();
    const service = await startService();
    await service.behave({ ...cut });
    const clinic = makeClinic({ base_url: service.url });
    clinic.drop('one.csv', exportOf(visits(VISITS)));
    await clinic.once();
    rmSync(clinic.state, { recursive: true });
    clinic.drop('two.csv', exportOf([...visits(VISITS)].reverse()));
    await clinic.once();
    expect((await clinic.run('release', 'submission')).code).toBe(0);
    await clinic.once();
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(visits(VISITS)));
  },
);

test.each(CUTS)(
  'with an intact database and a truncated list (%o), no payer is called twice',
  async (cut) => {
    setMachineClock();
    const service = await startService();
    await service.behave({ ...cut });
    const clinic = makeClinic({ base_url: service.url });
    clinic.drop('one.csv', exportOf(visits(VISITS).slice(0, VISITS / 2)));
    await clinic.once();
    clinic.drop('two.csv', exportOf([...visits(VISITS)].reverse()));
    await clinic.once();
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(visits(VISITS)));
  },
);

test.each(CUTS)(
  'with a restored backup and a truncated list (%o), no payer is called twice',
  async (cut) => {
    setMachineClock();
    const service = await startService();
    await service.behave({ ...cut });
    const clinic = makeClinic({ base_url: service.url });
    const all = visits(VISITS);
    clinic.drop('one.csv', exportOf(all.slice(0, 10)));
    await clinic.once();
    const database = join(clinic.state, 'eligd.db');
    const copy = join(clinic.folder, 'copy.db');
    await clinic.run('backup', copy);
    clinic.drop('two.csv', exportOf(all));
    await clinic.once();
    // An administrator may copy the file by hand, so eligd cannot know that it is older.
    for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true });
    copyFileSync(copy, database);
    clinic.drop('three.csv', exportOf([...all].reverse()));
    await clinic.once();
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  },
);

type Behaviors = Parameters<Service['behave']>[0];

/** Two days after ten calls, a copy of the database; after 20 more calls, it is put back. */
async function putBackOlder(behaviors: Behaviors, npi: (index: number) => string = () => '') {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(behaviors);
  const config = { providers: { [NPI.medical]: { specialty: 'medical' } } };
  const clinic = makeClinic({ base_url: service.url, config });
  const all = visits(30, (index) => ({ rendering_npi: npi(index) || NPI.dental }));
  clinic.drop('one.csv', exportOf(all.slice(0, 10)));
  await clinic.once();
  machine.pass({ days: 2 });
  await clinic.once();
  const database = join(clinic.state, 'eligd.db');
  const copy = join(clinic.folder, 'copy.db');
  await clinic.run('backup', copy);
  clinic.drop('two.csv', exportOf(all));
  await clinic.once();
  for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true });
  copyFileSync(copy, database);
  clinic.drop('three.csv', exportOf([...all].reverse()));
  await clinic.once();
  return { service, clinic, all };
}

test.each([
  ...[7, 10, 12, 20].map((list_truncate) => ({ list_truncate, list_filter: 'refused' })),
  { list_truncate: 10, list_filter: 'ignored' },
  { list_truncate: 12, list_filter: 'refused', list_order: 'reverse' },
])(
  'eligd stops if an older database was put back and nothing shows its later calls (%o)',
  async (behaviors) => {
    const { service, clinic, all } = await putBackOlder({ list_paging: 'none', ...behaviors });
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
    const { halts } = JSON.parse((await clinic.run('status', '--json')).stdout);
    expect(halts).toMatchObject([{ reason: 'calls_lost' }]);
    const entries = clinic.attention().filter(({ reason }) => reason === 'submission_stopped');
    expect(entries).toMatchObject([
      {
        what_happened: expect.stringContaining('The database lacks calls'),
        what_to_do: expect.stringMatching(/received since 2030-01-07 \d\d:\d\d/),
      },
    ]);
  },
);

test.each<[string, (index: number) => string]>([
  ['every call is medical', () => NPI.medical],
  ['every second call is medical', (index) => (index % 2 === 0 ? NPI.dental : NPI.medical)],
])('eligd stops for both specialties if %s', async (_, npi) => {
  const behaviors = { list_paging: 'none', list_truncate: 3, list_filter: 'refused' };
  const { service, clinic, all } = await putBackOlder(behaviors, npi);
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  const { halts } = JSON.parse((await clinic.run('status', '--json')).stdout);
  expect(halts).toMatchObject([{ reason: 'calls_lost' }]);
});

const NOT_SHOWN = { list_paging: 'none', list_truncate: 3, list_filter: 'refused' };

test('eligd stops on a new computer whose account holds calls of the other specialty', async () => {
  setMachineClock();
  const service = await startService();
  await service.behave(NOT_SHOWN);
  const config = { providers: { [NPI.medical]: { specialty: 'medical' } } };
  const all = visits(12, () => ({ rendering_npi: NPI.medical }));
  const before = makeClinic({ base_url: service.url, config });
  for (const count of [3, 12]) {
    before.drop(`${count}.csv`, exportOf(all.slice(0, count)));
    await before.once();
  }
  const after = makeClinic({ base_url: service.url, config });
  // The list shows none of these.
  after.drop('one.csv', exportOf(all.slice(3)));
  await after.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  const { halts } = JSON.parse((await after.run('status', '--json')).stdout);
  expect(halts).toMatchObject([{ reason: 'calls_lost' }]);
});

test('eligd stops if an older database was put into a new state folder', async () => {
  setMachineClock();
  const service = await startService();
  await service.behave(NOT_SHOWN);
  const clinic = makeClinic({ base_url: service.url });
  const all = visits(30);
  for (const count of [5, 10]) {
    clinic.drop(`${count}.csv`, exportOf(all.slice(0, count)));
    await clinic.once();
  }
  const copy = join(clinic.folder, 'copy.db');
  await clinic.run('backup', copy);
  clinic.drop('two.csv', exportOf(all));
  await clinic.once();
  rmSync(clinic.state, { recursive: true });
  mkdirSync(clinic.state, { mode: 0o700 });
  copyFileSync(copy, join(clinic.state, 'eligd.db'));
  clinic.drop('three.csv', exportOf([...all].reverse()));
  await clinic.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  const { halts } = JSON.parse((await clinic.run('status', '--json')).stdout);
  expect(halts).toMatchObject([{ reason: 'calls_lost' }]);
});

test('calls go on if the label of each visit can be queried', async () => {
  const { service, clinic, all } = await putBackOlder({ list_paging: 'none', list_truncate: 10 });
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(JSON.parse((await clinic.run('status', '--json')).stdout).halts).toEqual([]);
});

test('a new clinic on a shared account has lost no database', async () => {
  setMachineClock();
  const service = await startService();
  await service.behave({ list_paging: 'none', list_truncate: 10, list_filter: 'ignored' });
  for (const [first, last] of [
    [0, 15],
    [15, 30],
  ]) {
    const config = { service: { shared_account: true } };
    const clinic = makeClinic({ base_url: service.url, config });
    clinic.drop('one.csv', exportOf(visits(30).slice(first, last)));
    await clinic.once();
    expect(JSON.parse((await clinic.run('status', '--json')).stdout).halts).toEqual([]);
  }
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(visits(30)));
});

test.each(['limit_offset', 'page'])(
  'a service that ignores the filter is not asked for its whole list by each label (%s)',
  async (list_paging) => {
    const machine = setMachineClock();
    const service = await startService();
    await service.behave({ list_paging, list_page_size: 10, list_filter: 'ignored' });
    const clinic = makeClinic({ base_url: service.url });
    clinic.drop('one.csv', exportOf(visits(100)));
    await clinic.once();
    const before = (await service.traffic()).total;
    machine.pass({ days: 1 });
    clinic.drop('two.csv', exportOf(visits(120)));
    await clinic.once();
    // The list has ten pages, and is read twice.
    expect((await service.traffic()).total - before).toBeLessThan(50);
    expect(await service.ledger()).toHaveLength(120);
  },
);

test('a list with a marked end shows all calls that an older database lacks', async () => {
  const behaviors = { list_paging: 'limit_offset', list_filter: 'ignored' };
  const { service, clinic, all } = await putBackOlder(behaviors);
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(JSON.parse((await clinic.run('status', '--json')).stdout).halts).toEqual([]);
});

test('with an intact database, calls are made although nothing shows all of them', async () => {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave({ list_paging: 'none', list_truncate: 10, list_filter: 'refused' });
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('one.csv', exportOf(visits(15)));
  await clinic.once();
  machine.pass({ days: 1, hours: 1 });
  clinic.drop('two.csv', exportOf(visits(20)));
  await clinic.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(visits(20)));
});

test('after the release, a listed call serves its visit, and the others are made', async () => {
  const behaviors = { list_paging: 'none', list_truncate: 20, list_filter: 'refused' };
  const { service, clinic, all } = await putBackOlder(behaviors);
  expect((await clinic.run('release', 'submission')).code).toBe(0);
  clinic.drop('four.csv', exportOf(all));
  await clinic.once();
  // The list shows 20 of the 30 calls.
  const hidden = (await service.ledger()).slice(20, 30);
  expect(labelsOf(await service.ledger())).toEqual(labelsOf([...all, ...hidden]));
  expect(JSON.parse((await clinic.run('status', '--json')).stdout).halts).toEqual([]);
});

test.each(['none', 'limit_offset', 'page', 'link', 'items_total'])(
  'on a machine that went back to a snapshot (list_paging: %s), no payer is called twice',
  async (list_paging) => {
    const machine = setMachineClock();
    const service = await startService();
    await service.behave({ list_paging, list_truncate: 12 });
    const clinic = makeClinic({ base_url: service.url });
    const all = visits(30);
    clinic.drop('one.csv', exportOf(all.slice(0, 10)));
    await clinic.once();
    // The snapshot is older than a day, so the database is not new.
    machine.pass({ days: 2 });
    await clinic.once();
    const snapshot = join(clinic.folder, 'snapshot');
    cpSync(clinic.state, snapshot, { recursive: true });
    clinic.drop('two.csv', exportOf(all));
    await clinic.once();
    rmSync(clinic.state, { recursive: true });
    cpSync(snapshot, clinic.state, { recursive: true });
    chmodSync(clinic.state, 0o700);
    clinic.drop('three.csv', exportOf([...all].reverse()));
    await clinic.once();
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  },
);

/** Twelve calls; the database is lost; visit 9012, whose label the last call has, is another's. */
async function giveVisitAway(behaviors: Behaviors) {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave({ list_paging: 'none', list_truncate: 3, ...behaviors });
  const clinic = makeClinic({ base_url: service.url });
  const all = visits(12);
  const [last] = all.slice(-1);
  if (last === undefined) throw new Error('There is no visit.');
  const later = { ...last, appointment_id: '9099', appointment_at: '2030-01-14T09:30' };
  clinic.drop('one.csv', exportOf([...all, later]));
  await clinic.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  rmSync(clinic.state, { recursive: true });
  const uninsured = { patient_id: 'P50', patient_name: 'Testpatient Z', carrier: '', payor_id: '' };
  const given_away = { ...last, ...uninsured, member_id: '' };
  clinic.drop('two.csv', exportOf([later, given_away, ...all.slice(0, -1)]));
  return { machine, service, clinic, all };
}

test('after a loss, a call counts whose visit now belongs to another patient', async () => {
  const { service, clinic, all } = await giveVisitAway({});
  await clinic.once();
  expect((await clinic.run('release', 'submission')).code).toBe(0);
  await clinic.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(JSON.parse((await clinic.run('status', '--json')).stdout).halts).toEqual([]);
});

/** The labels of calls, or the IDs of visits, sorted; a duplicate is a second call. */
function labelsOf(
  of: readonly { external_id?: string | null; appointment_id?: string }[],
): string[] {
  return of.map(({ external_id, appointment_id }) => external_id ?? appointment_id ?? '').sort();
}
