import { describe, expect, test } from 'vitest';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { externalId, patientKey } from '../../src/domain/needs.ts';
import { planAppointment } from '../../src/domain/planning.ts';
import { aCoverage, anAppointment, aPayer, facts } from './examples.ts';

const provider = anAppointment().provider;
const patient = anAppointment().patient;

/** The needs of an appointment, as planning creates them. */
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
  test.each(SAME)('a change of %s keeps the need', (_, change) => {
    expect(needsOf(anAppointment(change))).toEqual(needsOf(anAppointment()));
  });

  test.each(OTHER)('a change of %s makes another need', (_, change) => {
    const policy = { look_ahead_days: 90 };
    expect(needsOf(anAppointment(change), { policy })).not.toEqual(
      needsOf(anAppointment(), { policy }),
    );
  });

  test('another question set makes another need', () => {
    const { questions } = facts().policy;
    const other = { ...questions, dental: [{ ...questions.dental[0]!, name: 'orthodontics' }] };
    expect(needsOf(anAppointment(), { policy: { questions: other } })).not.toEqual(
      needsOf(anAppointment()),
    );
  });

  test('mapping the payer to a carrier later keeps the need', () => {
    expect(needsOf(anAppointment(), { payer: null })).toEqual(
      needsOf(anAppointment(), { payer: aPayer({ carrier: 'X', payor_id: '999' }) }),
    );
  });

  test('each coverage has its own need', () => {
    const both = needsOf(
      anAppointment({ coverages: [aCoverage(), aCoverage({ payor_id: '2', member_id: 'M2' })] }),
    );
    expect(new Set(both).size).toBe(2);
  });

  test('a payer without an ID is identified by its name, in any spelling', () => {
    const by = (carrier: string) =>
      needsOf(anAppointment({ coverages: [aCoverage({ payor_id: '', carrier })] }));
    expect(by('Delta Dental (IL)')).toEqual(by('DELTA DENTAL  IL'));
    expect(by('Delta Dental')).not.toEqual(by('Aetna'));
  });
});

describe('a patient', () => {
  test('a family member with the same member ID is another patient', () => {
    const child = anAppointment({
      patient: { ...patient, id: 'P-2', first_name: 'Eve', birth_date: '2015-03-04' },
    });
    expect(needsOf(child)).not.toEqual(needsOf(anAppointment()));
  });

  test('a person with the same ID in another system is another patient', () => {
    expect(patientKey('one', anAppointment())).not.toBe(patientKey('other', anAppointment()));
  });

  test('a patient without an ID is identified by name and birth date', () => {
    const named = (first_name: string, last_name: string) =>
      patientKey('a', { patient: { id: null, first_name, last_name, birth_date: '1980-01-02' } });
    expect(named('Ada', "O'Neil")).toBe(named(' ADA', 'ONEIL'));
    expect(named('Ada', 'Example')).not.toBe(named('Eve', 'Example'));
    expect(named('Ada', 'Example')).not.toBe(patientKey('a', anAppointment()));
  });
});

describe('the external ID', () => {
  test('the label is the appointment’s ID, with the connector if the template says so', () => {
    expect(externalId('{appointment}', 'front-desk', 'A-1')).toBe('A-1');
    expect(externalId('{connector}:{appointment}', 'front-desk', 'A-1')).toBe('front-desk:A-1');
  });

  test('the label keeps an ID as it is, whatever it contains', () => {
    expect(externalId('{connector}:{appointment}', 'a', '$& {connector} $1')).toBe(
      'a:$& {connector} $1',
    );
  });
});
