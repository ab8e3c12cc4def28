/** Medical, mental health and dental visits in one export; two coverages; the budget of calls. */
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Clinic, type Line, makeClinic, type Overrides } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

type Row = Record<string, string>;
type Scene = { machine: MachineClock; service: Service; clinic: Clinic };

function visit(appointment_id: string, over: Row = {}): Row {
  return {
    appointment_id,
    appointment_at: '2030-01-11T10:00',
    patient_id: `P${appointment_id}`,
    patient_name: 'Testpatient Q',
    dob: '1980-03-04',
    carrier: 'Aetna',
    payor_id: '60054',
    member_id: `ACTIVE-${appointment_id}`,
    carrier_2: '',
    payor_id_2: '',
    member_id_2: '',
    procedure_codes: 'D1110',
    specialty: 'dental',
    place_of_service: '',
    billed_amount: '',
    location: '',
    ...over,
  };
}

function exportWith(...rows: Row[]): string {
  const header = Object.keys(visit('1'));
  return csvText(
    header,
    rows.map((row) => header.map((name) => row[name] ?? '')),
  );
}

async function answered(rows: readonly Row[], config: Overrides = {}): Promise<Scene> {
  const machine = setMachineClock();
  const service = await startService();
  const clinic = makeClinic({ base_url: service.url, config });
  clinic.drop('export.csv', exportWith(...rows));
  await clinic.once();
  await service.advance({ days: 5 });
  await clinic.once();
  return { machine, service, clinic };
}

type Request = Record<string, unknown>;

async function requestOf(
  service: Service,
  external_id: string,
): Promise<Request & { path: string }> {
  const entry = (await service.ledger()).find((each) => each.external_id === external_id);
  return { ...(entry?.request as unknown as Request), path: entry?.specialty ?? '' };
}

const lineOf = (clinic: Clinic, id: string): Line =>
  clinic.written().find(({ appointment_id }) => appointment_id === id) ?? {};

