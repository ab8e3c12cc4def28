import { describe, expect, it } from 'vitest';
import { type Bench, bench, request } from './harness.ts';

const path = '/api/v0/dental/inquiries';

function order(on: Bench, fault: unknown) {
  return on.call('POST', '/_sandbox/faults', fault);
}

async function accepted(on: Bench): Promise<number> {
  return (await on.call('GET', '/_sandbox/ledger')).body.count;
}

describe.each([
  ['before', 0],
  ['after', 1],
] as const)('a fault %s the commit', (when, created) => {
  it('a fault answers with the given status, body, and headers', async () => {
    const on = await bench();
    await order(on, {
      when,
      action: 'status',
      status: 503,
      body: { detail: 'busy' },
      headers: { 'Retry-After': '7' },
    });
    const { status, body, headers } = await on.call('POST', path, request());
    expect([status, body, headers.get('retry-after')]).toEqual([503, { detail: 'busy' }, '7']);
    expect(await accepted(on)).toBe(created);
    expect((await on.call('POST', path, request())).status).toBe(200);
  });

  it('a fault cuts the connection', async () => {
    const on = await bench();
    await order(on, { when, action: 'reset' });
    await expect(on.call('POST', path, request())).rejects.toThrow();
    expect(await accepted(on)).toBe(created);
    expect((await on.call('GET', '/_sandbox/requests')).body).toMatchObject([
      { status: 'cut_off' },
    ]);
  });

  it('a fault sends half of the answer', async () => {
    const on = await bench();
    await order(on, { when, action: 'truncate' });
    const response = await fetch(on.sandbox.url + path, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}` },
      body: JSON.stringify(request()),
    });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(await accepted(on)).toBe(created);
  });

  it('a fault sends a page of a proxy', async () => {
    const on = await bench();
    await order(on, { when, action: 'html' });
    const { status, headers, text } = await on.call('POST', path, request());
    expect([status, headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(text).toContain('<html>');
    expect(await accepted(on)).toBe(created);
  });

  it('a fault delays, and then continues', async () => {
    const on = await bench();
    await order(on, { when, action: 'delay', delay_ms: 60 });
    const started = performance.now();
    expect((await on.call('POST', path, request())).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(50);
    expect(await accepted(on)).toBe(1);
  });

  it('a fault sends an empty body by default', async () => {
    const on = await bench();
    await order(on, { when, action: 'status', status: 200 });
    const { status, text } = await on.call('POST', path, request());
    expect([status, text]).toEqual([200, '']);
  });
});

describe('faults', () => {
  it('faults apply to requests of a method and path, after a skip, several times', async () => {
    const on = await bench();
    await order(on, {
      method: 'post',
      path: 'dental/inq',
      skip: 1,
      times: 2,
      when: 'before',
      action: 'status',
      status: 500,
    });
    expect((await on.call('GET', path)).status).toBe(200);
    expect((await on.call('POST', '/api/v0/medical/inquiries', {})).status).toBe(422);
    const statuses: number[] = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await on.call('POST', path, request())).status);
    expect(statuses).toEqual([200, 500, 500, 200]);
  });

  it('faults find a path by regular expression, including the query', async () => {
    const on = await bench();
    await order(on, {
      path: '^/api/.*external_id=v[12]$',
      when: 'before',
      action: 'status',
      status: 500,
      times: 9,
    });
    expect((await on.call('GET', `${path}?external_id=v2`)).status).toBe(500);
    expect((await on.call('GET', `${path}?external_id=v3`)).status).toBe(200);
  });

  it('faults after the commit wait for a request that succeeds', async () => {
    const on = await bench();
    await order(on, { when: 'after', action: 'status', status: 500 });
    expect((await on.call('POST', path, {})).status).toBe(422);
    expect((await on.call('POST', path, request())).status).toBe(500);
  });

  it('faults can be combined, such as with a delay, and are shown and cleared', async () => {
    const on = await bench();
    const { body } = await order(on, [
      { when: 'before', action: 'delay', delay_ms: 30 },
      { when: 'before', action: 'status', status: 418 },
      { when: 'before', action: 'html', times: 5 },
    ]);
    expect(body.length).toBe(3);
    const started = performance.now();
    expect((await on.call('GET', path)).status).toBe(418);
    expect(performance.now() - started).toBeGreaterThan(25);
    expect((await on.call('GET', '/_sandbox/faults')).body).toMatchObject([
      { action: 'html', times: 5 },
    ]);
    expect((await on.call('DELETE', '/_sandbox/faults')).body).toEqual([]);
    expect((await on.call('GET', path)).status).toBe(200);
  });

  it('faults can redirect', async () => {
    const on = await bench();
    await order(on, {
      when: 'before',
      action: 'status',
      status: 307,
      headers: { location: 'http://other.invalid/' },
    });
    const { status, headers } = await on.call('GET', path);
    expect([status, headers.get('location')]).toEqual([307, 'http://other.invalid/']);
  });

  it.each([
    {},
    { when: 'before', action: 'explode' },
    { when: 'later', action: 'reset' },
    { when: 'after', action: 'reset', pth: 'x' },
  ])('faults are refused when they are %j', async (fault) => {
    const on = await bench();
    expect((await order(on, fault)).status).toBe(422);
  });

  it('faults do not affect the routes under /_sandbox', async () => {
    const on = await bench();
    await order(on, { when: 'before', action: 'reset', times: 99 });
    expect((await on.call('GET', '/_sandbox/ledger')).status).toBe(200);
  });

  it('faults that delay do not delay a close', async () => {
    const on = await bench();
    await order(on, { when: 'before', action: 'delay', delay_ms: 60_000 });
    const waiting = on.call('GET', path).catch(() => 'cut');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await on.sandbox.close();
    expect(await waiting).toBe('cut');
  });
});
