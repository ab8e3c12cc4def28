import { describe, expect, test } from 'vitest';
import type {
  AppointmentInput,
  CoverageInput,
  FieldProblem,
} from '../../src/domain/appointment.ts';
import { planAppointment, windowOpensAt } from '../../src/domain/planning.ts';
import type { PayerMap } from '../../src/domain/policy.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { aCoverage, anAppointment, aPayer, aRule, FRIDAY_MS, facts } from './examples.ts';

type Facts = Parameters<typeof facts>[0];

function plan(over: Partial<AppointmentInput> = {}, known: Facts = {}) {
  return planAppointment('front-desk|P-1|1980-01-02', anAppointment(over), facts(known));
}

function asked(over: Partial<AppointmentInput> = {}, known: Facts = {}) {
  const decision = plan(over, known);
  if (decision.kind !== 'ask') throw new Error(`It is not asked but ${decision.kind}.`);
  return decision;
}

/** The draft for the only coverage. */
function draftOf(over: Partial<AppointmentInput> = {}, known: Facts = {}) {
  const { coverages } = asked(over, known);
  expect(coverages).toHaveLength(1);
  return coverages[0]!.draft;
}

const inHours = (hours: number) => ({
  starts_at: new Date(FRIDAY_MS + hours * HOUR_MS).toISOString(),
});
const { patient, provider } = anAppointment();

describe('the window', () => {
  test('the window opens at the start of the clinic’s day', () => {
    const visit = { starts_at: '2026-11-30T15:30:00.000Z' };
    const opens_at = Date.parse('2026-11-23T06:00:00Z');
    expect(plan(visit)).toEqual({
      kind: 'wait',
      until: opens_at,
      reason: 'outside_window',
      attention: [],
    });
    expect(plan(visit, { now: opens_at - 1 }).kind).toBe('wait');
    expect(plan(visit, { now: opens_at }).kind).toBe('ask');
  });

  test('the window opens at midnight although daylight saving ends in between', () => {
    const opens_at = windowOpensAt(
      Date.parse('2026-11-03T15:00:00Z'),
      { look_ahead_days: 7 },
      facts().clinic,
    );
    expect(new Date(opens_at).toISOString()).toBe('2026-10-27T05:00:00.000Z');
  });

  test.each([
    [0, '2026-11-23T06:00:00.000Z'],
    [0.5, '2026-11-22T06:00:00.000Z'],
    [365, '2025-11-23T06:00:00.000Z'],
  ])('the window of %d days opens at %s', (look_ahead_days, expected) => {
    const opens_at = windowOpensAt(
      Date.parse(anAppointment().starts_at),
      { look_ahead_days },
      facts().clinic,
    );
    expect(new Date(opens_at).toISOString()).toBe(expected);
  });

  test('a visit that causes no call does not wait for the window', () => {
    const later = { starts_at: '2027-06-01T15:00:00.000Z' };
    expect(plan({ ...later, status: 'cancelled' })).toEqual({ kind: 'close', reason: 'cancelled' });
    expect(plan({ ...later, coverages: [] })).toEqual({ kind: 'close', reason: 'no_coverage' });
  });
});

