/** What the replies to bulk requests teach, as the service sees it: how many inquiries each has. */
import { expect, test } from 'vitest';
import { REFUSED_NEIGHBOR } from '../../../src/domain/refusal.ts';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, install, SETTLE_MS } from '../installation.ts';

/** Notes the number of inquiries in each request that creates some; 0: a single one. */
function noteSizes({ client }: Installation): number[] {
  const sizes: number[] = [];
  const { create, createBulk } = client;
  client.create = async (...given) => {
    sizes.push(0);
    return await create(...given);
  };
  client.createBulk = async (...given) => {
    sizes.push(given[1].length);
    return await createBulk(...given);
  };
  return sizes;
}

/** Books this many visits of other patients, and sends everything that is due. */
async function sendAll(clinic: Installation, name: string, count: number): Promise<void> {
  const labels = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  await clinic.read(
    ...labels.map((label) => clinic.visit(label, { coverages: [aCoverage({ member_id: label })] })),
  );
  await clinic.planNow();
  while ((await clinic.submitNow()).did > 0);
}

async function pass(clinic: Installation, duration_ms: number): Promise<void> {
  clinic.pass(duration_ms);
  await clinic.service.advance({ seconds: duration_ms / 1000 });
}

/** The service answers this many bulks with this status, and creates nothing. */
async function rejectBulks({ service }: Installation, times: number, status: number) {
  const path = '/api/v0/dental/batch_inquiries';
  const fault = { method: 'POST', path, times, when: 'before', action: 'status', status } as const;
  await service.fault(fault);
}

const sent = async ({ service }: Installation) => (await service.ledger()).length;

test('a bulk is tried again a day after the service had none', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_absent: '404' });
  await sendAll(clinic, 'A', 2);
  expect(sizes).toEqual([1, 0, 0]);
  await clinic.service.behave({ bulk_absent: 'no' });
  await pass(clinic, DAY_MS - HOUR_MS);
  await sendAll(clinic, 'B', 1);
  expect(sizes.slice(3)).toEqual([0]);
  await pass(clinic, 2 * HOUR_MS);
  await sendAll(clinic, 'C', 3);
  expect(sizes.slice(4)).toEqual([1, 2]);
  expect(await sent(clinic)).toBe(6);
});

test('a refused form of a request delays no call, whatever its Retry-After says (G2)', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const failure = { class: 'unsent', cause: 'bulk_absent', status: 404 } as const;
  clinic.client.createBulk = async () => ({
    ok: false,
    failure: { ...failure, retry_after_ms: DAY_MS },
  });
  await sendAll(clinic, 'A', 2);
  expect(await sent(clinic)).toBe(2);
});

test('a bulk that is too large is halved, and the next ones are as large as the last', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_max: 3, bulk_max_status: '413' });
  await sendAll(clinic, 'A', 8);
  expect(sizes).toEqual([1, 7, 3, 3, 1]);
  await sendAll(clinic, 'B', 4);
  expect(sizes.slice(5)).toEqual([3, 1]);
  expect(await sent(clinic)).toBe(12);
});

test('a smaller submission.batch_size counts also after a larger size was learned', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_max: 8, bulk_max_status: '413' });
  await sendAll(clinic, 'A', 12);
  expect(sizes).toEqual([1, 11, 5, 5, 1]);
  clinic.submit.settings = { ...clinic.submit.settings, batch_size: 2 };
  await sendAll(clinic, 'B', 4);
  expect(sizes.slice(5)).toEqual([2, 2]);
});

test('a bulk that is refused in one form is tried in the other', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_request_shape: 'object' });
  await sendAll(clinic, 'A', 3);
  expect(sizes).toEqual([1, 1, 2]);
  expect(await sent(clinic)).toBe(3);
});

test('a form that is configured is not replaced by the other one', async () => {
  const clinic = await install({ settings: { mode: 'bulk', bulk_shape: 'array' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_request_shape: 'object' });
  await sendAll(clinic, 'A', 2);
  expect(sizes).toEqual([1, 0, 0]);
});

test('what bulks of the service are like is logged once', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  await sendAll(clinic, 'A', 3);
  await sendAll(clinic, 'B', 3);
  expect(clinic.events.filter((event) => event === 'bulk_learned')).toHaveLength(1);
});

