import nock from 'nock';
import { expect, test } from 'vitest';
import {
  aRequest,
  deadAddress,
  id,
  OAUTH,
  START_MS,
  serve,
  testClient,
  testGate,
} from './harness.ts';

const HOUR_MS = 3_600_000;
const created = { json: { success: true, inquiry_id: 'x' } };

/** A server that issues T1, T2, … and accepts only the tokens for which `isGood`. */
async function tokenServer(
  isGood: (token: string) => boolean = () => true,
  extra: Record<string, unknown> = {},
  refusal = 401,
) {
  let handed_out = 0;
  const server = await serve(
    (seen) =>
      isGood(String(seen.headers.authorization).replace('Bearer ', ''))
        ? created
        : { status: refusal },
    async () => {
      handed_out += 1;
      const access_token = `T${handed_out}`;
      await new Promise((resolve) => setTimeout(resolve, 10));
      return { json: { access_token, token_type: 'bearer', ...extra } };
    },
  );
  return {
    ...server,
    tokens: () => handed_out,
    used: () => server.calls().map((seen) => seen.headers.authorization),
  };
}

test('twenty callers at once cost one token, sent as a form', async () => {
  const server = await tokenServer();
  const { client, gate, logged } = testClient(server.base_url, {
    credentials: OAUTH,
    concurrency: 8,
  });
  const results = await Promise.all(
    Array.from({ length: 20 }, () => client.create('dental', aRequest())),
  );
  expect(results.every((result) => result.ok)).toBe(true);
  expect(server.tokens()).toBe(1);
  const login = server.seen[0]!;
  expect(login).toMatchObject({
    method: 'POST',
    url: '/api/v0/auth/token',
    body: 'username=clinic&password=pass+word%26',
  });
  expect(login.headers['content-type']).toBe('application/x-www-form-urlencoded');
  expect(login.headers.authorization).toBeUndefined();
  expect(gate.entered).toHaveLength(21);
  expect(gate.left).toBe(21);
  expect(JSON.stringify(logged)).not.toMatch(/T1|pass/);
});

test('a token is renewed before its day is over, by either clock', async () => {
  const server = await tokenServer();
  const { client, advance, time } = testClient(server.base_url, { credentials: OAUTH });
  await client.create('dental', aRequest());
  advance(21 * HOUR_MS);
  await client.create('dental', aRequest());
  advance(0.7 * HOUR_MS);
  await client.create('dental', aRequest());
  time.now_ms -= 100 * HOUR_MS; // the machine's clock is set back: the other one still counts
  time.elapsed_ms += 22 * HOUR_MS;
  await client.create('dental', aRequest());
  expect(server.used()).toEqual(['Bearer T1', 'Bearer T1', 'Bearer T2', 'Bearer T3']);
});

test('an expires_in in the reply counts, as a number or as text', async () => {
  for (const expires_in of [600, '600']) {
    const server = await tokenServer(() => true, { expires_in });
    const { client, advance } = testClient(server.base_url, { credentials: OAUTH });
    for (const step_ms of [0, 539_000, 2000]) {
      advance(step_ms);
      await client.create('dental', aRequest());
    }
    expect(server.used()).toEqual(['Bearer T1', 'Bearer T1', 'Bearer T2']);
  }
});

test('a token revoked early is renewed once for all, and each call repeated once', async () => {
  let revoked = '';
  const server = await tokenServer((token) => token !== revoked);
  const { client } = testClient(server.base_url, { credentials: OAUTH, concurrency: 8 });
  await client.create('dental', aRequest());
  revoked = 'T1';
  const results = await Promise.all(
    Array.from({ length: 8 }, () => client.create('dental', aRequest())),
  );
  expect(results.every((result) => result.ok)).toBe(true);
  expect(server.tokens()).toBe(2);
  expect(server.used().filter((used) => used === 'Bearer T2')).toHaveLength(8);
});

