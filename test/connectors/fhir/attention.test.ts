/** The attention list as open work in the charts. */
import { describe, expect, test } from 'vitest';
import type { AttentionEntry, Connector } from '../../../connectors/contract.ts';
import type { Loose } from '../../support/fhir/peer.ts';
import { appointment, bench, failOnce, written } from './bench.ts';

describe('the attention list', () => {
  const entry = (number: number, more: Partial<AttentionEntry> = {}): AttentionEntry => ({
    source_id: `A-${number}`,
    starts_at: null,
    patient_name: 'Zebulon Quillfeather',
    carrier: null,
    reason: 'member_id_missing',
    what: 'The appointment has no member id.',
    next: 'Enter it.',
    since: '2026-11-23T18:00:00.000Z',
    ...more,
  });
  const publish = (connector: Connector, ...entries: ReturnType<typeof entry>[]) =>
    connector.publishAttention?.(entries, new AbortController().signal, '2026-11-23T18:00:00.000Z');

  test.each([
    ['Task', {}],
    ['Communication', { attention: 'communication' }],
    ['Communication', { peer: { without: ['Task'] } }],
  ] as const)(
    'an entry is %s, in the chart of its patient, and closes when it is done',
    async (kind, { peer: options, ...config }: Loose) => {
      const { peer, connector, offer } = await bench(options, config);
      await offer(appointment(1));
      await publish(connector, entry(1), entry(1), entry(2));
      const open = await peer.all(kind);
      expect(open).toHaveLength(3);
      const [first] = open as Loose[];
      expect(first.for ?? first.subject).toEqual({ reference: 'Patient/P-1' });
      await publish(connector, entry(2));
      expect((await peer.all(kind)).map(({ status }) => status).sort()).toEqual(
        ['completed', 'completed', kind === 'Task' ? 'requested' : 'in-progress'].sort(),
      );
      expect(peer.invalid).toEqual([]);
    },
  );

  test('users’ changes to an entry stay, and a returning entry opens again', async () => {
    const { peer, connector } = await bench();
    const [task] = await publish(connector, entry(1))!.then(() => peer.all('Task'));
    const note = [{ text: 'I called them.' }];
    await peer.put({ ...task!, status: 'in-progress', note });
    await publish(connector, entry(1, { what: 'The appointment still has no member id.' }));
    expect(await peer.all('Task')).toMatchObject([
      { status: 'in-progress', note, description: expect.stringContaining('still') },
    ]);
    await publish(connector);
    await publish(connector, entry(1));
    const [reopened] = await peer.all('Task');
    expect(reopened).toMatchObject({ status: 'requested', note });
    await peer.put({ ...reopened!, status: 'rejected' });
    await publish(connector);
    expect(await peer.all('Task')).toMatchObject([{ status: 'rejected' }]);
  });

  test('if the server refuses one entry, it is reported and the others written (G7)', async () => {
    const { peer, connector } = await bench();
    let posts = 0;
    peer.fault = (request) => {
      if (request.method === 'POST') posts += 1;
      return request.method === 'POST' && posts <= 2
        ? { when: 'before', action: 'status', status: 422 }
        : null;
    };
    await expect(publish(connector, entry(1), entry(2))).rejects.toMatchObject({
      failure: 'permanent',
    });
    expect(await peer.all('Task')).toMatchObject([{ focus: { reference: 'Appointment/A-2' } }]);
    await publish(connector, entry(1), entry(2));
    expect(await peer.all('Task')).toHaveLength(2);
  });

  test('eligd uses the resource that the server accepts, even if only a try shows it', async () => {
    const { peer, connector, restart, said } = await bench();
    peer.fault = ({ method, path }) =>
      method === 'POST' && path === '/Task'
        ? { when: 'before', action: 'status', status: 403 }
        : null;
    await publish(connector, entry(1), entry(2));
    expect(await peer.all('Communication')).toHaveLength(2);
    expect(said()).toContain('fhir_fallback_used');
    peer.fault = () => null;
    await publish(restart(), entry(2));
    expect((await peer.all('Communication')).map(({ status }) => status).sort()).toEqual([
      'completed',
      'in-progress',
    ]);
    expect(await peer.all('Task')).toEqual([]);
  });

  test('an entry is written once after a lost reply, even without search', async () => {
    const { peer, connector } = await bench({
      conditional_create: false,
      refuse_search: ['Task.identifier'],
    });
    failOnce(peer, { when: 'after', action: 'reset' }, written);
    await expect(publish(connector, entry(1))).rejects.toMatchObject({ failure: 'transient' });
    await expect(publish(connector, entry(1))).rejects.toMatchObject({ failure: 'permanent' });
    expect(await peer.all('Task')).toHaveLength(1);
  });

  test('an entry names its claim', async () => {
    const { peer, connector } = await bench();
    await publish(connector, entry(1, { source_id: null, claim_id: 'C-1' }));
    expect(await peer.all('Task')).toMatchObject([{ focus: { reference: 'Claim/C-1' } }]);
  });

  test('an unchanged list costs no request', async () => {
    const { peer, connector, restart } = await bench();
    await publish(connector, entry(1));
    const before = peer.requests.length;
    await publish(restart(), entry(1));
    expect(peer.requests.slice(before).map(({ path }) => path)).toEqual(['/metadata']);
  });

  test('the list is not written if the configuration says so', async () => {
    const { connector } = await bench({}, { attention: 'none' });
    expect(connector.publishAttention).toBe(undefined);
  });
});
