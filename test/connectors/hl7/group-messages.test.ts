/**
 * Messages with several patients: the segments after a PID belong to that patient (HL7 v2.5.1,
 * sections 3.3, 6.4 and 10.3.1), and never reach another person's chart.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { messageReader } from '../../../connectors/hl7/in/reading.ts';
import type { Content } from '../../../connectors/hl7/in/result.ts';
import { parseMessage } from '../../../connectors/hl7/v2/message.ts';
import { isNpi } from '../../../src/domain/identifiers.ts';
import { msh, numbered, type WholeReading, whole } from './messages.ts';

/** Each value of a person has the person's number, so the test sees where it went. */
type Person = {
  number: number;
  id: 'typed' | 'untyped' | 'none';
  insurances: number;
  diagnoses: number;
  has_visit: boolean;
  has_allergy: boolean;
};

const NPIS = [1, 2, 3].map(
  (number) => Array.from({ length: 10 }, (_, last) => `10${number}000000${last}`).find(isNpi) ?? '',
);

function read(...lines: string[]): WholeReading {
  const message = parseMessage(lines.join('\r'));
  if (message === null) throw new Error('It is no message.');
  const reader = messageReader({
    fields: {},
    statuses: {},
    without_insurance: 'unknown',
    time_zone: 'America/Chicago',
  });
  return whole(reader(message));
}

function content(reading: WholeReading): Content {
  if (reading.kind !== 'content' && reading.kind !== 'faulty')
    throw new Error(`It is ${reading.kind}.`);
  return reading.content;
}

const in1 = (number: number, index: number) =>
  `IN1|${index}||C${number}|CARRIER-${number}||||G-${number}|${'|'.repeat(27)}M-${number}-${index}`;

const memberIds = ({ number, insurances }: Person) =>
  Array.from({ length: insurances }, (_, index) => `M-${number}-${index + 1}`);

const diagnosesOf = ({ number, diagnoses }: Person) =>
  Array.from({ length: diagnoses }, (_, index) => `K0${number}.${index + 1}`);

function pidOf({ number, id }: Person): string {
  const ids = { typed: `P-${number}^^^X^MR`, untyped: `P-${number}`, none: '' }[id];
  return `PID|1||${ids}||L-${number}^F-${number}||198${number}0101`;
}

function group(person: Person): string[] {
  const { number, has_visit, has_allergy, insurances } = person;
  return [
    pidOf(person),
    ...(has_visit
      ? [
          `PV1|1|O|ROOM-${number}^^^PLACE-${number}||||${NPIS[number - 1]}` +
            `${'|'.repeat(12)}V-${number}`,
        ]
      : []),
    ...(has_allergy ? [`AL1|1|DA|ALLERGY-${number}`] : []),
    ...diagnosesOf(person).map((code, index) => `DG1|${index + 1}||${code}`),
    `PR1|1||D0${number}20`,
    ...Array.from({ length: insurances }, (_, index) => in1(number, index + 1)),
  ];
}

function charges(person: Person): string[] {
  const { number } = person;
  const lines = group(person);
  const ft1 = numbered('FT1', {
    1: '1',
    4: '202611240900',
    6: 'CG',
    10: '1',
    11: `${number}00.00`,
    19: `K0${number}.9`,
    25: `D0${number}20`,
    34: `CLAIM-${number}`,
  });
  const isInsurance = (line: string) => line.startsWith('IN1');
  return [...lines.filter((line) => !isInsurance(line)), ft1, ...lines.filter(isInsurance)];
}

/** The numbers of the people whose values it has. */
function peopleIn(value: unknown): Set<number> {
  const text = JSON.stringify(value);
  const found = text.matchAll(
    new RegExp(
      String.raw`(?:[PLFMGVC]|CARRIER|ROOM|PLACE|CLAIM)-(\d)|K0(\d)\.|D0(\d)20` +
        String.raw`|10(\d)000000\d|198(\d)-01|"C(\d)"`,
      'g',
    ),
  );
  return new Set(
    [...found].map((match) => Number(match.slice(1).find((part) => part !== undefined))),
  );
}

const person = (number: number) =>
  fc.record({
    number: fc.constant(number),
    id: fc.constantFrom<Person['id']>('typed', 'untyped', 'none'),
    insurances: fc.nat({ max: 2 }),
    diagnoses: fc.nat({ max: 2 }),
    has_visit: fc.boolean(),
    has_allergy: fc.boolean(),
  });

