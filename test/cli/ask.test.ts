/** A visit with codes that eligd did not ask about, and `eligd ask`, with the real sandbox. */
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';

const PRICES = { per_inquiry: 12.5, per_code: 0.25 };

/** The same patient: a check-up with an answer, and a crown three days later. */
function twoVisits(): [Visit, Visit] {
  const [checkup] = visits(1) as [Visit];
  const crown = {
    ...checkup,
    appointment_id: '9050',
    appointment_at: '2030-01-14T10:30',
    procedure_codes: 'D2740;D1110',
  };
  return [checkup, crown];
}

async function answeredThenCrown(policy: Record<string, unknown> = {}) {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { prices: PRICES, policy } });
  const [checkup, crown] = twoVisits();
  clinic.drop('first.csv', exportOf([checkup]));
  await clinic.once();
  await service.advance({ days: 2 });
  machine.pass({ days: 1 });
  await clinic.once();
  clinic.drop('second.csv', exportOf([checkup, crown]));
  await clinic.once();
  const asked = async () =>
    (await service.ledger()).map(
      ({ request }) => (request as { benefits_codes?: string[] }).benefits_codes,
    );
  return { machine, service, clinic, asked };
}

test('a later visit with other codes lists the missing codes and how to ask', async () => {
  const { clinic, asked } = await answeredThenCrown();
  expect(await asked()).toEqual([['D0120', 'D1110']]);
  expect(clinic.attention()).toMatchObject([{ reason: 'codes_not_asked', appointment_id: '9050' }]);
  const { stdout } = await clinic.run('explain', '9050');
  expect(stdout).not.toContain('nothing to do');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The insurance company was asked about other procedures for this patient, but not about ' +
      'D2740. Call the insurance company yourself, or order a call with "eligd ask 9050".',
  );
});

test('eligd ask orders one call, states its cost, and refuses a second one meanwhile', async () => {
  const { machine, service, clinic, asked } = await answeredThenCrown();
  const done = await clinic.run('ask', '9050');
  expect(done).toMatchObject({ code: 0, stderr: '' });
  expect(done.stdout).toBe(
    'A call was ordered (inquiry 2). It costs $13.00.\nIt goes out with the next calls.\n',
  );
  const twice = await clinic.run('ask', '9050');
  expect(twice.code).toBe(1);
  expect(twice.stdout).toBe('Inquiry 2 about this is already planned, but not sent yet.\n');
  await clinic.once();
  expect(await asked()).toEqual([
    ['D0120', 'D1110'],
    ['D2740', 'D1110'],
  ]);
  expect(clinic.attention()).toEqual([]);
  const under_way = await clinic.run('ask', '9050');
  expect(under_way.code).toBe(1);
  expect(under_way.stdout).toBe('A call about this is already in progress (inquiry 2).\n');
  // eligd makes no second call, however often it runs and whatever the PMS exports.
  clinic.drop('third.csv', exportOf(twoVisits()));
  await clinic.once();
  await service.advance({ days: 3 });
  machine.pass({ days: 1 });
  await clinic.once();
  await clinic.once();
  expect(await asked()).toHaveLength(2);
  const written = clinic.written().filter(({ appointment_id }) => appointment_id === '9050');
  expect(JSON.stringify(written.at(-1)?.record)).toContain('D2740');
  const story = (await clinic.run('explain', '9050')).stdout;
  expect(story).toContain(`Requested by ${userInfo().username}.`);
  // After the answer, another call can be ordered.
  expect((await clinic.run('ask', '9050', '--json')).code).toBe(0);
});

test('an ordered call stays within the budget', async () => {
  const { machine, clinic, asked } = await answeredThenCrown({ calls_per_month: 1 });
  const { stdout, code } = await clinic.run('ask', '9050');
  expect(code).toBe(0);
  expect(stdout).toBe(
    'A call was ordered (inquiry 2). It costs $13.00.\nIt waits until 2030-02-01 00:00. The ' +
      'one call that policy.calls_per_month allows is used up.\n',
  );
  machine.pass({ hours: 1 });
  await clinic.once();
  expect(await asked()).toHaveLength(1);
});

test('with new_codes: call, eligd makes one call about codes that were left out', async () => {
  const { machine, service, clinic, asked } = await answeredThenCrown({ new_codes: 'call' });
  expect(await asked()).toEqual([
    ['D0120', 'D1110'],
    ['D2740', 'D1110'],
  ]);
  expect(clinic.attention()).toEqual([]);
  clinic.drop('third.csv', exportOf(twoVisits()));
  await clinic.once();
  await service.advance({ days: 3 });
  machine.pass({ days: 1 });
  await clinic.once();
  await clinic.once();
  expect(await asked()).toHaveLength(2);
});

test('eligd ask says why it orders nothing', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  const cancelled = visits(2, (index) => (index === 0 ? {} : { status: 'cancelled' }));
  clinic.drop('export.csv', exportOf(cancelled));
  await clinic.once();
  const said = async (id: string) => (await clinic.run('ask', id)).stdout;
  expect(await said('9001')).toBe('A call about this is already in progress (inquiry 1).\n');
  expect(await said('9002')).toBe(
    'No call was ordered. The appointment was canceled in the practice management system.\n',
  );
});
