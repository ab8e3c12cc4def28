import net, { type Socket } from 'node:net';
import { MockAgent } from 'undici';
import { expect, test } from 'vitest';
import type { RequestGate } from '../../src/service/api.ts';
import { aRequest, id, listen, serve, testClient } from './harness.ts';

const OK_BODY = '{"success":true,"inquiry_id":"x"}';
const OK =
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ` +
  `${OK_BODY.length}\r\n\r\n${OK_BODY}`;

/** Counts the requests of every connection, and lets `react` answer each. */
async function rawServer(react: (socket: Socket, connection: number, request: number) => void) {
  const requests: number[] = [];
  const address = await listen(
    net.createServer((socket) => {
      const connection = requests.push(0) - 1;
      let buffered = '';
      socket.on('data', (chunk) => {
        buffered += String(chunk);
        for (let end = complete(buffered); end !== null; end = complete(buffered)) {
          buffered = buffered.slice(end);
          requests[connection]! += 1;
          react(socket, connection, requests[connection]!);
        }
      });
    }),
  );
  return { address, requests };
}

function complete(text: string): number | null {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return null;
  const length = Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= head + 4 + length ? head + 4 + length : null;
}

test.each<[string, (socket: Socket) => void]>([
  ['closed', (socket) => void socket.end()],
  ['reset', (socket) => void socket.resetAndDestroy()],
  ['broken off within the status line', (socket) => void socket.end('HTTP/1.1 2')],
  ['answered with what is not HTTP', (socket) => void socket.end('SSH-2.0-OpenSSH_9\r\n')],
])(
  'A kept connection that is %s on a create is ambiguous, with one attempt',
  async (_name, breakOff) => {
    const { address, requests } = await rawServer((socket, connection, request) => {
      if (connection === 0 && request === 2) breakOff(socket);
      else socket.write(OK);
    });
    const { client } = testClient(address, { concurrency: 1 });
    expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
    expect(await client.create('dental', aRequest())).toMatchObject({
      failure: { class: 'ambiguous', cause: 'socket' },
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(requests).toEqual([2]);
  },
);

test('a first connection that is reset after the request is ambiguous, once', async () => {
  const { address, requests } = await rawServer((socket) => void socket.resetAndDestroy());
  const { client } = testClient(address);
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'ambiguous', cause: 'socket' },
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(requests).toEqual([1]);
});

test('requests waiting for a connection survive the loss of another one', async () => {
  const { address, requests } = await rawServer((socket, connection) => {
    if (connection === 0) socket.resetAndDestroy();
    else socket.write(OK);
  });
  const { client } = testClient(address, { concurrency: 3 });
  const results = await Promise.all(
    Array.from({ length: 9 }, () => client.create('dental', aRequest())),
  );
  expect(results.filter((result) => !result.ok)).toHaveLength(1);
  expect(requests.reduce((sum, count) => sum + count, 0)).toBe(9);
});

test('connections are kept and shared, within the limit of concurrent requests', async () => {
  let under_way = 0;
  let most = 0;
  const server = await serve(async () => {
    under_way += 1;
    most = Math.max(most, under_way);
    await new Promise((resolve) => setTimeout(resolve, 5));
    under_way -= 1;
    return { json: { success: true, inquiry_id: 'x' } };
  });
  const { client } = testClient(server.base_url, { concurrency: 3 });
  await Promise.all(Array.from({ length: 24 }, () => client.create('dental', aRequest())));
  expect(most).toBe(3);
  expect(new Set(server.seen.map((one) => one.socket)).size).toBe(3);
});

test('submissions go before urgent requests, and those before routine requests', async () => {
  const server = await serve(() => ({ status: 404, json: {} }));
  const { client } = testClient(server.base_url, { concurrency: 1 });
  await Promise.all([
    client.read('dental', id('a')), // runs at once
    client.read('dental', id('b')),
    client.read('dental', id('c'), { priority: 'urgent' }),
    client.create('dental', aRequest()),
  ]);
  expect(server.seen.map(({ method, url }) => (method === 'POST' ? method : url.at(-1)))).toEqual([
    'a',
    'POST',
    'c',
    'b',
  ]);
});

test('a request that waits for a slot delays no request that has one', async () => {
  const server = await serve(() => ({ status: 404, json: {} }));
  const opened = Promise.withResolvers<void>();
  const gate: RequestGate = {
    enter: async (priority) => {
      if (priority === 'routine') await opened.promise;
      return { leave: async () => {} };
    },
    pause: async () => {},
  };
  const { client } = testClient(server.base_url, { concurrency: 1, gate });
  const asked = ['a', 'b', 'c'].map((each) => client.read('dental', id(each)));
  await client.create('dental', aRequest());
  expect(server.seen.map(({ method }) => method)).toEqual(['POST']);
  opened.resolve();
  await Promise.all(asked);
});

test('requests that wait for a slot return to the gate when the service pauses', async () => {
  let is_limited = true;
  const server = await serve(() =>
    is_limited
      ? { status: 429, headers: { 'retry-after': '5' }, json: {} }
      : { status: 404, json: {} },
  );
  const paused = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let entered = 0;
  const gate: RequestGate = {
    enter: async () => {
      entered += 1;
      if (entered > 6) await over.promise;
      return { leave: async () => {} };
    },
    pause: async () => paused.resolve(),
  };
  const { client } = testClient(server.base_url, { concurrency: 1, gate });
  const asked = ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => client.read('dental', id(each)));
  await paused.promise;
  await new Promise((resolve) => setTimeout(resolve, 50));
  const sent_meanwhile = server.seen.length;
  is_limited = false;
  over.resolve();
  expect((await Promise.all(asked)).map(({ ok }) => ok)).toEqual([
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
  expect([sent_meanwhile, server.seen.length]).toEqual([1, 6]);
});

test('a call that waits in the queue stops at once when it is aborted', async () => {
  const server = await serve(() => undefined);
  const { client } = testClient(server.base_url, { concurrency: 1, timeout_ms: 150 });
  const first = client.create('dental', aRequest());
  const abort = new AbortController();
  const second = client.create('dental', aRequest(), { signal: abort.signal });
  abort.abort();
  expect(await second).toMatchObject({ failure: { class: 'unsent', cause: 'aborted' } });
  await first;
  expect(server.seen).toHaveLength(1);
});

test('closing lets the request in flight end and returns those that wait', async () => {
  const server = await serve(async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return { json: { success: true, inquiry_id: 'x' } };
  });
  const { client } = testClient(server.base_url, { concurrency: 1 });
  const first = client.create('dental', aRequest());
  const second = client.create('dental', aRequest());
  while (server.calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await Promise.all([client.close(), client.close()]);
  expect(await first).toMatchObject({ ok: true });
  expect(await second).toMatchObject({ failure: { class: 'unsent', cause: 'closed' } });
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'closed' },
  });
});

test('an interim reply is not taken for the reply', async () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n';
  const { address, requests } = await rawServer((socket) => {
    socket.write(hints);
    setTimeout(() => socket.write(OK), 20);
  });
  const { client } = testClient(address, { concurrency: 1 });
  for (let count = 0; count < 2; count += 1)
    expect(await client.create('dental', aRequest())).toMatchObject({
      ok: true,
      value: { inquiry_id: 'x' },
    });
  expect(requests).toEqual([2]);
});

test('a reply that is cut after its head is ambiguous with its status, once', async () => {
  const { address, requests } = await rawServer((socket) => socket.write(OK.slice(0, -5)));
  const { client } = testClient(address, { concurrency: 1 });
  const first = client.create('dental', aRequest());
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.cut();
  expect(await first).toMatchObject({
    failure: { class: 'ambiguous', cause: 'aborted', status: 200 },
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(requests).toEqual([1]);
});

test('a dispatcher from the caller is used and left open', async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const pool = agent.get('https://service.example');
  const path = '/api/v0/dental/inquiries';
  pool.intercept({ path, method: 'POST' }).reply(200, { success: true, inquiry_id: 'mocked' });
  pool
    .intercept({ path, method: 'POST' })
    .replyWithError(Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }));
  pool
    .intercept({ path, method: 'POST' })
    .replyWithError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }));
  const { client } = testClient('https://service.example', { dispatcher: agent });
  expect(await client.create('dental', aRequest())).toMatchObject({
    ok: true,
    value: { inquiry_id: 'mocked' },
  });
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'ambiguous', cause: 'socket' },
  });
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'connect' },
  });
  const slow = testClient('https://service.example', { dispatcher: agent, timeout_ms: 30 });
  pool
    .intercept({ path, method: 'POST' })
    .reply(200, { success: true, inquiry_id: 'late' })
    .delay(200);
  expect(await slow.client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'ambiguous', cause: 'timeout' },
  });
  await client.close();
  await agent.close();
});

test('an impossible address is refused when the client is created', () => {
  for (const base_url of ['', 'service.example', 'ftp://x', 'http://user:pw@x', 'http://x/?a=1']) {
    expect(() => testClient(base_url)).toThrow(/service\.base_url/);
  }
});
