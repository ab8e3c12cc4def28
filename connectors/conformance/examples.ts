/**
 * The made-up patients, visits, and claims of the conformance tests, and the records about them.
 */
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import { type ClaimStatusRecord, claimStatusRecordSchema } from '../../src/records/claim-status.ts';
import { type EligibilityRecord, eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { judge } from '../../src/records/verdict.ts';
import type { AttentionEntry, ClaimBatch, DeliveryBatch } from '../contract.ts';

/** Returns the fields of an appointment that every PMS has; the suite compares only these. */
export function essence({ source_id, starts_at, status, patient, coverages }: AppointmentInput) {
  const member_ids = coverages.map((coverage) => coverage.member_id);
  return {
    source_id,
    starts_at,
    status,
    birth_date: patient.birth_date,
    last_name: patient.last_name,
    member_ids,
  };
}

/** Values that must not appear in a log line or an error message. */
export const PATIENT_DATA = ['Quillfeather', 'Zebulon', '1987-02-14', 'MEMBER00'];

/** Builds a valid made-up appointment; each `number` gives a different one. */
export function appointment(number: number): AppointmentInput {
  return {
    source_id: `A-${number}`,
    starts_at: `2026-11-24T${String(14 + (number % 8)).padStart(2, '0')}:30:00.000Z`,
    status: 'booked',
    patient: {
      id: `P-${number}`,
      first_name: 'Zebulon',
      last_name: `Quillfeather-${number}`,
      birth_date: '1987-02-14',
    },
    coverages: [
      {
        carrier: 'Delta Dental of Illinois',
        payor_id: '05030',
        member_id: `MEMBER00${number}`,
        group_id: '0012345',
        subscriber: null,
      },
    ],
    provider: {
      rendering_npi: '1234567893',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: null,
    specialty: 'dental',
    procedure_codes: ['D0120', 'D1110'],
    diagnosis_codes: [],
    problems: [],
  };
}

export function batchOf(id: number, numbers: readonly number[], revision = 1): DeliveryBatch {
  return {
    id: `batch-${id}`,
    created_at: '2026-11-23T18:00:00.000Z',
    deliveries: numbers.map((number) => {
      const { source_id, starts_at, patient, location, procedure_codes, coverages } =
        appointment(number);
      const coverage = coverages[0] ?? {
        carrier: '',
        payor_id: '',
        member_id: '',
        group_id: '',
        subscriber: null,
      };
      const record = sampleRecord(number, revision);
      return {
        key: `d-${number}-${revision}`,
        appointment: {
          source_id,
          starts_at,
          patient,
          location,
          procedure_codes,
          coverage_rank: 1,
          coverage,
        },
        record,
        revision,
        verdict: judge(record, {
          date: starts_at.slice(0, 10),
          birth_date: patient.birth_date,
          procedure_codes,
          fees: {},
        }),
        notes: ['The call was made before the benefit year began.'],
      };
    }),
  };
}

function sampleRecord(number: number, revision: number): EligibilityRecord {
  return eligibilityRecordSchema.parse({
    schema: 'eligd.eligibility/1',
    inquiry_id: `inq-${number}`,
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    outcome: 'successful',
    status: 'SUCCESS',
    completeness: 'complete',
    summary: revision === 1 ? null : 'Corrected after a second call.',
    asked: { benefits_query: [], benefits_codes: ['D1110'] },
    calls: [],
    verification: null,
    plan: { answered: true, is_active: true, plan_name: 'PPO Plus', is_provider_in_network: null },
    unparsed: [],
  });
}

/** Builds a made-up claim of the patient of the appointment with this number. */
export function claim(number: number): ClaimInput {
  const { patient, coverages, provider } = appointment(number);
  return {
    source_id: `C-${number}`,
    status: 'open',
    claim_number: `PAYER-${number}`,
    date_of_service: '2026-10-01',
    billed_amount: '180.00',
    patient,
    coverage: coverages[0] ?? {
      carrier: '',
      payor_id: '',
      member_id: '',
      group_id: '',
      subscriber: null,
    },
    coverage_rank: 1,
    provider,
    location: null,
    place_of_service: '',
    specialty: 'dental',
    procedure_codes: ['D0120', 'D1110'],
    diagnosis_codes: [],
    problems: [],
  };
}

/** Returns the fields of a claim that every PMS has. */
export function claimEssence({
  source_id,
  status,
  date_of_service,
  billed_amount,
  procedure_codes,
  patient,
  coverage,
}: ClaimInput) {
  const { birth_date, last_name } = patient;
  return {
    source_id,
    status,
    date_of_service,
    billed_amount,
    procedure_codes,
    birth_date,
    last_name,
    member_id: coverage.member_id,
  };
}

export function claimBatchOf(id: number, numbers: readonly number[], revision = 1): ClaimBatch {
  return {
    id: `claims-batch-${id}`,
    created_at: '2026-11-23T18:00:00.000Z',
    deliveries: numbers.map((number) => {
      const { source_id, claim_number, date_of_service, billed_amount, patient, ...rest } =
        claim(number);
      const { coverage, coverage_rank, location, procedure_codes } = rest;
      const what = { source_id, claim_number, date_of_service, billed_amount, procedure_codes };
      return {
        key: `c-${number}-${revision}`,
        claim: { ...what, patient, coverage, coverage_rank, location },
        record: sampleClaimRecord(number, revision),
        revision,
        notes: [],
      };
    }),
  };
}

function sampleClaimRecord(number: number, revision: number): ClaimStatusRecord {
  return claimStatusRecordSchema.parse({
    schema: 'eligd.claim/1',
    inquiry_id: `inq-c-${number}`,
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    outcome: 'successful',
    status: 'SUCCESS',
    completeness: 'complete',
    summary: null,
    asked: {
      claim_number: `PAYER-${number}`,
      date_of_service: '2026-10-01',
      procedure_codes: ['D0120'],
      billed_amount: null,
    },
    calls: [],
    verification: null,
    claim: {
      answered: true,
      status: revision === 1 ? 'pending' : 'paid',
      said_status: revision === 1 ? 'PENDING' : 'PAID',
      number: null,
      received_on: '2026-10-05',
      processed_on: null,
      paid_on: null,
      codes: [],
    },
    unparsed: [],
  });
}

export function attention(number: number): AttentionEntry {
  const { source_id, starts_at, patient, coverages } = appointment(number);
  return {
    source_id,
    starts_at,
    patient_name: `${patient.first_name} ${patient.last_name}`,
    carrier: coverages[0]?.carrier ?? null,
    reason: 'member_id_missing',
    what: 'The appointment has no member id, so the payer cannot be asked.',
    next: 'Enter the member ID.',
    since: '2026-11-23T18:00:00.000Z',
  };
}
