/** A biller's conclusions end to end: export in, the answer of each case, JSON and lists out. */
import { expect, test } from 'vitest';
import { type DeliveryDocument, deliverySchema } from '../../src/records/delivery.ts';
import { CASES, dated, differencesOf, type VerdictCase } from '../records/verdict-cases.ts';
import { startCaseService } from '../support/case-service.ts';
import { ALL_ATTENTION, type Clinic, makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import { setMachineClock } from '../support/machine-clock.ts';

/** Monday a week after the machine's clock, which is five working days ahead. */
const VISIT = '2030-01-14';

const HEADER = [
  ...['appointment_id', 'appointment_at', 'specialty', 'patient_id', 'patient_name', 'dob'],
  ...['carrier', 'payor_id', 'member_id', 'rendering_npi', 'procedure_codes', 'procedure_fees'],
];

function exportOf(cases: readonly VerdictCase[]): string {
  const rows = cases.map(({ id, specialty, appointment: { codes, fees, dob } }) => [
    ...[`A-${id}`, `${VISIT}T10:00`, specialty, `P-${id}`, `Casepatient ${id}`, dob],
    ...['Delta Dental of Illinois', '05030', `M-${id}`, '1245319599', codes.join(';')],
    codes.some((code) => code in fees) ? codes.map((code) => fees[code] ?? '').join(';') : '',
  ]);
  return csvText(HEADER, rows);
}

async function answered(
  cases: readonly VerdictCase[],
  policy: Record<string, unknown> = {},
): Promise<Clinic> {
  const machine = setMachineClock();
  const base_url = await startCaseService((member_id) => {
    const { answer } = cases.find(({ id }) => member_id === `M-${id}`)!;
    const results = dated(answer.results, VISIT) as object;
    const call_details = [{ representative_name: 'Kim', reference_number: 'R-1' }];
    return { status: answer.status, results: { call_details, ...results } };
  });
  const clinic = makeClinic({
    base_url,
    config: {
      service: { submission: { mode: 'single' } },
      policy: { attempts: 1, attention: ALL_ATTENTION, ...policy },
    },
  });
  clinic.drop('export.csv', exportOf(cases));
  for (let round = 0; round < 3; round += 1) {
    await clinic.once();
    machine.pass({ hours: 20 });
  }
  return clinic;
}

function found({ verdict, procedures }: DeliveryDocument) {
  const pair = (pays: { low: string; high: string } | null) =>
    pays === null ? null : [pays.low, pays.high];
  return {
    verdict: verdict.standing,
    reasons: verdict.reasons.map(({ code }) => code),
    patient_pays: pair(verdict.patient_pays),
    procedures: Object.fromEntries(
      procedures.map(({ code, standing, reasons, patient_pays }) => [
        code,
        {
          standing,
          reasons: reasons.map((reason) => reason.code),
          patient_pays: pair(patient_pays),
        },
      ]),
    ),
  };
}

test('every case is right in outbox/records, and asks for attention when it should', async () => {
  const clinic = await answered(CASES);
  const documents = clinic.written().map(({ delivery }) => deliverySchema.parse(delivery));
  const faults = CASES.flatMap((one) => {
    const document = documents.find(({ appointment }) => appointment.id === `A-${one.id}`);
    if (document === undefined) return [`${one.id}: nothing was written`];
    return differencesOf(found(document), one).map((fault) => `${one.id}: ${fault}`);
  });
  expect(faults).toEqual([]);

  const listed = (id: string) =>
    clinic.attention().flatMap((line) => (line.appointment_id === `A-${id}` ? [line.reason] : []));
  const wanted: Record<string, string[]> = {
    S01: [],
    S02: ['not_eligible'],
    S05: ['not_covered'],
    S08: ['limit_reached'],
    S10: ['limit_reached'],
    S13: [],
    S15: ['maximum_used_up'],
    S21: ['prior_authorization'],
    S22: ['out_of_network'],
    S27: ['referral_required'],
  };
  expect(Object.fromEntries(Object.keys(wanted).map((id) => [id, listed(id)]))).toEqual(wanted);
  const { stdout } = await clinic.run('explain', 'A-S02');
  expect(stdout).toMatch(/NOT ELIGIBLE on 01\/14: The plan is NOT ACTIVE\./);
  expect(stdout).not.toMatch(/You have nothing to do/);
  const line = clinic.written().find(({ appointment_id }) => appointment_id === 'A-S10');
  expect(line?.verdict).toBe('Needs attention');
  expect(line?.collect).toBe('$98.00');
});

test('what was handled stays away, and what is switched off never comes', async () => {
  const cases = CASES.filter(({ id }) => ['S02', 'S05'].includes(id));
  const clinic = await answered(cases, {
    attention: { ...ALL_ATTENTION, not_covered: false },
  });
  const ids = () => clinic.attention().map(({ reason }) => reason);
  expect(ids().filter((reason) => reason === 'not_eligible' || reason === 'not_covered')).toEqual([
    'not_eligible',
  ]);
  const { code, stdout } = await clinic.run('done', 'A-S02', '--note', 'Has new insurance');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Done: The plan is NOT ACTIVE\./)]);
  await clinic.once();
  expect(ids()).not.toContain('not_eligible');
  expect((await clinic.run('explain', 'A-S02')).stdout).toMatch(/Note: Has new insurance/);
});
