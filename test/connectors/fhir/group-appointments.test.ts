/** Appointments with several patients: no insurance or diagnosis reaches another person. */
import type { Resource } from '@medplum/fhirtypes';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { appointment, bench, LONG_AGO, read } from './bench.ts';

const CDT = 'http://www.ada.org/cdt';
const ICD = 'http://hl7.org/fhir/sid/icd-10-cm';

/** A patient of a visit; `key` is part of each value, so the test sees where the value went. */
type Person = { key: string; insurances: number; is_ordered: boolean; is_diagnosed: boolean };

function personResources({ key, insurances, is_ordered, is_diagnosed }: Person): Resource[] {
  const subject = { reference: `Patient/${key}` };
  const found: Resource[] = [
    { resourceType: 'Patient', id: key, name: [{ family: key, given: ['F'] }] },
  ];
  for (let index = 0; index < insurances; index += 1)
    found.push({
      resourceType: 'Coverage',
      id: `coverage-${key}-${index}`,
      status: 'active',
      order: index + 1,
      subscriberId: `M-${key}-${index}`,
      beneficiary: subject,
      payor: [{ display: `Payer ${key}` }],
    });
  if (is_ordered)
    found.push({
      resourceType: 'ServiceRequest',
      id: `order-${key}`,
      status: 'active',
      intent: 'order',
      subject,
      code: { coding: [{ system: CDT, code: `ORDER-${key}` }] },
    });
  if (is_diagnosed)
    found.push({
      resourceType: 'Condition',
      id: `condition-${key}`,
      subject,
      code: { coding: [{ system: ICD, code: `DX-${key}` }] },
    });
  return found;
}

function visitOf(id: string, people: readonly Person[]): Resource {
  return {
    resourceType: 'Appointment',
    id,
    status: 'booked',
    start: appointment(1).starts_at,
    participant: people.map(({ key }) => ({
      actor: { reference: `Patient/${key}` },
      status: 'accepted',
    })),
    basedOn: people
      .filter(({ is_ordered }) => is_ordered)
      .map(({ key }) => ({ reference: `ServiceRequest/order-${key}` })),
    reasonReference: people
      .filter(({ is_diagnosed }) => is_diagnosed)
      .map(({ key }) => ({ reference: `Condition/condition-${key}` })),
  };
}

const person = fc.record({
  insurances: fc.nat({ max: 2 }),
  is_ordered: fc.boolean(),
  is_diagnosed: fc.boolean(),
});

test('a group appointment has the values of its first patient', async () => {
  const groups = fc.array(fc.array(person, { minLength: 1, maxLength: 3 }), {
    minLength: 20,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(groups, async (each) => {
      const world = await bench({}, { systems: { procedure: [CDT], diagnosis: [ICD] } });
      const visits = each.map((people, visit) => ({
        id: `A-${visit}`,
        people: people.map((one, index) => ({ ...one, key: `V${visit}P${index}` })),
      }));
      await world.peer.putAt(
        LONG_AGO,
        ...visits.flatMap(({ people }) => people.flatMap(personResources)),
        ...visits.map(({ id, people }) => visitOf(id, people)),
      );
      const batches = await world.pull();
      const found = read(batches);
      for (const { id, people } of visits) {
        const [first] = people;
        const visit = found.get(id);
        expect(visit?.patient.id).toBe(first?.key);
        expect(visit?.coverages.map(({ member_id }) => member_id)).toEqual(
          Array.from({ length: first?.insurances ?? 0 }, (_, at) => `M-${first?.key}-${at}`),
        );
        expect(visit?.procedure_codes).toEqual(first?.is_ordered ? [`ORDER-${first.key}`] : []);
        expect(visit?.diagnosis_codes).toEqual(first?.is_diagnosed ? [`DX-${first.key}`] : []);
      }
      expect(batches.flatMap(({ rejected }) => rejected)).toHaveLength(
        visits.filter(({ people }) => people.length > 1).length,
      );
    }),
    { numRuns: 5 },
  );
});

test('a coverage that may be any patient’s is not used for another patient', async () => {
  const world = await bench();
  const [first, second] = [1, 2].map(
    (number): Person => ({
      key: `P${number}`,
      insurances: number - 1,
      is_ordered: false,
      is_diagnosed: false,
    }),
  );
  if (first === undefined || second === undefined) throw new Error('There are two.');
  const resources = [...personResources(first), ...personResources(second)];
  await world.peer.putAt(LONG_AGO, ...resources, visitOf('A-1', [first]));
  const worded: Resource = {
    resourceType: 'Coverage',
    id: 'worded',
    status: 'active',
    subscriberId: 'M-SOMEBODY',
    beneficiary: { display: 'Somebody' },
    payor: [{ display: 'Payer' }],
  };
  world.peer.alter = ({ path }, body) =>
    path === '/Coverage'
      ? {
          ...body,
          entry: [
            worded,
            ...resources.filter(({ resourceType }) => resourceType === 'Coverage'),
          ].map((resource) => ({ resource, search: { mode: 'match' } })),
        }
      : body;
  expect(read(await world.pull()).get('A-1')?.coverages).toEqual([]);
});
