/** The schedule on paper, in the folder of choice: what is in the file, for whoever prints it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fillOffice } from '../support/office-visits.ts';
import { clinicWithReport } from '../support/report-folder.ts';
import { startService } from '../support/service.ts';

test('a PDF lies next to schedule.html, a day to a sheet', { timeout: 120_000 }, async () => {
  const service = await startService();
  const { clinic, folder } = clinicWithReport(service.url);
  await fillOffice(clinic, service);
  expect(readdirSync(folder).toSorted()).toEqual(['schedule.html', 'schedule.pdf']);
  const pdf = readFileSync(join(folder, 'schedule.pdf')).toString('latin1');
  expect(pdf.startsWith('%PDF-1.')).toBe(true);
  expect(pdf.trimEnd().endsWith('%%EOF')).toBe(true);
  expect(pdf.match(/\/Type \/Page\b(?!s)/g)).toHaveLength(1);
  expect(statSync(join(folder, 'schedule.pdf')).mode & 0o007).toBe(0);
  // The window of a reader shows the title; nothing of a patient is in it.
  expect(pdf).toContain('(Schedule)');
  expect(pdf).not.toContain('Inactive');
  expect(existsSync(join(folder, '.schedule.pdf.part'))).toBe(false);
});