test('a second 401 is unsent, after one renewal and one repetition', async () => {
  const server = await tokenServer(() => false);
  const { client, gate } = testClient(server.base_url, { credentials: OAUTH });
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'unauthorized', status: 401 },
  });
  expect(server.used()).toEqual(['Bearer T1', 'Bearer T2']);
  expect(gate).toMatchObject({ entered: ['send', 'send', 'send', 'send'], left: 4 });
});

test('a token that expires early at a service with 403 is renewed once for all', async () => {
  let dead = '';
  const server = await tokenServer((token) => token !== dead, {}, 403);
  const { client } = testClient(server.base_url, { credentials: OAUTH, concurrency: 8 });
  await client.create('dental', aRequest());
  dead = 'T1';
  const results = await Promise.all(
    Array.from({ length: 8 }, () => client.create('dental', aRequest())),
  );
  expect(results.every((result) => result.ok)).toBe(true);
  expect(server.tokens()).toBe(2);
});

test('a 403 that a new token does not end causes no further login', async () => {
  let is_forbidden = false;
  const server = await tokenServer(() => !is_forbidden, {}, 403);
  const { client } = testClient(server.base_url, { credentials: OAUTH });
  await client.create('dental', aRequest());
  is_forbidden = true;
  for (let round = 0; round < 3; round += 1)
    expect(await client.create('dental', aRequest())).toMatchObject({
      failure: { class: 'stopped', status: 403 },
    });
  expect(server.tokens()).toBe(2);
  // A slow retry begins with its own login.
  client.forgetToken();
  is_forbidden = false;
  expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
  expect(server.tokens()).toBe(3);
});

test('a token that expires early is renewed though another request is forbidden', async () => {
  const dead = new Set<string>();
  let handed_out = 0;
  const server = await serve(
    ({ url, headers }) => {
      const token = String(headers.authorization).replace('Bearer ', '');
      const is_forbidden = url.includes('/verification') || url.includes('/subscription');
      return is_forbidden || dead.has(token) ? { status: 403 } : created;
    },
    () => {
      handed_out += 1;
      return { json: { access_token: `T${handed_out}` } };
    },
  );
  const { client } = testClient(server.base_url, { credentials: OAUTH });
  await client.create('dental', aRequest());
  for (let round = 0; round < 3; round += 1) {
    expect(await client.verifications(id('a'))).toMatchObject({ failure: { status: 403 } });
    expect(await client.getSubscription()).toMatchObject({ failure: { status: 403 } });
    expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
  }
  // One login for each forbidden request, and none for repetitions.
  expect(handed_out).toBe(3);
  dead.add('T3');
  expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
  expect(await client.verifications(id('a'))).toMatchObject({ failure: { status: 403 } });
  expect(handed_out).toBe(4);
});

test('a 403 to a token that has never worked is final', async () => {
  const server = await tokenServer(() => false, {}, 403);
  const { client } = testClient(server.base_url, { credentials: OAUTH });
  expect(await client.create('dental', aRequest())).toMatchObject({ failure: { status: 403 } });
  expect(server.used()).toEqual(['Bearer T1']);
});

test('with basic credentials a 401 is not repeated', async () => {
  const server = await serve(() => ({ status: 401 }));
  const { client } = testClient(server.base_url);
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'unauthorized' },
  });
  expect(server.seen).toHaveLength(1);
});

test.each<[number, object | string, string]>([
  [401, {}, 'unauthorized'],
  [403, {}, 'unauthorized'],
  [400, {}, 'unauthorized'],
  [422, {}, 'unauthorized'],
  [429, {}, 'rate_limited'],
  [404, {}, 'login_failed'],
  [307, {}, 'login_failed'],
  [500, {}, 'login_failed'],
  [200, '<html>', 'login_unreadable'],
  [200, { token: 'x' }, 'login_unreadable'],
  [200, { access_token: 'a\nb' }, 'login_unreadable'],
])('A login answered with %i %o leaves the call unsent', async (status, body, cause) => {
  const server = await serve(
    () => created,
    () =>
      typeof body === 'string'
        ? { status, text: body }
        : { status, json: body, headers: { location: '/x' } },
  );
  const { client } = testClient(server.base_url, { credentials: OAUTH });
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause, status },
  });
  expect(server.calls()).toHaveLength(0);
});

