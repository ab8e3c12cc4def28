/** The schedule for the front desk, with the real connector and with the whole program. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { SCHEDULE_COLUMNS, scheduleCells } from '../../../connectors/csv/schedule.ts';
import { one } from '../../records/cases/build.ts';
import { judged } from '../../records/verdict-cases.ts';
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

test('amounts are dollars as an office reads them', () => {
  const { record, verdict } = judged(
    one(
      'D',
      '',
      {
        rules: { D2740: { coverage_percentage: 50 } },
        maximums: {
          ...{ individual_deductible: '2500', coverage_limit_remaining: '1250.5' },
          ...{ family_deductible: undefined, family_deductible_used: undefined },
        },
        fees: { D2740: '3200.00' },
      },
      { verdict: '', of: { D2740: ['', ''] } },
    ),
  );
  const cells = scheduleCells(
    {
      ...{ source_id: 'A-1', starts_at: '2026-11-23T15:00:00.000Z', patient_name: 'Jane Roe' },
      ...{ coverage_rank: 1, carrier: 'Delta', member_id: '1', answer: { record, verdict } },
    },
    { time_zone: 'America/Chicago', as_of: '' },
  );
  const cell = (name: string) => cells[SCHEDULE_COLUMNS.indexOf(name)];
  // The deductible of 2500 first, then half of 700.
  expect([cell('Collect'), cell('Deductible left'), cell('Maximum left')]).toEqual([
    ...['$2,850.00', '$2,500.00', '$1,250.50'],
  ]);
});

test('a visit that needs the office says why and what to do, without a command', async () => {
  setMachineClock();
  const base_url = await startCaseService(() => ({ status: 'SUCCESS', results: null }));
  const clinic = makeClinic({ base_url });
  const at = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const row = ['A-1', `${at}T09:05`, 'P-1', 'Jane Roe', '1980-01-01', 'Delta', '05030', ''];
  clinic.drop('export.csv', csvText(HEADER, [[...row, '1245319599', 'D1110', '98.00']]));
  await clinic.once();
  const text = readFileSync(join(clinic.folder, 'dropbox/outbox/schedule.csv'), 'utf8');
  const [line] = parse(text, { bom: true, columns: true }) as Record<string, string>[];
  expect(line).toMatchObject({
    Verdict: 'Needs you',
    Why: expect.stringMatching(/member ID/i),
    'What to do': expect.stringMatching(/practice software|member ID/),
  });
  expect(text).not.toMatch(/"eligd |\(eligd /);
});
