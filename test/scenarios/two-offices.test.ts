/** Two offices that export the same days, each its own visits (issue 18, "Vanished"). */
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { type Visit, visits } from '../support/visits.ts';

type Row = Visit & { location: string };

/** Visits of one office on two days; the names of rows and patients begin with the office's. */
function rowsOf(office: string, count: number, over: Partial<Row>): Row[] {
  return visits(count, (index) => ({
    appointment_id: `${office}${index}`,
    patient_id: `${office}P${index}`,
    member_id: `ACTIVE${office}${index}`,
    appointment_at: `2030-01-${10 + (index % 2)}T${String(8 + index).padStart(2, '0')}:30`,
  })).map((row) => ({ ...row, location: '', ...over }));
}

const BY_LOCATION = [{ location: 'North' }, { location: 'South' }] as const;
const BY_PROVIDER = [{ rendering_npi: '1245319599' }, { rendering_npi: '1043218118' }] as const;
const BY_NOTHING = [{}, {}] as const;

async function offices(north: number, south: number, by: readonly [Partial<Row>, Partial<Row>]) {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  let exports = 0;
  const drop = async (rows: readonly Row[]) => {
    exports += 1;
    // No two exports are equal: another order each time.
    const turned = rows.map((_, index) => rows[(index + exports) % rows.length] as Row);
    const header = Object.keys(turned[0] ?? {}) as (keyof Row)[];
    const lines = turned.map((row) => header.map((name) => row[name]));
    clinic.drop(`export-${exports}.csv`, csvText(header, lines));
    await clinic.once();
    machine.pass({ minutes: 10 });
  };
  const of_north = rowsOf('N', north, by[0]);
  const of_south = rowsOf('S', south, by[1]);
  const vanished = () =>
    clinic
      .attention()
      .filter(({ reason }) => reason === 'vanished')
      .map(({ appointment_id }) => appointment_id);
  return { service, vanished, drop, of_north, of_south };
}

test.each([
  [3, 8, BY_LOCATION],
  [8, 3, BY_LOCATION],
  [3, 8, BY_PROVIDER],
  [3, 8, BY_NOTHING],
  [8, 3, BY_NOTHING],
])('each keeps its visits, and each gets its call: %i and %i, %o', async (north, south, by) => {
  const { service, vanished, drop, of_north, of_south } = await offices(north, south, by);
  for (let day = 1; day <= 2; day += 1) {
    await drop(of_north);
    await drop(of_south);
    expect(vanished()).toEqual([]);
  }
  const labels = (await service.ledger()).map(({ external_id }) => external_id).toSorted();
  expect(labels).toEqual(
    [...of_north, ...of_south].map(({ appointment_id }) => appointment_id).toSorted(),
  );
});

test.each([
  ['location', BY_LOCATION],
  ['provider', BY_PROVIDER],
])("a visit that its own office's exports lack twice has vanished, by %s", async (_, by) => {
  const { vanished, drop, of_north, of_south } = await offices(8, 3, by);
  await drop(of_north);
  await drop(of_south);
  const without = of_north.filter(({ appointment_id }) => appointment_id !== 'N3');
  await drop(without);
  await drop(of_south);
  expect(vanished()).toEqual([]);
  await drop(without);
  expect(vanished()).toEqual(['N3']);
});
