/**
 * Two people in one message, row, or appointment, in every combination of insured and not: no call
 * and no answer may mix them up. The second person also has their own visit.
 */
import type { AppointmentInput } from '../../src/domain/appointment.ts';
import { insurance, msh, nextId, pid, siu } from '../connectors/hl7/messages.ts';
import { field, RawSender, Receiver } from '../connectors/hl7/peers.ts';
import { anAppointment } from '../domain/examples.ts';
import { resourcesOf } from '../support/fhir/records.ts';
import { exportOf, type Visit, visits } from '../support/visits.ts';
import { medplum } from './fhir.ts';
import { startInterface } from './hl7.ts';
import { type Called, calledTwice, type Row, type Tally } from './tally.ts';
import { HOUR_MS, MINUTE_MS, START_MS, World } from './world.ts';

const ROUNDS_MAX = 10;

/** Each value of a person holds the person's number. */
type Person = { number: number; is_insured: boolean };
type Pair = { first: Person; second: Person };

/** The person for whom an answer was written, and the person whose insurance it is about. */
type Answered = { patient: string; member: string };

function pairsOf(count: number): Pair[] {
  return Array.from({ length: count }, (_, index) => ({
    first: { number: 2 * index + 1, is_insured: (index & 1) === 0 },
    second: { number: 2 * index + 2, is_insured: (index & 2) === 0 },
  }));
}

const peopleOf = (pairs: readonly Pair[]) => pairs.flatMap(({ first, second }) => [first, second]);
const memberOf = ({ number }: Person) => `ACTIVE${4000 + number}`;
const birthOf = ({ number }: Person) => `19${50 + number}-04-05`;

function visitOf(person: Person, source_id: string): AppointmentInput {
  const { number, is_insured } = person;
  const coverage = {
    carrier: 'Delta Dental',
    payor_id: '05030',
    member_id: memberOf(person),
    group_id: '',
    subscriber: null,
  };
  return anAppointment({
    source_id,
    starts_at: new Date(START_MS + 4 * 24 * HOUR_MS + number * 10 * MINUTE_MS).toISOString(),
    patient: {
      id: `P-${number}`,
      first_name: 'Pat',
      last_name: `Person-${number}`,
      birth_date: birthOf(person),
    },
    coverages: is_insured ? [coverage] : [],
  });
}

/** Calls and answers that mix people up, and missing ones. */
function judge(
  pairs: readonly Pair[],
  ledger: readonly Called[],
  answered: readonly Answered[],
): Tally {
  const insured = peopleOf(pairs).filter(({ is_insured }) => is_insured);
  const is_own = ({ request }: Called) => {
    const person = insured.find((each) => memberOf(each) === request.member_id);
    if (person === undefined) return false;
    const [year, month, day] = birthOf(person).split('-');
    return (
      request.patient_name === `Pat Person-${person.number}` &&
      request.dob === `${month}-${day}-${year}`
    );
  };
  const mixed = answered.filter(
    ({ patient, member }) =>
      !insured.some((each) => `P-${each.number}` === patient && memberOf(each) === member),
  );
  const found = new Set(answered.map(({ patient }) => patient));
  return {
    needs: insured.length,
    calls: ledger.length,
    twice: calledTwice(ledger, insured.map(memberOf)),
    lost: insured.filter(({ number }) => !found.has(`P-${number}`)).length,
    wrong: ledger.filter((call) => !is_own(call)).length + mixed.length,
  };
}

export function groupRows(): Row[] {
  const row = (name: string, run: () => Promise<Tally>): Row => ({ group: 'groups', name, run });
  return [
    row('two PIDs in SIU, with and without IN1', () => byHl7(inScheduling)),
    row('two PIDs in ADT, with and without IN1', () => byHl7(inRegistration)),
    row('rows of two people under one appointment ID', byCsv),
    row('FHIR appointments of two people', byFhir),
  ];
}

function inScheduling({ first, second }: Pair): string[] {
  const group = visitOf(first, `V-${first.number}`);
  const other = visitOf(second, `V-${second.number}`);
  const [header = '', appointment = '', ...rest] = siu(group, { with_insurance: false }).split(
    '\r',
  );
  const resources = rest.filter((line) => !line.startsWith('PID'));
  const people = [group, other].flatMap((each) => [pid(each), ...insurance(each)]);
  return [
    [header, appointment, ...people, ...resources].join('\r'),
    siu(other, { with_insurance: false }),
  ];
}

