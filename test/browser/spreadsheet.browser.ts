/**
 * The schedule as the front desk opens it: LibreOffice reads schedule.csv and schedule.xlsx, and
 * writes down what it shows.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, test } from 'vitest';
import { startCaseService } from '../support/case-service.ts';
import { makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'eligd-spreadsheet-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** In a window LibreOffice finds the mark of UTF-8; without a window it has to be told. */
const reading = (file: string) =>
  file.endsWith('.csv') ? ['--infilter=Text - txt - csv (StarCalc):44,34,76'] : [];

/** The file as LibreOffice shows it, by the names of its columns. */
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
    // A time of the CSV is one to LibreOffice, and shown with its seconds.
    const times = lines.map(({ Time }) => Time?.replace(/:00(?= )/, ''));
    expect(times).toEqual(['10:30 AM', '11:30 AM', '12:30 PM']);
    expect(lines[0]?.Patient).toBe('Zoë Casepatient');
    expect(lines[1]?.Patient).toMatch(/=1\+1/);
  }
});
