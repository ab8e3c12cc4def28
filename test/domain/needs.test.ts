import { describe, expect, test } from 'vitest';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { externalId, patientKey } from '../../src/domain/needs.ts';
import { planAppointment } from '../../src/domain/planning.ts';
import { aCoverage, anAppointment, aPayer, facts } from './examples.ts';

const provider = anAppointment().provider;
const patient = anAppointment().patient;

/** The needs of an appointment, as planning makes them. */
function needsOf(
  appointment: AppointmentInput,
  over: Parameters<typeof facts>[0] = {},
  connector = 'front-desk',
): string[] {
  const decision = planAppointment(patientKey(connector, appointment), appointment, facts(over));
  if (decision.kind !== 'ask') throw new Error(`It is not asked but ${decision.kind}.`);
  return decision.coverages.map(({ need_base, benefit_year }) => `${need_base} ${benefit_year}`);
}

const SAME: [string, Partial<AppointmentInput>][] = [
  [
    'the spelling of the name',
    { patient: { ...patient, first_name: 'Adah', last_name: 'Exempel' } },
  ],
  ['the group', { coverages: [aCoverage({ group_id: 'G2' })] }],
  ['the time', { starts_at: '2026-11-24T20:00:00.000Z' }],
  ['the appointment', { source_id: 'A-2' }],
  ['the codes', { procedure_codes: ['D1110', 'D0274'] }],
  ['the diagnosis', { diagnosis_codes: ['K02.9'] }],
  ['the place', { location: 'North' }],
  ['the provider', { provider: { ...provider, rendering_npi: '1245319599' } }],
  ['the network', { provider: { ...provider, in_network: true } }],
  [
    'the subscriber',
    {
      coverages: [
        aCoverage({ subscriber: { name: 'B', birth_date: null, relationship: 'child' } }),
      ],
    },
  ],
  ['how the member ID is written', { coverages: [aCoverage({ member_id: ' w-12 3' })] }],
  ["the payer's name, as long as its id stays", { coverages: [aCoverage({ carrier: 'DELTA' })] }],
  ['how the tax ID is written', { provider: { ...provider, tax_id: '12-3456789' } }],
];

const OTHER: [string, Partial<AppointmentInput>][] = [
  ['the member ID', { coverages: [aCoverage({ member_id: 'W124' })] }],
  ['the payer', { coverages: [aCoverage({ payor_id: '54321' })] }],
  ['the birth date', { patient: { ...patient, birth_date: '1980-02-01' } }],
  ['the patient', { patient: { ...patient, id: 'P-2' } }],
  ['the tax ID', { provider: { ...provider, tax_id: '987654321' } }],
  ['the specialty', { specialty: 'medical' }],
  ['the year of the visit', { starts_at: '2027-01-04T15:30:00.000Z' }],
];

describe('a need', () => {
  test.each(SAME)('stays the same with a change of %s', (_, change) => {
    expect(needsOf(anAppointment(change))).toEqual(needsOf(anAppointment()));
  });

  test.each(OTHER)('is another one with a change of %s', (_, change) => {
    const policy = { look_ahead_days: 90 };
    expect(needsOf(anAppointment(change), { policy })).not.toEqual(
      needsOf(anAppointment(), { policy }),
    );
  });

  test('is another one with another question set', () => {
    const { questions } = facts().policy;
    const other = { ...questions, dental: [{ ...questions.dental[0]!, name: 'orthodontics' }] };
    expect(needsOf(anAppointment(), { policy: { questions: other } })).not.toEqual(
      needsOf(anAppointment()),
    );
  });

  test('stays the same when the payer is mapped to a carrier later', () => {
    expect(needsOf(anAppointment(), { payer: null })).toEqual(
      needsOf(anAppointment(), { payer: aPayer({ carrier: 'X', payor_id: '999' }) }),
    );
  });

  test('of each coverage is its own', () => {
    const both = needsOf(
      anAppointment({ coverages: [aCoverage(), aCoverage({ payor_id: '2', member_id: 'M2' })] }),
    );
    expect(new Set(both).size).toBe(2);
  });

  test('of a payer without an id goes by its name, without regard to how it is written', () => {
    const by = (carrier: string) =>
      needsOf(anAppointment({ coverages: [aCoverage({ payor_id: '', carrier })] }));
    expect(by('Delta Dental (IL)')).toEqual(by('DELTA DENTAL  IL'));
    expect(by('Delta Dental')).not.toEqual(by('Aetna'));
  });
});

describe('a patient', () => {
  test('is not another one of the family with the same member id', () => {
    const child = anAppointment({
      patient: { ...patient, id: 'P-2', first_name: 'Eve', birth_date: '2015-03-04' },
    });
    expect(needsOf(child)).not.toEqual(needsOf(anAppointment()));
  });

  test('is not another one who has the same id in another system', () => {
    expect(patientKey('one', anAppointment())).not.toBe(patientKey('other', anAppointment()));
  });

  test('without an id goes by name and birth date', () => {
    const named = (first_name: string, last_name: string) =>
      patientKey('a', { patient: { id: null, first_name, last_name, birth_date: '1980-01-02' } });
    expect(named('Ada', "O'Neil")).toBe(named(' ADA', 'ONEIL'));
    expect(named('Ada', 'Example')).not.toBe(named('Eve', 'Example'));
    expect(named('Ada', 'Example')).not.toBe(patientKey('a', anAppointment()));
  });
});

describe('the external id', () => {
  test("is the appointment's own, and holds the connector where the template does", () => {
    expect(externalId('{appointment}', 'front-desk', 'A-1')).toBe('A-1');
    expect(externalId('{connector}:{appointment}', 'front-desk', 'A-1')).toBe('front-desk:A-1');
  });

  test('takes an id as it is, whatever it holds', () => {
    expect(externalId('{connector}:{appointment}', 'a', '$& {connector} $1')).toBe(
      'a:$& {connector} $1',
    );
  });
});
