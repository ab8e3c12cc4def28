import { expect, test } from 'vitest';
import { aReadForm, aRequest, type Reply, type Seen, serve, testClient } from './harness.ts';

const forms = (count: number, external_id = 'appt-1') =>
  Array.from({ length: count }, (_, index) =>
    aReadForm(`i${index}`, {}, aRequest({ external_id })),
  );
const ids = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`).sort();

async function listWith(
  answer: (query: URLSearchParams, seen: Seen) => Reply,
  filter: { external_id?: string } = {},
) {
  const server = await serve((seen) => answer(new URL(seen.url, 'http://x').searchParams, seen));
  const { client, gate, logged } = testClient(server.base_url);
  const result = await client.list('dental', filter);
  const again = async () => {
    const before = server.calls().length;
    const repeated = await client.list('dental', filter);
    return { repeated, requests: server.calls().length - before };
  };
  expect(gate.entered).toHaveLength(server.calls().length);
  expect(gate.left).toBe(gate.entered.length);
  return { result, requests: server.calls().length, server, logged, again };
}

function found(result: Awaited<ReturnType<typeof listWith>>['result']) {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  const { total_count: _, ...list } = result.value;
  return { ...list, inquiries: list.inquiries.map((one) => one.id).sort() };
}

const COMPLETE = {
  is_complete: true,
  is_end_proven: true,
  unreadable_count: 0,
  filter: 'none_or_applied',
};
/** No parameter returns more, as with a fixed cap. */
const ASSUMED = { ...COMPLETE, is_end_proven: false };

test('a server without paging is detected once, and its end is assumed each time', async () => {
  const { result, requests, again } = await listWith(() => ({ json: forms(3) }));
  expect(found(result)).toEqual({ inquiries: ids(3), ...ASSUMED });
  expect(requests).toBe(4);
  expect((await again()).requests).toBe(2);
});

test.each([1, 2, 7, 20, 59, 60])('a cap of %i that "limit" can raise is raised', async (cap) => {
  const { result, again } = await listWith((query) => ({
    json: forms(60).slice(0, Number(query.get('limit') ?? cap)),
  }));
  expect(found(result)).toEqual({ inquiries: ids(60), ...ASSUMED });
  expect(found((await again()).repeated).inquiries).toEqual(ids(60));
});

test('an empty list is complete with one request', async () => {
  const { result, requests } = await listWith(() => ({ json: [] }));
  expect(found(result)).toEqual({ inquiries: [], ...COMPLETE });
  expect(requests).toBe(1);
});

test.each([0, 1, 4, 5, 10, 12])(
  'limit and offset over a bare array, %i inquiries',
  async (count) => {
    const { result } = await listWith((query) => {
      const offset = Number(query.get('offset') ?? 0);
      return {
        json: forms(count).slice(offset, offset + Math.min(Number(query.get('limit') ?? 5), 5)),
      };
    });
    expect(found(result)).toEqual({ inquiries: ids(count), ...COMPLETE });
  },
);

test.each([1, 5, 6, 10, 12])(
  'page over a bare array, counted from one, %i inquiries',
  async (count) => {
    const { result, again } = await listWith((query) => {
      const page = Number(query.get('page') ?? 1);
      return { json: forms(count).slice((page - 1) * 5, page * 5) };
    });
    expect(found(result)).toEqual({ inquiries: ids(count), ...COMPLETE });
    const second = await again();
    expect(found(second.repeated).inquiries).toEqual(ids(count));
    expect(second.requests).toBe(1 + Math.ceil(count / 5));
  },
);

test.each([5, 6, 12])('page counted from zero, %i inquiries', async (count) => {
  const { result } = await listWith((query) => {
    const page = Number(query.get('page') ?? 0);
    return { json: forms(count).slice(page * 5, (page + 1) * 5) };
  });
  expect(found(result)).toEqual({ inquiries: ids(count), ...COMPLETE });
});

test('a page after the last one may be a 404 or the last one again', async () => {
  for (const behind of ['404', 'last']) {
    const { result } = await listWith((query) => {
      const page = Math.min(Number(query.get('page') ?? 1), behind === 'last' ? 3 : 99);
      const json = forms(12).slice((page - 1) * 5, page * 5);
      return json.length === 0 ? { status: 404, json: { detail: 'Invalid page.' } } : { json };
    });
    expect(found(result)).toEqual({ inquiries: ids(12), ...COMPLETE });
  }
});

test('a server that refuses unknown parameters has no paging', async () => {
  const { result } = await listWith((query) =>
    query.size > 0 ? { status: 422, json: { detail: [] } } : { json: forms(2) },
  );
  expect(found(result)).toEqual({ inquiries: ids(2), ...ASSUMED });
});

test('links are followed to the end with credentials and filter', async () => {
  const { result, requests, server } = await listWith(
    (query, seen) => {
      const page = Number(query.get('cursor') ?? 1);
      const target =
        page === 1 ? '?cursor=2' : `http://${seen.headers.host}/api/v0/dental/inquiries?cursor=3`;
      const link =
        page < 3
          ? `</first>; rel="first", <${target}>; title="a, b"; rel="last next"`
          : '</first>; rel=first';
      return { json: forms(12).slice((page - 1) * 5, page * 5), headers: { link } };
    },
    { external_id: 'appt-1' },
  );
  expect(found(result)).toEqual({ inquiries: ids(12), ...COMPLETE });
  expect(requests).toBe(3);
  expect(server.calls().every((seen) => seen.headers.authorization !== undefined)).toBe(true);
  expect(server.calls()[0]!.url).toBe('/api/v0/dental/inquiries?external_id=appt-1');
});

