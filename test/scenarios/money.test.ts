/** The cost of calls: eligd stores it with each call, keeps it within the budget, and shows it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/engine/store.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const PRICES = {
  per_inquiry: 12.5,
  per_code: 0.25,
  urgent_factor: 2,
  free_outcomes: ['unsuccessful'],
};

/** The stored price of each call, by the call's label. */
async function stored(clinic: Clinic) {
  const store = await openStore(join(clinic.state, 'eligd.db'));
  try {
    const rows = await store.db
      .selectFrom('inquiries_with_call')
      .select(['external_id', 'price_cents', 'charge_cents'])
      .orderBy('external_id')
      .execute();
    return rows.map(({ external_id, price_cents, charge_cents }) => [
      external_id,
      price_cents,
      charge_cents,
    ]);
  } finally {
    await store.close();
  }
}

const labels = async (service: Service) =>
  (await service.ledger()).map(({ external_id }) => external_id).toSorted();

test('eligd stores the price when it sends a call and settles it with the outcome', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { prices: PRICES, policy: { attempts: 1 } },
  });
  clinic.drop(
    'export.csv',
    exportOf(visits(2, (index) => ({ member_id: ['ACTIVE1', 'UNSUCC2'][index] ?? '' }))),
  );
  await clinic.once();
  expect(await stored(clinic)).toEqual([
    ['9001', 1300, null],
    ['9002', 1300, null],
  ]);
  expect((await clinic.run('status')).stdout).toContain(
    'Spent:       today 2 calls, $26.00; this month 2 calls, $26.00.\n',
  );
  await service.advance({ days: 3 });
  machine.pass({ days: 3 });
  await clinic.once();
  expect(await stored(clinic)).toEqual([
    ['9001', 1300, 1300],
    ['9002', 1300, 0],
  ]);
  const page = (await clinic.run('status')).stdout;
  expect(page).toContain('Spent:       today no calls; this month 2 calls, $13.00.\n');
  expect(page).not.toContain('Left:');
});

test('a dollar budget holds back calls that would exceed it until the next day', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { prices: { ...PRICES, per_code: 0 }, policy: { dollars_per_day: 30 } },
  });
  clinic.drop('export.csv', exportOf(visits(3)));
  await clinic.once();
  expect(await labels(service)).toEqual(['9001', '9002']);
  const { stdout } = await clinic.run('status');
  expect(stdout).toContain('Spent:       today 2 calls, $25.00; this month 2 calls, $25.00.\n');
  expect(stdout).toContain('Left:        $5.00 today.\n');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'The next call would exceed the $30.00 that policy.dollars_per_day allows today.',
  );
  expect((await clinic.run('explain', '9003')).stdout.replaceAll(/\s+/g, ' ')).toContain(
    'would exceed the $30.00',
  );
  expect(JSON.parse((await clinic.run('status', '--json')).stdout)).toMatchObject({
    budget: { day: { calls: 2, cents: 2500, unpriced: 0, calls_left: null, cents_left: 500 } },
    health: { calls: { is: 'no' } },
  });
  machine.pass({ hours: 24 });
  await clinic.once();
  expect(await labels(service)).toEqual(['9001', '9002', '9003']);
});

test('eligd says when it does not know the price of a call', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  clinic.drop('export.csv', exportOf(visits(1)));
  await clinic.once();
  expect(await stored(clinic)).toEqual([['9001', null, null]]);
  expect((await clinic.run('status')).stdout).toContain(
    'Spent:       today 1 call, this month 1 call; their cost is unknown.\n',
  );
});

test('eligd refuses a dollar limit without a price', async () => {
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { policy: { dollars_per_month: 100 } },
  });
  const { code, stdout } = await clinic.run('check');
  expect(code).toBe(78);
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'dollars_per_month: limits dollars, but the price of a call is unknown.',
  );
});

test('a call that eligd found at the service has a price, because it is on the bill', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { prices: PRICES } });
  await service.fault({
    method: 'POST',
    path: 'inquiries',
    when: 'after',
    action: 'reset',
    times: 1,
  });
  clinic.drop('export.csv', exportOf(visits(1)));
  await clinic.once();
  await clinic.once();
  expect(await labels(service)).toEqual(['9001']);
  expect(await stored(clinic)).toEqual([['9001', 1300, null]]);
});
