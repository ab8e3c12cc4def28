/** What is due once a day, on a computer that is not always awake. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { startService } from '../support/service.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('daily work is done as soon as a computer wakes that slept through its time', async () => {
  vi.useFakeTimers({
    toFake: ['Date'],
    shouldAdvanceTime: true,
    now: Date.parse('2030-01-07T15:00:57Z'),
  });
  const warned = vi.spyOn(console, 'warn');
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { schedule: { sweep_cron: '* * * * *' } },
  });
  const events: string[] = [];
  const daemon = await clinic.daemon({ log: (event) => void events.push(event) }, { idle_ms: 50 });
  const ending = new AbortController();
  const run = daemon.run(ending.signal);
  await expect.poll(() => events, { timeout: 60_000 }).toContain('reconciliation_done');
  await sleep(200);
  // The timer of the next minute fires when five of them are over.
  vi.setSystemTime(Date.parse('2030-01-07T15:05:30Z'));
  await expect.poll(() => events, { timeout: 25_000 }).toContain('daily_summary');
  ending.abort();
  await run;
  await daemon.close();
  expect(warned).not.toHaveBeenCalled();
}, 40_000);
