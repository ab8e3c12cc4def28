/** The main job: eligd reads an export, has the payers asked, and writes the answers back. */
import { describe, expect, test } from 'vitest';
import { makeClinic } from '../support/clinic.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import {
  expectOneCallPerAttempt,
  expectOwnAnswers,
  needsOf,
  placesOf,
  writtenFor,
} from '../support/needs.ts';
import { judge, makeExport, readExport, SHAPES } from '../support/pms-export.ts';
import { startService } from '../support/service.ts';

describe.each(SHAPES)('an export of 200 rows in the shape %s', (shape) => {
  test('good rows end with records, bad rows with reasons, and needs with one call', async () => {
    const machine = setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    const bytes = makeExport({ shape, count: 200, from: '2030-01-08' });
    const rows = readExport(shape, bytes);
    const { questions, bad, cancelled, past, self_pay } = judge(rows, '2030-01-07');
    const needs = needsOf(questions);
    // Checks the test itself: the export has every fault of make.mjs, and some needs are shared.
    expect([cancelled, past, self_pay].map((rows) => rows.length)).toEqual([2, 2, 1]);
    expect(bad.length).toBeGreaterThanOrEqual(5);
    expect(needs.length).toBeLessThan(questions.length);

    clinic.drop('Export.csv', bytes);
    await clinic.once();
    expect(clinic.inbox()).toEqual([]);
    const sent = await service.ledger();
    expect(sent).toHaveLength(needs.length);
    expect(clinic.written()).toEqual([]);

    await service.advance({ days: 14 });
    await clinic.once();
    // eligd repeats unsuccessful calls after a pause.
    machine.pass({ hours: 21 });
    await clinic.once();
    await service.advance({ days: 1 });
    await clinic.once();

    const ledger = await service.ledger();
    const day_of = new Map(rows.map((row) => [row.appointment_id, row.day]));
    // A visit on the next morning is over before a second attempt is possible.
    expectOneCallPerAttempt(ledger, needs, (id) => (day_of.get(id) ?? '') > '2030-01-08');
    expectOwnAnswers(clinic, ledger);
    expect(ledger.every(({ request }) => request.tax_id === '123456789')).toBe(true);
    expect(writtenFor(clinic)).toEqual(placesOf(questions));
    // eligd writes each call's answer, also an unsuccessful one, once to each appointment of its
    // need; and once more if the checks of the call arrived later.
    const lines = clinic
      .written()
      .map((line) => `${line.inquiry_id}/${line.appointment_id}/${line.coverage}/${line.revision}`);
    for (const line of clinic.written())
      if (line.revision !== '1') expect(line.notes).toMatch(/call checks arrived/);
    expect(new Set(lines).size).toBe(lines.length);
    expect(new Set(lines.map((line) => line.split('/')[0]))).toEqual(
      new Set(ledger.map(({ id }) => id)),
    );

    const listed = new Set(clinic.attention().map((line) => line.appointment_id));
    for (const row of self_pay) expect(listed).not.toContain(row.appointment_id);
    const impossible = clinic.reasons().filter((line) => line.value_class === 'impossible date');
    expect(impossible).toHaveLength(bad.filter(({ dob }) => dob.endsWith('-02-30')).length);
  });

  test('the first morning’s list has every bad row with a reason, and no self-pay', async () => {
    setMachineClock();
    const service = await startService();
    const clinic = makeClinic({ base_url: service.url });
    const bytes = makeExport({ shape, count: 200, from: '2030-01-08' });
    const { bad, self_pay, past, cancelled } = judge(readExport(shape, bytes), '2030-01-07');
    clinic.drop('Export.csv', bytes);
    await clinic.once();
    const about = clinic.attention().filter((line) => line.appointment_id !== '');
    expect(new Set(about.map((line) => line.appointment_id))).toEqual(
      new Set(bad.map((row) => row.appointment_id)),
    );
    for (const line of about)
      expect([line.what_happened, line.what_to_do]).toEqual([
        expect.stringMatching(/\w+ .*\./),
        expect.stringMatching(/\w+ .*\./),
      ]);
    const { stdout } = await clinic.run('once', '--json');
    expect(JSON.parse(stdout).closed).toMatchObject({
      no_coverage: self_pay.length,
      past: past.length,
      cancelled: cancelled.length,
    });
  });
});
