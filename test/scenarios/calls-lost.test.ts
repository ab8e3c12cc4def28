/**
 * The database lacks calls, and the service cannot show which: it neither filters its list nor
 * marks its end (G1). Only a person can find out, so eligd stops.
 */
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { NPI } from '../support/ways.ts';
import { backUp, haltsOf, labelsOf, putBack } from './older-database.ts';

const MEDICAL = { providers: { [NPI.medical]: { specialty: 'medical' } } };

type Behaviors = Parameters<Service['behave']>[0];

/** Two days after ten calls, a copy of the database; after 20 more calls, it is put back. */
async function putBackOlder(behaviors: Behaviors, npi: (index: number) => string = () => '') {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(behaviors);
  const clinic = makeClinic({ base_url: service.url, config: MEDICAL });
  const all = visits(30, (index) => ({ rendering_npi: npi(index) || NPI.dental }));
  clinic.drop('one.csv', exportOf(all.slice(0, 10)));
  await clinic.once();
  machine.pass({ days: 2 });
  await clinic.once();
  const copy = await backUp(clinic, 'copy.db');
  clinic.drop('two.csv', exportOf(all));
  await clinic.once();
  putBack(clinic, copy);
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
    expect(await haltsOf(clinic)).toMatchObject([{ reason: 'calls_lost' }]);
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
  expect(await haltsOf(clinic)).toMatchObject([{ reason: 'calls_lost' }]);
  // The office knows it then, for both.
  expect((await clinic.run('release', 'submission')).code).toBe(0);
  clinic.drop('four.csv', exportOf(all));
  await clinic.once();
  expect(await haltsOf(clinic)).toEqual([]);
});

const NOT_SHOWN = { list_paging: 'none', list_truncate: 3, list_filter: 'refused' };

test('eligd stops on a new computer whose account holds calls of the other specialty', async () => {
  setMachineClock();
  const service = await startService();
  await service.behave(NOT_SHOWN);
  const all = visits(12, () => ({ rendering_npi: NPI.medical }));
  const before = makeClinic({ base_url: service.url, config: MEDICAL });
  for (const count of [3, 12]) {
    before.drop(`${count}.csv`, exportOf(all.slice(0, count)));
    await before.once();
  }
  const after = makeClinic({ base_url: service.url, config: MEDICAL });
  // The list shows none of these.
  after.drop('one.csv', exportOf(all.slice(3)));
  await after.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(await haltsOf(after)).toMatchObject([{ reason: 'calls_lost' }]);
  const entries = after.attention().filter(({ reason }) => reason === 'submission_stopped');
  expect(entries).toMatchObject([
    { what_to_do: expect.stringContaining('ask the calling service for all of its inquiries') },
  ]);
  expect((await after.run('release', 'submission')).code).toBe(0);
  await after.once();
  expect(await haltsOf(after)).toEqual([]);
});

test.each([
  ['several calls', [5, 10]],
  // The new lock file has counted one send less, as after a crash.
  ['a single call', [1]],
])('eligd stops if an older database with %s was put into a new state folder', async (_, made) => {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(NOT_SHOWN);
  const clinic = makeClinic({ base_url: service.url });
  const all = visits(30);
  for (const count of made) {
    clinic.drop(`${count}.csv`, exportOf(all.slice(0, count)));
    await clinic.once();
  }
  // The copy is not that of a new database.
  machine.pass({ days: 2 });
  await clinic.once();
  const copy = await backUp(clinic, 'copy.db');
  clinic.drop('two.csv', exportOf(all));
  await clinic.once();
  rmSync(clinic.state, { recursive: true });
  mkdirSync(clinic.state, { mode: 0o700 });
  copyFileSync(copy, join(clinic.state, 'eligd.db'));
  clinic.drop('three.csv', exportOf([...all].reverse()));
  await clinic.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(await haltsOf(clinic)).toMatchObject([{ reason: 'calls_lost' }]);
});

test('calls go on if the label of each visit can be queried', async () => {
  const { service, clinic, all } = await putBackOlder({ list_paging: 'none', list_truncate: 10 });
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(await haltsOf(clinic)).toEqual([]);
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
    expect(await haltsOf(clinic)).toEqual([]);
  }
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(visits(30)));
});