test('one reply without IDs does not end the bulks of a service that returned some', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await sendAll(clinic, 'A', 3);
  await clinic.service.behave({ bulk_response: 'success_only' });
  await sendAll(clinic, 'B', 2);
  await sendAll(clinic, 'C', 2);
  expect(sizes).toEqual([1, 2, 2, 2]);
});

test('a service that never returns IDs gets single ones', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_response: 'success_only' });
  await sendAll(clinic, 'A', 3);
  expect(sizes).toEqual([1, 0, 0]);
  expect(await sent(clinic)).toBe(3);
});

test('in auto mode, a bulk of one tries the endpoint, and later one call goes singly', async () => {
  const clinic = await install({ settings: { mode: 'auto' } });
  const sizes = noteSizes(clinic);
  await sendAll(clinic, 'A', 4);
  await sendAll(clinic, 'B', 1);
  expect(sizes).toEqual([1, 3, 0]);
});

test('a configured form is used from the first request on', async () => {
  const clinic = await install({ settings: { mode: 'bulk', bulk_shape: 'object' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_request_shape: 'object' });
  await sendAll(clinic, 'A', 3);
  expect(sizes).toEqual([1, 2]);
});

test('if even one inquiry is too large, it goes singly, until the next day (G2)', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await rejectBulks(clinic, 9, 413);
  await sendAll(clinic, 'A', 2);
  // Both forms are tried.
  expect(sizes).toEqual([1, 1, 0, 0]);
  await clinic.service.clearFaults();
  await pass(clinic, DAY_MS + HOUR_MS);
  await sendAll(clinic, 'B', 3);
  expect(sizes.slice(4)).toEqual([1, 2]);
  expect(await sent(clinic)).toBe(5);
});

test('a bulk that the service refuses as too long with a 422 is halved, too', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await clinic.service.behave({ bulk_max: 3, bulk_max_status: '422' });
  await sendAll(clinic, 'A', 8);
  expect(sizes).toEqual([1, 7, 3, 3, 1]);
});

test('a bulk that is refused as a whole is sent singly after the lookups (G2)', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await sendAll(clinic, 'A', 1);
  await rejectBulks(clinic, 9, 400);
  await sendAll(clinic, 'B', 2);
  expect(sizes).toEqual([1, 2]);
  const reasons = (await clinic.inquiries()).slice(1).map(({ reason }) => reason);
  expect(reasons).toEqual([REFUSED_NEIGHBOR, REFUSED_NEIGHBOR]);
  for (let waits = 0; waits < 3; waits += 1) {
    await pass(clinic, SETTLE_MS + 1000);
    while ((await clinic.submitNow()).did > 0);
  }
  expect(sizes).toEqual([1, 2, 0, 0]);
  expect(await sent(clinic)).toBe(3);
});

test('a first inquiry whose content is refused says nothing against bulks', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const sizes = noteSizes(clinic);
  await rejectBulks(clinic, 1, 400);
  await sendAll(clinic, 'A', 1);
  await sendAll(clinic, 'B', 3);
  expect(sizes).toEqual([1, 1, 2]);
  expect(await clinic.attention()).toEqual(['refused']);
});

test.each([1, 4])(
  'a broken connection teaches nothing about bulks of %i, and waits',
  async (size) => {
    const clinic = await install({ settings: { mode: 'bulk' } });
    const sizes = noteSizes(clinic);
    if (size > 1) await sendAll(clinic, 'A', 1);
    const { createBulk } = clinic.client;
    clinic.client.createBulk = async () => AWAY;
    await sendAll(clinic, 'B', 4);
    clinic.client.createBulk = createBulk;
    await pass(clinic, HOUR_MS);
    while ((await clinic.submitNow()).did > 0);
    expect(sizes).toEqual(size > 1 ? [1, 4] : [1, 3]);
    expect(await sent(clinic)).toBe(size > 1 ? 5 : 4);
  },
);

test('a bulk that gives two inquiries one ID keeps it for the first (G2)', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  await sendAll(clinic, 'A', 1);
  const { createBulk } = clinic.client;
  clinic.client.createBulk = async (...given) => {
    const result = await createBulk(...given);
    if (!result.ok) return result;
    const [first] = result.items;
    return { ok: true, items: result.items.map((item, index) => (index === 1 ? first! : item)) };
  };
  await sendAll(clinic, 'B', 3);
  const states = (await clinic.inquiries()).map(({ state }) => state);
  expect(states).toEqual(['open', 'open', 'uncertain', 'open']);
});
