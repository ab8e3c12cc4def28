/** `eligd preview`, `mode: observe`, and a new user's way through both, with the sandbox. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';
import { differences, pathsOf } from './json-page.ts';

const PRICES = { per_inquiry: 12.5, per_code: 0.25 };

/** Two visits of a known carrier, and one each of three unknown carriers. */
function threeUnknown(): Visit[] {
  const carriers = [
    'Delta Dental of Illinois',
    'Delta Dental of Illinois',
    'Ameritas Group Dental',
  ];
  const others = ['Local 134 Welfare Fund', 'Guardian Dental PPO'];
  return visits(5, (index) => {
    const carrier = [...carriers, ...others][index] ?? '';
    return { carrier, payor_id: index < 2 ? '05030' : '' };
  });
}

function exported(clinic: Clinic, text: string): string {
  const file = join(clinic.folder, 'export.csv');
  writeFileSync(file, text);
  return file;
}

test('a new user sees unknown carriers before paying, maps them, and sees the cost', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { prices: PRICES } });
  const text = exportOf(threeUnknown()).replace(
    '\r\n',
    '\r\n9000,no date,booked,P9,Testpatient Z,1970-01-02,Cigna,62308,ACTIVE9,,1245319599,D0120\r\n',
  );
  const file = exported(clinic, text);
  const first = await clinic.run('preview', file);
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toBe(`What this export would do (front-desk). Nothing was sent or stored.

Rows:        1 row cannot be read:
             Row 2, appointment_at: not a date. Correct the date in the practice
             management system, or export dates as YYYY-MM-DD.
Visits:      5:
             3 on the attention list
             2 with a call now
Attention:   3 payer not callable
Calls:       2 calls, $26.00.

Not in the payer map:
insurance company       payer ID  visits  calls
Ameritas Group Dental   -              1  none
Guardian Dental PPO     -              1  none
Local 134 Welfare Fund  -              1  none

Closest known names:
  Guardian Dental PPO
    Guardian (GUARDIAN)
    Guardian Life (GUARDIAN)

Map one with: eligd payers map NAME ID
ID is a carrier identifier, a payer ID such as 47009, a known name, or
unsupported (then the office calls).
`);
  // eligd sent and stored nothing: no database, no moved file, no request.
  expect(existsSync(clinic.state)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(readdirSync(join(clinic.folder, 'dropbox'))).toEqual(['inbox']);
  expect((await service.traffic()).total).toBe(0);

  for (const [name, id] of [
    ['Ameritas Group Dental', 'AMERITAS'],
    ['Local 134 Welfare Fund', '13400'],
    // By the known name that it shows.
    ['Guardian Dental PPO', 'Guardian'],
  ] as const)
    expect((await clinic.run('payers', 'map', name, id)).code).toBe(0);
  const second = (await clinic.run('preview', file)).stdout;
  expect(second).toContain(
    'Visits:      5:\n             5 with a call now\nCalls:       5 calls, $65.00.\n',
  );
  expect(second).not.toContain('payer map');

  // Nothing is due for visits two weeks ahead, but preview shows their later cost.
  const next_month = join(clinic.folder, 'later.csv');
  writeFileSync(next_month, text.replaceAll('2030-01-', '2030-02-'));
  const ahead = (await clinic.run('preview', next_month)).stdout;
  expect(ahead).toContain('5 later, when the visit is closer\nCalls:       no calls now.\n');
  expect(ahead).toContain('             5 calls, $65.00 later, when the visits are closer.\n');

  clinic.drop('export.csv', text);
  await clinic.once();
  expect(await service.ledger()).toHaveLength(5);
  const cost = (await clinic.run('cost')).stdout;
  expect(cost).toContain('AMERITAS');
  expect(cost).toContain('Total:       5 calls, $65.00.\n');
  // A call in progress is not counted again.
  const third = (await clinic.run('preview', file)).stdout;
  expect(third).toContain('5 with a call in progress');
  expect(third).toContain('Calls:       no calls.\n');
});

test('preview prints JSON as documented, with an unknown price marked as unknown', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const all = threeUnknown();
  const far = visits(6, () => ({ appointment_at: '2030-06-03T09:00' })).slice(5);
  const file = exported(
    clinic,
    exportOf([...all, ...far]).replace(
      '\r\n',
      '\r\n8999,no date,booked,P9,Testpatient Z,,,,,,,\r\n',
    ),
  );
  const value = JSON.parse((await clinic.run('preview', file, '--json')).stdout) as {
    schema: string;
  };
  expect(value).toMatchObject({
    rows: { items: 6, rejected: 1 },
    visits: { planned: 2, attention: 3, waiting: 1 },
    calls: { calls: 2, cents: 0, unpriced: 2 },
  });
  expect(differences(value.schema, new Set(pathsOf(value)))).toEqual({
    undocumented: [],
    unseen: [],
  });
});

test('preview reports a missing file or one that is not an export', async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const missing = await clinic.run('preview', join(clinic.folder, 'none.csv'));
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain('none.csv cannot be read.');
  const odd = await clinic.run('preview', exported(clinic, 'one,two\r\n1,2\r\n'));
  expect(odd.code).toBe(0);
  expect(odd.stdout).toContain('cannot be read');
  expect(odd.stdout).toContain('Calls:       no calls.\n');
});

test('mode: observe plans as usual, sends nothing, and says so everywhere', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { mode: 'observe', prices: PRICES },
  });
  clinic.drop('export.csv', exportOf(visits(2)));
  await clinic.once();
  await clinic.once();
  expect(await service.ledger()).toEqual([]);
  const { stdout, code } = await clinic.run('status');
  expect(code).toBe(1);
  expect(stdout).toMatch(/call planned +2/);
  expect(clinic.attention().map(({ reason }) => reason)).toEqual(['observe_mode']);
  const explained = (await clinic.run('explain', '9001')).stdout.replaceAll(/\s+/g, ' ');
  expect(explained).toContain('eligd is not sending anything right now: eligd only observes');
  expect((await clinic.run('cost')).stdout).toContain(
    'Planned:     2 calls, $26.00, not sent yet.',
  );
  expect((await clinic.run('release', 'submission')).stdout).toContain('mode: observe');
  await clinic.once();
  expect(await service.ledger()).toEqual([]);

  const file = join(clinic.folder, 'eligd.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('mode: observe', 'mode: live'));
  await clinic.once();
  expect(await service.ledger()).toHaveLength(2);
  expect(clinic.attention()).toEqual([]);
});
