import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import {
  aReadForm,
  aRequest,
  deadAddress,
  id,
  listen,
  type Reply,
  serve,
  testClient,
} from './harness.ts';

async function createWith(reply: Reply) {
  const server = await serve(() => reply);
  const { client, gate } = testClient(server.base_url);
  const result = await client.create('dental', aRequest());
  expect(server.calls()).toHaveLength(1);
  expect(gate.left).toBe(gate.entered.length);
  return result;
}

test('a create sends exactly the request’s JSON to its specialty and returns the ID', async () => {
  const server = await serve(() => ({ json: { success: true, inquiry_id: 'abc-1' } }));
  const { client } = testClient(`${server.base_url}/prefix/`);
  const request = aRequest({ custom: 'kept', patient_name: 'Zoë' });
  expect(await client.create('mental_health', request)).toEqual({
    ok: true,
    value: { inquiry_id: 'abc-1' },
  });
  const [seen] = server.calls();
  expect(seen).toMatchObject({
    method: 'POST',
    url: '/prefix/api/v0/mental_health/inquiries',
    body: JSON.stringify(request),
  });
  expect(seen!.headers['content-type']).toBe('application/json');
  expect(seen!.headers.authorization).toBe(
    `Basic ${Buffer.from('project:key').toString('base64')}`,
  );
});

test.each<[string, Reply, string]>([
  ['a creation response with 201', { status: 201, json: { success: true, inquiry_id: 'x' } }, 'x'],
  ['an id without success', { json: { inquiry_id: 'x' } }, 'x'],
  ['an array of one', { json: [{ success: true, inquiry_id: 'x' }] }, 'x'],
  ['the read form', { json: aReadForm('y') }, 'y'],
  ['a body with a byte order mark', { text: '\ufeff{"success":true,"inquiry_id":"x"}' }, 'x'],
])('A create reads %s', async (_name, reply, expected) => {
  expect(await createWith(reply)).toEqual({ ok: true, value: { inquiry_id: expected } });
});

test.each<[number, string]>([
  [401, 'unsent'],
  [429, 'unsent'],
  [400, 'refused'],
  [422, 'refused'],
  [402, 'stopped'],
  [403, 'stopped'],
  [404, 'stopped'],
  [405, 'stopped'],
  [407, 'stopped'],
  [408, 'ambiguous'],
  [409, 'ambiguous'],
  [413, 'ambiguous'],
  [418, 'ambiguous'],
  [500, 'ambiguous'],
  [501, 'ambiguous'],
  [502, 'ambiguous'],
  [503, 'ambiguous'],
  [304, 'ambiguous'],
])('Status %i on a single create is %s', async (status, expected) => {
  const result = await createWith({
    status,
    ...(status === 304 ? {} : { text: '<html>no</html>' }),
  });
  expect(result).toMatchObject({ ok: false, failure: { class: expected, status } });
});

test('a 422 gives its items as values, without what the server adds to them', async () => {
  const detail = [
    { loc: ['body', 'dob'], msg: 'bad date', type: 'value_error', input: '13-41-1980' },
    { loc: 'nowhere', msg: 'unreadable' },
  ];
  expect(await createWith({ status: 422, json: { detail } })).toEqual({
    ok: false,
    failure: {
      class: 'refused',
      status: 422,
      errors: [{ loc: ['body', 'dob'], msg: 'bad date', type: 'value_error' }],
    },
  });
  expect(await createWith({ status: 422, json: { detail: 'No such script.' } })).toMatchObject({
    failure: { errors: [{ loc: [], msg: 'No such script.' }] },
  });
  expect(await createWith({ status: 422, text: 'nonsense' })).toMatchObject({
    failure: { errors: [] },
  });
  expect(await createWith({ status: 422, text: '{"detail": [', cut: true })).toMatchObject({
    failure: { class: 'refused', errors: [] },
  });
});

