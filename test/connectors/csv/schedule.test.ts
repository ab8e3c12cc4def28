/** The schedule for the front desk, with the real connector and with the whole program. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { SCHEDULE_COLUMNS } from '../../../connectors/csv/schedule.ts';
import { startCaseService } from '../../support/case-service.ts';
import { makeClinic } from '../../support/clinic.ts';
import { csvText } from '../../support/csv-text.ts';
import { setMachineClock } from '../../support/machine-clock.ts';

const HEADER = [
  ...['appointment_id', 'appointment_at', 'patient_id', 'patient_name', 'dob', 'carrier'],
  ...['payor_id', 'member_id', 'rendering_npi', 'procedure_codes', 'procedure_fees'],
];

test('the schedule has the coming days, with and without an answer, in both files', async () => {
  const machine = setMachineClock();
  const base_url = await startCaseService((member_id) => ({
    status: 'SUCCESS',
    results: {
      call_details: [{ representative_name: 'Kim', reference_number: 'R-1' }],
      plan_information: { is_active: member_id !== '00456' },
    },
  }));
  const clinic = makeClinic({
    base_url,
    config: { service: { submission: { mode: 'single' } }, policy: { attempts: 1 } },
  });
  const row = (id: string, at: string, member_id: string) => [
    ...[id, at, `P-${id}`, `Casepatient ${id}`, '1980-01-01', 'Delta Dental', '05030', member_id],
    ...['1245319599', 'D1110', '98.00'],
  ];
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  clinic.drop(
    'export.csv',
    csvText(HEADER, [
      row('A-2', `${day(6)}T14:30`, '00456'),
      row('A-1', `${day(5)}T09:05`, '00123'),
      row('A-3', `${day(40)}T09:00`, '00789'),
    ]),
  );
  const schedule = () => {
    const text = readFileSync(join(clinic.folder, 'dropbox/outbox/schedule.csv'), 'utf8');
    expect(text.startsWith('\ufeffDay,Time,Patient,Verdict,Collect,')).toBe(true);
    return parse(text, { bom: true, columns: true }) as Record<string, string>[];
  };
  await clinic.once();
  expect(schedule().map((line) => [line.Time, line.Patient, line.Verdict])).toEqual([
    [
      '9:05 AM',
      'Casepatient A-1',
      expect.stringMatching(/Call in progress|Call planned|Eligible|In/),
    ],
    ['2:30 PM', 'Casepatient A-2', expect.any(String)],
  ]);
  for (let round = 0; round < 2; round += 1) {
    machine.pass({ hours: 20 });
    await clinic.once();
  }
  const lines = schedule();
  expect(Object.keys(lines[0] ?? {})).toEqual([...SCHEDULE_COLUMNS]);
  expect(lines.map((line) => [line.Appointment, line.Verdict, line.Collect])).toEqual([
    ['A-1', 'Incomplete', '$0.00 to $98.00'],
    ['A-2', 'NOT ELIGIBLE', '$98.00'],
  ]);
  // Text to Excel and LibreOffice, so a double click keeps the zeros.
  expect(lines.map((line) => line['Member ID'])).toEqual(['="00123"', '="00456"']);
  // The workbook is complete, and no other file is left.
  const outbox = readdirSync(join(clinic.folder, 'dropbox/outbox'));
  expect(outbox.filter((name) => name.startsWith('schedule'))).toEqual([
    'schedule.csv',
    'schedule.html',
    'schedule.xlsx',
  ]);
  const workbook = readFileSync(join(clinic.folder, 'dropbox/outbox/schedule.xlsx'));
  expect(workbook.subarray(0, 2).toString()).toBe('PK');
});
