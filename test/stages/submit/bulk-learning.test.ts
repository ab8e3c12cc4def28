/** What the replies to bulk requests teach, as the service sees it: how many inquiries each has. */
import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/domain/time.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';

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
