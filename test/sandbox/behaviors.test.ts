import { describe, expect, it } from 'vitest';
import { BEHAVIORS } from '../../src/sandbox/server.ts';
import { type Bench, bench, type Loose, MONDAY_MS, request } from './harness.ts';

const list = '/api/v0/dental/inquiries';
const bulk = '/api/v0/dental/batch_inquiries';
const subscription = '/api/v0/subscription/';

const tested = new Set<string>();

/** A test of one behavior; the last test of this file checks that every behavior has one. */
function behavior(
  name: keyof typeof BEHAVIORS,
  sentence: string,
  test: (on: Bench) => Promise<void>,
): void {
  tested.add(name);
  it(`${name} ${sentence}`, async () => test(await bench()));
}

const items = (...names: unknown[]) =>
  names.map((name) =>
    name === undefined ? request({ dob: 'x' }) : request({ patient_name: name, external_id: name }),
  );

async function names(on: Bench): Promise<string[]> {
  return (await on.list('dental')).map((form: Loose) => form.request.patient_name);
}

/** The answered form of one inquiry. */
async function answered(
  on: Bench,
  specialty: string,
  fields: Record<string, unknown> = {},
): Promise<Loose> {
  const id = await on.create(specialty, { desired_completion_date: '01-07-2030', ...fields });
  await on.advance({ hours: 2 });
  return on.read(specialty, id);
}

describe('bulk', () => {
  behavior(
    'bulk_request_shape',
    'sets the accepted form; the other one gets a 422 at the body',
    async (on) => {
      const status = async (body: unknown) => {
        const response = await on.call('POST', bulk, body);
        return response.status === 422 ? response.body.detail[0].loc : response.status;
      };
      const array = items('A');
      expect([await status(array), await status({ inquiries: array })]).toEqual([200, ['body']]);
      await on.behave({ bulk_request_shape: 'object' });
      expect([await status(array), await status({ inquiries: array })]).toEqual([['body'], 200]);
      expect(await status({ inquiries: items(undefined) })).toEqual([
        'body',
        'inquiries',
        0,
        'dob',
      ]);
      await on.behave({ bulk_request_shape: 'both' });
      expect([await status(array), await status({ inquiries: array })]).toEqual([200, 200]);
    },
  );

  behavior('bulk_response', 'has seven shapes', async (on) => {
    const answer = async (bulk_response: string) => {
      await on.behave({ bulk_response });
      return (await on.call('POST', bulk, items('A', 'B', 'C'))).body;
    };
    const id = expect.any(String);
    const created = { success: true, inquiry_id: id };
    expect(await answer('creation_responses')).toEqual([created, created, created]);
    expect(await answer('inquiry_ids')).toEqual({ success: true, inquiry_ids: [id, id, id] });
    expect(await answer('wrapped_creations')).toEqual({ inquiries: [created, created, created] });
    expect((await answer('read_forms')).map((form: Loose) => form.request.patient_name)).toEqual([
      'A',
      'B',
      'C',
    ]);
    expect(await answer('success_only')).toEqual({ success: true });
    const shuffled = await answer('shuffled_ids');
    const owners = await Promise.all(
      shuffled.map(
        async (one: Loose) => (await on.read('dental', one.inquiry_id)).request.patient_name,
      ),
    );
    expect(owners).not.toEqual(['A', 'B', 'C']);
    expect(owners.sort()).toEqual(['A', 'B', 'C']);
    await on.behave({ bulk_response: 'mixed' });
    const mixed = (await on.call('POST', bulk, items('A', undefined))).body;
    expect(mixed).toEqual([
      created,
      { success: false, detail: [expect.objectContaining({ loc: ['body', 1, 'dob'] })] },
    ]);
  });

  behavior('bulk_absent', 'answers with the chosen status and creates nothing', async (on) => {
    for (const status of [404, 405, 501]) {
      await on.behave({ bulk_absent: status });
      expect((await on.call('POST', bulk, items('A'))).status).toBe(status);
    }
    expect(await names(on)).toEqual([]);
  });

  behavior(
    'bulk_partial',
    'creates nothing, or only the good ones, whatever the answer',
    async (on) => {
      const send = async (bulk_partial: string) => {
        await on.behave({ bulk_partial });
        return on.call('POST', bulk, items('A', undefined, 'B'));
      };
      expect((await send('all_or_nothing')).status).toBe(422);
      expect(await names(on)).toEqual([]);
      expect((await send('some')).body).toMatchObject([
        { success: true },
        { success: false, inquiry_id: null },
        { success: true },
      ]);
      expect(await names(on)).toEqual(['A', 'B']);
      expect((await send('some_422')).status).toBe(422);
      expect(await names(on)).toEqual(['A', 'B', 'A', 'B']);
    },
  );

  behavior('bulk_max', 'is the maximum number of items in a batch', async (on) => {
    await on.behave({ bulk_max: 2 });
    expect((await on.call('POST', bulk, items('A', 'B', 'C'))).status).toBe(413);
    expect((await on.call('POST', bulk, items('A', 'B'))).status).toBe(200);
  });

  behavior('bulk_max_status', 'can be a 422 at the body', async (on) => {
    await on.behave({ bulk_max: 1, bulk_max_status: '422' });
    const { status, body } = await on.call('POST', bulk, items('A', 'B'));
    expect([status, body.detail[0].loc]).toEqual([422, ['body']]);
  });
});

