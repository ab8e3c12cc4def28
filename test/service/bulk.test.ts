import { expect, test } from 'vitest';
import type { BulkItem, BulkShape } from '../../src/service/api.ts';
import { aReadForm, aRequest, type Reply, serve, testClient } from './harness.ts';

const REQUESTS = [
  aRequest({ external_id: 'appt-1', member_id: 'A 1' }),
  aRequest({ external_id: 'appt-2', member_id: 'B2' }),
  aRequest({ external_id: 'appt-3', member_id: 'C3' }),
];
const ok = (inquiry_id: string) => ({ success: true, inquiry_id });
const created = (inquiry_id: string, evidence: 'position' | 'read_form' = 'position') =>
  ({ outcome: 'created', inquiry_id, evidence }) as BulkItem;
const ACCEPTED: BulkItem = { outcome: 'unknown', accepted: true };
const UNKNOWN: BulkItem = { outcome: 'unknown', accepted: false };
/** As a service returns it: nulls, other case, spaces removed. */
const echo = (index: number, name: string) =>
  aReadForm(
    name,
    {},
    { ...REQUESTS[index], member_id: `${'ABC'[index]}${index + 1}`.toLowerCase(), group_id: null },
  );

async function bulk(reply: Reply, requests = REQUESTS, shape: BulkShape = 'array') {
  const server = await serve(() => reply);
  const { client } = testClient(server.base_url);
  const result = await client.createBulk('dental', requests, shape);
  expect(server.calls()).toHaveLength(1);
  return { result, body: JSON.parse(server.calls()[0]!.body) as unknown };
}

test('a batch is sent as an array or as an object, and an empty one is not sent', async () => {
  const json = REQUESTS.map((_request, index) => ok(`i${index}`));
  expect((await bulk({ json })).body).toEqual(REQUESTS);
  expect((await bulk({ json }, REQUESTS, 'object')).body).toEqual({ inquiries: REQUESTS });
  const server = await serve(() => ({ json: [] }));
  const { client } = testClient(server.base_url);
  expect(await client.createBulk('dental', [], 'array')).toEqual({ ok: true, items: [] });
  expect(server.calls()).toHaveLength(0);
});