describe('a visit', () => {
  test('a visit that the PMS calls completed is over, whatever its time', () => {
    expect(plan({ status: 'completed' })).toEqual({ kind: 'close', reason: 'past' });
  });

  test('a visit whose answer cannot be written is listed and causes no call', () => {
    expect(plan({ is_unwritable: true })).toMatchObject({
      kind: 'ask',
      coverages: [],
      attention: [{ reason: 'answer_unwritable' }],
    });
    expect(plan({ is_unwritable: true, coverages: [] })).toMatchObject({ reason: 'no_coverage' });
  });

  test('a visit of a patient who has died is listed when near and causes no call', () => {
    const patient = { ...anAppointment().patient, is_deceased: true };
    expect(plan({ patient })).toMatchObject({
      kind: 'ask',
      coverages: [],
      attention: [{ reason: 'patient_deceased' }],
    });
    expect(plan({ patient, insurance: 'awaited', coverages: [] })).toMatchObject({
      attention: [{ reason: 'patient_deceased' }],
    });
    expect(plan({ patient: { ...patient, is_deceased: false } })).toMatchObject({
      coverages: [{ rank: 1 }],
    });
  });

  test('a canceled visit is closed, whatever else is true', () => {
    expect(plan({ status: 'cancelled' }, { is_clock_trusted: false })).toEqual({
      kind: 'close',
      reason: 'cancelled',
    });
  });

  test('a past visit is closed', () => {
    expect(plan(inHours(-1 / 3600))).toEqual({ kind: 'close', reason: 'past' });
  });

  test('a clock that is not trusted makes no visit too near for a call', () => {
    expect(plan(inHours(2), { is_clock_trusted: false })).toMatchObject({
      kind: 'wait',
      reason: 'clock_unproven',
      attention: [],
    });
    expect(plan(inHours(2))).toMatchObject({ kind: 'ask', coverages: [{ rank: 1 }] });
  });

  test('a clock that is not trusted makes no visit past', () => {
    expect(plan(inHours(-48), { is_clock_trusted: false })).toEqual({
      kind: 'wait',
      until: FRIDAY_MS + 10 * MINUTE_MS,
      reason: 'clock_unproven',
      attention: [],
    });
  });

  test('a visit is too near when fewer payer hours than the minimum are left', () => {
    const lead = (over: object) => ({ late_visits: 'buy' as const, ...over });
    const isLate = (hours: number, policy: object) =>
      asked(inHours(hours), { policy: lead(policy) }).coverages[0]!.call_by < FRIDAY_MS;
    expect(isLate(3.99, {})).toBe(true);
    expect(isLate(4, {})).toBe(false);
    expect(isLate(0.1, { min_lead_hours: 0 })).toBe(false);
    // Monday at 08:00 in Chicago: ten payer hours are left on Friday, and one on Monday.
    expect(isLate(71, { min_lead_hours: 11 })).toBe(false);
    expect(isLate(71, { min_lead_hours: 11.1 })).toBe(true);
  });

  test('eligd does not call on a Saturday evening for Monday morning', () => {
    // Saturday, 21 November 2026, 21:03 in Chicago; the visit is on Monday at 08:00.
    const now = Date.parse('2026-11-22T03:03:00Z');
    const [coverage] = asked({ starts_at: '2026-11-23T14:00:00.000Z' }, { now }).coverages;
    // Friday, noon in New York.
    expect(new Date(coverage!.call_by).toISOString()).toBe('2026-11-20T17:00:00.000Z');
    expect(coverage!.late).toMatchObject({
      reason: 'too_late_to_call',
      what: expect.stringContaining('answers the phone from 2026-11-23 07:00 to 2026-11-23 08:00'),
      next: expect.stringContaining('There is little time left'),
    });
    expect(coverage!.draft.desired_completion_date).toBe('2026-11-23');
  });
});

describe('the completion date', () => {
  test.each([
    ['2026-11-23T15:30:00.000Z', '2026-11-20', 'the Friday before a Monday, which is today'],
    ['2026-11-25T15:30:00.000Z', '2026-11-24', 'the day before'],
    ['2026-11-27T15:30:00.000Z', '2026-11-25', 'the Wednesday before Thanksgiving'],
    ['2026-11-20T23:30:00.000Z', '2026-11-20', 'today, never earlier'],
    [
      '2026-11-25T03:30:00.000Z',
      '2026-11-23',
      "counted from the clinic's day, which is Tuesday still",
    ],
  ])('the completion date of a visit at %s is %s: %s', (starts_at, expected) => {
    expect(draftOf({ starts_at }).desired_completion_date).toBe(expected);
  });

  test('the completion date skips days on which the clinic is closed', () => {
    const closed = new Set(['2026-11-24']);
    expect(
      draftOf({ starts_at: '2026-11-25T15:30:00.000Z' }, { clinic: { closed } })
        .desired_completion_date,
    ).toBe('2026-11-23');
  });
});

describe('coverage', () => {
  const nothing = { carrier: ' ', payor_id: '', member_id: '', group_id: ' ' };

  test.each([
    ['none at all', []],
    ['one with nothing in it', [aCoverage(nothing)]],
    ['two with nothing in them', [aCoverage(nothing), aCoverage(nothing)]],
  ] as [string, CoverageInput[]][])(
    'a visit with %s is self-pay: closed, and not on the attention list',
    (_, coverages) => {
      expect(plan({ coverages })).toEqual({ kind: 'close', reason: 'no_coverage' });
    },
  );

  test.each(['carrier', 'payor_id', 'member_id', 'group_id'] as const)(
    'a visit with only %s is not self-pay',
    (field) => {
      expect(plan({ coverages: [aCoverage({ ...nothing, [field]: 'X1' })] }).kind).toBe('ask');
    },
  );

  test('coverages keep their rank, and a bad one does not delay a good one (G7)', () => {
    const { coverages, attention } = asked({
      coverages: [aCoverage({ member_id: '' }), aCoverage({ member_id: 'M2' })],
    });
    expect(coverages.map(({ rank, draft }) => [rank, draft.member_id])).toEqual([[2, 'M2']]);
    expect(attention.map(({ reason }) => reason)).toEqual(['field_missing']);
    const swapped = asked({ coverages: [aCoverage(nothing), aCoverage({ member_id: '' })] });
    expect(swapped.attention[0]!.what).toContain('the member ID (coverage 2)');
  });
});

