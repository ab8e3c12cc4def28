/**
 * The service truncates its list without saying so, and the database has lost its rows (G1).
 * `ELIGD_CAPS=1-300` tries 260 visits with every cap in the range, in both ways; it takes about
 * an hour.
 */
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { backUp, haltsOf, labelsOf, putBack } from './older-database.ts';

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
    const copy = await backUp(clinic, 'copy.db');
    clinic.drop('two.csv', exportOf(all));
    await clinic.once();
    putBack(clinic, copy);
    clinic.drop('three.csv', exportOf([...all].reverse()));
    await clinic.once();
    expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  },
);

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
async function giveVisitAway() {
  setMachineClock();
  const service = await startService();
  await service.behave({ list_paging: 'none', list_truncate: 3 });
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
  return { service, clinic, all };
}

test('after a loss, a call counts whose visit now belongs to another patient', async () => {
  const { service, clinic, all } = await giveVisitAway();
  await clinic.once();
  expect((await clinic.run('release', 'submission')).code).toBe(0);
  await clinic.once();
  expect(labelsOf(await service.ledger())).toEqual(labelsOf(all));
  expect(await haltsOf(clinic)).toEqual([]);
});