const people = fc.oneof(
  fc.tuple(person(1)),
  fc.tuple(person(1), person(2)),
  fc.tuple(person(1), person(2), person(3)),
);

/** An IN1 that follows no single patient: before the first PID, or after the resources. */
const stray = fc.constantFrom<'none' | 'before' | 'after'>('none', 'before', 'after');

const RUNS = { numRuns: 400 };

/** The message's data about these patients, apart from the visit. */
const described = (all: readonly Person[]) =>
  all
    .filter(({ id, insurances }) => id !== 'none' && insurances > 0)
    .map((each) => [`P-${each.number}`, memberIds(each)]);

const updates = ({ patients }: Content) =>
  patients.map((update) =>
    update.kind === 'described'
      ? [update.patient.id, update.coverages?.map(({ member_id }) => member_id) ?? null]
      : [],
  );

function expectOwnInsurance(taken: Content, all: readonly Person[]): void {
  expect(updates(taken)).toEqual(described(all));
  for (const update of taken.patients) expect(peopleIn(update).size).toBe(1);
}

describe('the segments after a PID belong to its patient', () => {
  test('segments in a scheduling message belong to the PID before them', () => {
    fc.assert(
      fc.property(people, stray, (all, where) => {
        const astray = all.length > 1 ? [in1(9, 1)] : [];
        const taken = content(
          read(
            msh('SIU^S12^SIU_S12', 'C1'),
            'SCH||A-1',
            ...(where === 'before' ? astray : []),
            ...all.flatMap(group),
            'RGS|1',
            'AIS|1||EXAM|202611240900',
            ...(where === 'after' ? astray : []),
          ),
        );
        const [first] = all;
        const [visit] = taken.appointments;
        expect([...peopleIn(visit)]).toEqual([1]);
        expect(visit?.diagnosis_codes).toEqual(diagnosesOf(first));
        expect(visit?.procedure_codes).toEqual(['D0120']);
        expect(visit?.location).toBe(first.has_visit ? 'PLACE-1' : null);
        expect(visit?.provider.rendering_npi).toBe(first.has_visit ? NPIS[0] : '');
        expect(visit?.coverages.map(({ member_id }) => member_id)).toEqual(
          first.id === 'none' ? memberIds(first) : [],
        );
        expectOwnInsurance(taken, all);
        expect(taken.rejected).toHaveLength(all.length - 1);
      }),
      RUNS,
    );
  });

  test.each(['A04', 'A08', 'A28', 'A31'])(
    'segments in an ADT^%s belong to the PID before them',
    (event) => {
      fc.assert(
        fc.property(people, fc.boolean(), (all, is_astray) => {
          const astray = is_astray && all.length > 1 ? [in1(9, 1)] : [];
          const reading = read(msh(`ADT^${event}`, 'C1'), 'EVN', ...astray, ...all.flatMap(group));
          const named = all.filter(({ id }) => id !== 'none');
          expect(reading.kind).toBe(named.length === all.length ? 'content' : 'faulty');
          const taken = content(reading);
          expect(updates(taken)).toEqual(
            named.map((each) => [`P-${each.number}`, each.insurances > 0 ? memberIds(each) : null]),
          );
          for (const update of taken.patients) expect(peopleIn(update).size).toBe(1);
        }),
        { numRuns: 100 },
      );
    },
  );

  test('segments in charges belong to the PID before them', () => {
    fc.assert(
      fc.property(people, (all) => {
        const taken = content(read(msh('DFT^P03', 'C1'), 'EVN', ...all.flatMap(charges)));
        expect(
          taken.claims.map((claim) => [claim.source_id, claim.billed_amount, [...peopleIn(claim)]]),
        ).toEqual(all.map(({ number }) => [`CLAIM-${number}`, `${number}00.00`, [number]]));
        expect(taken.claims.map(({ diagnosis_codes }) => diagnosis_codes)).toEqual(
          all.map((each) => [`K0${each.number}.9`, ...diagnosesOf(each)]),
        );
        expect(taken.claims.map(({ coverage }) => coverage.member_id)).toEqual(
          all.map((each) => memberIds(each)[0] ?? ''),
        );
        expect(taken.rejected).toEqual([]);
      }),
      RUNS,
    );
  });
});

const ANN: Person = {
  number: 1,
  id: 'typed',
  insurances: 0,
  diagnoses: 0,
  has_visit: false,
  has_allergy: false,
};
const BOB: Person = { ...ANN, number: 2, insurances: 1 };