test.each<[string, Reply, string, boolean]>([
  ['success without an id', { json: { success: true } }, 'no_usable_id', true],
  ['an empty id', { json: { success: true, inquiry_id: ' ' } }, 'no_usable_id', true],
  [
    'an id that would change the path',
    { json: { success: true, inquiry_id: '..' } },
    'no_usable_id',
    true,
  ],
  ['201 without a body', { status: 201 }, 'no_usable_id', true],
  ['204', { status: 204 }, 'no_usable_id', true],
  ['200 without a body', {}, 'unreadable_reply', false],
  ['success false', { json: { success: false } }, 'contradictory_reply', false],
  [
    'success false next to an id',
    { json: { success: false, inquiry_id: 'x' } },
    'contradictory_reply',
    true,
  ],
  ['a web page', { text: '<html>Welcome</html>' }, 'unreadable_reply', false],
  ['an empty object', { json: {} }, 'unreadable_reply', false],
  ['null', { text: 'null' }, 'unreadable_reply', false],
  ['a body cut short', { text: '{"success":true,', cut: true }, 'truncated', false],
  ['201 and a body cut short', { status: 201, text: '{"succ', cut: true }, 'truncated', true],
  ['202 and a web page', { status: 202, text: '<html>' }, 'unreadable_reply', true],
])('A 2xx with %s is ambiguous', async (_name, reply, cause, accepted) => {
  expect(await createWith(reply)).toMatchObject({
    ok: false,
    failure: { class: 'ambiguous', cause, accepted },
  });
});

test('a refused connection is unsent, and the gate is left', async () => {
  const { client, gate } = testClient(await deadAddress());
  expect(await client.create('dental', aRequest())).toEqual({
    ok: false,
    failure: { class: 'unsent', cause: 'connect', status: null, retry_after_ms: null },
  });
  expect(gate).toMatchObject({ entered: ['send'], left: 1 });
});

test('an unknown host is unsent', async () => {
  const { client } = testClient('http://does-not-exist.invalid');
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'dns' },
  });
});

test('a server without TLS is unsent', async () => {
  const address = await listen(
    createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  const { client } = testClient(address.replace('http:', 'https:'));
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'tls' },
  });
});

test('a connection that does not open before the deadline is unsent', async () => {
  const address = await listen(createServer(() => {})); // accepts, but never answers the TLS hello
  const { client } = testClient(address.replace('http:', 'https:'), { timeout_ms: 80 });
  const started_ms = performance.now();
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'timeout' },
  });
  expect(performance.now() - started_ms).toBeLessThan(600);
});

test('a timeout before the status is ambiguous, at the deadline', async () => {
  const server = await serve(() => undefined);
  const { client, gate } = testClient(server.base_url, { timeout_ms: 80 });
  const started_ms = performance.now();
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'ambiguous', cause: 'timeout', accepted: false },
  });
  expect(performance.now() - started_ms).toBeLessThan(600);
  expect(gate.left).toBe(1);
});

test('a body that drips beyond the deadline is ambiguous', async () => {
  const server = await serve((_seen, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => res.write(' '), 20);
    res.on('close', () => clearInterval(drip));
    return undefined;
  });
  const { client } = testClient(server.base_url, { timeout_ms: 120 });
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'ambiguous', cause: 'timeout', status: 200 },
  });
});

test('an aborted call finishes if it is in flight, and otherwise returns unsent', async () => {
  const abort = new AbortController();
  const server = await serve(() => {
    abort.abort();
    return { json: { success: true, inquiry_id: 'x' } };
  });
  const { client, gate } = testClient(server.base_url);
  expect(await client.create('dental', aRequest(), { signal: abort.signal })).toMatchObject({
    ok: true,
  });
  expect(await client.create('dental', aRequest(), { signal: abort.signal })).toMatchObject({
    failure: { class: 'unsent', cause: 'aborted' },
  });
  expect(server.calls()).toHaveLength(1);
  expect(gate.left).toBe(gate.entered.length);
});

test('a cut makes the call in flight ambiguous and returns those that wait', async () => {
  const server = await serve(() => undefined);
  const { client, gate } = testClient(server.base_url, { concurrency: 1 });
  const [first, second] = [
    client.create('dental', aRequest()),
    client.create('dental', aRequest()),
  ];
  while (server.calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  client.cut();
  expect(await first).toMatchObject({ failure: { class: 'ambiguous', cause: 'aborted' } });
  expect(await second).toMatchObject({ failure: { class: 'unsent', cause: 'closed' } });
  expect(gate.left).toBe(gate.entered.length);
});

test('a redirect is not followed, and no other host gets a request', async () => {
  const other = await serve(() => ({ json: { success: true, inquiry_id: 'stolen' } }));
  for (const status of [301, 302, 303, 307, 308]) {
    const reply = { status, headers: { location: `${other.base_url}/api/v0/dental/inquiries` } };
    expect(await createWith(reply)).toMatchObject({
      failure: { class: 'ambiguous', cause: 'redirect', status },
    });
  }
  const server = await serve(() => ({ status: 307, headers: { location: `${other.base_url}/x` } }));
  const { client } = testClient(server.base_url);
  expect(await client.read('dental', id('a'))).toMatchObject({
    failure: { class: 'ambiguous', cause: 'redirect' },
  });
  expect(other.seen).toHaveLength(0);
});
