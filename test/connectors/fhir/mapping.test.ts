/** How eligd reads resources as servers really write them (README.md, "Mapping"). */
import type { Appointment, Resource } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import type { Loose } from '../../support/fhir/peer.ts';
import { resourcesOf } from '../../support/fhir/records.ts';
import { appointment, bench, edit, LONG_AGO, read, readWith } from './bench.ts';

const NPI = 'http://hl7.org/fhir/sid/us-npi';
const EIN = 'urn:oid:2.16.840.1.113883.4.4';

describe('an appointment', () => {
  test('an appointment is read with all its references', async () => {
    const { visit } = await readWith((resources) => resources);
    expect(visit).toEqual({
      ...appointment(1),
      location: 'Main office',
      specialty: null,
      coverages: [{ id: 'coverage-P-1-1', ...appointment(1).coverages[0] }],
    });
  });

  test.each([
    ['2026-11-24T15:30:00Z', '2026-11-24T15:30:00.000Z'],
    ['2026-11-24T09:30:00-06:00', '2026-11-24T15:30:00.000Z'],
    ['2026-11-24T09:30:00', '2026-11-24T15:30:00.000Z'],
    ['2026-11-24T09:30:00.000-06:00', '2026-11-24T15:30:00.000Z'],
  ])('the start %s is read as %s', async (start, expected) => {
    const { visit } = await readWith(edit('Appointment', (one) => Object.assign(one, { start })));
    expect(visit?.starts_at).toBe(expected);
  });

  test.each([
    ['booked', 'booked'],
    ['pending', 'booked'],
    ['checked-in', 'booked'],
    ['arrived', 'booked'],
    ['Blocked', 'cancelled'],
    ['rescheduled', 'cancelled'],
    ['noshow', 'cancelled'],
    ['entered-in-error', 'cancelled'],
    ['waitlist', 'cancelled'],
    ['a word of its own', 'booked'],
  ])('the status %s is read as %s', async (status, expected) => {
    const { visit, cancelled } = await readWith(
      edit('Appointment', (one) => Object.assign(one, { status })),
    );
    expect([visit?.status, cancelled]).toEqual(
      expected === 'booked' ? ['booked', []] : [undefined, ['A-1']],
    );
  });

  test('a past appointment is completed, and a deceased patient is marked', async () => {
    const over = edit('Appointment', (one) => Object.assign(one, { status: 'fulfilled' }));
    expect((await readWith(over)).visit?.status).toBe('completed');
    for (const died of [{ deceasedBoolean: true }, { deceasedDateTime: '2026-10' }])
      expect(
        (await readWith(edit('Patient', (one) => Object.assign(one, died)))).visit?.patient,
      ).toMatchObject({ is_deceased: true });
    const alive = edit('Patient', (one) => Object.assign(one, { deceasedBoolean: false }));
    expect((await readWith(alive)).visit?.patient).not.toHaveProperty('is_deceased', true);
  });

  test('the configured status counts', async () => {
    const config = { statuses: { waitlist: 'booked', pending: 'ignored' } };
    const of = (status: string) =>
      readWith(
        edit('Appointment', (one) => Object.assign(one, { status })),
        config,
      );
    expect((await of('waitlist')).visit?.status).toBe('booked');
    expect((await of('pending')).visit).toBe(undefined);
  });

  test.each([true, false])(
    'an appointment entered in error without a patient is canceled (%s)',
    async (keeps_start) => {
      const strip = (one: Loose) => {
        one.status = 'entered-in-error';
        if (!keeps_start) delete one.start;
        one.participant = [];
      };
      const world = await bench();
      await world.offer(appointment(1));
      await world.pull();
      const [bare] = edit('Appointment', strip)([resourcesOf(appointment(1)).at(-1)]);
      await world.peer.put(bare);
      expect((await world.pull()).flatMap((batch) => batch.cancelled_ids ?? [])).toEqual(['A-1']);
    },
  );

  test('a group is about its first patient, and the others are reported', async () => {
    const another = { resourceType: 'Patient', id: 'P-2', name: [{ family: 'Other' }] };
    const add = (one: Loose) => {
      one.participant.push(one.participant[0], {
        actor: { reference: 'Patient/P-2' },
        status: 'accepted',
      });
    };
    const { visit, rejected } = await readWith(edit('Appointment', add, another));
    expect(visit?.patient.id).toBe('P-1');
    expect(rejected).toMatchObject([
      { position: 'Appointment/A-1', value_class: 'more than one patient' },
    ]);
  });

  test('an appointment without a patient is blocked time and no fault', async () => {
    const { visit, rejected } = await readWith(
      edit('Appointment', (one) => {
        one.participant = one.participant.slice(1);
      }),
    );
    expect([visit, rejected]).toEqual([undefined, []]);
  });

  test.each([
    ['no start', (one: Loose) => void delete one.start, 'start'],
    ['a day for a start', (one: Loose) => Object.assign(one, { start: '2026-11-24' }), 'start'],
    [
      'a patient who is gone',
      (one: Loose) => Object.assign(one.participant[0].actor, { reference: 'Patient/gone' }),
      'participant',
    ],
    [
      'a patient without a record',
      (one: Loose) => {
        one.participant[0].actor = { type: 'Patient', display: 'Zebulon Quillfeather' };
      },
      'participant',
    ],
    [
      'a patient on another server',
      (one: Loose) =>
        Object.assign(one.participant[0].actor, {
          reference: 'https://elsewhere.example/fhir/Patient/1',
          type: 'Patient',
        }),
      'participant',
    ],
  ])(
    'an appointment with %s is reported, and never passes as uninsured',
    async (_, change, field) => {
      // A search by date does not find an appointment without a start, so a search for changes
      // does.
      const world = await bench({}, { search_by: [{ _id: 'A-1' }] });
      const resources = edit('Appointment', change)(structuredClone(resourcesOf(appointment(1))));
      await world.peer.put(...(resources as Resource[]));
      world.peer.alter = ({ path }, body) =>
        path === '/Appointment' ? { ...body, entry: [{ resource: resources.at(-1) }] } : body;
      const batches = await world.pull();
      expect(batches.flatMap((batch) => batch.appointments)).toEqual([]);
      expect(batches.flatMap((batch) => batch.rejected)).toMatchObject([
        { source_id: 'A-1', field },
      ]);
    },
  );

  test.each(['text', 7, null, [], [null], { a: 1 }, [{ actor: 7 }], [{ actor: { reference: 7 } }]])(
    'elements %j are read without an error',
    async (odd) => {
      const world = await bench();
      await world.offer(appointment(1), appointment(2));
      world.peer.alter = ({ path }, body) => {
        const change = (resource: Loose) =>
          resource.id === 'A-2'
            ? {
                ...resource,
                participant: odd,
                serviceType: odd,
                meta: odd,
                status: odd,
                supportingInformation: odd,
              }
            : resource;
        const entry = body.entry?.map((one: Loose) => ({ ...one, resource: change(one.resource) }));
        return path === '/Appointment' ? { ...body, entry } : body;
      };
      expect(read(await world.pull()).has('A-1')).toBe(true);
    },
  );

  test.each([
    ['relative', 'Patient/P-1'],
    ['versioned', 'Patient/P-1/_history/3'],
    ['absolute', '{base}/Patient/P-1'],
  ])('a patient is found by a reference that is %s', async (_, reference) => {
    const world = await bench();
    const resources = edit('Appointment', (one) => {
      one.participant[0].actor.reference = reference.replace('{base}', world.peer.url);
    })(structuredClone(resourcesOf(appointment(1))));
    await world.peer.putAt(LONG_AGO, ...(resources as Resource[]));
    expect(read(await world.pull()).get('A-1')?.patient.id).toBe('P-1');
  });

  test('practitioner and place may be contained, or a name with an identifier', async () => {
    const { visit } = await readWith(
      edit('Appointment', (one) => {
        one.contained = [{ resourceType: 'Location', id: 'room', name: 'North office' }];
        one.participant[1].actor = {
          type: 'Practitioner',
          identifier: { system: NPI, value: '1245319599' },
        };
        one.participant[2].actor = { reference: '#room', type: 'Location' };
      }),
    );
    expect(visit).toMatchObject({
      location: 'North office',
      provider: { rendering_npi: '1245319599' },
    });
  });

  test('tax ID and NPI come from the role’s organization or its parents', async () => {
    const change = edit(
      'Appointment',
      (one) => {
        one.participant[1].actor = { reference: 'PractitionerRole/role' };
      },
      {
        resourceType: 'PractitionerRole',
        id: 'role',
        practitioner: { reference: 'Practitioner/npi-1234567893' },
        organization: { reference: 'Organization/department' },
      },
      {
        resourceType: 'Organization',
        id: 'department',
        partOf: { reference: 'Organization/practice' },
      },
      {
        resourceType: 'Organization',
        id: 'practice',
        identifier: [
          { system: EIN, value: '98-7654321' },
          { type: { coding: [{ code: 'NPI' }] }, value: '1245319599' },
        ],
      },
    );
    const from = async (billing: string) => (await readWith(change, { billing })).visit?.provider;
    expect(await from('organization')).toMatchObject({
      rendering_npi: '1234567893',
      billing_npi: '1245319599',
      tax_id: '98-7654321',
    });
    expect(await from('configuration')).toMatchObject({
      rendering_npi: '1234567893',
      billing_npi: '',
      tax_id: '',
    });
  });

  test('codes come from orders and reasons, each by its system', async () => {
    const { visit } = await readWith(
      edit(
        'Appointment',
        (one) => {
          one.basedOn = [{ reference: 'ServiceRequest/order' }];
          one.reasonReference = [
            { reference: 'Condition/caries' },
            { reference: 'Procedure/other' },
          ];
          one.reasonCode = [
            { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10-cm', code: 'k02.9' }] },
          ];
        },
        {
          resourceType: 'ServiceRequest',
          id: 'order',
          status: 'active',
          intent: 'order',
          subject: { reference: 'Patient/P-1' },
          code: {
            coding: [
              { system: 'http://www.ama-assn.org/go/cpt', code: '99213' },
              { system: 'http://snomed.info/sct', code: '1' },
            ],
          },
        },
        {
          resourceType: 'Condition',
          id: 'caries',
          subject: { reference: 'Patient/P-1' },
          code: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10-cm', code: 'K02.52' }] },
        },
      ),
    );
    expect(visit).toMatchObject({
      procedure_codes: ['99213', 'D0120', 'D1110'],
      diagnosis_codes: ['K02.9', 'K02.52'],
    });
  });

  test('a code that several orders name is counted', async () => {
    const codes = (...found: string[]) => ({
      coding: found.map((code) => ({ system: 'http://www.ada.org/cdt', code })),
    });
    const order = (id: string, code: object) => ({
      ...{ resourceType: 'ServiceRequest', id, status: 'active', intent: 'order' },
      ...{ subject: { reference: 'Patient/P-1' }, code },
    });
    const { visit } = await readWith(
      edit(
        'Appointment',
        (one) => {
          one.basedOn = ['one', 'two', 'three'].map((id) => ({
            reference: `ServiceRequest/${id}`,
          }));
          one.serviceType = [codes('D2392'), codes('D0120', 'D0120')];
        },
        ...[order('one', codes('D2392')), order('two', codes('D2392', 'd2392'))],
        order('three', codes('D1110')),
      ),
    );
    expect(visit).toMatchObject({
      procedure_codes: ['D2392', 'D1110', 'D0120'],
      procedure_counts: { D2392: 2 },
    });
  });

  test.each([
    [{ quantityQuantity: { value: 2 } }, 2],
    [{ quantityQuantity: { value: 3, system: 'http://unitsofmeasure.org', code: '1' } }, 3],
    [{ quantityQuantity: { value: 4, unit: 'units' } }, 4],
    [{ quantityQuantity: { value: 1 } }, undefined],
    [{ quantityQuantity: { value: 12, unit: 'visits' } }, undefined],
    [{ quantityQuantity: { value: 1500, code: 'USD' } }, undefined],
    [{ quantityQuantity: { value: 2, comparator: '<=' } }, undefined],
    [{ quantityQuantity: { value: 1.5 } }, undefined],
    [{ quantityQuantity: { value: 1e9 } }, undefined],
    [{ quantityQuantity: { value: 2 }, occurrencePeriod: { start: '2026-01-01' } }, undefined],
    [{ quantityRatio: { numerator: { value: 20 } } }, undefined],
  ])('the quantity of an order %j is %s of its procedure', async (quantity, count) => {
    const code = { coding: [{ system: 'http://www.ada.org/cdt', code: 'D2392' }] };
    const order = {
      ...{ resourceType: 'ServiceRequest', id: 'one', status: 'active', intent: 'order' },
      ...{ subject: { reference: 'Patient/P-1' }, code, ...quantity },
    };
    const { visit } = await readWith(
      edit(
        'Appointment',
        (one) => {
          one.basedOn = [{ reference: 'ServiceRequest/one' }];
          one.serviceType = [code];
        },
        order,
      ),
    );
    expect(visit?.procedure_counts?.D2392).toBe(count);
  });

  test.each([
    ['supportingInformation', { supportingInformation: [{ reference: 'Appointment/A-0' }] }],
    [
      'the extension for R5',
      {
        extension: [
          {
            url: 'http://hl7.org/fhir/5.0/StructureDefinition/extension-Appointment.replaces',
            valueReference: { reference: 'Appointment/A-0' },
          },
        ],
      },
    ],
  ])('%s names the replaced appointment', async (_, more) => {
    const { visit } = await readWith(
      edit('Appointment', (one: Appointment) => Object.assign(one, more)),
    );
    expect(visit?.replaces).toBe('A-0');
  });

  test('the configured specialty counts', async () => {
    const change = edit('Appointment', (one) => {
      one.specialty = [{ coding: [{ system: 'http://snomed.info/sct', code: '394587001' }] }];
    });
    expect(
      (await readWith(change, { specialties: { '394587001': 'mental_health' } })).visit?.specialty,
    ).toBe('mental_health');
  });
});

describe('a patient', () => {
  test.each([
    [
      [
        { use: 'old', family: 'Before' },
        { use: 'official', family: 'Now', given: ['Ann', 'Marie'] },
      ],
      ['Ann', 'Now'],
    ],
    [
      [
        { use: 'official', family: 'Before', period: { end: '2020-01-01' } },
        { family: 'Now', given: ['Ann'] },
      ],
      ['Ann', 'Now'],
    ],
    [[{ text: 'Ann Marie Now' }], ['Ann Marie', 'Now']],
    [[{ text: 'Now, Ann' }], ['Ann', 'Now']],
    [undefined, ['', '']],
  ])('the patient’s name is the one that is valid: %j', async (name, expected) => {
    const { visit } = await readWith(edit('Patient', (one) => Object.assign(one, { name })));
    expect([visit?.patient.first_name, visit?.patient.last_name]).toEqual(expected);
  });

  test('a birth date that is only a year is missing, and is reported', async () => {
    const { visit } = await readWith(
      edit('Patient', (one) => Object.assign(one, { birthDate: '1987' })),
    );
    expect(visit?.patient.birth_date).toBe(null);
    expect(visit?.problems).toMatchObject([{ field: 'Patient.birthDate' }]);
  });
});