test('a login whose reply is lost leaves the call unsent', async () => {
  const hanging = await serve(
    () => created,
    () => undefined,
  );
  const lost = testClient(hanging.base_url, { credentials: OAUTH, timeout_ms: 60 });
  expect(await lost.client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'login_failed' },
  });
  const away = testClient(await deadAddress(), { credentials: OAUTH });
  expect(await away.client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'connect' },
  });
});

test('a renewal that fails while the token is valid stops no call', async () => {
  let is_down = false;
  let logins = 0;
  const server = await serve(
    () => created,
    () => {
      logins += 1;
      return is_down ? { status: 503 } : { json: { access_token: 'T', token_type: 'bearer' } };
    },
  );
  const { client, advance } = testClient(server.base_url, { credentials: OAUTH });
  await client.create('dental', aRequest());
  is_down = true;
  advance(22 * HOUR_MS);
  for (let call = 0; call < 3; call += 1)
    expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
  expect(logins).toBe(2);
  advance(3 * HOUR_MS);
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: 'unsent', cause: 'login_failed' },
  });
});

test('a caller that gives up during the login is unsent; the others get the token', async () => {
  const server = await tokenServer();
  const { client } = testClient(server.base_url, { credentials: OAUTH });
  const abort = new AbortController();
  const [first, second] = [
    client.create('dental', aRequest(), { signal: abort.signal }),
    client.create('dental', aRequest()),
  ];
  setTimeout(() => abort.abort(), 2);
  expect(await first).toMatchObject({ failure: { class: 'unsent', cause: 'aborted' } });
  expect(await second).toMatchObject({ ok: true });
});

test('login accepts valid credentials without a subscription, but no wrong address', async () => {
  // The second one knows the list, but not its filter.
  for (const list of [{ json: [] }, { status: 422, json: {} }]) {
    const good = await serve((seen) =>
      seen.url.includes('subscription') ? { status: 404, json: {} } : list,
    );
    expect(await testClient(good.base_url).client.login()).toEqual({ ok: true, value: null });
  }
  const wrong = await serve(() => ({ status: 404, json: {} }));
  expect(await testClient(wrong.base_url).client.login()).toMatchObject({
    failure: { class: 'stopped', status: 404 },
  });
  const bad = await serve(() => ({ status: 401 }));
  expect(await testClient(bad.base_url, { credentials: OAUTH }).client.login()).toMatchObject({
    failure: { cause: 'unauthorized' },
  });
});

test.each<[number, Record<string, string>, number | null, number[]]>([
  [429, { 'retry-after': '120' }, 120_000, [START_MS + 120_000]],
  [
    429,
    { 'retry-after': 'Fri, 20 Nov 2026 09:00:50 GMT', date: 'Fri, 20 Nov 2026 09:00:00 GMT' },
    50_000,
    [START_MS + 50_000],
  ],
  [429, {}, null, [START_MS + 5_000]],
  [429, { 'retry-after': 'soon' }, null, [START_MS + 5_000]],
  [503, { 'retry-after': '5' }, 5000, [START_MS + 5000]],
  [503, {}, null, []],
  [500, { 'retry-after': '5' }, 5000, [START_MS + 5000]],
])('Status %i with %o pauses all requests', async (status, headers, retry_after_ms, pauses) => {
  const server = await serve(() => ({ status, headers }));
  const { client, gate } = testClient(server.base_url);
  const expected = status === 429 ? 'unsent' : 'ambiguous';
  expect(await client.create('dental', aRequest())).toMatchObject({
    failure: { class: expected, retry_after_ms },
  });
  expect(gate.pauses).toEqual(pauses);
});

