/** When a new process of eligd may rely on the list that the process before it compared (G1). */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Boot } from '../../src/domain/env.ts';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** A clinic whose first `once` has compared the list and made one call. */
async function comparedClinic() {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const boot: Boot = { id: 'first boot', awake_ms: 1_000_000 };
  const lists = async () => (await service.traffic()).by_route['GET /api/v0/dental/inquiries'] ?? 0;
  /** How many requests for the list one run makes. */
  const once = async () => {
    const before = await lists();
    const daemon = await clinic.daemon({ boot: () => ({ ...boot }) });
    await daemon.once(new AbortController().signal);
    await daemon.close();
    return (await lists()) - before;
  };
  /** Minutes pass for the machine and for the service, which reads the same clock. */
  const pass = (minutes: number) => {
    machine.pass({ minutes });
    boot.awake_ms += minutes * 60_000;
  };
  const database = join(clinic.state, 'eligd.db');
  let exports = 1;
  const drop = () => {
    exports += 1;
    clinic.drop(`export-${exports}.csv`, exportOf(visits(exports)));
  };
  clinic.drop('export-1.csv', exportOf(visits(1)));
  expect(await once()).toBeGreaterThan(0);
  expect(await service.ledger()).toHaveLength(1);
  pass(10);
  return { service, boot, once, pass, drop, database };
}

test('a second run within the hour sends what is new without reading the list again', async () => {
  const { service, once, drop } = await comparedClinic();
  drop();
  expect(await once()).toBe(0);
  expect(await service.ledger()).toHaveLength(2);
});

test('on an older copy of the database, eligd reads the list and repeats no call', async () => {
  const { service, once, pass, drop, database } = await comparedClinic();
  // On its first day, a database that lists calls it does not know waits for a person.
  pass(26 * 60);
  await once();
  pass(10);
  copyFileSync(database, `${database}.older`);
  drop();
  await once();
  for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true });
  copyFileSync(`${database}.older`, database);
  drop();
  expect(await once()).toBeGreaterThan(0);
  // The list shows a call that this database does not know; no other installation made it.
  const labels = (await service.ledger()).map(({ external_id }) => external_id);
  expect(labels).toHaveLength(3);
  expect(new Set(labels).size).toBe(3);
});

type Compared = Awaited<ReturnType<typeof comparedClinic>>;

test.for<[string, (clinic: Compared) => unknown]>([
  ['after another boot', ({ boot }) => Object.assign(boot, { id: 'second boot' })],
  ['after an hour', ({ pass }) => pass(51)],
  ['after sleep or a snapshot', ({ boot }) => Object.assign(boot, { awake_ms: 1_540_000 })],
])('%s, the list is read before anything is sent', async ([, happen]) => {
  const clinic = await comparedClinic();
  await happen(clinic);
  clinic.drop();
  expect(await clinic.once()).toBeGreaterThan(0);
  expect(await clinic.service.ledger()).toHaveLength(2);
});

test('a clinic without visits reads the list once a day, not at each run', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const boot: Boot = { id: 'first boot', awake_ms: 1_000_000 };
  const once = async () => {
    const daemon = await clinic.daemon({ boot: () => ({ ...boot }) });
    await daemon.once(new AbortController().signal);
    await daemon.close();
    return (await service.traffic()).by_route['GET /api/v0/dental/inquiries'] ?? 0;
  };
  const first = await once();
  machine.pass({ hours: 26 });
  const read = await once();
  expect(read).toBeGreaterThan(first);
  machine.pass({ minutes: 10 });
  expect(await once()).toBe(read);
});

/** Two runs more than an hour apart; `happen` in between. Returns the requests for the list. */
async function nextRun(happen: (clinic: Compared) => void): Promise<number> {
  const clinic = await comparedClinic();
  happen(clinic);
  clinic.pass(70);
  clinic.drop();
  const requests = await clinic.once();
  expect(await clinic.service.ledger()).toHaveLength(2);
  return requests;
}

test('a call that a crash interrupted is found at the start without label queries', async () => {
  const interrupted = await nextRun(({ database }) => {
    // As if eligd had been killed before it saved the reply.
    const raw = openSqlite(database);
    raw.exec("update inquiries set state = 'sending'");
    raw.exec("update calls set fate = 'out', service_id = null, role = null");
    raw.close();
  });
  expect(interrupted).toBe(await nextRun(() => {}));
});
