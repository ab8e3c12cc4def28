/** The access log of the pages that users open. */
import { expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import { startOffice } from '../support/office.ts';
import { fillOffice as fill } from '../support/office-visits.ts';

const MINUTE_MS = 60_000;
const CONFIG = { policy: { attempts: 1, look_ahead_days: 14 }, service: { settle_seconds: 0 } };

test('each opened visit is logged, a refresh is not, and a list is once an hour', async () => {
  let ahead_ms = 0;
  const clock = { ...realClock, now: () => Date.now() + ahead_ms };
  const office = await startOffice({ config: CONFIG, fill, env: { clock } });
  const browser = await office.login('viewer');
  const looks = async (page: string) => {
    // The page's clock may already be past midnight.
    const to = new Date(clock.now() + 24 * 60 * MINUTE_MS).toISOString().slice(0, 10);
    const audit = ['audit', 'show', '--by', 'viewer', '--to', to, '--json'];
    const { stdout } = await office.clinic.run(...audit);
    const { entries } = JSON.parse(stdout) as { entries: { what: string; appointment: string }[] };
    return entries.filter(({ what }) => what === page).map(({ appointment }) => appointment);
  };
  expect((await browser.get('/visit/1')).status).toBe(200);
  const [appointment] = await looks('visit');
  for (let clicks = 0; clicks < 2; clicks += 1) {
    ahead_ms += MINUTE_MS;
    await browser.get('/visit/1');
    await browser.get('/visit/1', { 'x-refresh': '1' });
  }
  expect(await looks('visit')).toEqual([appointment, appointment, appointment]);

  await browser.get('/attention');
  const listed = await looks('attention');
  expect(listed.length).toBeGreaterThan(0);
  ahead_ms += 10 * MINUTE_MS;
  await browser.get('/attention');
  expect(await looks('attention')).toEqual(listed);
  // The session has ended by then, so the log needs the user's name.
  ahead_ms += 60 * MINUTE_MS;
  const later = await office.login('viewer');
  await later.get('/attention', { 'x-refresh': '1' });
  expect(await looks('attention')).toEqual(listed);
  await later.get('/attention');
  expect(await looks('attention')).toHaveLength(2 * listed.length);
});
