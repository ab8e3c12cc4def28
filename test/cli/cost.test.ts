/** `eligd cost`, with the real sandbox. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { readCsv } from '../support/csv-text.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';
import { differences, pathsOf } from './json-page.ts';

/** Two calls on Monday and one on Tuesday; the unsuccessful one is free. */
async function threeCalls() {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      prices: { per_inquiry: 12.5, free_outcomes: ['unsuccessful'] },
      policy: { attempts: 1, calls_per_day: 2 },
    },
  });
  const all = visits(4, (index) => ({
    member_id: ['ACTIVE1', 'UNSUCC2', 'NEVER3', 'ACTIVE4'][index] ?? '',
    ...(index === 2 ? { carrier: 'Cigna', payor_id: '62308' } : {}),
  }));
  clinic.drop('export.csv', exportOf(all));
  await clinic.once();
  await clinic.run('hold', '9004');
  machine.pass({ hours: 24 });
  await service.advance({ days: 3 });
  await clinic.once();
  return { service, clinic };
}

test('cost shows calls by day, payer, and outcome, within 80 columns', async () => {
  const { clinic } = await threeCalls();
  const { stdout, code } = await clinic.run('cost');
  expect(code).toBe(0);
  expect(stdout).toBe(`Calls from 2030-01-01 to 2030-01-08 (America/Chicago)

day         calls    cost
2030-01-07      2  $12.50
2030-01-08      1  $12.50

payer                     calls    cost
DELTA_DENTAL_OF_ILLINOIS      2  $12.50
CIGNA                         1  $12.50

outcome       calls    cost
open              1  $12.50
successful        1  $12.50
unsuccessful      1   $0.00

Total:       3 calls, $25.00.
Planned:     no calls.
Tomorrow:    no more calls.
`);
});

test('cost prints a line per call, with the IDs and amounts of the bill', async () => {
  const { service, clinic } = await threeCalls();
  const lines = readCsv((await clinic.run('cost', '--csv')).stdout);
  const bill = (await service.ledger()).map(({ id, external_id }) => ({ id, external_id }));
  expect(lines.map(({ inquiry_id, external_id }) => ({ id: inquiry_id, external_id }))).toEqual(
    expect.arrayContaining(bill),
  );
  expect(
    lines.map(({ external_id, outcome, expected_dollars, charged_dollars }) => [
      external_id,
      outcome,
      expected_dollars,
      charged_dollars,
    ]),
  ).toEqual([
    ['9001', 'successful', '12.50', '12.50'],
    ['9002', 'unsuccessful', '12.50', '0.00'],
    ['9003', 'open', '12.50', ''],
  ]);
});

test('cost prices the same calls by other rules', async () => {
  const { clinic } = await threeCalls();
  const file = join(clinic.folder, 'other.yaml');
  writeFileSync(file, 'prices: { per_inquiry: 5, per_code: 1 }\n');
  const { stdout } = await clinic.run('cost', '--what-if', file, '--from', '2030-01-07');
  expect(stdout).toContain(`outcome       calls    cost  what if
open              1  $12.50    $7.00
successful        1  $12.50    $7.00
unsuccessful      1   $0.00    $7.00
`);
  expect(stdout).toContain('What if:     3 calls, $21.00.\n');
  writeFileSync(file, 'prices: { per_inquiry: cheap }\n');
  const refused = await clinic.run('cost', '--what-if', file);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/prices\.per_inquiry/);
});

test('cost prints JSON as documented', async () => {
  const { clinic } = await threeCalls();
  const { stdout } = await clinic.run('cost', '--json', '--to', '2030-01-07');
  const value = JSON.parse(stdout) as { schema: string };
  expect(value).toMatchObject({
    from: '2030-01-01',
    to: '2030-01-07',
    total: { calls: 2, cents: 1250, unpriced: 0 },
    what_if: null,
    duplicates: 0,
  });
  expect(differences(value.schema, new Set(pathsOf(value)))).toEqual({
    undocumented: [],
    unseen: [],
  });
});

test('cost never shows an unknown price as nothing', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(1)));
  await clinic.once();
  const { stdout } = await clinic.run('cost');
  expect(stdout).toContain(`day         calls     cost  of unknown price
2030-01-07      1  unknown                 1
`);
  expect(stdout).toContain('Total:       1 call of unknown price.\n');
  expect(stdout).not.toContain('$');
});

test('cost refuses days in the wrong order', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  await clinic.once();
  const { code, stderr } = await clinic.run('cost', '--from', '2030-02-01', '--to', '2030-01-01');
  expect(code).toBe(2);
  expect(stderr).toContain('--from 2030-02-01 is after --to 2030-01-01.');
});

test('cost shows tomorrow’s calls, when visits come into the look-ahead window', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { prices: { per_inquiry: 12.5 }, policy: { look_ahead_days: 4 } },
  });
  // Monday is the 7th: Friday is within four days, Saturday from tomorrow, Sunday not.
  const days = ['2030-01-11', '2030-01-12', '2030-01-12', '2030-01-13'];
  clinic.drop(
    'export.csv',
    exportOf(visits(4, (index) => ({ appointment_at: `${days[index]}T09:30` }))),
  );
  await clinic.once();
  const { stdout } = await clinic.run('cost');
  expect(stdout).toContain('Total:       1 call, $12.50.\n');
  expect(stdout).toContain('Tomorrow:    2 calls, $25.00 more.\n');
  expect((await clinic.run('cost', '--from', '2030-01-01')).stdout).not.toContain('Tomorrow');
  expect(await service.ledger()).toHaveLength(1);
});
