/**
 * A practice management system with a FHIR endpoint: 500 visits over a connection that fails in one
 * of ten requests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Appointment } from '@medplum/fhirtypes';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { makeClinic } from '../support/clinic.ts';
import { faultsOf } from '../support/fhir/definitions.ts';
import type { Fault, FhirPeer } from '../support/fhir/peer.ts';
import { resourcesOf } from '../support/fhir/records.ts';
import { startPeer } from '../support/fhir/start.ts';
import { setMachineClock } from '../support/machine-clock.ts';
import { startService } from '../support/service.ts';

const FHIR_YAML = join(import.meta.dirname, '../../config/fhir.yaml');

const FAULTS: Fault[] = [
  { when: 'before', action: 'reset' },
  { when: 'after', action: 'reset' },
  { when: 'before', action: 'status', status: 500 },
  { when: 'after', action: 'status', status: 502 },
  { when: 'before', action: 'status', status: 429, headers: { 'retry-after': '0' } },
  { when: 'before', action: 'status', status: 503, headers: { 'retry-after': '0' } },
  { when: 'after', action: 'truncate' },
  { when: 'after', action: 'html' },
];

/** Every tenth request fails, each time in another way. */
function failEveryTenth(peer: FhirPeer): void {
  let count = 0;
  peer.fault = () => {
    count += 1;
    return count % 10 === 0 ? (FAULTS[(count / 10) % FAULTS.length] ?? null) : null;
  };
}

function visit(number: number): AppointmentInput {
  const starts_at = new Date(
    Date.parse('2030-01-09T15:00:00Z') + (number % 200) * 1_800_000,
  ).toISOString();
  const member_id = `ACTIVE${1000 + number}`;
  const patient = {
    id: `P-${number}`,
    first_name: 'Zebulon',
    last_name: `Quillfeather-${number}`,
    birth_date: '1987-02-14',
  };
  return {
    source_id: `A-${number}`,
    starts_at,
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

const appointmentOf = (input: AppointmentInput) => resourcesOf(input).at(-1) as Appointment;

/** config/fhir.yaml without changes, except for the addresses. */
function connectorOf(peer: FhirPeer): Record<string, unknown> {
  const { connectors } = parse(readFileSync(FHIR_YAML, 'utf8')) as {
    connectors: Record<string, unknown>[];
  };
  return { ...connectors[0], base_url: peer.url };
}

/** Whether each of the 500 answers is in the chart, with the results of its call's checks. */
async function hasEveryCheck(peer: FhirPeer): Promise<boolean> {
  const responses = await peer.all('CoverageEligibilityResponse');
  const checked = responses.filter(
    ({ text }) => text?.div?.includes('Confidence by the checks of the call') === true,
  );
  return checked.length === 500;
}

test('each of 500 visits gets one call and one valid answer, also in a second run', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const peer = await startPeer({ page_max: 50, smart: { client_id: 'eligd', expires_in: 60 } });
  const clinic = makeClinic({ base_url: service.url, config: { connectors: [connectorOf(peer)] } });
  const { stdout } = await clinic.run(
    'fhir',
    'keygen',
    '--key',
    join(clinic.folder, 'fhir-key.pem'),
  );
  if (peer.smart !== null) peer.smart.options.jwks = JSON.parse(stdout);
  for (let number = 0; number < 500; number += 1)
    await peer.putAt('2026-01-05T12:00:00.000Z', ...resourcesOf(visit(number)));
  failEveryTenth(peer);

  await clinic.once();
  expect(await service.ledger()).toHaveLength(500);

  // One visit is canceled and booked again, two change in other ways, one moves, and one is booked
  // again for another day.
  await peer.put({ ...appointmentOf(visit(1)), status: 'cancelled' });
  await clinic.once();
  await peer.put(
    appointmentOf(visit(1)),
    { ...appointmentOf(visit(2)), status: 'checked-in' },
    { ...appointmentOf(visit(3)), status: 'arrived' },
    appointmentOf({ ...visit(4), starts_at: '2030-01-15T20:00:00.000Z' }),
    { ...appointmentOf(visit(5)), status: 'cancelled' },
    {
      ...appointmentOf({
        ...visit(5),
        source_id: 'A-5-again',
        starts_at: '2030-01-16T20:00:00.000Z',
      }),
      supportingInformation: [{ reference: 'Appointment/A-5' }],
    },
  );
  // Calls take place each day, and the checks of their transcripts arrive after the answers, so the
  // test runs eligd until everything has arrived.
  for (let runs = 0; runs < 20 && !(await hasEveryCheck(peer)); runs += 1) {
    await service.advance({ hours: 12 });
    machine.pass({ minutes: 15 });
    await clinic.once();
  }
  expect(await hasEveryCheck(peer)).toBe(true);

  const ledger = await service.ledger();
  expect(ledger).toHaveLength(500);
  expect(peer.invalid).toEqual([]);
  const responses = await peer.all('CoverageEligibilityResponse');
  const ids = ledger.map(({ id }) => id).sort();
  expect(responses.map(({ identifier }) => identifier?.[0]?.value).sort()).toEqual(ids);
  expect(responses.flatMap((response) => faultsOf(response))).toEqual([]);
  for (const { id, request } of ledger) {
    const response = responses.find(({ identifier }) => identifier?.[0]?.value === id);
    expect(response?.patient.reference).toBe(
      `Patient/P-${Number(request.member_id.slice(6)) - 1000}`,
    );
  }
  expect(await peer.all('CoverageEligibilityRequest')).toHaveLength(500);
  expect(await peer.all('Provenance')).toHaveLength(500);
  const kept = (await peer.all('CoverageEligibilityRequest')).find(
    ({ patient }) => patient.reference === 'Patient/P-5',
  );
  expect(kept?.supportingInfo?.map(({ information }) => information.reference)).toContain(
    'Appointment/A-5-again',
  );

  machine.pass({ days: 1 });
  const written = await peer.everyVersion();
  const before = peer.requests.length;
  await clinic.once();
  const asked = peer.requests.slice(before);
  expect(asked.filter(({ path }) => path === '/Appointment').length).toBeGreaterThan(0);
  expect(asked.filter(({ method, path }) => method !== 'GET' && path !== '/token')).toEqual([]);
  expect(await peer.everyVersion()).toEqual(written);
  expect(await service.ledger()).toEqual(ledger);
}, 300_000);

test('a run without the server exits as temporary, and the next run resumes', async () => {
  const machine = setMachineClock();
  const service = await startService();
  const peer = await startPeer();
  const connectors = [{ id: 'ehr', type: 'fhir', base_url: peer.url, auth: 'none' }];
  const clinic = makeClinic({ base_url: service.url, config: { connectors } });
  for (let number = 0; number < 3; number += 1) await peer.put(...resourcesOf(visit(number)));

  peer.fault = () => ({ when: 'before', action: 'status', status: 503 });
  const { code, stderr } = await clinic.run('once');
  expect(code).toBe(75);
  expect(stderr).toMatch(/practice management system: ehr\.\n.*log above.*\n.*eligd check/);
  peer.fault = () => null;
  await clinic.once();
  expect(await service.ledger()).toHaveLength(3);

  await service.advance({ days: 7 });
  peer.fault = ({ method }) =>
    method === 'GET' ? null : { when: 'before', action: 'status', status: 401 };
  await clinic.once(75);
  peer.fault = () => null;
  machine.pass({ minutes: 20 });
  await clinic.once();
  expect(await peer.all('CoverageEligibilityResponse')).toHaveLength(3);
  expect(await service.ledger()).toHaveLength(3);
});
