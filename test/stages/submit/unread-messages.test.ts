import { expect, test } from 'vitest';
import { MINUTE_MS } from '../../../src/domain/time.ts';
import { install } from '../installation.ts';

test('no call is claimed while messages cannot be read, but not for long (G1, G7)', async () => {
  const clinic = await install();
  let can_read = false;
  clinic.submit.afterReading = (claim) => claim(can_read);
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  for (let minutes = 0; minutes < 5; minutes += 1) {
    const { did, next_at } = await clinic.submitNow();
    expect([did, (next_at ?? 0) - clinic.now() <= 5_000]).toEqual([0, true]);
    expect(await clinic.service.ledger()).toEqual([]);
    clinic.pass(MINUTE_MS);
  }
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);

  can_read = true;
  await clinic.submitNow();
  can_read = false;
  await clinic.read(
    clinic.visit('A-2', { patient: { ...clinic.visit('A-2').patient, id: 'P-2' } }),
  );
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.service.ledger()).toHaveLength(1);
});