describe('required fields', () => {
  test('a required field that could not be read is listed with its own problem only', () => {
    const born = { field: 'PID-7', value_class: 'not a date', remedy: '', about: { field: 'dob' } };
    const member = (coverage_rank: number) => ({
      field: `Member ${coverage_rank}`,
      value_class: 'number in scientific notation',
      remedy: '',
      about: { field: 'member_id', coverage_rank },
    });
    const what = (problems: FieldProblem[], over: Partial<AppointmentInput>) => {
      const decision = plan({ ...over, problems });
      return decision.kind === 'ask' ? decision.attention.map((each) => each.what) : [];
    };
    const [missing = ''] = what([born], { coverages: [aCoverage({ member_id: '' })] });
    expect(missing).not.toContain('PID-7');
    const [unread = ''] = what([born, member(1)], { coverages: [aCoverage({ member_id: '' })] });
    expect(unread).toContain('Member 1: number in scientific notation');
    expect(unread).not.toContain('PID-7');
    const both = { coverages: [aCoverage(), aCoverage({ member_id: '', payor_id: 'X' })] };
    expect(what([member(1)], both).join()).not.toContain('Member 1');
    expect(what([member(2)], both).join()).toContain('Member 2');
  });

  const cases: [string, Partial<AppointmentInput>, string][] = [
    [
      'a name',
      { patient: { ...patient, first_name: '', last_name: '' } },
      "the patient's name is missing",
    ],
    [
      'a birth date',
      { patient: { ...patient, birth_date: null } },
      "the patient's birth date is missing",
    ],
    ['a member id', { coverages: [aCoverage({ member_id: ' ' })] }, 'the member ID is missing'],
    [
      'a usable member ID',
      { coverages: [aCoverage({ member_id: '--' })] },
      'the member ID has no letters or digits',
    ],
    [
      'a tax id',
      { provider: { ...provider, tax_id: '12345' } },
      'the tax ID does not have nine digits',
    ],
    [
      'a billing NPI',
      { provider: { ...provider, billing_npi: '1234567890' } },
      'the billing NPI is not a valid NPI',
    ],
    [
      "a provider's NPI",
      { provider: { ...provider, rendering_npi: '123' } },
      "the provider's NPI is not a valid NPI",
    ],
  ];

  test.each(cases)('without %s, eligd makes no call', (_, over, told) => {
    const { coverages, attention } = asked(over);
    expect(coverages).toEqual([]);
    expect(attention).toHaveLength(1);
    expect(attention[0]!.what).toContain(`eligd made no call: ${told}`);
    expect(attention[0]!.next).toMatch(/^Correct /);
  });

  test('eligd lists all missing fields together', () => {
    const { attention } = asked({
      patient: { ...patient, birth_date: null },
      coverages: [aCoverage({ member_id: '' })],
    });
    expect(attention.map(({ what }) => what).join()).toMatch(/birth date.*member ID/);
  });

  test('eligd names a column that it could not read, without the value', () => {
    const problems = [{ field: 'DOB', value_class: 'impossible date', remedy: 'Fix it.' }];
    const { attention } = asked({ patient: { ...patient, birth_date: null }, problems });
    expect(attention).toMatchObject([
      { reason: 'field_malformed', what: expect.stringContaining('(DOB: impossible date)') },
    ]);
  });

  test('the configuration sets required fields by specialty', () => {
    const required_fields = {
      dental: [],
      medical: ['group_id', 'procedure_codes', 'rendering_npi'],
      mental_health: [],
    } as const;
    const policy = { required_fields };
    const bare = { coverages: [aCoverage({ group_id: '', member_id: '' })], procedure_codes: [] };
    expect(asked(bare, { policy }).attention).toEqual([]);
    expect(asked({ ...bare, specialty: 'medical' }, { policy }).attention).toHaveLength(3);
  });
});

