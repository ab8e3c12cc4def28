/** Daily work, on a computer that is not always on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('a computer that slept through the daily work does it when it wakes', async () => {
  vi.useFakeTimers({
    toFake: ['Date'],
    shouldAdvanceTime: true,
    now: Date.parse('2030-01-07T15:00:57Z'),
  });
  const warned = vi.spyOn(console, 'warn');
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      schedule: { reconciliation_cron: '* * * * *' },
      prices: { per_inquiry: 12.5, per_code: 0.25 },
      policy: { dollars_per_month: 100 },
    },
  });
  clinic.drop('export.csv', exportOf(visits(1)));
  const events: string[] = [];
  let summary = {};
  const log = (event: string, fields: object = {}) => {
    events.push(event);
    if (event === 'daily_summary') summary = fields;
  };
  const daemon = await clinic.daemon({ log }, { idle_ms: 50 });
  const ending = new AbortController();
  const run = daemon.run(ending.signal);
  await expect.poll(() => events, { timeout: 60_000 }).toContain('reconciliation_done');
  await expect.poll(() => service.ledger(), { timeout: 60_000 }).toHaveLength(1);
  await sleep(200);
  // The timer for the next minute fires after five minutes have passed.
  vi.setSystemTime(Date.parse('2030-01-07T15:05:30Z'));
  await expect.poll(() => events, { timeout: 25_000 }).toContain('daily_summary');
  // A call with two codes costs $12.50 plus twice $0.25.
  const spent = { calls_this_month: 1, cents_this_month: 1300, unpriced_this_month: 0 };
  expect(summary).toMatchObject({ calls_yesterday: 0, ...spent, cents_left: 8700 });
  ending.abort();
  await run;
  await daemon.close();
  expect(warned).not.toHaveBeenCalled();
}, 40_000);

test('"once" reads the service’s list before it sends, and otherwise once a day', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { service: { auth: 'oauth' } } });
  const lists = async () => (await service.traffic()).by_route['GET /api/v0/dental/inquiries'] ?? 0;
  /** The number of requests for the list in one run. */
  const once = async () => {
    const before = await lists();
    expect(await clinic.run('once')).toMatchObject({ code: 0 });
    return (await lists()) - before;
  };
  const pass = async (hours: number) => {
    machine.pass({ hours });
    await service.advance({ hours });
  };
  clinic.drop('export.csv', exportOf(visits(2)));
  expect(await once()).toBeGreaterThan(0);
  // eligd compares a new database with the list for a day, even with nothing to send.
  for (const _ of ['answered', 'delivered']) {
    await pass(25);
    await once();
  }
  await pass(1);
  expect(await once()).toBe(0);
  expect(await once()).toBe(0);
  await pass(24);
  expect(await once()).toBeGreaterThan(0);
  expect(await once()).toBe(0);
  await pass(2);
  clinic.drop('later.csv', exportOf(visits(3)));
  expect(await once()).toBeGreaterThan(0);
  expect(await service.ledger()).toHaveLength(3);
  expect(await once()).toBe(0);
  await service.forget();
  await service.fault({ when: 'before', action: 'status', status: 503, times: 50 });
  expect(await clinic.run('once')).toMatchObject({ code: 75 });
}, 120_000);
