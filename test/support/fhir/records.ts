import type {
  Appointment,
  Claim,
  Coverage,
  Location,
  Organization,
  Patient,
  Practitioner,
  Resource,
} from '@medplum/fhirtypes';
import type { AppointmentInput, CoverageInput } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';

const NPI = 'http://hl7.org/fhir/sid/us-npi';

const codingOf = (code: string) => ({
  system: /^D\d{4}$/.test(code) ? 'http://www.ada.org/cdt' : 'http://www.ama-assn.org/go/cpt',
  code,
});

const isDental = ({ specialty }: ClaimInput) => specialty === null || specialty === 'dental';

/** A claim as a practice management system stores it after sending it. */
export function claimResourcesOf(input: ClaimInput): Resource[] {
  const { patient, provider, coverage } = input;
  const visit = {
    ...input,
    starts_at: '2026-10-01T15:00:00.000Z',
    status: 'booked' as const,
    coverages: [coverage],
  };
  const held = resourcesOf(visit).filter(({ resourceType }) => resourceType !== 'Appointment');
  const claim: Claim = {
    resourceType: 'Claim',
    id: input.source_id,
    status: 'active',
    use: 'claim',
    type: {
      coding: [
        {
          system: 'http://terminology.hl7.org/CodeSystem/claim-type',
          code: isDental(input) ? 'oral' : 'professional',
        },
      ],
    },
    identifier: [{ type: { coding: [{ code: 'uc' }] }, value: input.claim_number }],
    patient: { reference: `Patient/${patient.id}` },
    created: input.date_of_service ?? '2026-10-01',
    provider: { reference: `Practitioner/npi-${provider.rendering_npi}` },
    priority: { coding: [{ code: 'normal' }] },
    insurance: [
      {
        sequence: input.coverage_rank,
        focal: true,
        coverage: { reference: `Coverage/coverage-${patient.id}-1` },
      },
    ],
    item: input.procedure_codes.map((code, index) => ({
      sequence: index + 1,
      productOrService: { coding: [codingOf(code)] },
      ...(input.date_of_service === null ? {} : { servicedDate: input.date_of_service }),
    })),
    total: { value: Number(input.billed_amount), currency: 'USD' },
  };
  return [...held, claim];
}

/** An appointment as a practice management system stores it. */
export function resourcesOf(input: AppointmentInput): Resource[] {
  const { patient, provider } = input;
  const patient_id = patient.id ?? `patient-of-${input.source_id}`;
  const person: Patient = {
    resourceType: 'Patient',
    id: patient_id,
    name: [{ use: 'official', family: patient.last_name, given: [patient.first_name] }],
    ...(patient.birth_date === null ? {} : { birthDate: patient.birth_date }),
  };
  const practitioner: Practitioner = {
    resourceType: 'Practitioner',
    id: `npi-${provider.rendering_npi}`,
    identifier: [{ system: NPI, value: provider.rendering_npi }],
  };
  const place: Location = { resourceType: 'Location', id: 'place', name: 'Main office' };
  const appointment: Appointment = {
    resourceType: 'Appointment',
    id: input.source_id,
    status: input.status === 'completed' ? 'fulfilled' : input.status,
    start: input.starts_at,
    end: new Date(Date.parse(input.starts_at) + 1_800_000).toISOString(),
    serviceType: input.procedure_codes.map((code) => ({ coding: [codingOf(code)] })),
    participant: [
      { actor: { reference: `Patient/${patient_id}` }, status: 'accepted' },
      { actor: { reference: `Practitioner/${practitioner.id}` }, status: 'accepted' },
      { actor: { reference: 'Location/place' }, status: 'accepted' },
    ],
  };
  return [
    place,
    practitioner,
    person,
    ...input.coverages.flatMap((coverage, index) => insurance(patient_id, coverage, index + 1)),
    appointment,
  ];
}

function insurance(
  patient_id: string,
  { carrier, payor_id, member_id, group_id }: CoverageInput,
  order: number,
): Resource[] {
  const payer: Organization = {
    resourceType: 'Organization',
    id: `payer-${payor_id || carrier.replaceAll(/\W/g, '')}`,
    name: carrier,
    ...(payor_id === ''
      ? {}
      : { identifier: [{ system: 'urn:oid:2.16.840.1.113883.6.300', value: payor_id }] }),
  };
  const coverage: Coverage = {
    resourceType: 'Coverage',
    id: `coverage-${patient_id}-${order}`,
    status: 'active',
    order,
    subscriberId: member_id,
    beneficiary: { reference: `Patient/${patient_id}` },
    payor: [{ reference: `Organization/${payer.id}` }],
    ...(group_id === ''
      ? {}
      : {
          class: [
            {
              type: {
                coding: [
                  { system: 'http://terminology.hl7.org/CodeSystem/coverage-class', code: 'group' },
                ],
              },
              value: group_id,
            },
          ],
        }),
  };
  return [payer, coverage];
}
