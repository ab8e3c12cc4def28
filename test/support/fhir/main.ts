/**
 * The FHIR server of the tests, for trials: made-up patients with visits on the next business days.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import { indexDefinitions } from './definitions.ts';
import { FhirPeer } from './peer.ts';
import { resourcesOf } from './records.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '8103' },
    client: { type: 'string' },
    jwks: { type: 'string' },
  },
});
const smart =
  values.client === undefined || values.jwks === undefined
    ? {}
    : { smart: { client_id: values.client, jwks: JSON.parse(readFileSync(values.jwks, 'utf8')) } };

indexDefinitions();
const peer = new FhirPeer(smart);
await peer.listen(Number(values.port));
for (let number = 1; number <= 10; number += 1) await peer.put(...resourcesOf(visit(number)));
process.stdout.write(`A FHIR server with invented patients is at ${peer.url}; Ctrl-C ends it.\n`);

function visit(number: number): AppointmentInput {
  const patient = {
    id: `P-${number}`,
    first_name: 'Zebulon',
    last_name: `Quillfeather-${number}`,
    birth_date: '1987-02-14',
  };
  const member_id = `ACTIVE${1000 + number}`;
  return {
    source_id: `A-${number}`,
    starts_at: new Date(Date.now() + (2 + (number % 4)) * 86_400_000).toISOString(),
    status: 'booked',
    patient,
    coverages: [
      {
        carrier: 'Delta Dental of Illinois',
        payor_id: '05030',
        member_id,
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
