/** Claims that eligd asks about, and the ClaimResponse of an answer. */
import type { Claim, ClaimResponse, Resource } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { claim, claimBatchOf } from '../../../connectors/conformance/examples.ts';
import type { ClaimBatch, Connector, PullBatch } from '../../../connectors/contract.ts';
import type { ClaimStatusRecord } from '../../../src/records/claim-status.ts';
import type { PeerOptions } from '../../support/fhir/peer.ts';
import { claimResourcesOf } from '../../support/fhir/records.ts';
import { appointment, type Bench, bench } from './bench.ts';

const DAY_MS = 86_400_000;

async function withClaims(
  change: (claim: Claim) => object = () => ({}),
  ...more: Resource[]
): Promise<Bench> {
  const world = await bench({}, { claims_days: 90 });
  for (const resource of claimResourcesOf(claim(1)))
    await world.peer.put(
      resource.resourceType === 'Claim' ? { ...resource, ...change(resource) } : resource,
    );
  await world.peer.put(...more);
  return world;
}

const claimsOf = (batches: readonly PullBatch[]) => batches.flatMap((batch) => batch.claims ?? []);

const decision = (over: Partial<ClaimResponse> = {}): ClaimResponse => ({
  resourceType: 'ClaimResponse',
  id: 'of-the-clearinghouse',
  status: 'active',
  type: { coding: [{ code: 'oral' }] },
  use: 'claim',
  patient: { reference: 'Patient/P-1' },
  created: '2026-10-20',
  insurer: { display: 'theirs' },
  outcome: 'complete',
  request: { reference: 'Claim/C-1' },
  ...over,
});

describe('a claim', () => {
  test('a claim is read with patient, coverage, provider, and codes, once a day', async () => {
    const { pull, pass } = await withClaims();
    const [read] = claimsOf(await pull());
    expect(read).toMatchObject({
      source_id: 'C-1',
      status: 'open',
      claim_number: 'PAYER-1',
      date_of_service: '2026-10-01',
      billed_amount: '180.00',
      patient: { id: 'P-1', birth_date: '1987-02-14' },
      coverage: { id: 'coverage-P-1-1', member_id: 'MEMBER001', payor_id: '05030' },
      provider: { rendering_npi: '1234567893' },
      specialty: 'dental',
      procedure_codes: ['D0120', 'D1110'],
    });
    expect(claimsOf(await pull())).toEqual([]);
    await pass(DAY_MS);
    expect(claimsOf(await pull())).toHaveLength(1);
  });

  test('claims are not read if the configuration does not ask for them', async () => {
    const { peer, pull } = await bench();
    for (const resource of claimResourcesOf(claim(1))) await peer.put(resource);
    expect(claimsOf(await pull())).toEqual([]);
    expect(peer.requests.some(({ path }) => path === '/Claim')).toBe(false);
  });

  test.each([
    ['was withdrawn', () => ({ status: 'cancelled' }), [], 'settled'],
    ['was decided on, as somebody else has put there', () => ({}), [decision()], 'settled'],
    ['is still being decided on', () => ({}), [decision({ outcome: 'queued' })], 'open'],
    [
      'was decided on, but that was entered in error',
      () => ({}),
      [decision({ status: 'entered-in-error' })],
      'open',
    ],
    [
      'has an answer of eligd only',
      () => ({}),
      [decision({ identifier: [{ system: 'urn:eligd:inquiry', value: 'i' }] })],
      'open',
    ],
  ] as const)(
    'eligd decides whether to ask about a claim that %s',
    async (_, change, more, expected) => {
      const { pull } = await withClaims(change, ...more);
      expect(claimsOf(await pull()).map(({ status }) => status)).toEqual([expected]);
    },
  );

  test('claims are read though the server fails on another item (G7)', async () => {
    const { peer, pull, offer } = await withClaims();
    await offer(appointment(5));
    for (const resource of claimResourcesOf(claim(2))) await peer.put(resource);
    peer.fault = ({ path, query }) =>
      (path === '/Coverage' && query.includes('P-5')) || query.includes('C-2')
        ? { when: 'before', action: 'status', status: 500 }
        : null;
    const error = await pull().catch((thrown: Error & { batches: PullBatch[] }) => thrown);
    expect(error).toMatchObject({
      failure: 'transient',
      message: expect.stringContaining('a claim'),
    });
    const { batches } = error as { batches: PullBatch[] };
    expect(claimsOf(batches).map(({ source_id }) => source_id)).toEqual(['C-1']);
    expect(batches.flatMap(({ rejected }) => rejected).map(({ position }) => position)).toEqual([
      'Appointment/A-5',
      'Claim/C-2',
    ]);
  });

  test('a draft or an estimate is not read as a claim', async () => {
    for (const change of [{ status: 'draft' }, { use: 'predetermination' }])
      expect(claimsOf(await (await withClaims(() => change)).pull())).toEqual([]);
  });

  test('a claim without a total has the exact sum of its items', async () => {
    const { pull } = await withClaims(({ item = [] }) => ({
      total: undefined,
      item: item.map((one, index) => ({
        ...one,
        net: { value: [0.1, 0.2][index], currency: 'USD' },
      })),
    }));
    expect(claimsOf(await pull())[0]?.billed_amount).toBe('0.30');
  });

  test('a claim of a patient who cannot be read is reported', async () => {
    const { pull } = await withClaims(() => ({ patient: { reference: 'Patient/gone' } }));
    expect((await pull()).flatMap((batch) => batch.rejected)).toMatchObject([
      { position: 'Claim/C-1', field: 'patient' },
    ]);
  });
});

