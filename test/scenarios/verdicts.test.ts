/** A biller's conclusions from start to end: an export goes in; records and lists come out. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appointment } from '../../connectors/conformance/examples.ts';
import { type DeliveryDocument, deliverySchema } from '../../src/records/delivery.ts';
import { FURTHER_CASES } from '../records/further-cases.ts';
import { CASES, dated, differencesOf, type VerdictCase } from '../records/verdict-cases.ts';
import { startCaseService } from '../support/case-service.ts';
import { ALL_ATTENTION, type Clinic, makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';
import { exportOf as exportOfVisits, visits } from '../support/visits.ts';
import { WAYS } from '../support/ways.ts';

/** Monday, a week after the machine's clock and five business days ahead. */
const VISIT = '2030-01-14';

const HEADER = [
  ...['appointment_id', 'appointment_at', 'specialty', 'patient_id', 'patient_name', 'dob'],
  ...['carrier', 'payor_id', 'member_id', 'rendering_npi', 'procedure_codes', 'procedure_fees'],
];

const SECOND = ['carrier_2', 'payor_id_2', 'member_id_2'];

function exportOf(cases: readonly VerdictCase[], has_second: boolean): string {
  const rows = cases.map(({ id, specialty, appointment: { codes, fees, dob } }) => [
    ...[`A-${id}`, `${VISIT}T10:00`, specialty, `P-${id}`, `Casepatient ${id}`, dob],
    ...['Delta Dental of Illinois', '05030', `M-${id}`, '1245319599', codes.join(';')],
    codes.some((code) => code in fees) ? codes.map((code) => fees[code] ?? '').join(';') : '',
    ...(has_second ? ['Guardian', '64246', `M-${id}-2`] : []),
  ]);
  return csvText([...HEADER, ...(has_second ? SECOND : [])], rows);
}

