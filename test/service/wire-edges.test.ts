/**
 * What a network, a proxy, or a broken server can do to one request, as a table: facts decide
 * whether the call may be sent again (G1). nock replaces the network.
 */
import nock from 'nock';
import { afterAll, afterEach, expect, test } from 'vitest';
import { aReadForm, aRequest, id, testClient } from './harness.ts';

afterEach(() => void nock.cleanAll());
afterAll(() => nock.restore());

const ORIGIN = 'http://service.test';
const PATH = '/api/v0/dental/inquiries';
const TIMEOUT_MS = 400;
const JSON_TYPE = { 'content-type': 'application/json' };

type Wire = (on: nock.Interceptor, body: string) => nock.Scope;
/** The outcome of a create, and of a read. */
type Outcome = { create: string; read: string };
type Edge = [name: string, wire: Wire, outcome: Outcome];

const broken =
  (code: string): Wire =>
  (on) =>
    on.replyWithError(Object.assign(new Error('the wire'), { code }));
const reply =
  (status: number, text: string | null, headers: Record<string, string> = JSON_TYPE): Wire =>
  (on, body) =>
    on.reply(status, text ?? body, headers);
const both = (said: string): Outcome => ({ create: said, read: said });

const AMBIGUOUS = (...told: (string | number)[]) => both(['ambiguous', ...told].join(' '));

const EDGES: Edge[] = [
  // No part of the request can have reached the service.
  ['a name that nobody knows', broken('ENOTFOUND'), both('unsent dns')],
  ['a name server that does not answer', broken('EAI_AGAIN'), both('unsent dns')],
  ['a port that nobody listens on', broken('ECONNREFUSED'), both('unsent connect')],
  ['no connection in time', broken('UND_ERR_CONNECT_TIMEOUT'), both('unsent connect')],
  // The service may have read all of it.
  ['a reset', broken('ECONNRESET'), AMBIGUOUS('socket')],
  ['a broken pipe', broken('EPIPE'), AMBIGUOUS('socket')],
  ['a connection that the other side ends', broken('UND_ERR_SOCKET'), AMBIGUOUS('socket')],
  ['a host that becomes unreachable', broken('EHOSTUNREACH'), AMBIGUOUS('socket')],
  ['an error without a code', broken(''), AMBIGUOUS('socket')],
  // Bodies.
  ['a body that comes late', (on, body) => on.delay(100).reply(200, body, JSON_TYPE), both('ok')],
  ['a byte order mark', (on, body) => on.reply(200, `\ufeff${body}`, JSON_TYPE), both('ok')],
  ['another content type', reply(200, null, { 'content-type': 'text/plain' }), both('ok')],
  [
    'a length that is never reached',
    (on, body) => on.reply(200, body, { ...JSON_TYPE, 'content-length': '5000' }),
    AMBIGUOUS('timeout', 200),
  ],
  [
    'a length that cuts the body',
    (on, body) => on.reply(200, body, { ...JSON_TYPE, 'content-length': '10' }),
    AMBIGUOUS('unreadable_reply', 200),
  ],
  [
    'a length that is not a number',
    reply(200, null, { 'content-length': 'x' }),
    AMBIGUOUS('socket'),
  ],
  [
    'JSON that breaks off',
    (on, body) => on.reply(200, body.slice(0, -1), JSON_TYPE),
    AMBIGUOUS('unreadable_reply', 200),
  ],
  [
    'a coding that the body does not have',
    reply(200, null, { 'content-encoding': 'gzip' }),
    AMBIGUOUS('unreadable_reply', 200),
  ],
  ['no body', reply(200, ''), AMBIGUOUS('unreadable_reply', 200)],
  ['blanks', reply(200, ' \r\n '), AMBIGUOUS('unreadable_reply', 200)],
  ["a proxy's page", reply(200, '<html>Sign in</html>'), AMBIGUOUS('unreadable_reply', 200)],
  ['a number', reply(200, '7'), AMBIGUOUS('unreadable_reply', 200)],
  ['text', reply(200, '"ok"'), AMBIGUOUS('unreadable_reply', 200)],
  // Statuses. A 2xx without a body means that the service accepted the create; it is never an
  // answer.
  ...[202, 206, 226, 299].map((status): Edge => {
    const create = `ambiguous no_usable_id ${status} accepted`;
    const read = `ambiguous unreadable_reply ${status}`;
    return [`${status}`, reply(status, ''), { create, read }];
  }),
  // If the service says nothing about an ID, it does not know it.
  ['204', reply(204, ''), { create: 'ambiguous no_usable_id 204 accepted', read: 'absent' }],
  ...[304, 305, 306, 399].map((status): Edge => {
    return [`${status}`, reply(status, ''), AMBIGUOUS('redirect', status)];
  }),
  [
    'a redirect to another host',
    reply(307, '', { location: 'http://elsewhere.test/' }),
    AMBIGUOUS('redirect', 307),
  ],
  ...[406, 408, 409, 410, 411, 413, 414, 415, 418, 421, 423, 424, 425, 431, 451, 499].map(
    (status): Edge => [`${status}`, reply(status, ''), AMBIGUOUS('http_status', status)],
  ),
  ...[500, 501, 502, 503, 504, 507, 511, 520, 522, 524, 530, 599, 600, 999].map(
    (status): Edge => [`${status}`, reply(status, '<html>'), AMBIGUOUS('http_status', status)],
  ),
  ...[402, 403, 405, 407].map(
    (status): Edge => [`${status}`, reply(status, '<html>'), both(`stopped ${status}`)],
  ),
  ['401', reply(401, ''), both('unsent unauthorized 401')],
  ['429', reply(429, ''), both('unsent rate_limited 429')],
  ['400 without a word', reply(400, ''), both('refused 400')],
  // An informational status is not an answer.
  ...[101, 199].map((status): Edge => [`${status}`, reply(status, ''), AMBIGUOUS('socket')]),
];

function said(
  result: Awaited<ReturnType<ReturnType<typeof testClient>['client']['read']>>,
): string {
  if (result.ok) return result.value === null ? 'absent' : 'ok';
  const { failure } = result;
  const accepted = 'accepted' in failure && failure.accepted ? ['accepted'] : [];
  const cause = 'cause' in failure ? [failure.cause] : [];
  const status = failure.status === null ? [] : [failure.status];
  return [failure.class, ...cause, ...status, ...accepted].join(' ');
}

test.each(EDGES)('%s', async (_name, wire, { create, read }) => {
  // Only timeouts are short: a busy machine may take its time with the rest.
  const timeout_ms = create.includes('timeout') ? TIMEOUT_MS : 30_000;
  const { client, gate } = testClient(ORIGIN, { timeout_ms });
  const created = wire(nock(ORIGIN).post(PATH), '{"success":true,"inquiry_id":"n-1"}');
  const answer = await client.create('dental', aRequest());
  expect(said(answer.ok ? { ok: true, value: aReadForm('n-1') as never } : answer)).toBe(create);
  // Sent once, whatever its outcome.
  expect(created.isDone()).toBe(true);
  const asked = wire(nock(ORIGIN).get(`${PATH}/n-1`), JSON.stringify(aReadForm('n-1')));
  expect(said((await client.read('dental', id('n-1'))) as never)).toBe(read);
  expect(asked.isDone()).toBe(true);
  expect(gate.left).toBe(gate.entered.length);
});
