/** FHIR servers of two makers: every visit gets one answer, in its own patient's chart. */
import type { CoverageEligibilityResponse, Resource } from '@medplum/fhirtypes';
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { anAppointment } from '../domain/examples.ts';
import { startAsymmetrik } from '../support/fhir/asymmetrik.ts';
import { indexDefinitions } from '../support/fhir/definitions.ts';
import { type Fault, FhirPeer } from '../support/fhir/peer.ts';
import { resourcesOf } from '../support/fhir/records.ts';
import { calledTwice, type Row, type Tally } from './tally.ts';
import { HOUR_MS, MINUTE_MS, START_MS, World } from './world.ts';

const COUNT = 5;
const ROUNDS_MAX = 10;
const FAULTS: readonly Fault[] = [
  { when: 'before', action: 'reset' },
  { when: 'after', action: 'reset' },
  { when: 'after', action: 'status', status: 502 },
  { when: 'after', action: 'truncate' },
  { when: 'after', action: 'html' },
];

/** A running server and its content. */
type Peer = {
  url: string;
  put: (resource: Resource) => Promise<void>;
  responses: () => Promise<CoverageEligibilityResponse[]>;
  close: () => Promise<void>;
};

export async function medplum(options: { page_max?: number; faults?: boolean }): Promise<Peer> {
  indexDefinitions();
  const peer = new FhirPeer(options.page_max === undefined ? {} : { page_max: options.page_max });
  await peer.listen(0);
  let count = 0;
  if (options.faults === true)
    peer.fault = () => {
      count += 1;
      return count % 7 === 0 ? (FAULTS[(count / 7) % FAULTS.length] ?? null) : null;
    };
  return {
    url: peer.url,
    put: (resource) => peer.put(resource),
    responses: () => peer.all('CoverageEligibilityResponse'),
    close: () => peer.close(),
  };
}

async function asymmetrik(): Promise<Peer> {
  const { url, repository, close } = await startAsymmetrik();
  return {
    url,
    put: async (resource) => void (await repository.updateResource(resource)),
    responses: async () => {
      const request = { resourceType: 'CoverageEligibilityResponse', count: 1000 } as const;
      const { entry = [] } = await repository.search<CoverageEligibilityResponse>(request);
      return entry.flatMap(({ resource }) => (resource === undefined ? [] : [resource]));
    },
    close,
  };
}

export function fhirRows(): Row[] {
  const row = (name: string, start: () => Promise<Peer>): Row => {
    return { group: 'fhir', name, run: () => wholeJob(start) };
  };
  return [
    row('@medplum/fhir-router', () => medplum({})),
    row('@medplum/fhir-router, small pages, every seventh request fails', () =>
      medplum({ page_max: 2, faults: true }),
    ),
    row('@asymmetrik/node-fhir-server-core, one date', asymmetrik),
  ];
}

function visit(number: number): AppointmentInput {
  const member_id = `ACTIVE${3000 + number}`;
  return anAppointment({
    source_id: `A-${number}`,
    starts_at: new Date(START_MS + 4 * 24 * HOUR_MS + number * 30 * MINUTE_MS).toISOString(),
    patient: {
      id: `P-${number}`,
      first_name: 'José',
      last_name: `Núñez-${number}`,
      birth_date: '1970-05-06',
    },
    coverages: [
      { carrier: 'Delta Dental', payor_id: '05030', member_id, group_id: '', subscriber: null },
    ],
  });
}

async function wholeJob(start: () => Promise<Peer>): Promise<Tally> {
  const peer = await start();
  const visits = Array.from({ length: COUNT }, (_, index) => visit(index));
  for (const resource of visits.flatMap(resourcesOf)) await peer.put(resource);
  const connector = { id: 'ehr', type: 'fhir', base_url: peer.url, auth: 'none', poll_minutes: 0 };
  const world = await World.start({ connectors: [connector] });
  try {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await world.once();
      if ((await world.ledger()).length >= COUNT) break;
      world.clock.pass(16 * MINUTE_MS);
    }
    await world.answerAll();
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await world.once();
      world.clock.pass(HOUR_MS);
      if ((await peer.responses()).length >= COUNT) break;
    }
    // Once more: eligd must write nothing again.
    await world.once();
    const ledger = await world.ledger();
    const members = visits.map(({ coverages }) => coverages[0]?.member_id ?? '');
    const responses = await peer.responses();
    const patients = responses.map(({ patient }) => patient?.reference ?? '');
    const wrong = responses.filter((each) => !isOwn(each)).length;
    const again = patients.length - new Set(patients).size;
    return {
      needs: COUNT,
      calls: ledger.length,
      twice: calledTwice(ledger, members),
      lost: visits.filter(({ patient }) => !patients.includes(`Patient/${patient.id}`)).length,
      wrong: wrong + again,
    };
  } finally {
    await world.close();
    await peer.close();
  }
}

/** Whether an answer names the coverage of its own patient, and no other. */
function isOwn({ patient, insurance = [] }: CoverageEligibilityResponse): boolean {
  const id = patient?.reference?.replace('Patient/', '') ?? '';
  return (
    insurance.length > 0 &&
    insurance.every(({ coverage }) => coverage?.reference === `Coverage/coverage-${id}-1`)
  );
}