test('a call for the first patient never has the second one’s member ID', () => {
  const { appointments, patients } = content(
    read(msh('SIU^S12', 'C1'), 'SCH||A-1', ...group(ANN), ...group(BOB), 'AIS|1||X|202611240900'),
  );
  expect(appointments).toMatchObject([
    { patient: { id: 'P-1' }, coverages: [], insurance: 'of_patient' },
  ]);
  expect(patients).toMatchObject([{ patient: { id: 'P-2' }, coverages: [{ member_id: 'M-2-1' }] }]);
});

test('an ID is never taken from another patient of the message', () => {
  // The first PID has an ID without a type; only the second one has a medical record number.
  const taken = content(
    read(msh('ADT^A08', 'C1'), ...group({ ...ANN, id: 'untyped' }), ...group(BOB)),
  );
  expect(taken.patients).toMatchObject([
    { patient: { id: 'P-1', first_name: 'F-1' }, coverages: null },
    { patient: { id: 'P-2', first_name: 'F-2' }, coverages: [{ member_id: 'M-2-1' }] },
  ]);
});

describe('an ID that several people of a message have, such as a family number', () => {
  const family = (...all: Person[]) =>
    all.flatMap(group).map((line) => line.replace(/\|P-\d\^/, '|FAMILY^'));
  const INSURED = { ...ANN, insurances: 1 };

  test('each insurance stays with the visit of its message', () => {
    const taken = content(
      read(msh('SIU^S12', 'C1'), 'SCH||A-1', ...family(INSURED, BOB), 'AIS|1||X|202611240900'),
    );
    expect(taken.patients).toEqual([]);
    expect(taken.appointments).toMatchObject([
      { patient: { first_name: 'F-1' }, coverages: [{ member_id: 'M-1-1' }] },
    ]);
    expect(taken.appointments[0]).not.toHaveProperty('insurance');
    expect(taken.rejected).toMatchObject([{ source_id: 'A-1, patient 2' }]);
  });

  test('an ADT that names several patients is faulty, and the sender gets an error', () => {
    const third = { ...BOB, number: 3 };
    expect(
      read(msh('ADT^A08', 'C1'), 'EVN', ...family(INSURED, BOB), ...group(third)),
    ).toMatchObject({
      kind: 'faulty',
      fault: { code: 205, at: 'PID-3' },
      content: { patients: [{ patient: { id: 'P-3' } }] },
    });
  });
});

test('a patient whom a message names twice is one patient', () => {
  const taken = content(
    read(
      msh('SIU^S12', 'C1'),
      'SCH||A-1',
      pidOf(ANN),
      ...group({ ...ANN, insurances: 1 }),
      'AIS|1||X|202611240900',
    ),
  );
  expect(taken.rejected).toEqual([]);
  expect(updates(taken)).toEqual([['P-1', ['M-1-1']]]);
});

test('charges that could belong to either patient are reported and not used', () => {
  const [ft1 = ''] = charges(ANN).filter((line) => line.startsWith('FT1'));
  const before = read(msh('DFT^P03', 'C1'), ft1, ...group(ANN), ...group(BOB));
  expect(before).toMatchObject({ kind: 'faulty', fault: { at: 'FT1' }, content: { claims: [] } });
  const twice = read(
    msh('DFT^P03', 'C1'),
    ...charges(ANN),
    ...charges(BOB).map((line) => line.replace('CLAIM-2', 'CLAIM-1')),
  );
  expect(twice).toMatchObject({
    kind: 'faulty',
    content: {
      claims: [{ source_id: 'CLAIM-1', patient: { id: 'P-1' } }],
      rejected: [{ value_class: 'the same for several patients' }],
    },
  });
});

test('a message with too many patients is refused as a whole and listed', () => {
  const visit = msh('SIU^S12^SIU_S12', 'C1');
  const lines = (count: number) => [
    visit,
    'SCH|V1||||||||||^^^20310107100000',
    ...Array.from({ length: count }, (_, at) => `PID|1||P${at}^^^^MR||Doe^Ann`),
  ];
  expect(content(read(...lines(100))).appointments).toHaveLength(1);
  expect(read(...lines(101))).toMatchObject({
    kind: 'faulty',
    fault: { code: 207 },
    content: { appointments: [], patients: [], rejected: [{ field: 'message' }] },
  });
});
