/** `schedule.pdf` in a reader: every visit of the page, accents, and no row cut in half. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { visitDay } from '../support/office-visits.ts';
import { clinicWithReport } from '../support/report-folder.ts';
import { startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

/** Letters of four alphabets. */
const NAMES = ['Núria Ñúñez', 'Łukasz Żółć', 'Đặng Hữu', 'Ольга', 'Zoë Weiß'];

test('every visit and every letter of its name is on paper', { timeout: 120_000 }, async () => {
  const service = await startService();
  const { clinic, folder } = clinicWithReport(service.url);
  const day = visitDay();
  const all = visits(60, (index) => ({
    appointment_at: `${day}T${String(8 + (index % 9)).padStart(2, '0')}:${10 + (index % 5)}`,
    member_id: index % 3 === 0 ? `INACTIVE${index}` : `ACTIVE${index}`,
    patient_name: `${NAMES[index % NAMES.length]} Number${index}`,
    carrier: index === 7 ? 'A carrier with a very long name '.repeat(12) : 'Delta Dental',
  }));
  clinic.drop('export.csv', exportOf(all));
  await clinic.once();
  await service.advance({ days: 14 });
  await clinic.once();
  const file = join(folder, 'schedule.pdf');
  const read = (...options: string[]) =>
    execFileSync('pdftotext', [...options, file, '-'], { encoding: 'utf8' });
  const text = read('-layout');
  for (let index = 0; index < 60; index += 1) expect(text).toContain(`Number${index}`);
  for (const name of NAMES) expect(text).toContain(name.split(' ')[0]);
  expect(text.match(/Time +Patient +Insurance +Verdict +Collect/g)?.length).toBeGreaterThan(1);
  expect(text).toContain('Not eligible');
  expect(text).toContain('As of ');
  // Nothing is outside the sheet.
  for (const sheet of read('-bbox').split('<page ').slice(1)) {
    const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(sheet) ?? [];
    const boxes = [...sheet.matchAll(/xMax="([\d.]+)" yMax="([\d.]+)"/g)];
    expect(boxes.length).toBeGreaterThan(100);
    for (const [, x, y] of boxes) {
      expect(Number(x)).toBeLessThan(Number(width) - 20);
      expect(Number(y)).toBeLessThan(Number(height) - 20);
    }
  }
  if (process.env.ELIGD_SCREENSHOTS)
    writeFileSync(
      join(process.env.ELIGD_SCREENSHOTS, 'schedule-pdf.png'),
      execFileSync('pdftoppm', ['-png', '-r', '80', '-f', '1', '-l', '1', file]),
    );
});
