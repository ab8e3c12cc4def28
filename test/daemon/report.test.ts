/** The schedule is written again only when it has changed, or is an hour old. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { realClock, scaledClock } from '../../src/ops/env.ts';
import { makeClinic } from '../support/clinic.ts';
import { startService } from '../support/service.ts';

/** An hour takes a second. */
const SPEED = 3_600;
const HOURS = 6;

test('an unchanged schedule is written about once an hour, also after the first hour', {
  timeout: 60_000,
}, async () => {
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url });
  // How long a pass takes is real, because the daemon rests twenty times as long.
  const { elapsed } = realClock;
  const clock = { ...scaledClock({ anchor_ms: Date.now(), speed: SPEED }), elapsed };
  const daemon = await clinic.daemon({ clock });
  const stop = new AbortController();
  const run = daemon.run(stop.signal);
  const files = new Set<bigint | undefined>();
  const until_ms = performance.now() + HOURS * 1_000;
  while (performance.now() < until_ms) {
    const file = join(clinic.folder, 'dropbox/outbox/schedule.html');
    files.add(statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  stop.abort();
  await run;
  await daemon.close();
  files.delete(undefined);
  expect(files.size).toBeGreaterThan(HOURS / 2);
  // A few more, because what eligd says about its own health changes after the start.
  expect(files.size).toBeLessThanOrEqual(HOURS * 2);
});
