/** Visits wait for the service's word that the clock is right, and no longer than that. */
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** A clinic that reads a visit of this morning while the service cannot be reached. */
async function awayClinic() {
  const machine = setMachineClock();
  const port = await freePort();
  const clinic = makeClinic({ base_url: `http://127.0.0.1:${port}` });
  clinic.drop('one.csv', exportOf(visits(1, () => ({ appointment_at: '2030-01-07T08:30' }))));
  return { machine, clinic, returns: () => startService({ port }) };
}

type Daemon = Awaited<ReturnType<ReturnType<typeof makeClinic>['daemon']>>;

const waits = async ({ store }: Daemon) =>
  (await store.db.selectFrom('appointments').select(['plan_wait', 'closed_reason']).execute()).map(
    ({ plan_wait, closed_reason }) => closed_reason ?? plan_wait,
  );

test('a run closes a past visit as soon as the service tells the time', async () => {
  const { machine, clinic, returns } = await awayClinic();
  const once = async () => {
    const daemon = await clinic.daemon();
    await daemon.once(new AbortController().signal);
    const found = await waits(daemon);
    await daemon.close();
    return found;
  };
  expect(await once()).toEqual(['clock_unproven']);
  await returns();
  machine.pass({ minutes: 1 });
  expect(await once()).toEqual(['past']);
});

test('the daemon plans what waited for the clock when the service is back', async () => {
  const { machine, clinic, returns } = await awayClinic();
  const daemon = await clinic.daemon({}, { idle_ms: 50 });
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  try {
    await expect.poll(() => waits(daemon), { timeout: 10_000 }).toEqual(['clock_unproven']);
    await returns();
    machine.pass({ minutes: 2 });
    await expect.poll(() => waits(daemon), { timeout: 10_000 }).toEqual(['past']);
  } finally {
    stop.abort();
    await running;
    await daemon.close();
  }
});