/** `before` gets the clinic's folder first. `second` is the answer about a second coverage. */
async function answered(
  cases: readonly VerdictCase[],
  policy: Record<string, unknown> = {},
  before: (folder: string) => void = () => {},
  second: object | null = null,
) {
  const machine = setMachineClock();
  const results = new Map<string, object>(
    cases.map(({ id, answer }) => [`M-${id}`, dated(answer.results, VISIT) as object]),
  );
  const base_url = await startCaseService((member_id) => {
    const said = results.get(member_id) ?? second ?? {};
    const status = cases.find(({ id }) => member_id === `M-${id}`)?.answer.status ?? 'SUCCESS';
    const call_details = [{ representative_name: 'Kim', reference_number: 'R-1' }];
    return { status, results: { call_details, ...said } };
  });
  const clinic = makeClinic({
    base_url,
    config: {
      service: { submission: { mode: 'single' } },
      policy: { attempts: 1, attention: ALL_ATTENTION, ...policy },
    },
  });
  before(clinic.folder);
  clinic.drop('export.csv', exportOf(cases, second !== null));
  for (let round = 0; round < 3; round += 1) {
    await clinic.once();
    machine.pass({ hours: 20 });
  }
  return { clinic, machine, results };
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

test('records of all cases are correct, and raise attention items as they should', async () => {
  const cases = [...CASES, ...FURTHER_CASES];
  const { clinic } = await answered(cases);
  const documents = clinic.written().map(({ delivery }) => deliverySchema.parse(delivery));
  const faults = cases.flatMap((one) => {
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

const handledOf = async (clinic: Clinic) => {
  const { code, stdout } = await clinic.run('done', 'A-S02', '--note', 'Has new insurance');
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Done: The plan is NOT ACTIVE\./)]);
};

test('a handled item stays off the list until the answer changes', async () => {
  const cases = CASES.filter(({ id }) => ['S02', 'S05'].includes(id));
  const { clinic, machine, results } = await answered(cases, {
    attention: { ...ALL_ATTENTION, not_covered: false },
  });
  const ids = () => clinic.attention().map(({ reason }) => reason);
  expect(ids().filter((reason) => reason === 'not_eligible' || reason === 'not_covered')).toEqual([
    'not_eligible',
  ]);
  const listed = JSON.parse((await clinic.run('list', '--json')).stdout) as {
    appointments: { id: string; verdict: string }[];
  };
  expect(Object.fromEntries(listed.appointments.map(({ id, verdict }) => [id, verdict]))).toEqual({
    'A-S02': 'not_eligible',
    'A-S05': 'attention',
  });
  expect((await clinic.run('list')).stdout).toMatch(
    /A-S02 .*NOT ELIGIBLE +- +The plan is NOT ACTIVE\./,
  );
  expect((await clinic.run('show', 'A-S02')).stdout).toMatch(
    / {2}Situation: {2}NOT ELIGIBLE\. The plan is NOT ACTIVE\. The newest answer was written/,
  );
  await handledOf(clinic);
  await clinic.once();
  expect(ids()).not.toContain('not_eligible');
  // The item is handled, and explain still begins with it.
  expect((await clinic.run('explain', 'A-S02')).stdout).toMatch(
    /Now: NOT ELIGIBLE\. The plan is NOT ACTIVE\. The newest answer was written/,
  );
  expect((await clinic.run('explain', 'A-S02', '--patients')).stdout).toMatch(
    /Note: Has new insurance/,
  );

  // The payer adds the day on which the plan ended. `eligd run` polls again a day before the visit.
  const plan_information = { is_active: false, termination_date: '01-02-2030' };
  results.set('M-S02', { plan_information });
  machine.pass({
    hours: Math.floor((Date.parse(`${VISIT}T00:00Z`) - machine.now()) / 3_600_000) - 1,
  });
  const daemon = await clinic.daemon();
  const stop = new AbortController();
  const running = daemon.run(stop.signal);
  await expect.poll(ids, { timeout: 60_000 }).toContain('not_eligible');
  stop.abort();
  await running;
  await daemon.close();
  const [entry] = clinic.attention().filter(({ reason }) => reason === 'not_eligible');
  expect(entry?.what_happened).toBe(
    'The plan is NOT ACTIVE. The plan ended on 01/02/2030, before the visit.',
  );
});

test('fees.csv has the fees that the export lacks, and a payer’s fee comes first', async () => {
  const cases = CASES.filter(({ id }) => ['S03', 'S05', 'S17'].includes(id));
  const { clinic } = await answered(cases, {}, (folder) => {
    const fees =
      'code,payer,fee\nD1110,*,120.00\nD1110,Delta Dental of Illinois,98.00\n2740,*,1000\n';
    writeFileSync(join(folder, 'fees.csv'), fees, { mode: 0o600 });
  });
  const pays = Object.fromEntries(
    clinic.written().map(({ delivery }) => {
      const { appointment, procedures } = deliverySchema.parse(delivery);
      return [
        appointment.id,
        procedures.map(({ code, fee, patient_pays }) => [code, fee, patient_pays?.high]),
      ];
    }),
  );
  expect(pays).toEqual({
    'A-S03': [['D1110', '98.00', '98.00']],
    // The export has a fee for one of the two codes of S05.
    'A-S05': [
      ['D1110', '98.00', '0.00'],
      ['D2391', '180.00', '180.00'],
    ],
    'A-S17': [['D2740', '1200.00', '625.00']],
  });
});

test('eligd judges the second of two coverages as secondary', async () => {
  const one = CASES.find(({ id }) => id === 'S05')!;
  const second = structuredClone(one.answer.results) as { plan_information: object };
  Object.assign(second.plan_information, { is_primary_insurance: false });
  const { clinic } = await answered([one], {}, undefined, second);
  const found = clinic.written().map(({ delivery }) => {
    const { coverage, verdict, procedures } = deliverySchema.parse(delivery);
    return [coverage.rank, coverage.member_id, verdict.reasons.map(({ code }) => code), procedures];
  });
  expect(found).toMatchObject([
    [1, 'M-S05', [], [{ code: 'D1110' }, { patient_pays: { low: '180.00', high: '180.00' } }]],
    // As expected, it does not pay first; the share of the first coverage is unknown.
    [2, 'M-S05-2', [], [{ code: 'D1110' }, { patient_pays: { low: '0.00', high: '180.00' } }]],
  ]);
});

test('in a PIN^I07, an empty history is NONE, and an unknown one is U', async () => {
  const machine = setMachineClock();
  const base_url = await startCaseService((member_id) => {
    const { answer } = CASES.find(({ id }) => member_id === `M-${id}`)!;
    return { status: answer.status, results: dated(answer.results, VISIT) };
  });
  const { connector, offer, written } = await WAYS.hl7!();
  const clinic = makeClinic({
    base_url,
    config: { connectors: [connector], service: { submission: { mode: 'single' } } },
  });
  const visits = ['S01', 'S14'].map((id, index) => {
    const { coverages, ...plain } = appointment(index + 1);
    const [first] = coverages;
    return {
      ...plain,
      starts_at: `${VISIT}T16:00:00.000Z`,
      procedure_codes: ['D1110'],
      coverages: [{ ...first!, member_id: `M-${id}` }],
    };
  });
  await offer(clinic, visits, []);
  for (let round = 0; round < 3; round += 1) {
    await clinic.once();
    machine.pass({ hours: 20 });
  }
  const messages = (await written(clinic)).visits;
  const days = ['M-S01', 'M-S14'].map((member_id) => {
    const message = messages.find((text) => text.includes(member_id)) ?? '';
    return message
      .split('\r')
      .flatMap((line) => (line.startsWith('ZTH|') ? line.split('|')[5] : []));
  });
  expect(days).toEqual([['NONE'], ['U']]);
});

test('explain shows the result of the last attempt once', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({
    base_url: service.url,
    config: { policy: { attempts: 2 }, service: { settle_seconds: 0 } },
  });
  const [visit] = visits(1, () => ({ member_id: 'UNSUCC1', appointment_at: '2030-01-18T10:00' }));
  clinic.drop('export.csv', exportOfVisits([visit!]));
  for (let day = 0; day < 8 && (await service.ledger()).length < 2; day += 1) {
    await clinic.once();
    await service.advance({ days: 2 });
    machine.pass({ days: 1 });
  }
  await service.advance({ days: 3 });
  await clinic.once();
  expect((await service.ledger()).map(({ status }) => status)).toEqual(['UNSUCCESSFUL', 'SUCCESS']);
  const { stdout } = await clinic.run('explain', visit!.appointment_id);
  expect(stdout.match(/^ {2}Visit /gm)).toHaveLength(1);
  expect(stdout).not.toContain('The insurance company gave no answer.');
});