test('the Date of each reply is reported with the clock before and after', async () => {
  const seen: unknown[] = [];
  const server = await serve(() => ({
    status: 404,
    headers: { date: 'Fri, 20 Nov 2026 11:59:00 GMT' },
  }));
  const { client } = testClient(server.base_url, { onServiceDate: (one) => void seen.push(one) });
  await client.read('dental', id('a'));
  expect(seen).toEqual([
    { service_ms: START_MS - 60_000, sent_ms: START_MS, received_ms: START_MS },
  ]);
});

test('if the clock was set back, that after a request tells the one before it', async () => {
  const seen: unknown[] = [];
  const ahead_ms = 6_000_000;
  const server = await serve(() => {
    time.now_ms += 700 - ahead_ms;
    time.elapsed_ms += 700.25;
    return { status: 404, headers: { date: 'Fri, 20 Nov 2026 12:00:00 GMT' } };
  });
  const { client, time } = testClient(server.base_url, {
    onServiceDate: (one) => void seen.push(one),
  });
  time.now_ms += ahead_ms;
  await client.read('dental', id('a'));
  expect(seen).toEqual([{ service_ms: START_MS, sent_ms: START_MS, received_ms: START_MS + 700 }]);
});

test('a computer that slept during a request is not taken to be ahead before it', async () => {
  const seen: unknown[] = [];
  const server = await serve(() => {
    time.now_ms += 3_600_000;
    time.elapsed_ms += 700;
    return { status: 404, headers: { date: 'Fri, 20 Nov 2026 12:00:00 GMT' } };
  });
  const { client, time } = testClient(server.base_url, {
    onServiceDate: (one) => void seen.push(one),
  });
  await client.read('dental', id('a'));
  const received_ms = START_MS + 3_600_000;
  expect(seen).toEqual([{ service_ms: START_MS, sent_ms: START_MS, received_ms }]);
});

test('a pause that the service asks for begins with its reply', async () => {
  const server = await serve(() => {
    time.now_ms += 700;
    time.elapsed_ms += 700;
    return { status: 503, headers: { 'retry-after': '5' } };
  });
  const { client, gate, time } = testClient(server.base_url);
  await client.read('dental', id('a'));
  expect(gate.pauses[0]).toBe(START_MS + 5_700);
});

test('a gate failure throws before the request, and keeps its outcome after it', async () => {
  const server = await serve(() => created);
  const { gate } = testGate();
  const leaving = {
    ...gate,
    enter: async () => ({ leave: () => Promise.reject(new Error('disk full')) }),
  };
  const { client, logged } = testClient(server.base_url, { gate: leaving });
  expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
  expect(logged).toEqual([
    { event: 'service_bookkeeping_failed', fields: { reason: 'leave', error_name: 'Error' } },
  ]);
  const entering = { ...gate, enter: () => Promise.reject(new Error('disk full')) };
  await expect(
    testClient(server.base_url, { gate: entering }).client.create('dental', aRequest()),
  ).rejects.toThrow('disk full');
  expect(server.calls()).toHaveLength(1);
});

test('a reply does not wait for the end of its slot to be stored', async () => {
  const server = await serve(() => created);
  const { gate } = testGate();
  const left = Promise.withResolvers<void>();
  const leaving = { ...gate, enter: async () => ({ leave: () => left.promise }) };
  const { client } = testClient(server.base_url, { gate: leaving });
  expect(await client.create('dental', aRequest())).toMatchObject({ ok: true });
  left.resolve();
});

test('nock can replace the service', async () => {
  const scope = nock('http://service.test')
    .post('/api/v0/medical/inquiries')
    .reply(200, { success: true, inquiry_id: 'n' });
  try {
    const { client } = testClient('http://service.test');
    expect(await client.create('medical', aRequest())).toEqual({
      ok: true,
      value: { inquiry_id: 'n' },
    });
    scope.done();
  } finally {
    nock.cleanAll();
    nock.restore();
  }
});