describe('an answer about a claim', () => {
  const deliver = (connector: Connector, batch: ClaimBatch) =>
    connector.deliverClaims?.(batch, new AbortController().signal);

  async function written(
    over: Partial<ClaimStatusRecord['claim']>,
    outcome: ClaimStatusRecord['outcome'] = 'successful',
    options: PeerOptions = {},
  ) {
    const world = await bench(options);
    for (const resource of claimResourcesOf(claim(1))) await world.peer.put(resource);
    const batch = claimBatchOf(1, [1]);
    const [delivery] = batch.deliveries;
    const record = { ...delivery!.record, outcome, claim: { ...delivery!.record.claim, ...over } };
    const outcomes = await deliver(world.connector, {
      ...batch,
      deliveries: [{ ...delivery!, record }],
    });
    expect(outcomes).toEqual([{ key: 'c-1-1', outcome: 'delivered' }]);
    expect(world.peer.invalid).toEqual([]);
    return world.peer;
  }

  const code = (over: object) => ({
    code: 'D0120',
    asked: true,
    answered: true,
    paid: null,
    patient_responsibility: null,
    applied_to_deductible: null,
    adjustment: null,
    denial_reason: null,
    appeal_info: null,
    ...over,
  });
  const money = (amount: string) => ({ amount, currency: 'USD' });

  test('a claim’s answer is a valid ClaimResponse with amounts per item and source', async () => {
    const codes = [
      code({ paid: money('40.10'), applied_to_deductible: money('5.00') }),
      code({ code: 'D1110', paid: money('60.20'), patient_responsibility: money('0.00') }),
    ];
    const peer = await written({ status: 'paid', answered: true, paid_on: '2026-11-02', codes });
    const [response, ...more] = await peer.all('ClaimResponse');
    expect(more).toEqual([]);
    expect(response).toMatchObject({
      outcome: 'complete',
      request: { reference: 'Claim/C-1' },
      payment: { date: '2026-11-02', amount: { value: 100.3 } },
      item: [
        { itemSequence: 1, adjudication: [{ amount: { value: 40.1 } }, { amount: { value: 5 } }] },
        { itemSequence: 2, adjudication: [{ amount: { value: 60.2 } }, { amount: { value: 0 } }] },
      ],
    });
    expect(await peer.all('Provenance')).toMatchObject([
      { target: [{ reference: `ClaimResponse/${response?.id}` }] },
    ]);
  });

  test.each([
    ['denied', 'complete'],
    ['pending', 'queued'],
    ['not_on_file', 'error'],
    ['unknown', 'partial'],
  ] as const)(
    'a claim that is %s has the outcome %s, and no amount that the payer left out (G8)',
    async (status, outcome) => {
      const peer = await written({ status, codes: [code({ answered: false })] });
      const [response] = await peer.all('ClaimResponse');
      expect(response?.outcome).toBe(outcome);
      expect(response).not.toHaveProperty('item');
      expect(response).not.toHaveProperty('payment');
      expect(response?.processNote?.map(({ text }) => text)).toContain('D0120: unknown');
    },
  );

  test('a claim’s unsuccessful answer says so', async () => {
    const [response] = await (await written({}, 'unsuccessful')).all('ClaimResponse');
    expect(response).toMatchObject({
      outcome: 'error',
      disposition: 'The call got no answer. Nothing is known about the claim.',
    });
  });

  test('a claim’s answer is a document if the server accepts no ClaimResponse', async () => {
    const peer = await written({ status: 'denied' }, 'successful', { without: ['ClaimResponse'] });
    const [document] = await peer.all('DocumentReference');
    expect(Buffer.from(document?.content[0]?.attachment.data ?? '', 'base64').toString()).toContain(
      'the claim is denied',
    );
  });
});
