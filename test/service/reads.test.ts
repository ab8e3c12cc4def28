import { expect, test } from 'vitest';
import { aReadForm, id, type Reply, serve, testClient } from './harness.ts';

async function readWith(reply: Reply) {
  const server = await serve(() => reply);
  return testClient(server.base_url).client.read('medical', id('a/b'));
}

test('an inquiry is read as an object or an array of one, with all its content', async () => {
  const form = aReadForm('a/b', {
    status: 'brand_new',
    novelty: { deep: [1] },
    results: { anything: '$1' },
    summary: null,
  });
  for (const json of [form, [form]]) {
    expect(await readWith({ json })).toEqual({
      ok: true,
      value: {
        id: 'a/b',
        status: 'brand_new',
        creation_ts: '2026-11-20T12:00:00Z',
        summary: null,
        results: { anything: '$1' },
        request: form.request,
        raw: form,
      },
    });
  }
  const server = await serve(() => ({ json: form }));
  await testClient(server.base_url).client.read('medical', id('a/b'));
  expect(server.calls()[0]!.url).toBe('/api/v0/medical/inquiries/a%2Fb');
});

test('a wrong type in another field does not hide an inquiry', async () => {
  expect(
    await readWith({ json: aReadForm('a/b', { creation_ts: 17, summary: {} }) }),
  ).toMatchObject({
    ok: true,
    value: { creation_ts: null, summary: null, raw: { creation_ts: 17 } },
  });
});

test.each<[string, Reply]>([
  ['404', { status: 404, json: { detail: 'Not found' } }],
  ['404 without a body', { status: 404 }],
  ['422', { status: 422, json: { detail: [] } }],
  ['null', { text: 'null' }],
  ['an empty array', { json: [] }],
  ['204', { status: 204 }],
])('An inquiry answered with %s is absent', async (_name, reply) => {
  expect(await readWith(reply)).toEqual({ ok: true, value: null });
});

test.each<[string, Reply, object]>([
  [
    "a proxy's 404",
    { status: 404, text: '<html>Not here</html>' },
    { class: 'ambiguous', status: 404 },
  ],
  ['another inquiry', { json: aReadForm('z') }, { class: 'ambiguous', cause: 'other_inquiry' }],
  ['an empty object', { json: {} }, { class: 'ambiguous', cause: 'unreadable_reply' }],
  ['an empty 200', {}, { class: 'ambiguous', cause: 'unreadable_reply' }],
  ['400', { status: 400 }, { class: 'refused' }],
  ['403', { status: 403 }, { class: 'stopped' }],
  [
    '503',
    { status: 503, headers: { 'retry-after': '7' } },
    { class: 'ambiguous', retry_after_ms: 7000 },
  ],
])('An inquiry answered with %s is a failure', async (_name, reply, failure) => {
  expect(await readWith(reply)).toMatchObject({ ok: false, failure });
});

test('verifications are read with or without envelope, and an unknown ID has none', async () => {
  const one = {
    id: 'v',
    inquiry_id: 'a b',
    call_log_id: 'c',
    verification_items: [{ name: 'n', status: 'MET', x: 1 }],
    creation_ts: 't',
  };
  const cases: [Reply, object][] = [
    [{ json: { success: true, count: 1, verifications: [one] } }, { ok: true, value: [one] }],
    [{ json: [one] }, { ok: true, value: [one] }],
    [{ json: { success: true, count: 0, verifications: [] } }, { ok: true, value: [] }],
    // An odd record hides no other (G7), and a record about another inquiry would quote another
    // call.
    [
      { json: [{ id: 7, verification_items: 'odd' }, 'odd', one] },
      { ok: true, value: [{ id: 7 }, 'odd', one] },
    ],
    [{ json: [{ ...one, inquiry_id: 'other' }, one] }, { ok: true, value: [one] }],
    [
      { status: 404, json: {} },
      { ok: true, value: [] },
    ],
    [
      { status: 422, json: {} },
      { ok: true, value: [] },
    ],
    [{ json: { success: true } }, { ok: false, failure: { cause: 'unreadable_reply' } }],
  ];
  for (const [reply, expected] of cases) {
    const server = await serve(() => reply);
    const result = await testClient(server.base_url).client.verifications(id('a b'));
    expect(result).toMatchObject(expected);
    expect(server.calls()[0]!.url).toBe('/api/v0/verification?inquiry_id=a+b');
  }
});

test('a subscription is set and read back, and every form of "none" is null', async () => {
  const there = { id: 7, callback_url: 'https://clinic.example/hook', update_frequency_min: 5 };
  const server = await serve((seen) => (seen.method === 'GET' ? { json: there } : { status: 204 }));
  const { client } = testClient(server.base_url);
  const wanted = { callback_url: 'https://clinic.example/hook', update_frequency_min: 9 };
  expect(await client.setSubscription(wanted)).toEqual({ ok: true, value: there });
  expect(server.calls().map((seen) => `${seen.method} ${seen.url}`)).toEqual([
    'POST /api/v0/subscription/',
    'GET /api/v0/subscription/',
  ]);
  expect(JSON.parse(server.calls()[0]!.body)).toEqual(wanted);
  for (const reply of [
    { status: 404 },
    { status: 204 },
    { json: {} },
    { text: 'null' },
    { json: [] },
    { json: { subscription: null } },
    { json: { callback_url: null, update_frequency_min: 5 } },
    { json: { callback_url: '' } },
  ]) {
    const none = await serve((seen) => (seen.method === 'GET' ? reply : { json: {} }));
    const other = testClient(none.base_url).client;
    expect(await other.getSubscription()).toEqual({ ok: true, value: null });
    expect(await other.setSubscription(wanted)).toMatchObject({
      ok: false,
      failure: { cause: 'not_stored' },
    });
  }
});

test('deleting a subscription succeeds if it no longer exists', async () => {
  for (const status of [200, 204, 404]) {
    const server = await serve(() => ({ status }));
    expect(await testClient(server.base_url).client.deleteSubscription()).toEqual({
      ok: true,
      value: null,
    });
    expect(server.calls()[0]).toMatchObject({ method: 'DELETE', url: '/api/v0/subscription/' });
  }
  const refusing = await serve(() => ({ status: 403 }));
  expect(await testClient(refusing.base_url).client.deleteSubscription()).toMatchObject({
    failure: { class: 'stopped' },
  });
});