describe('an export of visits to a doctor, a therapist, and a dentist', () => {
  const rows = [
    visit('M1', {
      specialty: 'medical',
      procedure_codes: '99213;70551',
      place_of_service: '11',
      billed_amount: '250',
    }),
    visit('H1', { specialty: 'mental_health', procedure_codes: '90834' }),
    visit('D1', { carrier: 'Delta Dental', procedure_codes: 'D1110;D2740' }),
  ];

  test('each specialty’s inquiry uses its own fields', async () => {
    const { service } = await answered(rows);
    expect(await requestOf(service, 'M1')).toMatchObject({
      path: 'medical',
      benefits_query: [
        'DEDUCTIBLES_AND_MAXIMUMS',
        'CODE_LOOKUP_BENEFITS',
        'CODE_LOOKUP_PRIOR_AUTH',
        'CODE_LOOKUP_FREQUENCIES',
      ],
      benefits_codes: ['99213', '70551'],
      place_of_service: '11',
      billed_amount: 250,
      insurance: 'AETNA',
    });
    expect(await requestOf(service, 'H1')).toMatchObject({
      path: 'mental_health',
      benefits_query: ['PLAN_INFO', 'MAXIMUMS', 'PSYCHOTHERAPY', 'CODE_LOOKUP_BENEFITS'],
      benefits_codes: ['90834'],
    });
    expect(await requestOf(service, 'D1')).toMatchObject({
      path: 'dental',
      insurance: 'AETNA',
      benefits_codes: ['D1110', 'D2740'],
    });
  });

  test('each answer has amounts, rules for each code, and an explained verdict', async () => {
    const { clinic } = await answered(rows);
    const [medical, mental, dental] = ['M1', 'H1', 'D1'].map((id) => lineOf(clinic, id));
    const amount = /^\d+\.\d\d$/;
    // The record has a place for everything that the sandbox says.
    for (const line of [medical, mental, dental])
      expect(line?.record).toMatchObject({ unparsed: [] });
    for (const line of [medical, mental]) {
      expect(line?.completeness).toBe('complete');
      expect([
        line?.individual_out_of_pocket_maximum,
        line?.individual_out_of_pocket_remaining,
      ]).toEqual([expect.stringMatching(amount), expect.stringMatching(amount)]);
      expect([line?.annual_maximum, line?.referral_required]).toEqual([
        // Only a dental plan has a yearly maximum.
        'does not apply',
        expect.stringMatching(/^(?:yes|no)$/),
      ]);
    }
    expect(mental?.procedure_codes).toMatch(/limitations "/);
    expect(mental?.procedure_classes).toMatch(/^PSYCHOTHERAPY: covered/);
    expect(dental?.annual_maximum_remaining).toMatch(amount);
    expect(dental?.why).toMatch(/ on \d\d\/\d\d.* \| D1110: .* \| D2740: /);
    for (const line of [medical, mental, dental])
      expect(line?.why).toMatch(
        /From what the insurance company said .* not a guarantee of payment\.$/,
      );
  });

  test('the list shows the verdict of each visit', async () => {
    const { clinic } = await answered(rows);
    const { stdout } = await clinic.run('show', 'D1');
    expect(stdout).toMatch(/Visit D1:\n {4}.* on \d\d\/\d\d.*\n {4}D1110: /);
    const { inquiries } = JSON.parse((await clinic.run('show', 'M1', '--json')).stdout);
    const [{ appointment, verdict }] = inquiries[0].answer.verdicts;
    const { procedures } = verdict;
    expect([appointment, procedures.map(({ code }: { code: string }) => code)]).toEqual([
      'M1',
      ['99213', '70551'],
    ]);
    expect(procedures[0]).toMatchObject({ standing: expect.any(String), patient_pays: null });
  });

  test('a code has its next eligible date if history and frequency allow one', async () => {
    const many = Array.from({ length: 12 }, (_, index) =>
      visit(`D${index}`, { member_id: `ACTIVE-${index}` }),
    );
    const { clinic } = await answered(many);
    type Entry = {
      code: string;
      next_eligible?: { standing: string; date: string | null; counted: string[] };
    };
    const entries = clinic
      .written()
      .flatMap(({ record }) => (record.procedure_codes as { codes: Entry[] }).codes);
    const waiting = entries.filter(({ next_eligible }) => next_eligible?.standing === 'from_date');
    expect(waiting.length).toBeGreaterThan(0);
    for (const { next_eligible } of waiting) {
      const { date, counted } = next_eligible ?? { date: null, counted: [] };
      // Two cleanings in one calendar year, so the next one is on January 1.
      expect([counted.length, date]).toEqual([2, `${Number(counted[0]?.slice(0, 4)) + 1}-01-01`]);
    }
  });
});

describe('settings by specialty', () => {
  test('questions depend on ranges of codes, with custom queries and scripts', async () => {
    const questions = {
      medical: [
        {
          name: 'rehab',
          when_codes: ['94625-94626'],
          benefits_query: ['PULMONARY_REHAB_COVERAGE', 'CUSTOM_TRANSPORT'],
        },
        {
          name: 'imaging',
          when_codes: ['70000-79999'],
          benefits_query: ['CODE_LOOKUP_PRIOR_AUTH'],
          benefits_form_name: 'imaging-form',
        },
        { name: 'standard', call_script_id: 'script-7' },
      ],
      dental: [
        {
          name: 'ortho',
          when_codes: ['D8000-D8999'],
          benefits_query: ['STANDARD', 'CUSTOM_BRACES'],
          with_codes: false,
        },
        { name: 'standard', benefits_query: ['STANDARD'] },
      ],
    };
    const { service, clinic } = await answered(
      [
        visit('R1', { specialty: 'medical', procedure_codes: '94625' }),
        visit('I1', { specialty: 'medical', procedure_codes: '70551' }),
        visit('S1', { specialty: 'medical', procedure_codes: '99213' }),
        visit('O1', { procedure_codes: 'D8080' }),
      ],
      { questions },
    );
    expect((await requestOf(service, 'R1')).benefits_query).toEqual([
      'PULMONARY_REHAB_COVERAGE',
      'CUSTOM_TRANSPORT',
    ]);
    expect(await requestOf(service, 'I1')).toMatchObject({
      benefits_query: ['CODE_LOOKUP_PRIOR_AUTH'],
      benefits_form_name: 'imaging-form',
    });
    const script = await requestOf(service, 'S1');
    expect([script.call_script_id, script.benefits_query]).toEqual(['script-7', undefined]);
    const braces = await requestOf(service, 'O1');
    expect([braces.benefits_query, braces.benefits_codes]).toEqual([
      ['STANDARD', 'CUSTOM_BRACES'],
      undefined,
    ]);
    // The record and the notes have answers to custom questions.
    expect(lineOf(clinic, 'R1').notes).toMatch(/CUSTOM_TRANSPORT: /);
    expect(lineOf(clinic, 'S1').notes).toMatch(/SCRIPT_QUESTION_1: /);
  });

  test('specialties require different fields, and the list names the missing one', async () => {
    const required_fields = {
      medical: ['dob', 'member_id', 'place_of_service', 'billed_amount', 'diagnosis_codes'],
    };
    const { service, clinic } = await answered(
      [visit('M1', { specialty: 'medical', place_of_service: '11' }), visit('D1')],
      {
        policy: { required_fields },
      },
    );
    expect((await service.ledger()).map(({ external_id }) => external_id)).toEqual(['D1']);
    const entry = clinic.attention().find(({ appointment_id }) => appointment_id === 'M1');
    expect([entry?.reason, entry?.what_happened]).toEqual([
      'field_missing',
      'eligd made no call: a diagnosis code is missing. eligd made no call: the billed amount ' +
        'is missing.',
    ]);
  });

  test('locations set the place of service, and the map has the payer’s phone number', async () => {
    setMachineClock();
    const service = await startService();
    const config = {
      clinic: { place_of_service: '11' },
      locations: { Telehealth: { place_of_service: '02' } },
      policy: { payers: './payers.csv' },
    };
    const clinic = makeClinic({ base_url: service.url, config });
    writeFileSync(
      `${clinic.folder}/payers.csv`,
      'pms_id,carrier,phone_number\n60054,AETNA,800-555-0100\n',
    );
    const rows = [
      visit('M1', { specialty: 'medical', procedure_codes: '99213' }),
      visit('M2', { specialty: 'medical', procedure_codes: '99213', location: 'Telehealth' }),
      visit('H1', { specialty: 'mental_health', procedure_codes: '90834' }),
    ];
    clinic.drop('export.csv', exportWith(...rows));
    await clinic.once();
    const places = await Promise.all(['M1', 'M2', 'H1'].map((id) => requestOf(service, id)));
    expect(
      places.map(({ place_of_service, insurance_phone_number }) => [
        place_of_service,
        insurance_phone_number,
      ]),
    ).toEqual([
      ['11', '800-555-0100'],
      ['02', '800-555-0100'],
      ['11', undefined],
    ]);
  });
});

describe('two coverages of one visit', () => {
  const both = (first: string, second: string) =>
    visit('V1', {
      member_id: `${first}-1`,
      carrier_2: 'Cigna',
      payor_id_2: '62308',
      member_id_2: `${second}-2`,
    });

  test('eligd asks about each coverage and puts the primary one first', async () => {
    const { service, clinic } = await answered([both('PRIMARY', 'SECONDARY')]);
    expect((await service.ledger()).map(({ request }) => request.member_id)).toEqual([
      'PRIMARY-1',
      'SECONDARY-2',
    ]);
    expect(
      clinic
        .written()
        .map(({ coverage, pays_first, primary_coverage }) => [
          coverage,
          pays_first,
          primary_coverage,
        ]),
    ).toEqual([
      ['1', 'yes', '1'],
      ['2', 'no', '1'],
    ]);
    expect(clinic.attention().filter(({ reason }) => reason === 'coverage_conflict')).toEqual([]);
  });

  test.each([
    ['PRIMARY', 'PRIMARY', /each say that they pay first/],
    ['SECONDARY', 'SECONDARY', /all say that they do not pay first/],
    [
      'SECONDARY',
      'PRIMARY',
      /before coverage 2, but the insurance company of coverage 2 says that it pays first/,
    ],
  ])('coverages that the payers call %s and %s are flagged', async (first, second, conflict) => {
    const { clinic } = await answered([both(first, second)]);
    const entries = clinic.attention().filter(({ reason }) => reason === 'coverage_conflict');
    expect(
      entries.map(({ appointment_id, what_happened }) => [appointment_id, what_happened]),
    ).toEqual([['V1', expect.stringMatching(conflict)]]);
    expect(clinic.written().some(({ notes }) => conflict.test(notes ?? ''))).toBe(true);
  });
});

describe('the budget for calls', () => {
  test.each([
    ['calls_per_day', { hours: 24 }],
    ['calls_per_month', { days: 25 }],
  ])(
    'the limit %s holds across a restart, and calls beyond it wait visibly',
    async (limit, later) => {
      const machine = setMachineClock();
      const service = await startService();
      const clinic = makeClinic({
        base_url: service.url,
        config: { policy: { [limit]: 2, look_ahead_days: 60 } },
      });
      clinic.drop(
        'export.csv',
        exportOf(visits(5, () => ({ appointment_at: '2030-02-14T10:00' }))),
      );
      await clinic.once();
      await clinic.once();
      expect(await service.ledger()).toHaveLength(2);
      const { stdout } = await clinic.run('list', '--situation', 'planned', '--json');
      const waiting = JSON.parse(stdout) as { total: number; appointments: { why: string }[] };
      expect(waiting.total).toBe(3);
      for (const { why } of waiting.appointments)
        expect(why).toMatch(new RegExp(`The 2 calls that policy\\.${limit} allows are used up`));
      machine.pass(later);
      await clinic.once();
      expect(await service.ledger()).toHaveLength(4);
    },
  );
});
