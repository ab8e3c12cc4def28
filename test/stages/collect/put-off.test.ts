/** Checks that wait for a slot of the rate limit, or for the service. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { unsent } from '../../../src/service/failures.ts';
import { endCalls, type Installation, install } from '../installation.ts';

/** Answered inquiries whose checks are due now. */
async function answered(count: number): Promise<Installation> {
  const clinic = await install({ collecting: { verify_for_ms: 48 * HOUR_MS } });
  await endCalls(clinic, count);
  clinic.client.verifications = async () => ({ ok: true, value: [] });
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ poll_at: clinic.now() }).execute(),
  );
  await clinic.collectNow();
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ verify_at: clinic.now() }).execute(),
  );
  return clinic;
}

const due = async ({ store }: Installation) =>
  (await store.db.selectFrom('inquiries').select('verify_at').execute()).map(
    ({ verify_at }) => verify_at,
  );

test('postponed checks wait together and write no row', async () => {
  const clinic = await answered(6);
  const before = await due(clinic);
  expect(new Set(before).size).toBe(1);
  let asked = 0;
  clinic.client.verifications = async () => {
    asked += 1;
    return { ok: false, failure: unsent('aborted') };
  };
  const { next_at } = await clinic.collectNow();
  expect(next_at).toBeGreaterThan(clinic.now());
  await clinic.collectNow();
  expect(asked).toBe(4);
  expect(await due(clinic)).toEqual(before);
  clinic.pass(MINUTE_MS);
  await clinic.collectNow();
  expect(asked).toBe(8);
});

test('checks that become due meanwhile are requested on time', async () => {
  const clinic = await answered(2);
  clinic.client.verifications = async () => ({ ok: false, failure: unsent('aborted') });
  const later = clinic.now() + MINUTE_MS / 2;
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ verify_at: later }).where('id', '=', 2).execute(),
  );
  expect((await clinic.collectNow()).next_at).toBe(later);
  const asked: string[] = [];
  clinic.client.verifications = async (id) => {
    asked.push(id);
    return { ok: true, value: [] };
  };
  clinic.pass(MINUTE_MS / 2);
  await clinic.collectNow();
  const [first, second] = (await clinic.inquiries()).map(({ service_id }) => service_id);
  expect(asked).toEqual([second]);
  clinic.pass(MINUTE_MS / 2);
  await clinic.collectNow();
  expect(asked).toEqual([second, first]);
});

test('postponed checks do not wait longer because the clock was set back', async () => {
  const clinic = await answered(1);
  clinic.client.verifications = async () => ({ ok: false, failure: unsent('aborted') });
  await clinic.collectNow();
  let asked = 0;
  clinic.client.verifications = async () => {
    asked += 1;
    return { ok: true, value: [] };
  };
  clinic.pass(-HOUR_MS);
  await clinic.store.write((tx) =>
    tx.updateTable('inquiries').set({ verify_at: clinic.now() }).execute(),
  );
  await clinic.collectNow();
  expect(asked).toBe(1);
});
