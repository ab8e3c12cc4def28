import { describe, expect, it } from 'vitest';
import { BASIC, bench, request } from './harness.ts';

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each(['dental', 'medical', 'mental_health'])('inquiries of %s', (specialty) => {
  const questions = {
    benefits_query: [specialty === 'dental' ? 'STANDARD' : 'CODE_LOOKUP_BENEFITS'],
  };

  it('inquiries are created with a uuid4, read by ID, and listed', async () => {
    const { create, read, list } = await bench();
    const id = await create(specialty, { ...questions, external_id: 'visit-1' });
    expect(id).toMatch(UUID4);
    const form = await read(specialty, id);
    expect(form).toEqual({
      id,
      status: 'SCHEDULED',
      creation_ts: '2030-01-07T15:00:00.000Z',
      summary: '',
      results: null,
      request: request({ ...questions, external_id: 'visit-1' }),
    });
    expect(await list(specialty)).toEqual([form]);
  });

  it('inquiries are filtered by external_id, which is not unique', async () => {
    const { create, list } = await bench();
    const first = await create(specialty, { ...questions, external_id: 'visit-1' });
    await create(specialty, { ...questions, external_id: 'visit-2' });
    const third = await create(specialty, { ...questions, external_id: 'visit-1' });
    const ids = (await list(specialty, '?external_id=visit-1')).map(({ id }: { id: string }) => id);
    expect(ids).toEqual([first, third]);
    expect(await list(specialty, '?external_id=visit-3')).toEqual([]);
  });

  it('inquiries are created in batches, in order, also with equal content', async () => {
    const { call, read } = await bench();
    const items = ['A', 'B', 'B'].map((name) => request({ ...questions, patient_name: name }));
    const { status, body } = await call('POST', `/api/v0/${specialty}/batch_inquiries`, items);
    expect(status).toBe(200);
    expect(body.map(({ success }: { success: boolean }) => success)).toEqual([true, true, true]);
    expect(new Set(body.map(({ inquiry_id }: { inquiry_id: string }) => inquiry_id)).size).toBe(3);
    expect((await read(specialty, body[1].inquiry_id)).request.patient_name).toBe('B');
  });
});

describe('paths', () => {
  it('paths keep specialties apart', async () => {
    const { create, call, list } = await bench();
    const id = await create('dental');
    expect((await call('GET', `/api/v0/medical/inquiries/${id}`)).status).toBe(404);
    expect(await list('medical')).toEqual([]);
  });

  it('a wrong method gets 405 with Allow, and an unknown path 404', async () => {
    const { call } = await bench();
    const wrong = await call('PUT', '/api/v0/dental/inquiries', {});
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, GET']);
    expect((await call('GET', '/api/v0/vision/inquiries')).status).toBe(404);
  });

  it('the root path says what this is', async () => {
    const { call } = await bench();
    const { status, headers, text } = await call('GET', '/');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/plain');
    expect(text).toContain('It makes no calls');
  });
});

