/** The daily purge of a database that is too large to be rewritten while eligd runs. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { limitsOf, purgeAll, purgeDaily } from '../../src/daemon/purge.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { realClock } from '../../src/ops/env.ts';
import { openSqlite } from '../../src/store/engine/driver.ts';
import { lockInstance } from '../../src/store/engine/instance-lock.ts';
import { temporaryPath, temporaryStore } from '../store/temporary.ts';
import { makeClinic } from '../support/clinic.ts';

test('the daily purge succeeds for a month after a large database was rewritten', async () => {
  const clinic = makeClinic({ base_url: 'http://127.0.0.1:1' });
  const path = temporaryPath();
  const loaded = await loadConfig(join(clinic.folder, 'eligd.yaml'));
  const config = { ...loaded, state: { ...loaded.state, path } };
  const store = await temporaryStore(path);
  const raw = openSqlite(path);
  raw.exec('create table large (content blob); insert into large values (zeroblob(260000000))');
  raw.close();
  const began = Date.now();
  const daily = async (days: number) => {
    const daemon = lockInstance(path);
    const clock = { ...realClock, now: () => began + days * DAY_MS };
    const env = { clock, log: () => {} };
    const done = await purgeDaily({ options: { config, env }, store, connectors: [] }).then(
      () => 'done',
      ({ next }) => next,
    );
    daemon.release();
    return done;
  };
  expect(await daily(0)).toMatch(/stop eligd, run "eligd purge"/);
  const place = { config, connectors: [] };
  const report = await purgeAll(place, store, { limits: limitsOf(config, began), now: began });
  expect(report.rewritten).toBe('done');
  expect(await daily(30)).toBe('done');
  expect(await daily(32)).toMatch(/stop eligd, run "eligd purge"/);
});