describe('list', () => {
  const filled = async (on: Bench) => {
    await on.call('POST', bulk, items('A', 'B', 'C', 'D', 'E'));
  };
  const namesOf = (forms: Loose) => forms.map((form: Loose) => form.request.patient_name).join('');

  behavior('list_filter', 'may ignore or refuse external_id', async (on) => {
    await filled(on);
    expect(namesOf(await on.list('dental', '?external_id=B'))).toBe('B');
    await on.behave({ list_filter: 'ignored' });
    expect(namesOf(await on.list('dental', '?external_id=B'))).toBe('ABCDE');
    await on.behave({ list_filter: 'refused' });
    const { status, body } = await on.call('GET', '/api/v0/dental/inquiries?external_id=B');
    expect([status, body.detail[0].loc]).toEqual([422, ['query', 'external_id']]);
    expect(namesOf(await on.list('dental'))).toBe('ABCDE');
  });

  behavior('list_paging', 'has four kinds of pages', async (on) => {
    await filled(on);
    expect(namesOf(await on.list('dental', '?limit=2'))).toBe('ABCDE');
    await on.behave({ list_paging: 'limit_offset', list_page_size: 2 });
    expect(namesOf(await on.list('dental', '?limit=9&offset=1'))).toBe('BC');
    expect(namesOf(await on.list('dental', '?limit=1&offset=4'))).toBe('E');
    expect(namesOf(await on.list('dental', '?offset=5'))).toBe('');
    await on.behave({ list_paging: 'page' });
    expect(namesOf(await on.list('dental'))).toBe('AB');
    expect(namesOf(await on.list('dental', '?page=3'))).toBe('E');
    expect(namesOf(await on.list('dental', '?page=4'))).toBe('');
    await on.behave({ list_paging: 'items_total' });
    const { items: page, total } = await on.list('dental', '?limit=2&offset=2');
    expect([namesOf(page), total]).toEqual(['CD', 5]);
    expect(namesOf((await on.list('dental', '?page=3')).items)).toBe('E');
    await on.behave({ list_paging: 'link' });
    let next: string | undefined = list;
    let found = '';
    while (next !== undefined) {
      const { body, headers }: { body: Loose; headers: Headers } = await on.call('GET', next);
      found += namesOf(body);
      next = /^<(.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(found).toBe('ABCDE');
  });

  behavior('list_page_size', 'is the size of a page', async (on) => {
    await filled(on);
    await on.behave({ list_paging: 'page', list_page_size: 3 });
    expect(namesOf(await on.list('dental'))).toBe('ABC');
  });

  behavior('list_order', 'may be reversed or random, and then stays the same', async (on) => {
    await filled(on);
    await on.behave({ list_order: 'reverse' });
    expect(namesOf(await on.list('dental'))).toBe('EDCBA');
    await on.behave({ list_order: 'random' });
    const random = namesOf(await on.list('dental'));
    expect([...random].sort().join('')).toBe('ABCDE');
    expect(random).not.toBe('ABCDE');
    expect(namesOf(await on.list('dental'))).toBe(random);
  });

  behavior('list_truncate', 'ends the list early', async (on) => {
    await filled(on);
    await on.behave({ list_truncate: 2 });
    expect(namesOf(await on.list('dental'))).toBe('AB');
  });

  behavior(
    'list_delay_seconds',
    'hides new inquiries in the list, but not in reads',
    async (on) => {
      await on.behave({ list_delay_seconds: 30 });
      const id = await on.create('dental');
      expect(await on.list('dental')).toEqual([]);
      expect((await on.read('dental', id)).id).toBe(id);
      on.machine.now_ms += 30_000;
      expect((await on.list('dental')).length).toBe(1);
    },
  );
});

describe('reading', () => {
  behavior('read_shape', 'may be an array', async (on) => {
    const id = await on.create('dental');
    await on.behave({ read_shape: 'array' });
    expect(await on.read('dental', id)).toMatchObject([{ id }]);
  });

  behavior('unknown_id', 'has four answers', async (on) => {
    const answers: unknown[] = [];
    for (const unknown_id of ['404', '422', 'null', 'empty_array']) {
      await on.behave({ unknown_id });
      const { status, body } = await on.call('GET', `${list}/none`);
      answers.push(
        status === 422 ? [status, body.detail[0].loc] : status === 404 ? status : [status, body],
      );
    }
    expect(answers).toEqual([404, [422, ['path', 'id']], [200, null], [200, []]]);
  });

  behavior('timestamps', 'have three forms', async (on) => {
    const id = await on.create('dental');
    const seen: string[] = [];
    for (const timestamps of ['z', 'offset', 'naive_micros']) {
      await on.behave({ timestamps });
      seen.push((await on.read('dental', id)).creation_ts);
    }
    expect(seen).toEqual([
      '2030-01-07T15:00:00.000Z',
      '2030-01-07T09:00:00.000-06:00',
      '2030-01-07T15:00:00.000417',
    ]);
  });

  behavior('dates', 'have three forms, in the returned request too', async (on) => {
    const form = await answered(on, 'dental');
    expect(form.results.plan_information.effective_date).toMatch(/^\d\d-\d\d-\d{4}$/);
    await on.behave({ dates: 'iso' });
    const iso = await on.read('dental', form.id);
    expect([iso.results.plan_information.effective_date, iso.request.dob]).toEqual([
      expect.stringMatching(/^\d{4}-/),
      '1980-03-04',
    ]);
    await on.behave({ dates: 'mdy_slash' });
    expect((await on.read('dental', form.id)).request.dob).toBe('03/04/1980');
  });

  behavior('amounts', 'are numeric texts, numbers or currency', async (on) => {
    const form = await answered(on, 'dental');
    expect(form.results.maximums.coverage_limit).toMatch(/^\d+\.00$/);
    await on.behave({ amounts: 'number' });
    expect((await on.read('dental', form.id)).results.maximums.coverage_limit).toEqual(
      expect.any(Number),
    );
    await on.behave({ amounts: 'currency' });
    expect((await on.read('dental', form.id)).results.maximums.coverage_limit).toMatch(
      /^\$\d,\d{3}\.00$/,
    );
  });

  behavior(
    'call_details',
    'is an array for dental and sometimes an object for the others',
    async (on) => {
      const shapes = async (specialty: string) => {
        const found = new Set<string>();
        for (let i = 0; i < 15; i += 1) {
          const { results } = await answered(on, specialty, {
            member_id: `ACTIVE${i}`,
            benefits_query: ['CODE_LOOKUP_BENEFITS'],
          });
          const { call_details } = results;
          found.add(
            call_details === undefined
              ? 'absent'
              : Array.isArray(call_details)
                ? 'array'
                : 'object',
          );
        }
        return [...found].sort();
      };
      expect([await shapes('dental'), await shapes('medical')]).toEqual([
        ['array'],
        ['array', 'object'],
      ]);
      for (const shape of ['array', 'object', 'absent']) {
        await on.behave({ call_details: shape });
        expect(await shapes('medical')).toEqual([shape]);
      }
    },
  );

  behavior('transcript_name', 'is one of two names', async (on) => {
    const form = await answered(on, 'dental');
    expect(form.results.call_details[0]).toHaveProperty('call_transcript');
    await on.behave({ transcript_name: 'transcript' });
    const [call] = (await on.read('dental', form.id)).results.call_details;
    expect(call.transcript).toEqual(expect.any(String));
    expect(call).not.toHaveProperty('call_transcript');
  });

  behavior('tooth_numbers', 'are texts or integers; letters stay texts', async (on) => {
    const ids: string[] = [];
    for (let i = 0; i < 20; i += 1) {
      const fields = {
        member_id: `ACTIVE${i}`,
        benefits_query: ['TREATMENT_HISTORY'],
        dob: i < 10 ? '03-04-1980' : '03-04-2022',
      };
      ids.push((await answered(on, 'dental', fields)).id);
    }
    const teeth = async () => {
      const forms = await Promise.all(ids.map((id) => on.read('dental', id)));
      return forms
        .flatMap((form) => Object.values<Loose>(form.results.treatment_history).flat())
        .flatMap((item) => item.tooth_numbers);
    };
    await on.behave({ tooth_numbers: 'strings' });
    expect((await teeth()).every((tooth) => typeof tooth === 'string')).toBe(true);
    await on.behave({ tooth_numbers: 'integers' });
    expect((await teeth()).some((tooth) => typeof tooth === 'number')).toBe(true);
    expect(
      (await teeth()).every((tooth) => typeof tooth === 'number' || /^[A-T]$/.test(tooth)),
    ).toBe(true);
  });

  behavior('echo', 'changes the request in four ways', async (on) => {
    const sent = request({ patient_name: ' Ann ', external_id: 'visit-a' });
    const id = await on.create('dental', { patient_name: ' Ann ', external_id: 'visit-a' });
    const echoed = async (echo: string) => {
      await on.behave({ echo });
      return (await on.read('dental', id)).request;
    };
    expect(await echoed('as_sent')).toEqual(sent);
    expect(await echoed('nulls')).toMatchObject({ ...sent, group_id: null, billing_npi: null });
    expect(await echoed('defaults')).toMatchObject({
      ...sent,
      is_specialist: false,
      insurance: 'UNKNOWN',
    });
    expect(await echoed('trimmed_upper')).toMatchObject({
      patient_name: 'ANN',
      external_id: 'visit-a',
    });
  });

  behavior('status_case', 'may be lower', async (on) => {
    const id = await on.create('dental');
    await on.behave({ status_case: 'lower' });
    expect((await on.read('dental', id)).status).toBe('scheduled');
  });

  behavior(
    'success_null_first_seconds',
    'withholds the results of a SUCCESS at first',
    async (on) => {
      await on.behave({ success_null_first_seconds: 3 * 3600 });
      const form = await answered(on, 'dental');
      expect([form.status, form.results]).toEqual(['SUCCESS', null]);
      await on.advance({ hours: 3 });
      expect((await on.read('dental', form.id)).results).not.toBeNull();
    },
  );

  behavior('revise_after_hours', 'gives another answer later', async (on) => {
    await on.behave({ revise_after_hours: 5 });
    const form = await answered(on, 'dental');
    await on.advance({ hours: 5 });
    expect((await on.read('dental', form.id)).results.call_details.length).toBe(2);
  });

  behavior('reopen_after_hours', 'returns an inquiry to IN_PROGRESS', async (on) => {
    await on.behave({ reopen_after_hours: 2 });
    const form = await answered(on, 'dental');
    await on.advance({ hours: 1 });
    const { status, results } = await on.read('dental', form.id);
    expect([form.status, status, results]).toEqual(['SUCCESS', 'IN_PROGRESS', null]);
  });

  behavior('payer_hours', 'may be business hours, so that calls end only then', async (on) => {
    const endOf = async (id: string) => {
      const ledger = (await on.call('GET', '/_sandbox/ledger')).body;
      const { steps } = ledger.inquiries.find((inquiry: Loose) => inquiry.id === id);
      return steps.at(-1).at as string;
    };
    await on.behave({ payer_hours: 'business' });
    // Saturday, 10:00 in Chicago; the answer is wanted on that day.
    await on.advance({ to: '2030-01-12T16:00:00.000Z' });
    const weekend = await on.create('dental', { desired_completion_date: '01-12-2030' });
    expect(await endOf(weekend)).toMatch(/^2030-01-14T(?:1[4-9]|2[0-2]):/);
    // The evening before Martin Luther King Day, which is a Monday.
    await on.advance({ to: '2030-01-18T23:30:00.000Z' });
    const holiday = await on.create('dental', { desired_completion_date: '01-18-2030' });
    expect(await endOf(holiday)).toMatch(/^2030-01-22T(?:1[4-9]|2[0-2]):/);
  });

  behavior('payer_turnaround_hours', 'may delay an answer, however urgent it is', async (on) => {
    await on.behave({ payer_hours: 'business', payer_turnaround_hours: 12 });
    // Monday, 15:00Z: eight hours of this day are left, and four more on Tuesday.
    const id = await on.create('dental', { desired_completion_date: '01-07-2030' });
    await on.advance({ to: '2030-01-08T17:59:00.000Z' });
    expect((await on.read('dental', id)).results).toBeNull();
    await on.advance({ to: '2030-01-08T23:00:00.000Z' });
    expect((await on.read('dental', id)).results).not.toBeNull();
  });

  behavior('account_requires', 'may require npi and insurance', async (on) => {
    await on.behave({ account_requires: 'npi_and_insurance' });
    const { body } = await on.call('POST', '/api/v0/medical/inquiries', request());
    expect(body.detail.map(({ loc }: Loose) => loc[1])).toEqual(['npi', 'insurance']);
    await on.create('medical', { npi: '1245319599', insurance: 'Aetna' });
  });

  behavior('medical_requires', 'may require more than for dental', async (on) => {
    await on.behave({ medical_requires: 'strict' });
    const { body } = await on.call('POST', '/api/v0/medical/inquiries', request());
    expect(body.detail.map(({ loc }: Loose) => loc[1])).toEqual(['insurance', 'billing_npi']);
    await on.create('dental');
  });

  behavior('verification_after_minutes', 'delays the checks', async (on) => {
    const { id } = await answered(on, 'dental');
    const path = `/api/v0/verification?inquiry_id=${id}`;
    expect((await on.call('GET', path)).body.count).toBe(1);
    await on.behave({ verification_after_minutes: 60 * 24 * 365 });
    expect((await on.call('GET', path)).body.count).toBe(0);
  });

  behavior('verification_inquiry_id', 'may be left out', async (on) => {
    const { id } = await answered(on, 'dental');
    await on.behave({ verification_inquiry_id: 'optional' });
    const { body } = await on.call('GET', '/api/v0/verification');
    expect([body.count, body.verifications[0].inquiry_id]).toEqual([1, id]);
  });
});

describe('access', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = (on: Bench) =>
    on.call('POST', '/api/v0/auth/token', 'username=clinic&password=sandbox', form);

  behavior('auth_error', 'may be a 403', async (on) => {
    await on.behave({ auth_error: '403' });
    expect((await on.call('GET', list, undefined, { authorization: '' })).status).toBe(403);
  });

  behavior('token_expires_in', 'may be in the reply', async (on) => {
    await on.behave({ token_expires_in: 'seconds' });
    expect((await login(on)).body.expires_in).toBe(86_400);
  });

  behavior('token_lifetime_seconds', 'may be short', async (on) => {
    await on.behave({ token_lifetime_seconds: 60 });
    const bearer = { authorization: `Bearer ${(await login(on)).body.access_token}` };
    on.machine.now_ms += 59_000;
    expect((await on.call('GET', list, undefined, bearer)).status).toBe(200);
    on.machine.now_ms += 1_000;
    expect((await on.call('GET', list, undefined, bearer)).status).toBe(401);
  });

  behavior('rate_limit_per_minute', 'holds over any 60 seconds', async (on) => {
    await on.behave({ rate_limit_per_minute: 2 });
    const status = async () => (await on.call('GET', list)).status;
    expect(await status()).toBe(200);
    on.machine.now_ms += 40_000;
    expect([await status(), await status()]).toEqual([200, 429]);
    on.machine.now_ms += 20_000;
    expect([await status(), await status()]).toEqual([200, 429]);
    on.machine.now_ms += 40_000;
    expect(await status()).toBe(200);
  });

  behavior('rate_limit_status', 'may be a 503', async (on) => {
    await on.behave({ rate_limit_per_minute: 1, rate_limit_status: '503' });
    await on.call('GET', list);
    expect((await on.call('GET', list)).status).toBe(503);
  });

  behavior('retry_after', 'is in seconds, a date, or absent', async (on) => {
    await on.behave({ rate_limit_per_minute: 1 });
    await on.call('GET', list);
    on.machine.now_ms += 10_500;
    const seen: (string | null)[] = [];
    for (const retry_after of ['seconds', 'date', 'none']) {
      await on.behave({ retry_after });
      seen.push((await on.call('GET', list)).headers.get('retry-after'));
    }
    expect(seen).toEqual(['50', 'Mon, 07 Jan 2030 15:01:00 GMT', null]);
  });

  behavior('date_skew_seconds', 'shifts the Date header', async (on) => {
    await on.behave({ date_skew_seconds: -3600 });
    const { headers } = await on.call('GET', list);
    expect(Date.parse(headers.get('date') ?? '')).toBe(MONDAY_MS - 3_600_000);
  });

  behavior('subscription_body', 'may be {} or nothing', async (on) => {
    const body = { callback_url: 'http://127.0.0.1/' };
    await on.behave({ subscription_body: 'empty' });
    expect((await on.call('POST', subscription, body)).body).toEqual({});
    await on.behave({ subscription_body: '204' });
    expect(await on.call('DELETE', subscription)).toMatchObject({ status: 204, text: '' });
  });

  behavior('subscription_minutes_min', 'may be longer than asked for', async (on) => {
    await on.behave({ subscription_minutes_min: 60 });
    await on.call('POST', subscription, {
      callback_url: 'https://clinic.example/hook',
      update_frequency_min: 5,
    });
    expect((await on.call('GET', subscription)).body).toMatchObject({ update_frequency_min: 60 });
  });

  behavior('subscription_none', 'may be {} or null', async (on) => {
    await on.behave({ subscription_none: 'empty' });
    expect((await on.call('GET', subscription)).body).toEqual({});
    await on.behave({ subscription_none: 'null' });
    expect((await on.call('DELETE', subscription)).body).toBeNull();
  });
});

it('every behavior has a test here, or in webhooks.test.ts', () => {
  const others = Object.keys(BEHAVIORS).filter((name) => !name.startsWith('webhook_'));
  expect([...tested].sort()).toEqual(others.sort());
});
