/**
 * Visits to a dentist, a doctor and a therapist, and claims of them, all the way through each
 * connector.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  claim as suiteClaim,
  appointment as suiteVisit,
} from '../../connectors/conformance/examples.ts';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import type { ClaimInput } from '../../src/domain/claim.ts';
import type { Specialty } from '../../src/domain/specialty.ts';
import { dft, siu } from '../connectors/hl7/messages.ts';
import { type Clinic, makeClinic } from '../support/clinic.ts';
import { csvText } from '../support/csv-text.ts';
import { faultsOf } from '../support/fhir/definitions.ts';
import { claimResourcesOf, resourcesOf } from '../support/fhir/records.ts';
import { startPeer } from '../support/fhir/start.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';

/**
 * Who treats says which specialty it is; a practice management system need not. The dentist is the
 * clinic's default.
 */
const NPI: Record<Specialty, string> = {
  dental: '1234567893',
  medical: '1245319599',
  mental_health: '1003000126',
};
const CODE: Record<Specialty, string> = {
  dental: 'D1110',
  medical: '99213',
  mental_health: '90834',
};
const SPECIALTIES: Specialty[] = ['dental', 'medical', 'mental_health'];

function visit(specialty: Specialty): AppointmentInput {
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

function claim(specialty: Specialty): ClaimInput {
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

/** A connector with its practice management system, as one needs both here. */
type Way = {
  connector: Record<string, unknown>;
  offer: (
    clinic: Clinic,
    visits: readonly AppointmentInput[],
    claims: readonly ClaimInput[],
  ) => Promise<void>;
  /** What was written back: one text for each visit and each claim. */
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

const WAYS: Record<string, () => Promise<Way>> = {
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
  hl7: async () => ({
    connector: { id: 'interface', type: 'hl7', folder: './hl7', stable_seconds: 0 },
    offer: async ({ folder }, visits, claims) => {
      const inbox = join(folder, 'hl7/inbox');
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
      const outbox = join(folder, 'hl7/outbox');
      const messages = readdirSync(outbox).map((name) => readFileSync(join(outbox, name), 'utf8'));
      const isClaim = (message: string) => message.includes('CLAIM_ID');
      return {
        visits: messages.filter((message) => !isClaim(message)),
        claims: messages.filter(isClaim),
      };
    },
  }),
};

/** A clinic with one connector, whose export has one visit and one claim of each specialty. */
async function begin(name: string, behaviors: Parameters<Service['behave']>[0] = {}) {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(behaviors);
  const { connector, offer, written } = await WAYS[name]!();
  const providers = {
    [NPI.medical]: { specialty: 'medical', place_of_service: '11' },
    [NPI.mental_health]: { specialty: 'mental_health' },
  };
  const clinic = makeClinic({
    base_url: service.url,
    config: { connectors: [connector], providers },
  });
  await offer(clinic, SPECIALTIES.map(visit), SPECIALTIES.map(claim));
  return { machine, service, clinic, written };
}

/** What differs between two runs whatever was answered: ids, keys and moments. */
const MASKS: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'ID'],
  [/\b[0-9a-f]{20}(-\d)?\b/g, 'KEY'],
  [/\bE[0-9A-F]{19}\b/g, 'CONTROL'],
  [/\b\d{8}T\d{6}Z-\d+/g, 'BATCH'],
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?/g, 'TIME'],
  [/\b20\d{12}(\.\d+)?([+-]\d{4})?\b/g, 'TIME'],
  [/http:\/\/127\.0\.0\.1:\d+/g, 'URL'],
];

const masked = (texts: readonly string[]) =>
  texts.map((text) => MASKS.reduce((whole, [what, by]) => whole.replaceAll(what, by), text)).sort();

/** What one run writes back, and what it puts on the attention list. */
async function outputs(name: string, behaviors: Parameters<Service['behave']>[0]) {
  const { machine, clinic, written } = await begin(name, behaviors);
  await clinic.once();
  machine.pass({ days: 3 });
  await clinic.once();
  machine.pass({ days: 2 });
  await clinic.once();
  const { visits, claims } = await written(clinic);
  expect([visits.length, claims.length]).toEqual([3, 3]);
  const attention = await clinic.run('list', '--json');
  const { entries } = JSON.parse(attention.stdout) as { entries?: unknown };
  return { visits: masked(visits), claims: masked(claims), entries };
}

test.each(Object.keys(WAYS))(
  'Statuses in lower case change nothing that %s writes but the word itself',
  async (name) => {
    const upper = await outputs(name, { status_case: 'upper' });
    const lower = await outputs(name, { status_case: 'lower' });
    const word = (texts: string[]) =>
      texts.map((text) => text.replaceAll(/\bsuccess\b/g, 'SUCCESS'));
    expect(word(lower.visits)).toEqual(upper.visits);
    expect(word(lower.claims)).toEqual(upper.claims);
    expect(lower.entries).toEqual(upper.entries);
  },
);

test.each(Object.keys(WAYS))(
  'Visits to a dentist, a doctor and a therapist and their claims go through %s, asked about ' +
    'and written back each in its own words',
  async (name) => {
    const { machine, service, clinic, written } = await begin(name);
    await clinic.once();
    type Asked = {
      path: string;
      type: string;
      benefits_codes: string[];
      benefits_query?: string[];
      place_of_service?: string;
    };
    const asked = (await service.ledger()).map(
      ({ specialty, request }) => ({ ...request, path: specialty }) as unknown as Asked,
    );
    const about = ({ path, type, benefits_codes }: Asked) =>
      [path, type, ...benefits_codes].join(' ');
    expect(asked.map(about).sort()).toEqual(
      SPECIALTIES.flatMap((path) =>
        ['BENEFITS', 'CLAIMS_STATUS'].map((type) => `${path} ${type} ${CODE[path]}`),
      ).sort(),
    );
    for (const one of asked) {
      expect(one.place_of_service).toBe(one.path === 'medical' ? '11' : undefined);
      if (one.type === 'CLAIMS_STATUS')
        expect(one).toMatchObject({ claims_date_of_service: '12-10-2029' });
      else expect(one.benefits_query).toContain('CODE_LOOKUP_BENEFITS');
    }

    machine.pass({ days: 3 });
    await clinic.once();
    machine.pass({ days: 2 });
    await clinic.once();
    const { visits, claims } = await written(clinic);
    for (const [index, specialty] of SPECIALTIES.entries()) {
      const ours = visits.filter(
        (text) =>
          text.includes(`Quillfeather-${index + 1}`) || text.includes(`Patient/P-${index + 1}`),
      );
      expect(ours).toHaveLength(1);
      // The verdict and its caution, whatever the connector writes it into.
      expect(ours[0]).toMatch(/(Eligible|Needs attention|Incomplete|NOT ELIGIBLE) on 01\/11/);
      expect(ours[0]).toMatch(
        new RegExp(`${CODE[specialty]}: (payable|NOT payable|needs authorization|unknown)`),
      );
      expect(ours[0]).toMatch(
        /From what the payer said on the phone; not a guarantee of payment\./,
      );
    }
    for (const specialty of SPECIALTIES) {
      const ours = claims.filter((text) => text.includes(CODE[specialty]));
      expect(ours).toHaveLength(1);
      expect(ours[0]).toMatch(/paid/);
    }
    expect([visits.length, claims.length]).toEqual([3, 3]);
    expect(await service.ledger()).toHaveLength(6);
  },
);
