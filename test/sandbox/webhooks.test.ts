import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Bench, bench, type Loose } from './harness.ts';

type Received = { headers: IncomingHttpHeaders; raw: Buffer; message: Loose };

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A subscriber that keeps its events and answers with `status()`. */
async function subscriber(
  on: Bench,
  { minutes = 5, status = () => 200 }: { minutes?: number; status?: () => number } = {},
): Promise<Received[]> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const raw = await buffer(request);
    received.push({ headers: request.headers, raw, message: JSON.parse(raw.toString()) });
    response.writeHead(status()).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const callback_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  await on.call('POST', '/api/v0/subscription/', { callback_url, update_frequency_min: minutes });
  return received;
}

const attempts = async (on: Bench): Promise<Loose[]> =>
  (await on.call('GET', '/_sandbox/webhooks')).body;
const ids = ({ message }: Received): string[] => message.inquiries.map(({ id }: Loose) => id);
/** Real time within which a due event would have arrived. */
const aWhile = () => new Promise((resolve) => setTimeout(resolve, 150));

describe('a subscription', () => {
  it('a subscriber gets each changed inquiry as it is now, signed over raw bytes', async () => {
    const on = await bench();
    const received = await subscriber(on);
    const [one, two] = [
      await on.create('dental'),
      await on.create('medical', { member_id: 'ACTIVE200' }),
    ];
    await on.advance({ days: 5 });
    await vi.waitUntil(() => received.length === 1);
    const [delivery] = received;
    expect(new Set(ids(delivery!))).toEqual(new Set([one, two]));
    expect(delivery!.message.inquiries).toContainEqual(await on.read('dental', one));
    expect(delivery!.message).toMatchObject({
      subscription_id: expect.any(String),
      message_hash: expect.stringMatching(/^\w{64}$/),
    });
    const signature = createHmac('sha256', 'sandbox').update(delivery!.raw).digest('hex');
    expect(delivery!.headers['x-service-signature']).toBe(signature);
    expect(await attempts(on)).toMatchObject([
      { inquiries: 2, attempt: 1, status: 200, bytes: delivery!.raw.length },
    ]);
  });

  it('a subscriber is told of a call’s progress and end, at its frequency', async () => {
    const on = await bench();
    const received = await subscriber(on, { minutes: 2 });
    const id = await on.create('dental', { desired_completion_date: '01-07-2030' });
    const [entry] = (await on.call('GET', '/_sandbox/ledger')).body.inquiries;
    const [, started, ended] = entry.steps.map(({ at }: Loose) => Date.parse(at));
    on.machine.now_ms = started - 1_000;
    await aWhile();
    on.machine.now_ms = started + 1_000;
    await aWhile();
    const too_early = [...received];
    on.machine.now_ms = started + 120_000;
    await vi.waitUntil(() => received.length === 1);
    on.machine.now_ms = ended + 120_000;
    await vi.waitUntil(() => received.length === 2);
    expect(too_early).toEqual([]);
    expect(received.map(({ message }) => message.inquiries[0])).toMatchObject([
      { id, status: 'IN_PROGRESS', summary: '', results: null },
      { id, status: 'SUCCESS', summary: expect.stringMatching(/./), results: expect.anything() },
    ]);
  });

  it('a subscriber is told of no earlier end, and of nothing after its deletion', async () => {
    const on = await bench();
    await on.create('dental');
    await on.advance({ days: 5 });
    const received = await subscriber(on);
    await on.advance({ hours: 1 });
    await aWhile();
    expect(received).toEqual([]);
    await on.create('dental', { member_id: 'ACTIVE300', desired_completion_date: '01-20-2030' });
    await on.call('DELETE', '/api/v0/subscription/');
    await on.advance({ days: 15 });
    await aWhile();
    expect(received).toEqual([]);
  });
});

describe('a delivery', () => {
  const created = async (behaviors: Record<string, unknown>, count = 3, status?: () => number) => {
    const on = await bench();
    await on.behave(behaviors);
    const received = await subscriber(on, status === undefined ? {} : { status });
    for (let index = 0; index < count; index += 1)
      await on.create('dental', { member_id: `ACTIVE${index}` });
    await on.advance({ days: 5 });
    return { on, received };
  };

  it('a long delivery is split, and every inquiry is in one part', async () => {
    const { received } = await created({ webhook_max_bytes: 20_000 }, 8);
    await vi.waitUntil(() => received.flatMap(ids).length === 8);
    expect(received.length).toBeGreaterThan(1);
    expect(new Set(received.flatMap(ids)).size).toBe(8);
    expect(new Set(received.map(({ message }) => message.message_hash)).size).toBe(received.length);
  });

  it('a delivery can be repeated byte for byte', async () => {
    const { received } = await created({ webhook_repeat: 2 });
    await vi.waitUntil(() => received.length === 3);
    expect(new Set(received.map(({ raw }) => raw.toString())).size).toBe(1);
  });

  it('deliveries can arrive in the wrong order: a finished inquiry is in progress', async () => {
    const { received } = await created({ webhook_order: 'reversed' }, 1);
    await vi.waitUntil(() => received.length === 2);
    expect(received.map(({ message }) => message.inquiries[0].status)).toEqual([
      'SUCCESS',
      'IN_PROGRESS',
    ]);
  });

  it('a delivery can be lost', async () => {
    const { on, received } = await created({ webhook_lost_percent: 100 });
    await vi.waitUntil(async () => (await attempts(on)).length === 1);
    expect(await attempts(on)).toMatchObject([{ status: 'lost' }]);
    expect(received).toEqual([]);
  });

  it('a delivery can be signed with another secret, or in another header', async () => {
    const { received } = await created({ webhook_secret: 'wrong', webhook_header: 'X-Signature' });
    await vi.waitUntil(() => received.length === 1);
    const [{ raw, headers }] = received as [Received];
    expect(headers['x-service-signature']).toBeUndefined();
    expect(headers['x-signature']).not.toBe(
      createHmac('sha256', 'sandbox').update(raw).digest('hex'),
    );
  });

  it('a delivery can have inquiries of other callers', async () => {
    const { received } = await created({ webhook_strangers: 2 }, 1);
    await vi.waitUntil(() => received.length === 1);
    expect(received[0]!.message.inquiries).toHaveLength(3);
  });

  it('a refused delivery is sent again only if the service retries, unchanged', async () => {
    const { on, received } = await created({}, 1, () => 503);
    await vi.waitUntil(() => received.length === 1);
    await on.advance({ hours: 2 });
    await aWhile();
    expect(received).toHaveLength(1);

    let status = 503;
    const again = await created({ webhook_retry: 'hours' }, 1, () => status);
    await vi.waitUntil(() => again.received.length === 1);
    await again.on.advance({ seconds: 70 });
    await vi.waitUntil(() => again.received.length === 2);
    status = 200;
    await again.on.advance({ seconds: 310 });
    await vi.waitUntil(() => again.received.length === 3);
    await again.on.advance({ hours: 2 });
    await aWhile();
    expect(again.received).toHaveLength(3);
    expect(new Set(again.received.map(({ raw }) => raw.toString())).size).toBe(1);
    expect((await attempts(again.on)).map((each) => [each.attempt, each.status])).toEqual([
      [1, 503],
      [2, 503],
      [3, 200],
    ]);
  });
});
