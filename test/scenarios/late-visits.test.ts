/** "Call it yourself": what the office sees for a visit that is too near for a call. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

test('the list has the phone number and the questions, and IDs with --patients', async () => {
  setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    // Every visit is too near for a call.
    config: { policy: { min_lead_hours: 400, late_visits: 'call_yourself' } },
  });
  writeFileSync(
    join(clinic.folder, 'payers.csv'),
    'pms_name,carrier,phone_number\nCigna Dental,CIGNA,800-555-0100\n',
    { mode: 0o600 },
  );
  const visit = { carrier: 'Cigna Dental', payor_id: '', member_id: 'W40100' };
  clinic.drop('visits.csv', exportOf(visits(1, () => visit)));
  await clinic.once();
  expect(await service.ledger()).toEqual([]);

  const shown = async (...args: string[]) =>
    (await clinic.run('list', '--attention', ...args)).stdout.replaceAll(/\s+/g, ' ');
  const plain = await shown();
  expect(plain).toContain('too_late_to_call');
  expect(plain).toContain('Call Cigna Dental (800-555-0100) yourself');
  expect(plain).toMatch(/\(1\) Is the plan active on .*\(2\) What are the deductible/);
  expect(plain).not.toContain('W40100');

  const whole = await shown('--patients');
  expect(whole).toMatch(/Patient: .+, born \d{4}-\d\d-\d\d/);
  expect(whole).toContain('Insurance: Cigna Dental, member ID W40100');
  expect(whole).toMatch(/Office: tax ID \d{9}, NPI \d{10}/);

  const page = JSON.parse((await clinic.run('list', '--attention', '--json')).stdout) as {
    entries: { reason: string; ids: string | null }[];
  };
  const [entry] = page.entries.filter(({ reason }) => reason === 'too_late_to_call');
  expect(entry?.ids).toBeNull();
});
