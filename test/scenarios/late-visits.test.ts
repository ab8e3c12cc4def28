/** "Call it yourself": what the office sees for a visit that is too near for a call. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** The defaults of when eligd calls. */
const DEFAULTS = { look_ahead_days: 7, min_lead_hours: 4, late_visits: 'call_yourself' };

async function practice(start?: string) {
  const machine = setMachineClock(start === undefined ? undefined : Date.parse(start));
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config: { policy: DEFAULTS } });
  let exports = 0;
  return {
    machine,
    service,
    clinic,
    /** Books visits at this time for `count` new patients. */
    async book(count: number, appointment_at: string) {
      exports += 1;
      const of = (index: number) => `${exports}-${index}`;
      const rows = visits(count, (index) => ({
        ...{ appointment_id: `A${of(index)}`, patient_id: `P${of(index)}`, appointment_at },
        member_id: `ACTIVE${of(index)}`,
      }));
      clinic.drop(`export-${exports}.csv`, exportOf(rows));
      await clinic.once();
    },
  };
}

const labels = async (service: Service) =>
  (await service.ledger()).map(({ external_id }) => external_id);

test('on Saturday night, eligd buys no call for Monday at 08:00', async () => {
  // 21:03 in Chicago.
  const { service, clinic, book } = await practice('2030-01-13T03:03:00Z');
  await book(1, '2030-01-14T08:00');
  expect(await service.ledger()).toEqual([]);
  expect(clinic.attention()).toMatchObject([
    { appointment_id: 'A1-0', reason: 'too_late_to_call' },
  ]);
});

test('calls that could wait for days do not make their payer slow', async () => {
  const { machine, service, clinic, book } = await practice();
  // On Monday for the next one: the service is asked for answers by Friday, and keeps to that.
  await book(6, '2030-01-14T09:30');
  machine.pass({ days: 6, hours: 22 });
  await clinic.once();
  // Two and a half business days are left.
  await book(1, '2030-01-16T15:00');
  expect(await labels(service)).toContain('A2-0');
  expect(clinic.attention()).toEqual([]);
});

test.each([
  [30, false],
  [0, true],
])('of a payer that takes %i hours a call is bought a day before: %s', async (hours, is_bought) => {
  const { machine, service, clinic, book } = await practice();
  await service.behave({ payer_hours: 'business', payer_turnaround_hours: hours });
  await book(5, '2030-01-09T15:00');
  machine.pass({ days: 7 });
  await clinic.once();
  // Before the cutoff, which is what counts as long as nothing is known of the payer.
  await book(1, '2030-01-15T15:00');
  expect((await labels(service)).includes('A2-0')).toBe(is_bought);
  const listed = clinic.attention().filter(({ appointment_id }) => appointment_id === 'A2-0');
  expect(listed.map(({ reason }) => reason)).toEqual(is_bought ? [] : ['too_late_to_call']);
  if (!is_bought)
    expect(listed[0]?.what_happened).toContain('Nine of ten calls to this insurance company');
});

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
