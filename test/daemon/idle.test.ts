/** An idle daemon costs next to nothing: it wakes only when there may be something to do. */
import { expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import { makeClinic } from '../support/clinic.ts';
import { startService } from '../support/service.ts';

const SETTLE_MS = 4_000;
const WATCHED_MS = 12_000;

test('a daemon with nothing to do wakes at most once in twelve seconds', {
  timeout: 60_000,
}, async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  let wakes = 0;
  const clock = {
    ...realClock,
    sleep: async (duration_ms: number, signal?: AbortSignal) => {
      await realClock.sleep(duration_ms, signal);
      wakes += 1;
    },
  };
  const daemon = await clinic.daemon({ clock });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  wakes = 0;
  await new Promise((resolve) => setTimeout(resolve, WATCHED_MS));
  const counted = wakes;
  stop.abort();
  await run;
  await daemon.close();
  expect(counted).toBeLessThanOrEqual(1);
});