describe('the draft', () => {
  test('the draft has the visit’s values, and the name of the patient', () => {
    expect(draftOf({ diagnosis_codes: ['K02.9'] })).toEqual({
      specialty: 'dental',
      patient_name: 'Ada Example',
      dob: '1980-01-02',
      member_id: 'W123',
      group_id: 'G1',
      tax_id: '123456789',
      billing_npi: '1234567893',
      rendering_npi: '',
      insurance: 'DELTA_DENTAL',
      insurance_payor_id: '12345',
      insurance_in_network: null,
      is_specialist: false,
      practice_billing_address: '',
      diagnosis_codes: ['K02.9'],
      benefits_query: ['STANDARD'],
      benefits_codes: ['D0120'],
      call_script_id: null,
      additional_info: '',
      desired_completion_date: '2026-11-20',
    });
  });

  test('the draft names the subscriber if that is another person', () => {
    const said = (subscriber: CoverageInput['subscriber']) =>
      draftOf({ coverages: [aCoverage({ subscriber })] }).additional_info;
    expect(said({ name: 'Bo Example', birth_date: '1955-06-07', relationship: 'child' })).toBe(
      "Subscriber: Bo Example, born 1955-06-07; the patient is the subscriber's child.",
    );
    expect(said({ name: 'Bo Example', birth_date: null, relationship: '' })).toBe(
      'Subscriber: Bo Example.',
    );
    expect(said({ name: '', birth_date: '1955-06-07', relationship: 'child' })).toBe('');
  });

  test('the draft has the clinic’s address if there is one', () => {
    const clinic = { practice_billing_address: '100 Main Street' };
    expect(draftOf({}, { clinic }).practice_billing_address).toBe('100 Main Street');
  });
});

describe('the payer map', () => {
  test('the payer map gives carrier, payor ID, and age of an answer', () => {
    const payer = aPayer({ carrier: 'AETNA', payor_id: '60054', reverify_after_days: 5 });
    const { coverages, unmapped } = asked({}, { payer });
    expect(coverages[0]).toMatchObject({
      reverify_after_days: 5,
      draft: { insurance: 'AETNA', insurance_payor_id: '60054' },
    });
    expect(unmapped).toEqual([]);
    expect(asked().coverages[0]).toMatchObject({
      reverify_after_days: 30,
      draft: { insurance_payor_id: '12345' },
    });
  });

  test('the payer map is searched by ID and by name', () => {
    const seen: string[][] = [];
    const payers: PayerMap = {
      find: (...words) => {
        seen.push(words);
        return null;
      },
    };
    asked({}, { payers });
    expect(seen).toEqual([['12345', 'Delta Dental']]);
  });

  test.each([[null], [aPayer({ carrier: '' })]])(
    'a payer without its dental carrier is sent as UNKNOWN: %o',
    (payer) => {
      const { coverages, attention, unmapped } = asked({}, { payer });
      expect(coverages[0]!.draft).toMatchObject({
        insurance: 'UNKNOWN',
        insurance_payor_id: '12345',
      });
      expect(unmapped).toEqual([{ carrier: 'Delta Dental', payor_id: '12345' }]);
      expect(attention).toEqual([]);
    },
  );

  test('a payer without a carrier is not missing where the carrier is plain text', () => {
    const { coverages, unmapped } = asked({ specialty: 'medical' }, { payer: null });
    expect(coverages[0]!.draft).toMatchObject({
      insurance: 'Delta Dental',
      insurance_payor_id: '12345',
    });
    expect(unmapped).toEqual([]);
  });

  test('a visit whose only payer is skipped is closed', () => {
    expect(plan({}, { payer: aPayer({ action: 'skip' }) })).toEqual({
      kind: 'close',
      reason: 'skipped',
    });
  });

  test('eligd skips one coverage and asks about the other', () => {
    const payers: PayerMap = { find: (id) => aPayer({ action: id === 'SKIP' ? 'skip' : 'call' }) };
    const { coverages } = asked(
      { coverages: [aCoverage({ payor_id: 'SKIP' }), aCoverage()] },
      { payers },
    );
    expect(coverages.map(({ rank }) => rank)).toEqual([2]);
  });

  test('the action attention leaves a payer to the office', () => {
    const { coverages, attention } = asked({}, { payer: aPayer({ action: 'attention' }) });
    expect(coverages).toEqual([]);
    expect(attention.map(({ reason }) => reason)).toEqual(['payer_needs_attention']);
  });
});

