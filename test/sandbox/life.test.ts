import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../../src/sandbox/server.ts';
import { type Bench, bench, type Loose, MONDAY_MS, request } from './harness.ts';

const HOUR_MS = 3_600_000;

async function steps(on: Bench, id: string): Promise<{ at: string; status: string }[]> {
  const ledger = (await on.call('GET', '/_sandbox/ledger')).body;
  return ledger.inquiries.find((inquiry: Loose) => inquiry.id === id).steps;
}

/**
 * The statuses that a caller reads when the ledger announces a change, just before it, and a month
 * later.
 */
async function statuses(on: Bench, specialty: string, id: string): Promise<string[]> {
  const seen: string[] = [];
  const look = async () => {
    const { status, results } = await on.read(specialty, id);
    const word = status === 'SUCCESS' && results === null ? 'SUCCESS with null' : status;
    if (seen.at(-1) !== word) seen.push(word);
  };
  await look();
  for (const { at } of (await steps(on, id)).slice(1)) {
    await on.advance({ to: new Date(Date.parse(at) - 1).toISOString() });
    await look();
    await on.advance({ to: at });
    await look();
  }
  await on.advance({ days: 30 });
  await look();
  return seen;
}

describe('an inquiry', () => {
  it('an inquiry passes SCHEDULED and IN_PROGRESS, and ends by the wanted morning', async () => {
    const on = await bench();
    const id = await on.create('dental', { desired_completion_date: '01-08-2030' });
    const [created, started, ended] = await steps(on, id);
    expect(created).toMatchObject({ at: '2030-01-07T15:00:00.000Z', status: 'SCHEDULED' });
    expect(ended?.at.slice(0, 13)).toMatch(/^2030-01-08T1[4-8]/);
    const minutes = (Date.parse(ended?.at ?? '') - Date.parse(started?.at ?? '')) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(3);
    expect(minutes).toBeLessThanOrEqual(60);
    await on.advance({ to: started?.at });
    expect(await on.read('dental', id)).toMatchObject({
      status: 'IN_PROGRESS',
      summary: '',
      results: null,
    });
    await on.advance({ to: ended?.at });
    const form = await on.read('dental', id);
    expect(form).toMatchObject({ status: 'SUCCESS', summary: expect.stringMatching(/./) });
    expect(form.results.plan_information.is_active).toBe(true);
  });

  it.each(['01-07-2030', '01-02-2030'])(
    'an inquiry that is wanted on %s, today or past, ends within the hour',
    async (date) => {
      const on = await bench();
      for (let i = 0; i < 10; i += 1) {
        const id = await on.create('dental', {
          desired_completion_date: date,
          member_id: `ACTIVE${i}`,
        });
        const life = await steps(on, id);
        const minutes = (Date.parse(life.at(-1)?.at ?? '') - MONDAY_MS) / 60_000;
        expect(minutes).toBeGreaterThanOrEqual(5);
        expect(minutes).toBeLessThanOrEqual(60);
      }
    },
  );

  it('an inquiry that is wanted far ahead may end a day early, and never earlier', async () => {
    const on = await bench();
    const days = new Set<string | undefined>();
    for (let i = 0; i < 30; i += 1) {
      const id = await on.create('dental', {
        desired_completion_date: '02-01-2030',
        member_id: `ACTIVE${i}`,
      });
      days.add((await steps(on, id)).at(-1)?.at.slice(0, 10));
    }
    expect([...days].sort()).toEqual(['2030-01-31', '2030-02-01']);
  });

  it('an inquiry due tomorrow is not due today because UTC is a day ahead', async () => {
    const on = await bench();
    on.machine.now_ms = Date.parse('2030-01-08T01:00:00Z');
    const id = await on.create('dental', { desired_completion_date: '01-08-2030' });
    expect((await steps(on, id)).at(-1)?.at.slice(0, 13)).toMatch(/^2030-01-08T1[4-8]/);
  });

  it('an inquiry ends sooner with a higher speed', async () => {
    const on = await bench({ speed: 3600 });
    const id = await on.create('dental', { desired_completion_date: '01-08-2030' });
    on.machine.now_ms += 28_000;
    expect((await on.read('dental', id)).status).toBe('SUCCESS');
  });
});