test('a link to another host is not followed, and the list is incomplete', async () => {
  const other = await serve(() => ({ json: [] }));
  for (const reply of [
    { json: forms(2), headers: { link: `<${other.base_url}/next>; rel="next"` } },
    { json: { items: forms(2), next: `${other.base_url}/next` } },
  ]) {
    const { result, logged } = await listWith(() => reply);
    expect(found(result)).toMatchObject({ inquiries: ids(2), is_complete: false });
    expect(logged.map((line) => line.event)).toEqual(['service_page_link_refused']);
  }
  expect(other.seen).toHaveLength(0);
});

test('a link back to an earlier page ends the list as incomplete', async () => {
  const { result, requests } = await listWith(() => ({
    json: forms(2),
    headers: { link: '</api/v0/dental/inquiries>; rel=next' },
  }));
  expect(found(result)).toMatchObject({ inquiries: ids(2), is_complete: false });
  expect(requests).toBe(2);
  const endless = await listWith((query) => ({
    json: forms(2),
    headers: { link: `<?cursor=${Number(query.get('cursor') ?? 0) + 1}>; rel=next` },
  }));
  expect(found(endless.result)).toMatchObject({ inquiries: ids(2), is_complete: false });
  expect(endless.requests).toBe(2);
});

test('an envelope with a total is complete when the total is reached', async () => {
  const whole = await listWith(() => ({ json: { items: forms(3), total: 3 } }));
  expect(found(whole.result)).toEqual({ inquiries: ids(3), ...COMPLETE });
  expect(whole.requests).toBe(1);
  const paged = await listWith((query) => {
    const offset = Number(query.get('offset') ?? 0);
    return { json: { items: forms(12).slice(offset, offset + 5), total: 12 } };
  });
  expect(found(paged.result)).toEqual({ inquiries: ids(12), ...COMPLETE });
  expect(paged.requests).toBe(3);
  const by_page = await listWith((query) => {
    const page = Number(query.get('page') ?? 1);
    return { json: { count: 12, results: forms(12).slice((page - 1) * 5, page * 5) } };
  });
  expect(found(by_page.result)).toEqual({ inquiries: ids(12), ...COMPLETE });
});

test('an envelope whose total is never reached is incomplete', async () => {
  const { result } = await listWith(() => ({ json: { items: forms(3), total: 9 } }));
  expect(found(result)).toMatchObject({ inquiries: ids(3), is_complete: false });
});

test('a server whose order changes between pages is not trusted', async () => {
  let turn = 0;
  const { result } = await listWith(() => {
    turn += 1;
    const all = forms(9);
    return { json: turn === 1 ? all.slice(0, 4) : turn === 2 ? all.slice(4, 8) : all.slice(2, 6) };
  });
  expect(found(result).is_complete).toBe(false);
});

test('an element that cannot be read is counted, and the others are kept', async () => {
  const { result } = await listWith(() => ({ json: [...forms(1), { id: 7 }, null] }));
  expect(found(result)).toEqual({
    inquiries: ['i0'],
    is_complete: false,
    is_end_proven: false,
    unreadable_count: 2,
    filter: 'none_or_applied',
  });
});

test('a filter that the server ignores is noticed, and applied locally', async () => {
  const others = aReadForm('other', {}, aRequest({ external_id: 'appt-2' }));
  const { result } = await listWith(() => ({ json: [...forms(1, ' APPT-1'), others] }), {
    external_id: 'appt-1',
  });
  expect(found(result)).toEqual({
    inquiries: ['i0'],
    is_complete: true,
    is_end_proven: false,
    unreadable_count: 0,
    filter: 'ignored',
  });
});

test.each([400, 422])(
  'if the server refuses the filter (%i), the whole list is read',
  async (status) => {
    const others = aReadForm('other', {}, aRequest({ external_id: 'appt-2' }));
    const { result } = await listWith(
      (query) => (query.has('external_id') ? { status } : { json: [...forms(1), others] }),
      { external_id: 'appt-1' },
    );
    expect(found(result)).toEqual({ inquiries: ['i0'], ...ASSUMED, filter: 'refused' });
  },
);

test.each<[Reply, object]>([
  [
    { status: 404, json: {} },
    { class: 'stopped', status: 404 },
  ],
  [{ status: 403 }, { class: 'stopped' }],
  [{ status: 401 }, { class: 'unsent', cause: 'unauthorized' }],
  [{ status: 422 }, { class: 'refused' }],
  [{ status: 500 }, { class: 'ambiguous', cause: 'http_status' }],
  [{ text: '<html>' }, { class: 'ambiguous', cause: 'unreadable_reply' }],
  [{ json: { hello: 1 } }, { class: 'ambiguous', cause: 'unreadable_reply' }],
  [
    { text: '[', cut: true },
    { class: 'ambiguous', cause: 'truncated' },
  ],
])('A list answered with %o fails', async (reply, failure) => {
  expect((await listWith(() => reply)).result).toMatchObject({ ok: false, failure });
});

test('a page that fails fails the list', async () => {
  const { result } = await listWith((query) =>
    query.has('offset') ? { status: 502 } : { json: forms(3) },
  );
  expect(result).toMatchObject({ ok: false, failure: { class: 'ambiguous', status: 502 } });
});