describe('tax ID, NPI, network and specialist', () => {
  const by = (name: string) => ({ tax_id: name.repeat(9), is_specialist: true, in_network: false });
  const clinic = {
    locations: new Map([['north', by('1')]]),
    providers: new Map([['1245319599', by('2')]]),
  };
  const place = { location: ' NORTH ' };
  const rendering = { ...provider, rendering_npi: '1245319599' };

  test('clinic settings apply unless something else overrides them', () => {
    expect(draftOf({ location: 'South' }, { clinic })).toMatchObject({
      tax_id: '123456789',
      is_specialist: false,
    });
  });

  test('location settings override the clinic’s', () => {
    const expected = {
      tax_id: '111111111',
      is_specialist: true,
      insurance_in_network: false,
      billing_npi: '1234567893',
    };
    expect(draftOf(place, { clinic })).toMatchObject(expected);
  });

  test('provider settings override the location’s', () => {
    expect(draftOf({ ...place, provider: rendering }, { clinic }).tax_id).toBe('222222222');
  });

  test('the specialty comes from the appointment, else from the provider', () => {
    const doctor = { providers: new Map([['1245319599', { specialty: 'medical' as const }]]) };
    expect(draftOf({ specialty: null, provider: rendering }, { clinic: doctor }).specialty).toBe(
      'medical',
    );
    expect(
      draftOf({ specialty: 'mental_health', provider: rendering }, { clinic: doctor }).specialty,
    ).toBe('mental_health');
    expect(draftOf({ specialty: null }, { clinic: doctor }).specialty).toBe('dental');
  });

  test('appointment values override everything, also with a "no"', () => {
    const own = {
      ...rendering,
      tax_id: '33-3333333',
      billing_npi: '1245319599',
      is_specialist: false,
      in_network: true,
    };
    expect(draftOf({ ...place, provider: own }, { clinic })).toMatchObject({
      tax_id: '333333333',
      billing_npi: '1245319599',
      is_specialist: false,
      insurance_in_network: true,
    });
  });
});

describe('the questions', () => {
  const dental = [
    aRule({
      name: 'orthodontics',
      when_codes: [{ from: 'D8000', to: 'D8999' }],
      benefits_query: ['ORTHODONTICS'],
    }),
    aRule({
      name: 'implants',
      when_codes: [{ from: '6010', to: '6010' }],
      with_codes: false,
      call_script_id: 'S1',
    }),
    aRule({ benefits_query: ['STANDARD', 'A_WORD_OF_OUR_OWN'] }),
  ];
  const policy = { questions: { ...facts().policy.questions, dental } };
  const rule = (...procedure_codes: string[]) => {
    const { need_base } = asked({ procedure_codes }, { policy }).coverages[0]!;
    return need_base.split(':').at(-1);
  };

  test.each([
    [['D8000'], 'orthodontics'],
    [['D8999'], 'orthodontics'],
    [['D7999'], 'standard'],
    [['D9000'], 'standard'],
    [['D0120', 'D8080'], 'orthodontics'],
    [['D6010'], 'implants'],
    [['D6011'], 'standard'],
    [['D6010', 'D8080'], 'orthodontics'],
    [['D800'], 'standard'],
    [['8080'], 'orthodontics'],
    [['D80000'], 'standard'],
    [[], 'standard'],
  ])('the first rule that matches %o asks %s', (codes, expected) => {
    expect(rule(...codes)).toBe(expected);
  });

  test('a rule’s questions are sent, including undocumented words', () => {
    expect(draftOf({}, { policy })).toMatchObject({
      benefits_query: ['STANDARD', 'A_WORD_OF_OUR_OWN'],
      benefits_codes: ['D0120'],
      call_script_id: null,
    });
  });

  test('a rule can leave out the codes and add a script', () => {
    expect(draftOf({ procedure_codes: ['D6010'] }, { policy })).toMatchObject({
      benefits_codes: [],
      call_script_id: 'S1',
    });
  });

  test('eligd asks even if no rule matches', () => {
    const none = { questions: { ...facts().policy.questions, dental: [] } };
    expect(draftOf({}, { policy: none }).benefits_query).toEqual(['UNKNOWN']);
  });

  test('rules follow the appointment’s specialty, else the clinic’s', () => {
    expect(draftOf({ specialty: 'mental_health' }).specialty).toBe('mental_health');
    expect(draftOf({}, { clinic: { specialty: 'medical' } }).specialty).toBe('medical');
  });
});

describe('the benefit year', () => {
  test('the benefit year is that of the visit in the clinic’s zone', () => {
    const year = (starts_at: string) =>
      asked({ starts_at }, { policy: { look_ahead_days: 60 } }).coverages[0]!.benefit_year;
    expect(year('2026-12-31T20:00:00.000Z')).toBe(2026);
    expect(year('2027-01-01T05:30:00.000Z')).toBe(2026);
    expect(year('2027-01-01T06:00:00.000Z')).toBe(2027);
  });
});

test('planning is pure: the same input gives the same decision', () => {
  const appointment = anAppointment();
  const known = facts();
  const before = JSON.stringify(appointment);
  const first = planAppointment('p', appointment, known);
  expect(planAppointment('p', appointment, known)).toEqual(first);
  expect(JSON.stringify(appointment)).toBe(before);
});