describe('member IDs that force a scenario', () => {
  const courses: Record<string, string[]> = {
    ACTIVE: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    PRIMARY: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    SECONDARY: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    NOTMET: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    INACTIVE: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    NOTCOVERED: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    USEDUP: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    OUTOFNET: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    UNSUCC: ['SCHEDULED', 'IN_PROGRESS', 'UNSUCCESSFUL'],
    UNSUCC1: ['SCHEDULED', 'IN_PROGRESS', 'UNSUCCESSFUL'],
    CANCEL: ['SCHEDULED', 'IN_PROGRESS', 'CANCELLED'],
    SILENT: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    SLOW: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    REVISE: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS'],
    REOPEN: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS', 'IN_PROGRESS', 'SUCCESS'],
    NULLS: ['SCHEDULED', 'IN_PROGRESS', 'SUCCESS with null', 'SUCCESS'],
    WEIRD: ['SCHEDULED', 'IN_PROGRESS', 'ON_HOLD', 'SUCCESS'],
    UNKNOWN: ['SCHEDULED', 'IN_PROGRESS', 'UNKNOWN'],
    NEVER: ['SCHEDULED', 'IN_PROGRESS'],
    REJECT: [],
  };

  it('the table of this test has all forced scenarios', () => {
    expect(Object.keys(courses).sort()).toEqual(Object.keys(SCENARIOS).sort());
  });

  it.each(Object.entries(courses).filter(([, course]) => course.length > 0))(
    '%s: %j',
    async (prefix, course) => {
      const on = await bench();
      const id = await on.create('dental', {
        member_id: `${prefix}-7`,
        desired_completion_date: '01-07-2030',
      });
      expect(await statuses(on, 'dental', id)).toEqual(course);
    },
  );

  it('UNSUCC1 fails for the first inquiry about a person and provider only', async () => {
    const on = await bench();
    const fields = { member_id: 'UNSUCC1-7', desired_completion_date: '01-07-2030' };
    const ids = [await on.create('dental', fields), await on.create('dental', fields)];
    const other = await on.create('dental', { ...fields, tax_id: '987654321' });
    await on.advance({ hours: 2 });
    const ends = await Promise.all(
      [...ids, other].map(async (id) => (await on.read('dental', id)).status),
    );
    expect(ends).toEqual(['UNSUCCESSFUL', 'SUCCESS', 'UNSUCCESSFUL']);
  });

  it('SLOW ends two days late', async () => {
    const on = await bench();
    const id = await on.create('dental', {
      member_id: 'SLOW7',
      desired_completion_date: '01-08-2030',
    });
    expect((await steps(on, id)).at(-1)?.at.slice(0, 10)).toBe('2030-01-10');
  });

  it('REVISE and REOPEN give another answer with a second call', async () => {
    const on = await bench();
    for (const prefix of ['REVISE', 'REOPEN']) {
      const id = await on.create('dental', {
        member_id: prefix,
        desired_completion_date: '01-07-2030',
      });
      await on.advance({ hours: 2 });
      const first = await on.read('dental', id);
      await on.advance({ hours: 30 });
      const second = await on.read('dental', id);
      expect([first.results.call_details.length, second.results.call_details.length]).toEqual([
        1, 2,
      ]);
      expect(second.results.call_details[0]).toEqual(first.results.call_details[0]);
      expect(second.results.maximums).not.toEqual(first.results.maximums);
    }
  });
});

describe('answers', () => {
  const content = {
    benefits_query: ['STANDARD', 'TREATMENT_HISTORY'],
    desired_completion_date: '01-08-2030',
  };

  it('answers are the same for a seed and request, whatever ID, label, and time', async () => {
    const results: Loose[] = [];
    for (const [delay_ms, external_id] of [
      [0, 'a'],
      [3 * HOUR_MS, 'b'],
    ] as const) {
      const on = await bench();
      on.machine.now_ms += delay_ms;
      const id = await on.create('dental', { ...content, external_id });
      await on.advance({ days: 3 });
      results.push((await on.read('dental', id)).results);
    }
    expect(results[0]).toEqual(results[1]);
  });

  it('answers differ with the seed', async () => {
    const results: Loose[] = [];
    for (const seed of [1, 2]) {
      const on = await bench({ seed });
      const id = await on.create('dental', content);
      await on.advance({ days: 3 });
      results.push((await on.read('dental', id)).results);
    }
    expect(results[0]).not.toEqual(results[1]);
  });
});

