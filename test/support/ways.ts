/**
 * Visits to a dentist, a doctor, and a therapist, and their claims, on their way through each
 * connector with its practice management system.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  claim as suiteClaim,
  appointment as suiteVisit,
} from '../../connectors/conformance/examples.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import type { Specialty } from '../../src/domain/specialty.ts';
import { dft, siu } from '../connectors/hl7/messages.ts';
import type { Clinic } from './clinic.ts';
import { csvText } from './csv-text.ts';
import { faultsOf } from './fhir/definitions.ts';
import { claimResourcesOf, resourcesOf } from './fhir/records.ts';
import { startPeer } from './fhir/start.ts';

/**
 * The provider decides the specialty, because a practice management system need not state it. The
 * clinic's default is the dentist's.
 */
export const NPI: Record<Specialty, string> = {
  dental: '1234567893',
  medical: '1245319599',
  mental_health: '1003000126',
};
export const CODE: Record<Specialty, string> = {
  dental: 'D1110',
  medical: '99213',
  mental_health: '90834',
};
export const SPECIALTIES: Specialty[] = ['dental', 'medical', 'mental_health'];

export function visit(specialty: Specialty): AppointmentInput {
  const number = SPECIALTIES.indexOf(specialty) + 1;
  const { coverages, provider, ...plain } = suiteVisit(number);
  return {
    ...plain,
    starts_at: '2030-01-11T20:00:00.000Z',
    specialty: null,
    provider: { ...provider, rendering_npi: NPI[specialty] },
    procedure_codes: [CODE[specialty]],
    coverages: coverages.map((coverage) => ({ ...coverage, member_id: `ACTIVE-${number}` })),
  };
}

export function claim(specialty: Specialty): ClaimInput {
  const number = SPECIALTIES.indexOf(specialty) + 1;
  const { coverage, provider, ...plain } = suiteClaim(number);
  return {
    ...plain,
    specialty,
    claim_number: `PAID-${number}`,
    date_of_service: '2029-12-10',
    provider: { ...provider, rendering_npi: NPI[specialty] },
    procedure_codes: [CODE[specialty]],
    coverage: { ...coverage, member_id: `ACTIVE-${number}` },
  };
}

/** A connector with its practice management system. */
export type Way = {
  connector: Record<string, unknown>;
  offer: (
    clinic: Clinic,
    visits: readonly AppointmentInput[],
    claims: readonly ClaimInput[],
  ) => Promise<void>;
  /** The answers that were written back: one text for each visit and each claim. */
  written: (clinic: Clinic) => Promise<{ visits: string[]; claims: string[] }>;
};

const patientCells = ({ patient, provider, procedure_codes }: AppointmentInput | ClaimInput) => [
  patient.id ?? '',
  `${patient.first_name} ${patient.last_name}`,
  patient.birth_date ?? '',
  provider.rendering_npi,
  procedure_codes.join(';'),
];
const coverageCells = ({ carrier, payor_id, member_id }: ClaimInput['coverage']) => [
  carrier,
  payor_id,
  member_id,
];
const SHARED = [
  'patient_id',
  'patient_name',
  'dob',
  'rendering_npi',
  'procedure_codes',
  'carrier',
  'payor_id',
  'member_id',
];

export const WAYS: Record<string, () => Promise<Way>> = {
  csv: async () => ({
    connector: { id: 'front-desk', type: 'csv', folder: './dropbox', stable_seconds: 0 },
    offer: async (clinic, visits, claims) => {
      const visit_lines = visits.map((one) => [
        ...[one.source_id, one.starts_at, ...patientCells(one)],
        ...one.coverages.flatMap(coverageCells),
      ]);
      const claim_lines = claims.map((one) => [
        ...[
          one.source_id,
          one.claim_number,
          one.date_of_service ?? '',
          one.billed_amount,
          ...patientCells(one),
        ],
        ...coverageCells(one.coverage),
      ]);
      clinic.drop(
        'export.csv',
        csvText(['appointment_id', 'appointment_at', ...SHARED], visit_lines),
      );
      const claim_header = [
        'claim_id',
        'claim_number',
        'date_of_service',
        'billed_amount',
        ...SHARED,
      ];
      clinic.drop('claims-export.csv', csvText(claim_header, claim_lines));
    },
    written: async (clinic) => ({
      visits: clinic.written().map((line) => JSON.stringify(line)),
      claims: clinic.writtenClaims().map((line) => JSON.stringify(line)),
    }),
  }),
  fhir: async () => {
    const peer = await startPeer();
    const text = async (type: 'CoverageEligibilityResponse' | 'ClaimResponse') => {
      const resources = await peer.all(type);
      expect(resources.flatMap(faultsOf)).toEqual([]);
      return resources.map((resource) => JSON.stringify(resource));
    };
    return {
      connector: {
        id: 'ehr',
        type: 'fhir',
        base_url: peer.url,
        auth: 'none',
        poll_minutes: 0,
        claims_days: 60,
      },
      offer: async (_, visits, claims) => {
        await peer.put(...visits.flatMap(resourcesOf), ...claims.flatMap(claimResourcesOf));
      },
      written: async () => ({
        visits: await text('CoverageEligibilityResponse'),
        claims: await text('ClaimResponse'),
      }),
    };
  },
  hl7: async () => fileInterface('interface', 'pin_i07'),
  'hl7 oru': async () => fileInterface('lab', 'oru_r01'),
};

/** HL7 in files both ways, in a folder of the connector's name. */
function fileInterface(id: string, write_back: string): Way {
  return {
    connector: { id, type: 'hl7', folder: `./${id}`, stable_seconds: 0, write_back },
    offer: async ({ folder }, visits, claims) => {
      const inbox = join(folder, id, 'inbox');
      mkdirSync(inbox, { recursive: true });
      const booked = visits.map(
        (one) => `${siu(one)}\rAIP|1||${one.provider.rendering_npi}^Doe^Jane`,
      );
      writeFileSync(
        join(inbox, 'export.hl7'),
        `${[...booked, ...claims.map((one) => dft(one))].join('\r')}\r`,
      );
    },
    written: async ({ folder }) => {
      const outbox = join(folder, id, 'outbox');
      const messages = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'));
      const isClaim = (message: string) => /CLAIM_ID|Claim status/.test(message);
      return {
        visits: messages.filter((message) => !isClaim(message)),
        claims: messages.filter(isClaim),
      };
    },
  };
}

/** Values that differ between two runs whatever the answer: IDs, keys, and times. */
const MASKS: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID'],
  [/\b[0-9a-f]{20}(-\d)?\b/g, 'KEY'],
  [/\bE[0-9A-F]{19}\b/g, 'CONTROL'],
  [/\b\d{8}T\d{6}Z-\d+/g, 'BATCH'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?/g, 'TIME'],
  [/\b20\d{12}(\.\d+)?([+-]\d{4})?\b/g, 'TIME'],
  [/http:\/\/127\.0\.0\.1:\d+/g, 'URL'],
];

export const masked = (texts: readonly string[]) =>
  texts.map((text) => MASKS.reduce((whole, [what, by]) => whole.replaceAll(what, by), text)).sort();