test.each<[string, unknown, BulkItem[]]>([
  [
    'creation responses in order',
    [ok('a'), ok('b'), ok('c')],
    [created('a'), created('b'), created('c')],
  ],
  [
    'inquiry_ids',
    { success: true, inquiry_ids: ['a', 'b', 'c'] },
    [created('a'), created('b'), created('c')],
  ],
  [
    'creation responses under inquiries',
    { inquiries: [ok('a'), ok('b'), ok('c')] },
    [created('a'), created('b'), created('c')],
  ],
  [
    'read forms in another order',
    [echo(2, 'c'), echo(0, 'a'), echo(1, 'b')],
    [created('a', 'read_form'), created('b', 'read_form'), created('c', 'read_form')],
  ],
  [
    'successes and errors mixed',
    [ok('a'), { success: false, detail: [{ loc: ['tax_id'], msg: 'bad', type: 't' }] }, ok('c')],
    [
      created('a'),
      { outcome: 'refused', errors: [{ loc: ['tax_id'], msg: 'bad', type: 't' }] },
      created('c'),
    ],
  ],
  [
    'an error as a sentence',
    [ok('a'), { error: { detail: 'no' } }, ok('c')],
    [
      created('a'),
      { outcome: 'refused', errors: [{ loc: [], msg: 'no', type: '' }] },
      created('c'),
    ],
  ],
  [
    'an error that names another item',
    [ok('a'), { detail: [{ loc: ['body', 0, 'dob'], msg: 'bad', type: 't' }] }, ok('c')],
    [created('a'), UNKNOWN, created('c')],
  ],
  ['success alone', { success: true }, [ACCEPTED, ACCEPTED, ACCEPTED]],
  [
    'fewer ids than requests',
    { success: true, inquiry_ids: ['a', 'b'] },
    [ACCEPTED, ACCEPTED, ACCEPTED],
  ],
  ['more ids than requests', [ok('a'), ok('b'), ok('c'), ok('d')], [ACCEPTED, ACCEPTED, ACCEPTED]],
  ['an id twice', [ok('a'), ok('b'), ok('a')], [ACCEPTED, created('b'), ACCEPTED]],
  [
    'an empty id',
    { success: true, inquiry_ids: ['a', '', 'c'] },
    [created('a'), ACCEPTED, created('c')],
  ],
  [
    'a null among ids',
    { success: true, inquiry_ids: ['a', null, 'c'] },
    [created('a'), ACCEPTED, created('c')],
  ],
  ['a null among responses', [ok('a'), null, ok('c')], [created('a'), UNKNOWN, created('c')]],
  [
    'a success without an id',
    [ok('a'), { success: true }, ok('c')],
    [created('a'), ACCEPTED, created('c')],
  ],
  [
    'an external_id of another item',
    [ok('a'), { ...ok('b'), external_id: 'APPT-3 ' }, ok('c')],
    [created('a'), ACCEPTED, created('c')],
  ],
  [
    'read forms of some',
    [echo(2, 'c'), echo(0, 'a')],
    [created('a', 'read_form'), UNKNOWN, created('c', 'read_form')],
  ],
  [
    'read forms and an error in order',
    [echo(0, 'a'), { success: false }, echo(2, 'c')],
    [created('a', 'read_form'), { outcome: 'refused', errors: [] }, created('c', 'read_form')],
  ],
  [
    'read forms out of order and an error',
    [echo(2, 'c'), { success: false }, echo(0, 'a')],
    [created('a', 'read_form'), UNKNOWN, created('c', 'read_form')],
  ],
  [
    'two read forms of one request',
    [echo(0, 'a'), echo(0, 'b'), echo(2, 'c')],
    [ACCEPTED, ACCEPTED, created('c', 'read_form')],
  ],
  [
    'a read form of an unknown patient',
    [echo(0, 'a'), aReadForm('z'), echo(2, 'c')],
    [created('a', 'read_form'), ACCEPTED, created('c', 'read_form')],
  ],
])('A batch reply of %s is read item by item', async (_name, json, items) => {
  expect((await bulk({ json })).result).toEqual({ ok: true, items });
});

test('read forms of two equal requests cannot be told apart and are looked up', async () => {
  const twice = [REQUESTS[0]!, REQUESTS[0]!];
  expect((await bulk({ json: [echo(0, 'a'), echo(0, 'b')] }, twice)).result).toEqual({
    ok: true,
    items: [ACCEPTED, ACCEPTED],
  });
  expect((await bulk({ json: [echo(0, 'a')] }, twice)).result).toEqual({
    ok: true,
    items: [ACCEPTED, ACCEPTED],
  });
});

test('a batch of one is read from a single creation response too', async () => {
  expect((await bulk({ json: ok('a') }, REQUESTS.slice(0, 1))).result).toEqual({
    ok: true,
    items: [created('a')],
  });
});

test.each<[Reply, string]>([
  [{ status: 404 }, 'bulk_absent'],
  [{ status: 405 }, 'bulk_absent'],
  [{ status: 501 }, 'bulk_absent'],
  [{ status: 413, text: '<html>' }, 'bulk_too_large'],
  [{ status: 401 }, 'unauthorized'],
  [{ status: 429 }, 'rate_limited'],
])('A batch answered with %o is unsent as a whole', async (reply, cause) => {
  expect((await bulk(reply)).result).toMatchObject({
    ok: false,
    failure: { class: 'unsent', cause, status: reply.status },
  });
});

