import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { aCoverage } from '../domain/examples.ts';
import { install } from './installation.ts';

test('an appointment whose id became another one leaves the attention list', async () => {
  const clinic = await install();
  const patient = { id: 'P-1', first_name: 'Ada', last_name: 'Example', birth_date: null };
  await clinic.read(clinic.visit('A-1', { patient, coverages: [aCoverage({ member_id: '' })] }));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual(['field_missing']);
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('after the visit nothing of its planning stays on the attention list, although a call is under way', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage(), aCoverage({ member_id: '' })] }));
  await clinic.planNow();
  await clinic.submitNow();
  expect(await clinic.attention()).toEqual(['field_missing']);
  clinic.pass(4 * DAY_MS);
  await clinic.planNow();
  expect(await clinic.attention()).toEqual([]);
});

test('a coverage that the export names twice is one call, and the answer is written for the first', async () => {
  const clinic = await install();
  await clinic.read(clinic.visit('A-1', { coverages: [aCoverage(), aCoverage()] }));
  await clinic.planNow();
  const links = await clinic.store.db.selectFrom('inquiry_appointments').select('coverage_rank').execute();
  expect(links).toEqual([{ coverage_rank: 1 }]);
});

test.each([
  ['keeps the answer of the appointment that it replaces, however old', 'A-1', 1],
  ['that replaces none has the payer asked again when the answer is too old', undefined, 2],
])('a new appointment %s', async (_, replaces, calls) => {
  const clinic = await install({ policy: { reverify_after_days: 0 } });
  await clinic.read(clinic.visit('A-1'));
  await clinic.planNow();
  await clinic.submitNow();
  await clinic.service.advance({ days: 14 });
  await clinic.collectAll();
  clinic.pass(MINUTE_MS);
  const next = clinic.visit('A-2', replaces === undefined ? {} : { replaces });
  await clinic.read(clinic.visit('A-1', { status: 'cancelled' }), next);
  await clinic.planNow();
  expect(await clinic.inquiries()).toHaveLength(calls);
  // The answer that is there is written to both, or to the first one only.
  expect(await clinic.deliveries()).toHaveLength(3 - calls);
});
