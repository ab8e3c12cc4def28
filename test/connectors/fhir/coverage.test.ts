/** The coverages that eligd asks about, and what it knows of them (README.md, "Mapping"). */
import type { Coverage } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import type { PullBatch } from '../../../connectors/contract.ts';
import type { AppointmentInput } from '../../../src/domain/appointment.ts';
import { inForce } from '../../../src/domain/coverage-period.ts';
import type { Loose } from '../../support/fhir/peer.ts';
import { appointment, bench, edit, read, readWith } from './bench.ts';

describe('a coverage', () => {
  const coverage = (change: (one: Loose) => void, ...more: Loose[]) =>
    edit('Coverage', change, ...more);
  const more = (over: Partial<Coverage>): Loose => ({
    resourceType: 'Coverage',
    id: 'another',
    status: 'active',
    subscriberId: 'OTHER',
    beneficiary: { reference: 'Patient/P-1' },
    payor: [{ display: 'Other Payer' }],
    ...over,
  });
  /** Those in force at the visit, as intake stores them. */
  const members = (visit: AppointmentInput | undefined) =>
    visit && inForce(visit.coverages, visit.starts_at).map(({ member_id }) => member_id);

  test('the member’s own ID comes before the subscriber’s', async () => {
    const identifier = [{ type: { coding: [{ code: 'MB' }] }, value: 'OWN-1' }];
    expect(
      members((await readWith(coverage((one) => Object.assign(one, { identifier })))).visit),
    ).toEqual(['OWN-1']);
  });

  test('coverages keep the server’s order', async () => {
    const { visit } = await readWith(
      coverage((one) => Object.assign(one, { order: 2 }), more({ order: 1 })),
    );
    expect(members(visit)).toEqual(['OTHER', 'MEMBER001']);
  });

  test.each([
    ['cancelled', { status: 'cancelled' as const }],
    ['entered in error', { status: 'entered-in-error' as const }],
    ['ended before the visit while another holds', { period: { end: '2026-10-31' } }],
    ['ended in a month before it', { period: { end: '2026-10' } }],
    ['ended in a year before it', { period: { end: '2025' } }],
    ['ended in the evening before it', { period: { end: '2026-11-24T05:59:59Z' } }],
    ['not begun yet while another holds', { period: { start: '2027-01-01' } }],
    ['paid by the patient', { type: { coding: [{ code: 'pay' }] } }],
    ['paid by a relative', { payor: [{ reference: 'RelatedPerson/r' }] }],
  ])('a coverage that is %s is left out', async (_, over) => {
    expect(members((await readWith(coverage(() => undefined, more(over)))).visit)).toEqual([
      'MEMBER001',
    ]);
  });

  test.each(['2026-11-24', '2026-11-24T00:00:00Z', '2026-11-24T23:59:59-06:00'])(
    'a coverage that ends on the day of the visit (%s) counts',
    async (end) => {
      const { visit } = await readWith(coverage(() => undefined, more({ period: { end } })));
      expect(members(visit)).toHaveLength(2);
    },
  );

  test('an ended coverage counts if there is no other, as it may be renewed', async () => {
    const { visit } = await readWith(
      coverage((one) => Object.assign(one, { period: { end: '2025-12-31' } })),
    );
    expect(members(visit)).toEqual(['MEMBER001']);
  });

  test('a type outside the list is skipped, but a coverage without a type is not', async () => {
    const vision = { type: { coding: [{ code: 'VISPOL' }] } };
    expect(
      members(
        (
          await readWith(
            coverage(() => undefined, more(vision)),
            { coverage_types: ['DENTPRG'] },
          )
        ).visit,
      ),
    ).toEqual(['MEMBER001']);
  });

  test('a coverage names the subscriber if that is another person', async () => {
    const { visit } = await readWith(
      coverage(
        (one) => {
          one.subscriber = { reference: 'RelatedPerson/mother' };
          one.relationship = { coding: [{ code: 'child' }] };
        },
        {
          resourceType: 'RelatedPerson',
          id: 'mother',
          patient: { reference: 'Patient/P-1' },
          name: [{ family: 'Parent', given: ['Pat'] }],
          birthDate: '1960-05-06',
        },
      ),
    );
    expect(visit?.coverages[0]?.subscriber).toEqual({
      name: 'Pat Parent',
      birth_date: '1960-05-06',
      relationship: 'child',
    });
  });

  test('coverages are found by any of the patient’s addresses on the server', async () => {
    const absolute = (address: (url: string) => string) =>
      bench().then(async (world) => {
        const base = address(world.peer.url);
        await world.offer(appointment(1));
        world.peer.alter = ({ path }, body) => {
          if (path !== '/Coverage') return body;
          const entry = body.entry.map((one: Loose) => ({
            ...one,
            resource: {
              ...one.resource,
              beneficiary: { reference: `${base}/Patient/P-1/_history/3` },
              subscriber: { reference: `${base}/Patient/P-1` },
            },
          }));
          return { ...body, entry };
        };
        return read(await world.pull()).get('A-1')?.coverages;
      });
    for (const address of [(url: string) => url, () => 'https://inside.example/fhir'])
      expect(await absolute(address)).toMatchObject([{ member_id: 'MEMBER001', subscriber: null }]);
  });

  test.each([
    [
      'whose list of coverages continues on another server',
      { link: [{ relation: 'next', url: 'https://elsewhere.example/2' }] },
    ],
    [
      'who may have some that could not be searched',
      {
        entry: [
          {
            resource: {
              resourceType: 'OperationOutcome',
              issue: [{ severity: 'error', code: 'forbidden' }],
            },
          },
        ],
      },
    ],
  ])('coverages of a patient %s are not read as "none"', async (_, body) => {
    const world = await bench();
    await world.offer(appointment(1));
    world.peer.alter = ({ path }, found) =>
      path === '/Coverage' ? { ...found, entry: [], ...body } : found;
    const batches = await world.pull().catch((thrown: { batches: PullBatch[] }) => thrown.batches);
    expect(read(batches).size).toBe(0);
    expect(batches.flatMap(({ rejected }) => rejected)).toMatchObject([{ source_id: 'A-1' }]);
  });

  test('the payer may be contained, or only a name', async () => {
    const contained = coverage((one) => {
      one.contained = [
        {
          resourceType: 'Organization',
          id: 'p',
          name: 'Contained Payer',
          identifier: [{ type: { coding: [{ code: 'NIIP' }] }, value: '00123' }],
        },
      ];
      one.payor = [{ reference: '#p' }];
    });
    expect((await readWith(contained)).visit?.coverages[0]).toMatchObject({
      carrier: 'Contained Payer',
      payor_id: '00123',
    });
    const named = coverage((one) =>
      Object.assign(one, { payor: [{ reference: 'Organization/gone', display: 'Named Payer' }] }),
    );
    expect((await readWith(named)).visit?.coverages[0]).toMatchObject({
      carrier: 'Named Payer',
      payor_id: '',
    });
  });

  test('identifiers are recognized by the configured systems', async () => {
    const change = (resources: Loose[]) =>
      resources.map((one) =>
        one.id === 'payer-05030'
          ? { ...one, identifier: [{ system: 'https://clearinghouse.example', value: '77' }] }
          : one,
      );
    const systems = { payer_id: ['https://clearinghouse.example'] };
    expect((await readWith(change, { systems })).visit?.coverages[0]?.payor_id).toBe('77');
  });

  test('another patient’s coverage is never used, even if the server returns it', async () => {
    const world = await bench();
    await world.offer(appointment(1), appointment(2));
    const all = await world.peer.all('Coverage');
    world.peer.alter = ({ path }, body) =>
      path === '/Coverage' ? { ...body, entry: all.map((resource) => ({ resource })) } : body;
    expect(members(read(await world.pull()).get('A-2'))).toEqual(['MEMBER002']);
  });
});