test.each<[Reply, object]>([
  [{ status: 402 }, { class: 'ambiguous', cause: 'http_status' }],
  [{ status: 403 }, { class: 'stopped' }],
  [{ status: 407 }, { class: 'stopped' }],
  [{ status: 400 }, { class: 'refused', errors: [] }],
  [{ status: 500 }, { class: 'ambiguous', accepted: false }],
  [{ status: 302 }, { class: 'ambiguous', cause: 'redirect' }],
  [{ status: 204 }, { class: 'ambiguous', accepted: true }],
  [{ json: [] }, { class: 'ambiguous', cause: 'unreadable_reply', accepted: false }],
  [
    { json: { success: false } },
    { class: 'ambiguous', cause: 'contradictory_reply', accepted: false },
  ],
  [
    { text: '[{"success": true', cut: true },
    { class: 'ambiguous', cause: 'truncated' },
  ],
  // It may have refused some.
  [
    { status: 201, text: '<html>' },
    { class: 'ambiguous', cause: 'unreadable_reply', accepted: false },
  ],
  [
    { status: 201, text: '[{"success": true', cut: true },
    { class: 'ambiguous', cause: 'truncated', accepted: false },
  ],
])('A batch answered with %o fails as a whole', async (reply, failure) => {
  expect((await bulk(reply)).result).toMatchObject({ ok: false, failure });
});

const refusal = (...locs: [loc: (string | number)[], type?: string][]): Reply => ({
  status: 422,
  json: { detail: locs.map(([loc, type = 'value_error']) => ({ loc, msg: 'no', type })) },
});

test.each<[string, Reply, BulkShape]>([
  ['a bare array', refusal([['body', 1, 'dob']], [['body', 1, 'tax_id']]), 'array'],
  ['an object', refusal([['body', 'inquiries', 1, 'dob']], [['body', 'inquiries', 1]]), 'object'],
])(
  'A 422 that names an item of %s refuses that one, and the rest is looked up',
  async (_name, reply, shape) => {
    const { result } = await bulk(reply, REQUESTS, shape);
    expect(result).toMatchObject({
      ok: true,
      items: [UNKNOWN, { outcome: 'refused', errors: [{}, {}] }, UNKNOWN],
    });
  },
);

test.each<[string, Reply, string, number, BulkShape]>([
  ['is too long', refusal([['body'], 'too_long']), 'bulk_too_large', 3, 'array'],
  [
    'is too long for pydantic 1',
    refusal([['body', 'inquiries'], 'value_error.list.max_items']),
    'bulk_too_large',
    3,
    'object',
  ],
  ['is no list', refusal([['body'], 'list_type']), 'bulk_shape', 3, 'object'],
  ['is no object', refusal([['body'], 'model_attributes_type']), 'bulk_shape', 3, 'array'],
  ['lacks the array', refusal([['body', 'inquiries'], 'missing']), 'bulk_shape', 3, 'array'],
  ['is wrong in some way', refusal([['body'], 'value_error']), 'bulk_body_refused', 3, 'array'],
  [
    'is wrong in some way, with one item',
    refusal([['body'], 'value_error']),
    'bulk_shape',
    1,
    'array',
  ],
])('A 422 that says the body %s is unsent', async (_name, reply, cause, count, shape) => {
  const { result } = await bulk(reply, REQUESTS.slice(0, count), shape);
  expect(result).toMatchObject({ ok: false, failure: { class: 'unsent', cause, status: 422 } });
});

test('a 422 that names no item is ambiguous, and refuses a batch of one', async () => {
  for (const reply of [
    { status: 422, text: '<html>' },
    refusal([['body', 'dob']]),
    refusal([['body', 7, 'dob']]),
  ]) {
    expect((await bulk(reply)).result).toMatchObject({
      failure: { class: 'ambiguous', cause: 'unlocated_refusal' },
    });
    expect((await bulk(reply, REQUESTS.slice(0, 1))).result).toMatchObject({
      ok: true,
      items: [{ outcome: 'refused' }],
    });
  }
});
