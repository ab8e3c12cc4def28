/** The service replies to a batch with its IDs in another order than the requests. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { aCoverage } from '../../domain/examples.ts';
import { AWAY, type Installation, install, reconcile } from '../installation.ts';
import { haltsOf, labelsOf, lookUp } from './lost-calls.ts';

test('one wrong ID makes all of its reply doubtful, and no call is repeated (G1)', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const labels = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6'];
  await clinic.service.behave({ bulk_response: 'shuffled_ids' });
  await clinic.read(
    ...labels.map((label) => clinic.visit(label, { coverages: [aCoverage({ member_id: label })] })),
  );
  await clinic.planNow();
  while ((await clinic.submitNow()).did > 0);
  // Only the first and the last ID are read this early.
  clinic.pass(2 * MINUTE_MS);
  await clinic.collectNow();
  for (let hour = 0; hour < 3; hour += 1) {
    await clinic.service.advance({ hours: 1 });
    clinic.pass(HOUR_MS);
    await lookUp(clinic);
  }
  const ledger = await clinic.service.ledger();
  expect(ledger.map(({ external_id }) => external_id).toSorted()).toEqual(labels);
  const found = (await clinic.inquiries()).map(({ external_id, service_id }) => [
    external_id,
    service_id,
  ]);
  expect(found).toEqual(
    labels.map((label) => [label, ledger.find(({ external_id }) => external_id === label)?.id]),
  );
});

test('a wrong ID that the service has forgotten hides no call that it still has (G2)', async () => {
  const clinic = await install({ settings: { mode: 'bulk' } });
  const labels = ['A-0', 'A-1', 'A-2', 'A-3'];
  await clinic.planNow();
  await clinic.service.behave({ bulk_response: 'shuffled_ids' });
  await clinic.read(
    ...labels.map((label) => clinic.visit(label, { coverages: [aCoverage({ member_id: label })] })),
  );
  await clinic.planNow();
  // The service cannot be read at first, but for an ID that it has forgotten.
  const { read, list } = clinic.client;
  clinic.client.read = async () => AWAY;
  while ((await clinic.submitNow()).did > 0);
  const ledger = await clinic.service.ledger();
  const first = (await clinic.inquiries()).find(({ external_id }) => external_id === 'A-1');
  const lost = ledger.find(({ id }) => id === first?.service_id);
  expect(lost?.external_id).not.toBe('A-1');
  clinic.client.read = async (_, id) => (id === lost?.id ? { ok: true, value: null } : AWAY);
  clinic.client.list = async (...given) => {
    const result = await list(...given);
    if (!result.ok) return result;
    const inquiries = result.value.inquiries.filter(({ id }) => id !== lost?.id);
    return { ok: true, value: { ...result.value, inquiries } };
  };
  await passHours(clinic, 3);
  expect(await clinic.attention()).toContain('lost_at_service');
  clinic.client.read = async (...given) =>
    given[1] === lost?.id ? { ok: true, value: null } : await read(...given);
  await passHours(clinic, 12);
  await reconcile(clinic);
  expect(await haltsOf(clinic)).toEqual([]);
  expect((await labelsOf(clinic)).toSorted()).toEqual(labels);
  const found = (await clinic.inquiries()).filter(({ service_id }) => service_id !== null);
  expect(found.map(({ external_id }) => external_id).toSorted()).toEqual(
    labels.filter((label) => label !== lost?.external_id),
  );
  expect(await clinic.attention()).toEqual(['undecidable']);
});

async function passHours(clinic: Installation, hours: number): Promise<void> {
  for (let hour = 0; hour < hours; hour += 1) {
    await clinic.service.advance({ hours: 1 });
    clinic.pass(HOUR_MS);
    await clinic.collectAll();
    await clinic.submitNow();
  }
}