describe('credentials', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: '' };

  it('credentials get a bearer token that opens the other endpoints', async () => {
    const { call } = await bench();
    const { status, body } = await call(
      'POST',
      '/api/v0/auth/token',
      'username=clinic&password=sandbox',
      form,
    );
    expect(status).toBe(200);
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'bearer' });
    const bearer = { authorization: `Bearer ${body.access_token}` };
    expect((await call('GET', '/api/v0/dental/inquiries', undefined, bearer)).status).toBe(200);
  });

  it.each([
    ['absent', ''],
    ['of an unknown scheme', 'Digest abc'],
    ['with a wrong key', `Basic ${Buffer.from('sandbox:wrong').toString('base64')}`],
    ['with an unknown token', 'Bearer nonsense'],
  ])('credentials that are %s get 401 on every endpoint', async (_what, authorization) => {
    const { call } = await bench();
    for (const path of [
      '/dental/inquiries',
      '/medical/inquiries/x',
      '/verification?inquiry_id=x',
      '/subscription/',
    ]) {
      const { status, headers, body } = await call('GET', `/api/v0${path}`, undefined, {
        authorization,
      });
      expect([path, status]).toEqual([path, 401]);
      expect(headers.get('www-authenticate')).toContain('Bearer');
      expect(body.detail).toEqual(expect.any(String));
    }
  });

  it('wrong credentials get no token, and an incomplete form gets 422', async () => {
    const { call } = await bench();
    expect(
      (await call('POST', '/api/v0/auth/token', 'username=clinic&password=x', form)).status,
    ).toBe(401);
    const incomplete = await call('POST', '/api/v0/auth/token', 'username=clinic', form);
    expect([incomplete.status, incomplete.body.detail[0].loc]).toEqual([422, ['body', 'password']]);
    const json = await call('POST', '/api/v0/auth/token', {
      username: 'clinic',
      password: 'sandbox',
    });
    expect(json.status).toBe(422);
  });

  it('credentials can be set at the start', async () => {
    const { call } = await bench({ credentials: { api_key: 'other' } });
    expect((await call('GET', '/api/v0/dental/inquiries')).status).toBe(401);
    const authorization = `Basic ${Buffer.from('sandbox:other').toString('base64')}`;
    expect(
      (await call('GET', '/api/v0/dental/inquiries', undefined, { authorization })).status,
    ).toBe(200);
  });

  it('a token ends after a day of service time, and with revoke_tokens', async () => {
    const { call, machine } = await bench();
    const login = async () =>
      (await call('POST', '/api/v0/auth/token', 'username=clinic&password=sandbox', form)).body
        .access_token;
    const look = async (token: string) =>
      (
        await call('GET', '/api/v0/dental/inquiries', undefined, {
          authorization: `Bearer ${token}`,
        })
      ).status;
    const first = await login();
    machine.now_ms += 86_399_000;
    expect(await look(first)).toBe(200);
    machine.now_ms += 1_000;
    expect(await look(first)).toBe(401);
    const second = await login();
    expect((await call('POST', '/_sandbox/revoke_tokens')).body).toEqual({ revoked: 1 });
    expect(await look(second)).toBe(401);
    expect(
      (await call('GET', '/api/v0/dental/inquiries', undefined, { authorization: BASIC })).status,
    ).toBe(200);
  });
});

describe('transcript verifications', () => {
  it('checks appear after the call, newest first, and none for an unknown ID', async () => {
    const { create, call, advance } = await bench();
    const id = await create('dental', { member_id: 'REVISE1' });
    const path = `/api/v0/verification?inquiry_id=${id}`;
    expect((await call('GET', path)).body).toEqual({ success: true, count: 0, verifications: [] });
    await advance({ days: 5 });
    const { body } = await call('GET', path);
    expect(body.count).toBe(2);
    const [newest, oldest] = body.verifications;
    expect(newest.creation_ts > oldest.creation_ts).toBe(true);
    expect(oldest).toMatchObject({
      inquiry_id: id,
      call_log_id: expect.any(String),
      id: expect.any(String),
    });
    expect(oldest.verification_items[0]).toMatchObject({
      name: 'payer_reached',
      status: expect.any(String),
    });
    expect((await call('GET', '/api/v0/verification?inquiry_id=none')).body.count).toBe(0);
  });

  it('checks need an inquiry_id', async () => {
    const { call } = await bench();
    const { status, body } = await call('GET', '/api/v0/verification');
    expect([status, body.detail[0].loc]).toEqual([422, ['query', 'inquiry_id']]);
  });
});

describe('the subscription', () => {
  const path = '/api/v0/subscription/';

  it('the subscription is created with 5 minutes, updated, shown, and deleted', async () => {
    const { call } = await bench();
    expect((await call('GET', path)).status).toBe(404);
    const made = await call('POST', path, { callback_url: 'https://clinic.example/hook' });
    expect(made.body).toMatchObject({
      callback_url: 'https://clinic.example/hook',
      update_frequency_min: 5,
    });
    const updated = await call('POST', path, {
      callback_url: 'https://clinic.example/other',
      update_frequency_min: 10,
    });
    expect(updated.body.subscription_id).toBe(made.body.subscription_id);
    expect((await call('GET', path.slice(0, -1))).body).toEqual(updated.body);
    expect((await call('DELETE', path)).status).toBe(200);
    expect((await call('GET', path)).status).toBe(404);
    expect((await call('DELETE', path)).status).toBe(404);
  });

  it.each([
    [{}, ['body', 'callback_url']],
    [{ callback_url: 'clinic.example' }, ['body', 'callback_url']],
    [
      { callback_url: 'https://clinic.example', update_frequency_min: 0 },
      ['body', 'update_frequency_min'],
    ],
  ])('the subscription refuses %j', async (body, loc) => {
    const { call } = await bench();
    const response = await call('POST', path, body);
    expect([response.status, response.body.detail[0].loc]).toEqual([422, loc]);
  });
});
