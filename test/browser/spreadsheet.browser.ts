/**
 * The schedule as the front desk opens it: LibreOffice reads schedule.csv and schedule.xlsx, and
 * exports what it shows.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { csvFile } from '../../connectors/csv/cells.ts';
import { startCaseService } from '../support/case-service.ts';
import { makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'eligd-spreadsheet-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * In a window, LibreOffice detects UTF-8 by its mark and reads dates and exponents like Excel;
 * without a window, it needs options for that.
 */
const reading = (file: string) =>
  file.endsWith('.csv')
    ? ['--infilter=Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false']
    : [];

/** The file as LibreOffice shows it, by column name. */
function opened(file: string): Record<string, string>[] {
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  try {
    execFileSync('soffice', [
      ...[
        profile,
        '--headless',
        ...reading(file),
        '--convert-to',
        'csv:Text - txt - csv (StarCalc):44,34,76',
      ],
      ...['--outdir', join(folder, 'out'), file],
    ]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error('There is no LibreOffice. Run: apt-get install libreoffice-calc-nogui');
    throw error;
  }
  const name = file.replace(/^.*\//, '').replace(/\.\w+$/, '.csv');
  const text = readFileSync(join(folder, 'out', name), 'utf8');
  return parse(text, { bom: true, columns: true });
}

/** IDs that a spreadsheet turns into a number, a date, or a time, and similar ones. */
const IDS = [
  ...['0012', '0012E3', '0012.50', '1E10', '12e3', '1 E5', '1.E5', '1e-5', '9E99', '00', '0E0'],
  ...['01-02', '1/2', '3-4-2026', '12:30', '00:12', '12 PM', '12 a', 'MAR-1', 'MAR1', '1-MAR-99'],
  ...['5-MAY', 'Sep-20', 'MARCH 5', 'MAR 2020', '1.50', '1,234', '5%', '$5', '(5)', '.5', '5.'],
  ...['12-', 'true', 'FALSE', '123456789012', '12345678901', '0', '7', 'W0012345E6', 'E12', '12E'],
  ...['A-1', 'P/1', '7b0f8d8e-58a4', '12-AB', '1 1/2', '123 456', 'Marvin 5', '12A'],
];

test('every identifier stays the same when the file is opened', () => {
  const file = join(folder, 'ids.csv');
  writeFileSync(
    file,
    csvFile(
      ['id', 'more'],
      IDS.map((id) => [{ id }, 'x']),
    ),
  );
  expect(opened(file).map(({ id }) => id)).toEqual(IDS);
});

const HEADER = [
  ...['appointment_id', 'appointment_at', 'patient_id', 'patient_name', 'dob', 'carrier'],
  ...['payor_id', 'member_id', 'rendering_npi', 'procedure_codes', 'procedure_fees'],
];

test('schedule.csv and schedule.xlsx keep leading zeros and long numbers when opened', async () => {
  const base_url = await startCaseService(() => ({
    status: 'SUCCESS',
    results: { plan_information: { is_active: true } },
  }));
  const clinic = makeClinic({
    base_url,
    config: { service: { submission: { mode: 'single' } }, policy: { attempts: 1 } },
  });
  const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
  const ids: [id: string, member_id: string, name: string][] = [
    ['0012', '00123', 'Zoë Casepatient'],
    ['13', '123456789012345', '=1+1 Casepatient'],
    ['14', 'W0012345E6', 'Anna Casepatient'],
  ];
  clinic.drop(
    'export.csv',
    csvText(
      HEADER,
      ids.map(([id, member_id, name], index) => [
        ...[id, `${day}T1${index}:30`, `P-${id}`, name, '1980-01-01', 'Delta Dental', '05030'],
        ...[member_id, '1245319599', 'D1110', '98.00'],
      ]),
    ),
  );
  await clinic.once();
  for (const name of ['schedule.csv', 'schedule.xlsx']) {
    const lines = opened(join(clinic.folder, 'dropbox/outbox', name));
    expect([name, lines.map((line) => [line.Appointment, line['Member ID']])]).toEqual([
      name,
      ids.map(([id, member_id]) => [id, member_id]),
    ]);
    // A time in the CSV is a time to LibreOffice, and is shown with seconds.
    const times = lines.map(({ Time }) => Time?.replace(/:00(?= )/, ''));
    expect(times).toEqual(['10:30 AM', '11:30 AM', '12:30 PM']);
    expect(lines[0]?.Patient).toBe('Zoë Casepatient');
    expect(lines[1]?.Patient).toMatch(/=1\+1/);
  }
});