test('a list with a marked end shows all calls that an older database lacks', async () => {
  const behaviors = { list_paging: 'limit_offset', list_filter: 'ignored' };
  const { service, clinic, all } = await putBackOlder(behaviors);
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(await haltsOf(clinic)).toEqual([]);
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
  expect(await haltsOf(clinic)).toEqual([]);
});

test('eligd stops if calls of the other specialty come up only later', async () => {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(NOT_SHOWN);
  const all = visits(12, (index) => ({ rendering_npi: index < 11 ? NPI.medical : NPI.dental }));
  const before = makeClinic({ base_url: service.url, config: MEDICAL });
  for (const count of [3, 11]) {
    before.drop(`${count}.csv`, exportOf(all.slice(0, count)));
    await before.once();
  }
  const after = makeClinic({ base_url: service.url, config: MEDICAL });
  after.drop('one.csv', exportOf(all.slice(11)));
  await after.once();
  machine.pass({ minutes: 10 });
  after.drop('two.csv', exportOf(all.slice(3)));
  await after.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(await haltsOf(after)).toMatchObject([{ reason: 'calls_lost' }]);
});

test('the entry names the last call before the copy, not a later one', async () => {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(NOT_SHOWN);
  const clinic = makeClinic({ base_url: service.url, config: MEDICAL });
  const all = visits(31, (index) => ({ rendering_npi: index < 30 ? NPI.medical : NPI.dental }));
  clinic.drop('one.csv', exportOf(all.slice(0, 10)));
  await clinic.once();
  machine.pass({ days: 2 });
  await clinic.once();
  const copy = await backUp(clinic, 'copy.db');
  clinic.drop('two.csv', exportOf(all.slice(0, 30)));
  await clinic.once();
  machine.pass({ days: 1 });
  putBack(clinic, copy);
  clinic.drop('three.csv', exportOf(all.slice(30)));
  await clinic.once();
  machine.pass({ minutes: 10 });
  clinic.drop('four.csv', exportOf(all));
  await clinic.once();
  const entries = clinic.attention().filter(({ reason }) => reason === 'submission_stopped');
  expect(entries).toMatchObject([{ what_to_do: expect.stringContaining('since 2030-01-07') }]);
});

test.each(['by hand', 'with eligd restore'])(
  'after the stop, the newer database can be put back as the entry says (%s)',
  async (how) => {
    const machine = setMachineClock();
    const service = await startService();
    await service.behave({ list_paging: 'none', list_truncate: 12, list_filter: 'refused' });
    const clinic = makeClinic({ base_url: service.url });
    const all = visits(31);
    clinic.drop('one.csv', exportOf(all.slice(0, 10)));
    await clinic.once();
    machine.pass({ days: 2 });
    await clinic.once();
    const older = await backUp(clinic, 'older.db');
    clinic.drop('two.csv', exportOf(all.slice(0, 30)));
    await clinic.once();
    const newer = await backUp(clinic, 'newer.db');
    putBack(clinic, older);
    clinic.drop('three.csv', exportOf(all.slice(0, 30)));
    await clinic.once();
    expect(await haltsOf(clinic)).toMatchObject([{ reason: 'calls_lost' }]);
    if (how === 'by hand') putBack(clinic, newer);
    else expect((await clinic.run('restore', newer)).code).toBe(0);
    machine.pass({ minutes: 10 });
    clinic.drop('four.csv', exportOf(all));
    await clinic.once();
    expect(await haltsOf(clinic)).toEqual([]);
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  },
);

test.each(['limit_offset', 'items_total', 'link', 'page'])(
  'eligd stops if the list omits calls that it must show, whatever its end (%s)',
  async (list_paging) => {
    const cut = { list_truncate: 12, list_order: 'reverse', list_filter: 'ignored' };
    const { service, clinic, all } = await putBackOlder({ list_paging, ...cut });
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
    expect(await haltsOf(clinic)).toMatchObject([{ reason: 'calls_lost' }]);
  },
);