function inRegistration({ first, second }: Pair): string[] {
  const both = [visitOf(first, `V-${first.number}`), visitOf(second, `V-${second.number}`)];
  const people = both.flatMap((each) => [pid(each), 'PV1|1|N', ...insurance(each)]);
  return [
    [msh('ADT^A08', nextId()), 'EVN||20261123', ...people].join('\r'),
    ...both.map((each) => siu(each, { with_insurance: false })),
  ];
}

async function byHl7(messagesOf: (pair: Pair) => string[]): Promise<Tally> {
  const pairs = pairsOf(4);
  const wanted = peopleOf(pairs).filter(({ is_insured }) => is_insured).length;
  const receiver = await Receiver.start();
  const { world, port } = await startInterface(receiver.port, 'UNICODE UTF-8');
  const answered = () =>
    receiver.kept().map(([, message]) => ({
      patient: field(message, 'PID', 3).split('^')[0] ?? '',
      member: field(message, 'IN1', 36),
    }));
  try {
    const sender = await RawSender.to(port);
    for (const message of pairs.flatMap(messagesOf)) await sender.ask(message);
    sender.close();
    await world.passUntil(MINUTE_MS, async () => (await world.ledger()).length >= wanted);
    await world.answerAll();
    await world.passUntil(3 * MINUTE_MS, async () => answered().length >= wanted);
    await world.stop();
    return judge(pairs, await world.ledger(), answered());
  } finally {
    await world.close();
    await receiver.close();
  }
}

async function byCsv(): Promise<Tally> {
  const pairs = pairsOf(4);
  const row = (person: Person, appointment_id: string): Visit => {
    const [visit] = visits(1, () => ({
      appointment_id,
      patient_id: `P-${person.number}`,
      patient_name: `Pat Person-${person.number}`,
      dob: birthOf(person),
      ...(person.is_insured
        ? { member_id: memberOf(person) }
        : { member_id: '', carrier: '', payor_id: '' }),
    }));
    if (visit === undefined) throw new Error('There is no visit.');
    return visit;
  };
  const rows = pairs.flatMap(({ first, second }) => {
    const id = `V-${first.number}`;
    return [row(first, id), row(second, id), row(second, `V-${second.number}`)];
  });
  const world = await World.start();
  try {
    world.drop('export.csv', exportOf(rows));
    await callAndAnswer(world);
    const answered = world.written().map(({ line }) => ({
      patient: `P-${peopleOf(pairs).find((each) => birthOf(each) === line.dob)?.number}`,
      member: line.member_id ?? '',
    }));
    return judge(pairs, await world.ledger(), answered);
  } finally {
    await world.close();
  }
}

async function byFhir(): Promise<Tally> {
  const pairs = pairsOf(4);
  const peer = await medplum({});
  for (const { first, second } of pairs) {
    const others = resourcesOf(visitOf(second, `V-${second.number}`));
    for (const resource of [...others, ...resourcesOf(visitOf(first, `V-${first.number}`))]) {
      if (resource.resourceType === 'Appointment' && resource.id === `V-${first.number}`)
        resource.participant.push({
          actor: { reference: `Patient/P-${second.number}` },
          status: 'accepted',
        });
      await peer.put(resource);
    }
  }
  const connector = { id: 'ehr', type: 'fhir', base_url: peer.url, auth: 'none', poll_minutes: 0 };
  const world = await World.start({ connectors: [connector] });
  try {
    await callAndAnswer(world);
    const answered = (await peer.responses()).map(({ patient, insurance: about = [] }) => {
      const owner = Number(/coverage-P-(\d+)-/.exec(about[0]?.coverage?.reference ?? '')?.[1]);
      return {
        patient: patient?.reference?.replace('Patient/', '') ?? '',
        member: memberOf({ number: owner, is_insured: true }),
      };
    });
    return judge(pairs, await world.ledger(), answered);
  } finally {
    await world.close();
    await peer.close();
  }
}

async function callAndAnswer(world: World): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    await world.once();
    world.clock.pass(16 * MINUTE_MS);
  }
  await world.answerAll();
  for (let round = 0; round < ROUNDS_MAX / 2; round += 1) {
    await world.once();
    world.clock.pass(HOUR_MS);
  }
}
