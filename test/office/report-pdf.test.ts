/** The schedule on paper, in the configured folder: the content of the file, for printing. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillOffice, visitDay } from '../support/office-visits.ts';
import { clinicWithReport } from '../support/report-folder.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

test('a PDF is next to schedule.html, with one day on each sheet', {
  timeout: 120_000,
}, async () => {
  const service = await startService();
  const { clinic, folder } = clinicWithReport(service.url);
  await fillOffice(clinic, service);
  expect(readdirSync(folder).toSorted()).toEqual(['schedule.html', 'schedule.pdf']);
  const pdf = readFileSync(join(folder, 'schedule.pdf')).toString('latin1');
  expect(pdf.startsWith('%PDF-1.')).toBe(true);
  expect(pdf.trimEnd().endsWith('%%EOF')).toBe(true);
  expect(pdf.match(/\/Type \/Page\b(?!s)/g)).toHaveLength(1);
  expect(statSync(join(folder, 'schedule.pdf')).mode & 0o007).toBe(0);
  // The window of a reader shows the title, which contains no patient data.
  expect(pdf).toContain('(Schedule)');
  expect(pdf).not.toContain('Inactive');
  expect(existsSync(join(folder, '.schedule.pdf.part'))).toBe(false);
});

test('an open file stays complete while a new one replaces it', {
  timeout: 120_000,
}, async () => {
  const service = await startService();
  const { clinic, folder } = clinicWithReport(service.url);
  await fillOffice(clinic, service);
  const ends = { 'schedule.html': '</html>', 'schedule.pdf': '%%EOF' };
  const open = Object.entries(ends).map(([name, end]) => {
    const path = join(folder, name);
    return { path, end, before: readFileSync(path), file: openSync(path, 'r') };
  });
  const visit = { appointment_at: `${visitDay()}T15:00`, patient_name: 'Nia Newcomer' };
  clinic.drop('more.csv', exportOf(visits(1, () => ({ appointment_id: '9100', ...visit }))));
  await clinic.once();
  for (const { path, end, before, file } of open) {
    expect(readFileSync(file).equals(before)).toBe(true);
    closeSync(file);
    const after = readFileSync(path);
    expect(after.equals(before)).toBe(false);
    expect(after.toString('latin1').trimEnd().endsWith(end)).toBe(true);
  }
  expect(readFileSync(join(folder, 'schedule.html'), 'utf8')).toContain('Nia Newcomer');
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(ends));
});