describe('a restart', () => {
  it('a restart keeps inquiries, subscription, tokens, and the clock', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
    const db = join(folder, 'sandbox.db');
    try {
      const before = await bench({ db, speed: 60 });
      before.machine.now_ms += 60_000;
      const id = await before.create('dental');
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const token = (
        await before.call('POST', '/api/v0/auth/token', 'username=clinic&password=sandbox', form)
      ).body.access_token;
      await before.call('POST', '/api/v0/subscription/', { callback_url: 'http://127.0.0.1:1/' });
      await before.advance({ days: 7 });
      const seen = await before.read('dental', id);
      const clock = (await before.call('GET', '/_sandbox/clock')).body;
      await before.sandbox.close();

      const after = await bench({ db, speed: 60 });
      after.machine.now_ms += 60_000;
      expect(await after.read('dental', id)).toEqual(seen);
      expect((await after.call('GET', '/_sandbox/clock')).body).toEqual(clock);
      const bearer = { authorization: `Bearer ${token}` };
      expect((await after.call('GET', '/api/v0/subscription/', undefined, bearer)).status).toBe(
        200,
      );
      await after.sandbox.close();

      const anchored = await bench({ db, speed: 60, anchor_ms: MONDAY_MS + 5000 });
      expect(anchored.sandbox.anchor_ms).toBe(MONDAY_MS + 5000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a restart at another speed leaves no inquiry in the future', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
    const db = join(folder, 'sandbox.db');
    try {
      const fast = await bench({ db, speed: 3600 });
      fast.machine.now_ms += 10_000;
      const id = await fast.create('dental');
      await fast.sandbox.close();
      const slow = await bench({ db, speed: 1 });
      slow.machine.now_ms += 10_000;
      const { creation_ts } = await slow.read('dental', id);
      const { now } = (await slow.call('GET', '/_sandbox/clock')).body;
      expect(now >= creation_ts).toBe(true);
      expect((await slow.list('dental')).length).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('close', () => {
  it('close may be called twice, cuts idle connections, and frees the port', async () => {
    const { sandbox, call } = await bench();
    await call('GET', '/api/v0/dental/inquiries');
    const started = performance.now();
    await Promise.all([sandbox.close(), sandbox.close()]);
    await sandbox.close();
    expect(performance.now() - started).toBeLessThan(1000);
    const again = await bench({ port: sandbox.port });
    expect(again.sandbox.port).toBe(sandbox.port);
  });

  it('a start that fails closes what it opened', async () => {
    const { sandbox } = await bench();
    await expect(bench({ port: sandbox.port })).rejects.toThrow(/EADDRINUSE/);
    await expect(bench({ speed: 0 })).rejects.toThrow(/speed/);
  });
});

describe('the ledger', () => {
  it('the ledger shows accepted inquiries with times, and counts requests', async () => {
    const on = await bench();
    const id = await on.create('dental', { external_id: 'visit-1' });
    on.machine.now_ms += 90_000;
    await on.create('medical', { external_id: 'visit-2', benefits_query: ['X'] });
    await on.call('GET', '/api/v0/dental/inquiries/none');
    await on.call('POST', '/api/v0/dental/inquiries', {});
    const { body } = await on.call('GET', '/_sandbox/ledger', undefined, { authorization: '' });
    expect(body).toMatchObject({ count: 2, now: '2030-01-07T15:01:30.000Z' });
    expect(body.requests).toEqual({
      total: 4,
      peak_per_minute: 3,
      by_route: {
        'GET /api/v0/dental/inquiries/:id': 1,
        'POST /api/v0/dental/inquiries': 2,
        'POST /api/v0/medical/inquiries': 1,
      },
    });
    expect(body.inquiries[0]).toMatchObject({
      id,
      specialty: 'dental',
      external_id: 'visit-1',
      accepted_at: '2030-01-07T15:00:00.000Z',
      attempt: 1,
      status: 'SCHEDULED',
      request: request({ external_id: 'visit-1' }),
    });
    expect(
      (await on.call('GET', '/_sandbox/ledger?external_id=visit-2')).body.inquiries.length,
    ).toBe(1);
    expect((await on.call('GET', '/_sandbox/ledger?inquiries=no')).body).toMatchObject({
      count: 2,
      inquiries: [],
    });
    const requests = (await on.call('GET', '/_sandbox/requests')).body;
    expect(requests.map(({ status }: { status: number }) => status)).toEqual([200, 200, 404, 422]);
  });

  it('the ledger is empty after a reset, and the behaviors are the initial ones', async () => {
    const on = await bench({ behaviors: { echo: 'nulls' } });
    await on.create('dental');
    await on.advance({ hours: 1 });
    await on.behave({ echo: 'defaults' });
    expect((await on.call('POST', '/_sandbox/reset')).status).toBe(200);
    const { body } = await on.call('GET', '/_sandbox/ledger');
    expect(body).toMatchObject({
      count: 0,
      inquiries: [],
      requests: { total: 0 },
      now: '2030-01-07T15:00:00.000Z',
    });
    expect((await on.call('GET', '/_sandbox/behaviors')).body.echo).toBe('nulls');
  });
});

describe('advance', () => {
  it.each([
    {},
    { seconds: -1 },
    { hours: 'x' },
    { to: 'tomorrow' },
    { to: '2020-01-01T00:00:00Z' },
    { weeks: 1 },
  ])('advance refuses %j', async (body) => {
    const { call } = await bench();
    expect((await call('POST', '/_sandbox/advance', body)).status).toBe(422);
  });

  it('advance does not change the Date header', async () => {
    const { call, advance } = await bench();
    await advance({ days: 30 });
    const { headers } = await call('GET', '/api/v0/dental/inquiries');
    expect(Date.parse(headers.get('date') ?? '')).toBe(MONDAY_MS);
  });
});
