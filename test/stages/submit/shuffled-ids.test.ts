/** The service replies to a batch with its IDs in another order than the requests. */
import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { aCoverage } from '../../domain/examples.ts';
import { install } from '../installation.ts';
import { lookUp } from './lost-calls.ts';

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
