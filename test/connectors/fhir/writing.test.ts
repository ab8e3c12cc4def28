/**
 * Answers on their way into a chart: written once, whatever the server supports and however the
 * connection fails (G4).
 */
import type { CoverageEligibilityResponse, Resource } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import type { Connector, DeliveryBatch } from '../../../connectors/contract.ts';
import type { Fault, FhirPeer, Loose, PeerOptions } from '../../support/fhir/peer.ts';
import { appointment, bench, failOnce, written } from './bench.ts';

const deliver = (connector: Connector, batch: DeliveryBatch) =>
  connector.deliver(batch, new AbortController().signal);
const DELIVERED = [{ key: 'd-1-1', outcome: 'delivered' }];
const KINDS = ['CoverageEligibilityRequest', 'CoverageEligibilityResponse', 'Provenance'] as const;

async function counts(peer: FhirPeer): Promise<number[]> {
  return await Promise.all(KINDS.map(async (kind) => (await peer.all(kind)).length));
}

describe('an answer', () => {
  test('an answer is a request, a response, and provenance, next to its coverage', async () => {
    const { peer, connector, offer } = await bench();
    await offer(appointment(1));
    expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
    const [request] = await peer.all('CoverageEligibilityRequest');
    const [response] = await peer.all('CoverageEligibilityResponse');
    const [provenance] = await peer.all('Provenance');
    expect(request).toMatchObject({
      identifier: [{ system: 'urn:eligd:inquiry', value: 'inq-1' }],
      insurance: [{ coverage: { reference: 'Coverage/coverage-P-1-1' } }],
      supportingInfo: [{ information: { reference: 'Appointment/A-1' } }],
    });
    expect(response).toMatchObject({
      patient: { reference: 'Patient/P-1' },
      request: { reference: `CoverageEligibilityRequest/${request?.id}` },
      insurer: { reference: 'Organization/payer-05030' },
      insurance: [{ inforce: true }],
    });
    expect(provenance).toMatchObject({
      target: [{ reference: `CoverageEligibilityResponse/${response?.id}` }],
    });
    expect(peer.invalid).toEqual([]);
  });

  test('an answer goes to its own patient’s coverage if a family shares a member ID', async () => {
    const { peer, connector, offer } = await bench();
    const [delivery] = batchOf(1, [1]).deliveries;
    const { member_id } = delivery!.appointment.coverage;
    const sibling = appointment(9);
    await offer(
      { ...sibling, coverages: [{ ...sibling.coverages[0]!, member_id }] },
      appointment(1),
    );
    const all = await peer.all('Coverage');
    peer.alter = ({ path }, body) =>
      path === '/Coverage' ? { ...body, entry: all.map((resource) => ({ resource })) } : body;
    await deliver(connector, batchOf(1, [1]));
    const [response] = await peer.all('CoverageEligibilityResponse');
    expect(response?.insurance?.[0]?.coverage.reference).toBe('Coverage/coverage-P-1-1');
  });

  test('an answer goes to its coverage if only the beneficiary can be searched', async () => {
    const { peer, connector, offer } = await bench({ refuse_search: ['Coverage.patient'] });
    await offer(appointment(1));
    await deliver(connector, batchOf(1, [1]));
    const [response] = await peer.all('CoverageEligibilityResponse');
    expect(response?.insurance?.[0]?.coverage.reference).toBe('Coverage/coverage-P-1-1');
  });

  test('an answer has no character that servers refuse', async () => {
    const { peer, connector } = await bench();
    const [delivery] = batchOf(1, [1]).deliveries;
    const links = { recording_url: null, transcript_url: null, has_transcript: false };
    const call = {
      ended_at: null,
      representative: 'Ann\u0000\ud800\u0007',
      reference_number: null,
      ...links,
    };
    const record = { ...delivery!.record, calls: [call] };
    const batch = { ...batchOf(1, [1]), deliveries: [{ ...delivery!, record }] };
    expect(await deliver(connector, batch)).toEqual(DELIVERED);
    const [provenance] = await peer.all('Provenance');
    expect(provenance?.agent.at(-1)?.who.display).toBe('Ann\ufffd\ufffd\ufffd');
    const written = peer.requests.length;
    expect(await deliver(connector, batch)).toEqual(DELIVERED);
    expect(peer.requests.slice(written).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('an answer for two visits is one response, and its request names both', async () => {
    const { peer, connector } = await bench();
    const batch = batchOf(1, [1]);
    const [first] = batch.deliveries;
    const second = {
      ...first!,
      key: 'd-9-1',
      appointment: { ...first!.appointment, source_id: 'A-9' },
    };
    await deliver(connector, { ...batch, deliveries: [first!, second] });
    expect(await counts(peer)).toEqual([1, 1, 1]);
    const [request] = await peer.all('CoverageEligibilityRequest');
    expect(
      request?.supportingInfo?.map(({ sequence, information }) => [
        sequence,
        information.reference,
      ]),
    ).toEqual([
      [1, 'Appointment/A-1'],
      [2, 'Appointment/A-9'],
    ]);
  });

  test('a document or message for two visits names both', async () => {
    const batch = batchOf(1, [1]);
    const [first] = batch.deliveries;
    const second = {
      ...first!,
      key: 'd-9-1',
      appointment: { ...first!.appointment, source_id: 'A-9' },
    };
    const named = async (options: PeerOptions, look: (peer: FhirPeer) => Promise<Loose>) => {
      const { peer, connector } = await bench(options, { write_back: 'document' });
      for (const each of [first!, second, first!])
        await deliver(connector, { ...batch, deliveries: [each] });
      return (await look(peer)).map(({ reference }: Loose) => reference);
    };
    const both = ['Appointment/A-1', 'Appointment/A-9'];
    expect(
      await named({}, async (peer) => (await peer.all('DocumentReference'))[0]?.context?.related),
    ).toEqual(both);
    const without = ['DocumentReference'];
    expect(
      await named({ without }, async (peer) => (await peer.all('Communication'))[0]?.about),
    ).toEqual(both);
  });

  test('an answer has a document for people next to it if configured', async () => {
    const { peer, connector } = await bench({}, { document: true });
    await deliver(connector, batchOf(1, [1]));
    const [document] = await peer.all('DocumentReference');
    const text = Buffer.from(document?.content[0]?.attachment.data ?? '', 'base64').toString();
    expect(text).toContain('Coverage is active.\n');
    expect(text).toContain('The call was made before the benefit year began.');
  });

  test('an answer is not written if nothing is to be written', async () => {
    const { peer, connector } = await bench({}, { write_back: 'none' });
    expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
    expect(peer.requests).toEqual([]);
  });
});

const SERVERS: [string, PeerOptions][] = [
  ['with conditional create', {}],
  ['without conditional create', { conditional_create: false }],
  ['without a CapabilityStatement', { has_metadata: false, conditional_create: false }],
];

describe.each(SERVERS)('a server %s', (_, options) => {
  const FAULTS: Fault[] = [
    { when: 'after', action: 'reset' },
    { when: 'after', action: 'truncate' },
    { when: 'after', action: 'html' },
    { when: 'after', action: 'status', status: 502 },
    { when: 'before', action: 'reset' },
    { when: 'before', action: 'status', status: 503 },
  ];

  test.each(KINDS.flatMap((kind) => FAULTS.map((fault) => [kind, fault] as const)))(
    'the server has one of each after the write of %s failed with %j',
    async (kind, fault) => {
      const { peer, connector } = await bench(options);
      failOnce(peer, fault, (request) => written(request) && request.path === `/${kind}`);
      const [outcome] = await deliver(connector, batchOf(1, [1]));
      // If eligd cannot search and create in one step, it searches when the core repeats the
      // delivery.
      expect(outcome).toMatchObject(
        options.conditional_create === false ? { is_permanent: false } : { outcome: 'delivered' },
      );
      expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
      expect(await counts(peer)).toEqual([1, 1, 1]);
    },
  );

  test('the server has one of each after a crash in which the journal was lost', async () => {
    const { peer, connector, restart, env } = await bench(options);
    await deliver(connector, batchOf(1, [1]));
    await env.journal.write('inquiry:inq-1', JSON.stringify({ revision: 0, ids: {} }));
    expect(await deliver(restart(), batchOf(1, [1]))).toEqual(DELIVERED);
    expect(await counts(peer)).toEqual([1, 1, 1]);
    expect(peer.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });
});

describe('a server that already has the answer', () => {
  test('if the server has two copies, eligd writes no third and uses the older', async () => {
    const { peer, connector } = await bench();
    await deliver(connector, batchOf(1, [1]));
    const [first] = await peer.all('CoverageEligibilityResponse');
    const later = Date.parse(first?.meta?.lastUpdated ?? '') + 1_000;
    await peer.putAt(new Date(later).toISOString(), { ...first!, id: 'copy' });
    const { connector: other, env } = await bench({}, { base_url: peer.url });
    expect(await env.journal.read('inquiry:inq-1')).toBe(null);
    expect(await deliver(other, batchOf(2, [1], 2))).toEqual([
      { key: 'd-1-2', outcome: 'delivered' },
    ]);
    expect(await peer.all('CoverageEligibilityResponse')).toHaveLength(2);
    expect(await peer.versions('CoverageEligibilityResponse', first?.id ?? '')).toBe(2);
    expect(await peer.versions('CoverageEligibilityResponse', 'copy')).toBe(1);
  });

  test.each([200, 201])(
    'a create answered by %i and words is found by its address',
    async (status) => {
      const { peer, connector } = await bench();
      if (status === 200)
        await deliver((await bench({}, { base_url: peer.url })).connector, batchOf(1, [1]));
      peer.alter = ({ method }, body) =>
        method === 'POST'
          ? {
              resourceType: 'OperationOutcome',
              issue: [{ severity: 'information', code: 'informational' }],
            }
          : body;
      expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
      expect(await counts(peer)).toEqual([1, 1, 1]);
    },
  );
});

describe('a later revision', () => {
  const responses = (peer: FhirPeer) => peer.all('CoverageEligibilityResponse');

  test('a later revision replaces the first one, under the version that was read', async () => {
    const { peer, connector } = await bench();
    await deliver(connector, batchOf(1, [1]));
    await deliver(connector, batchOf(2, [1], 2));
    const [response, ...more] = await responses(peer);
    expect(more).toEqual([]);
    expect(response?.text?.div).toContain('Corrected after a second call.');
    expect(await peer.versions('CoverageEligibilityResponse', response?.id ?? '')).toBe(2);
  });

  test('a later revision is not undone by an earlier one that was postponed', async () => {
    const { peer, connector } = await bench();
    await deliver(connector, batchOf(2, [1], 2));
    expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
    expect((await responses(peer))[0]?.text?.div).toContain('Corrected after a second call.');
  });

  test('a revision replaces a version that another writer made meanwhile', async () => {
    const { peer, connector } = await bench();
    await deliver(connector, batchOf(1, [1]));
    const [first] = await responses(peer);
    let is_over = false;
    peer.alter = ({ method, path }, body) => {
      const is_read = method === 'GET' && path === `/CoverageEligibilityResponse/${first?.id}`;
      if (!is_read || is_over) return body;
      is_over = true;
      return { ...body, meta: { ...body.meta, versionId: 'older' } };
    };
    expect(await deliver(connector, batchOf(2, [1], 2))).toMatchObject([{ outcome: 'delivered' }]);
    expect((await responses(peer))[0]?.text?.div).toContain('Corrected');
  });

  test('a revision keeps the server’s labels', async () => {
    const { peer, connector } = await bench();
    await deliver(connector, batchOf(1, [1]));
    const [first] = await responses(peer);
    const security = [
      { system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' },
    ];
    await peer.put({ ...(first as CoverageEligibilityResponse), meta: { security } });
    await deliver(connector, batchOf(2, [1], 2));
    expect((await responses(peer))[0]?.meta?.security).toEqual(security);
  });
});

describe('a resource that eligd did not create', () => {
  const stranger = (system: string): Resource => ({
    resourceType: 'CoverageEligibilityResponse',
    id: 'strange',
    identifier: [{ system, value: 'inq-1' }],
    status: 'active',
    purpose: ['benefits'],
    patient: { reference: 'Patient/P-1' },
    created: '2026-01-01',
    request: { display: 'theirs' },
    outcome: 'complete',
    insurer: { display: 'theirs' },
  });

  test('another program’s resource with the same number in its system is not changed', async () => {
    const { peer, connector } = await bench();
    await peer.put(stranger('https://ehr.example/eligibility'));
    await deliver(connector, batchOf(1, [1]));
    expect(await peer.all('CoverageEligibilityResponse')).toHaveLength(2);
    expect(await peer.versions('CoverageEligibilityResponse', 'strange')).toBe(1);
  });

  test('another program’s resource is not changed if the server ignores the query', async () => {
    const { peer, connector } = await bench({ conditional_create: false });
    await peer.put(stranger('https://ehr.example/eligibility'));
    const all = await peer.all('CoverageEligibilityResponse');
    peer.alter = ({ method, path }, body) =>
      method === 'GET' && path === '/CoverageEligibilityResponse'
        ? { ...body, entry: all.map((resource) => ({ resource })) }
        : body;
    await deliver(connector, batchOf(1, [1]));
    expect(await peer.versions('CoverageEligibilityResponse', 'strange')).toBe(1);
    expect(await peer.all('CoverageEligibilityResponse')).toHaveLength(2);
  });

  test('another program’s resource is not changed although the journal names it', async () => {
    const { peer, connector, env } = await bench();
    await peer.put(stranger('https://ehr.example/eligibility'));
    await env.journal.write(
      'inquiry:inq-1',
      JSON.stringify({ revision: 0, ids: { CoverageEligibilityResponse: 'strange' } }),
    );
    expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
    expect(await peer.versions('CoverageEligibilityResponse', 'strange')).toBe(1);
  });
});

describe('a server that does not accept everything', () => {
  test.each([
    [['CoverageEligibilityResponse'], 'DocumentReference'],
    [['CoverageEligibilityResponse', 'DocumentReference'], 'Communication'],
  ] as const)('a server without %j gets a %s', async (without, kind) => {
    for (const has_metadata of [true, false]) {
      const { peer, connector, said } = await bench({ without: [...without], has_metadata });
      expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
      await deliver(connector, batchOf(1, [1]));
      expect(await peer.all(kind)).toHaveLength(1);
      expect(said()).toContain('fhir_fallback_used');
    }
  });

  test('the response is written without the request, by its identifier', async () => {
    const { peer, connector } = await bench({
      without: ['CoverageEligibilityRequest', 'Provenance'],
    });
    expect(await deliver(connector, batchOf(1, [1]))).toEqual(DELIVERED);
    const [response] = await peer.all('CoverageEligibilityResponse');
    expect(response?.request).toEqual({
      type: 'CoverageEligibilityRequest',
      identifier: { system: 'urn:eligd:inquiry', value: 'inq-1' },
    });
  });

  test('words of a server that accepts nothing are listed, and not logged', async () => {
    const { peer, connector, said } = await bench();
    peer.fault = (request) =>
      written(request) ? { when: 'before', action: 'status', status: 422 } : null;
    const [outcome] = await deliver(connector, batchOf(1, [1]));
    expect(outcome).toMatchObject({
      outcome: 'failed',
      is_permanent: true,
      what: expect.not.stringContaining('A fault.'),
      words: expect.stringContaining('It said: A fault.'),
    });
    expect(said()).not.toContain('A fault.');
  });

  test('a server without search is never written to twice after a lost reply', async () => {
    const { peer, connector, restart } = await bench({
      conditional_create: false,
      refuse_search: KINDS.flatMap((kind) => [`${kind}.identifier`, `${kind}.target`]),
    });
    failOnce(
      peer,
      { when: 'after', action: 'reset' },
      (request) => written(request) && request.path === '/CoverageEligibilityResponse',
    );
    expect(await deliver(connector, batchOf(1, [1]))).toMatchObject([
      { outcome: 'failed', is_permanent: false },
    ]);
    for (const each of [connector, restart()]) {
      expect(await deliver(each, batchOf(1, [1]))).toEqual(DELIVERED);
      expect(await peer.all('CoverageEligibilityResponse')).toHaveLength(1);
      expect(await peer.all('DocumentReference')).toHaveLength(1);
    }
  });

  test('a server that hides accepted resources gets no second one', async () => {
    const { peer, connector, restart } = await bench(
      { conditional_create: false },
      { write_back: 'document', attention: 'none' },
    );
    peer.fault = ({ method, path }) =>
      method === 'GET' && path.startsWith('/DocumentReference')
        ? { when: 'before', action: 'status', status: 403 }
        : null;
    for (const each of [connector, restart()])
      expect(await deliver(each, batchOf(1, [1]))).toEqual(DELIVERED);
    expect(await peer.all('DocumentReference')).toHaveLength(1);
    // The correction cannot replace it, so it is next to it, as another kind of resource.
    expect(await deliver(connector, batchOf(2, [1], 2))).toMatchObject([{ outcome: 'delivered' }]);
    expect(
      [await peer.all('DocumentReference'), await peer.all('Communication')].map(
        ({ length }) => length,
      ),
    ).toEqual([1, 1]);
  });

  test('one refused answer delays no other (G7)', async () => {
    const { peer, connector } = await bench();
    peer.fault = ({ method, path }) => {
      const is_second =
        peer.requests.filter(
          (one) => one.method === 'POST' && one.path === '/CoverageEligibilityRequest',
        ).length === 2;
      return method === 'POST' && path === '/CoverageEligibilityRequest' && is_second
        ? { when: 'before', action: 'status', status: 422 }
        : null;
    };
    const outcomes = await deliver(connector, batchOf(1, [1, 2, 3]));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(await counts(peer)).toEqual([2, 3, 3]);
  });

  test('an unavailable server postpones the whole batch', async () => {
    const { peer, connector } = await bench();
    await connector.check(new AbortController().signal);
    await peer.close();
    await expect(deliver(connector, batchOf(1, [1, 2]))).rejects.toMatchObject({
      failure: 'transient',
    });
  });
});
