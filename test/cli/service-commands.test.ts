import { describe, expect, test } from 'vitest';
import { createCommandGate } from '../../src/cli/service.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { openStore } from '../../src/store/engine/store.ts';
import { bench } from '../sandbox/harness.ts';
import { deadAddress, serve } from '../service/harness.ts';
import { virtualClock } from '../store/virtual-clock.ts';
import { type Installation, install } from './installation.ts';

const COMMANDS = [
  ['inquiry', 'list'],
  ['inquiry', 'get', 'x'],
  ['verification', 'x'],
  ['subscription', 'show'],
  ['subscription', 'set', '--url', 'https://clinic.example/hook'],
  ['subscription', 'delete'],
];

async function slotsTaken({ database }: Installation): Promise<number> {
  const store = await openStore(database);
  const rows = await store.db.selectFrom('rate_slots').selectAll().execute();
  await store.close();
  return rows.length;
}

describe('inquiry', () => {
  test('inquiry lists the service’s inquiries without patient data', async () => {
    const { sandbox, create } = await bench();
    const first = await create('dental', { external_id: 'A-1' });
    const second = await create('dental', { external_id: 'A-2' });
    const { code, stdout, stderr } = await install(sandbox.url).run(['inquiry', 'list']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^ID +STATUS +CREATED \(UTC\) +EXTERNAL ID\n/);
    expect(stdout).toContain(first);
    expect(stdout).toMatch(new RegExp(`${second} +SCHEDULED +2030-01-07T15:00:00.000Z +A-2\n`));
    expect(stdout).not.toMatch(/Ann|Example|1980|ACTIVE100/);
  });

  test('inquiry lists one label of one specialty as JSON', async () => {
    const { sandbox, create } = await bench();
    await create('medical', { external_id: 'A-1' });
    const wanted = await create('medical', { external_id: 'A-2' });
    await create('dental', { external_id: 'A-2' });
    const { stdout } = await install(sandbox.url).run([
      ...['inquiry', 'list', '--specialty', 'medical', '--external-id', 'A-2', '--json'],
    ]);
    expect(JSON.parse(stdout)).toEqual({
      schema: 'eligd.inquiries/1',
      inquiries: [
        {
          id: wanted,
          status: 'SCHEDULED',
          created_at: '2030-01-07T15:00:00.000Z',
          external_id: 'A-2',
        },
      ],
      is_complete: true,
    });
  });

  test('inquiry says that there are none in the clinic’s specialty', async () => {
    const { sandbox } = await bench();
    const { code, stdout } = await install(sandbox.url).run(['inquiry', 'list']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'The service has no such inquiry (dental).\n',
    });
  });

  test('inquiry says that a list may be incomplete when it cannot tell', async () => {
    const form = { id: 'i-1', status: 'SCHEDULED', request: {} };
    const { base_url } = await serve(() => ({ json: { items: [form], total: 2 } }));
    const { code, stdout, stderr } = await install(base_url).run(['inquiry', 'list']);
    expect(code).toBe(0);
    expect(stdout).toContain('i-1');
    expect(stderr).toContain('there may be more');
  });

  test('inquiry shows one inquiry, and request and answer only with --full', async () => {
    const { sandbox, create } = await bench();
    const id = await create('dental', { external_id: 'A-1' });
    const { run } = install(sandbox.url);
    for (const word of ['get', 'show']) {
      const { code, stdout } = await run(['inquiry', word, id]);
      expect(code).toBe(0);
      expect(stdout).toContain(id);
      expect(stdout).not.toContain('Ann');
    }
    expect(JSON.parse((await run(['inquiry', 'get', id, '--json'])).stdout)).toMatchObject({
      id,
      external_id: 'A-1',
    });
    expect(JSON.parse((await run(['inquiry', 'get', id, '--full'])).stdout)).toMatchObject({
      request: { patient_name: 'Ann Example' },
    });
  });

  test('an ID that the service does not know exits with 1', async () => {
    const { sandbox, create } = await bench();
    const id = await create('medical');
    const { code, stdout, stderr } = await install(sandbox.url).run(['inquiry', 'get', id]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'eligd: The service has no inquiry with this ID.\neligd asked for it under the specialty ' +
        'dental.\nCheck the ID, or use another --specialty.\n',
    );
  });

  test('an unknown specialty is an error in the command line', async () => {
    const { code, stderr } = await install('http://127.0.0.1:1').run([
      'inquiry',
      'list',
      '--specialty',
      'dentl',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('dental');
  });

  test('inquiry changes nothing at the service', async () => {
    const { base_url, calls } = await serve(() => ({ json: [] }));
    const { run } = install(base_url);
    await run(['inquiry', 'list']);
    await run(['inquiry', 'get', 'x']);
    await run(['verification', 'x']);
    expect([...new Set(calls().map(({ method }) => method))]).toEqual(['GET']);
  });
});

describe('verification', () => {
  test('verification shows each criterion, and quotes of the call only with --full', async () => {
    const { sandbox, create, advance } = await bench();
    const id = await create('dental');
    await advance({ days: 10 });
    const { run } = install(sandbox.url);
    const { code, stdout } = await run(['verification', id]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^VERIFICATION +CREATED +CRITERION +STATUS\n/);
    expect(stdout).toMatch(/payer_reached +(MET|NOT_MET|UNCLEAR)\n/);
    expect(stdout).not.toContain('Payer:');
    const json = JSON.parse((await run(['verification', id, '--json'])).stdout);
    expect(json.verifications[0].items[0]).toEqual({
      name: 'payer_reached',
      status: expect.any(String),
    });
    expect((await run(['verification', id, '--full'])).stdout).toContain('reasoning');
  });

  test('verification says that there are no checks yet', async () => {
    const { sandbox } = await bench();
    const { code, stdout } = await install(sandbox.url).run(['verification', 'unknown']);
    expect(code).toBe(0);
    expect(stdout).toContain('No checks yet');
  });
});

describe('subscription', () => {
  test('subscription sets, changes, shows, and deletes', async () => {
    const { sandbox } = await bench();
    const { run } = install(sandbox.url);
    const none = 'The service has no subscription; eligd polls for answers instead.\n';
    expect((await run(['subscription', 'show'])).stdout).toBe(none);
    const set = await run(['subscription', 'set', '--url', 'https://clinic.example/hook']);
    expect(set).toMatchObject({
      code: 0,
      stdout: 'The service sends webhook events to https://clinic.example/hook every 5 minutes.\n',
    });
    expect(set.stderr).toContain('no section "webhook"');
    await run(['subscription', 'set', '--url', 'https://clinic.example/hook', '--minutes', '15']);
    expect(JSON.parse((await run(['subscription', 'show', '--json'])).stdout)).toEqual({
      schema: 'eligd.subscription/1',
      subscription: { callback_url: 'https://clinic.example/hook', update_frequency_min: 15 },
    });
    expect(await run(['subscription', 'delete'])).toMatchObject({ code: 0, stdout: none });
    expect(JSON.parse((await run(['subscription', 'delete', '--json'])).stdout)).toMatchObject({
      subscription: null,
    });
  });

  test('subscription uses the configured address if the command line has none', async () => {
    const { sandbox } = await bench();
    const webhook =
      'webhook: { listen: "127.0.0.1:8686", public_url: "https://clinic.example/webhooks" }\n';
    const { stdout } = await install(sandbox.url, 'oauth', webhook).run(['subscription', 'set']);
    expect(stdout).toContain('https://clinic.example/webhooks every 5 minutes');
    const { code, stderr } = await install(sandbox.url).run(['subscription', 'set']);
    expect(code).toBe(2);
    expect(stderr).toContain('Use --url');
  });

  test.each([
    ['--url', 'clinic.example/hook'],
    ['--url', 'https://me:secret@clinic.example/hook'],
    ['--minutes', '0'],
    ['--minutes', 'five'],
  ])('subscription is refused with %s %s', async (option, value) => {
    const { code } = await install('http://127.0.0.1:1').run([
      'subscription',
      'set',
      option,
      value,
    ]);
    expect(code).toBe(2);
  });

  test('subscription never uses plain http to another machine', async () => {
    const { code, stderr } = await install('http://127.0.0.1:1').run([
      'subscription',
      'set',
      '--url',
      'http://clinic.example/a',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('others on the network could read patient data');
  });

  test('subscription shows what the service stores if it is something else', async () => {
    const kept = { callback_url: 'https://other.example', update_frequency_min: 60 };
    const { base_url } = await serve(() => ({ json: kept }));
    const { code, stdout, stderr } = await install(base_url).run([
      'subscription',
      'set',
      '--url',
      'https://clinic.example',
    ]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'The service sends webhook events to https://other.example every 60 minutes.\n',
    });
    expect(stderr).toContain('stored something other');
  });
});

describe('a failure of the service', () => {
  test.each(COMMANDS)('an unavailable service ends %s %s with 75', async (...args) => {
    const { code, stdout, stderr } = await install(await deadAddress()).run(args);
    expect({ code, stdout }).toEqual({ code: 75, stdout: '' });
    expect(stderr).toContain('Nothing answers at http://127.0.0.1:');
  });

  test.each(['oauth', 'basic'] as const)(
    'rejected credentials exit with 78 and name the secrets of %s',
    async (auth) => {
      const { sandbox } = await bench();
      const wrong = { ELIGD_SERVICE_PASSWORD: 'wrong', ELIGD_SERVICE_API_KEY: 'wrong' };
      const { code, stderr } = await install(sandbox.url, auth).run(
        ['subscription', 'show'],
        wrong,
      );
      expect(code).toBe(78);
      expect(stderr).toContain(
        auth === 'oauth' ? 'ELIGD_SERVICE_PASSWORD' : 'ELIGD_SERVICE_API_KEY',
      );
      expect(stderr).not.toContain('wrong');
    },
  );

  test.each([
    [403, 78, 'does not accept the credentials (403)'],
    [402, 78, 'needs payment'],
    [405, 78, 'service.base_url'],
    [429, 75, 'too many requests (429)'],
    [500, 75, 'internal problem (500)'],
    [503, 75, 'internal problem (503)'],
    [302, 78, 'another address (302)'],
    [409, 1, 'does not understand (409)'],
  ])('the status %i exits with %i', async (status, expected, told) => {
    const { base_url } = await serve(() => ({ status, json: {} }));
    const { code, stderr } = await install(base_url, 'basic').run(['inquiry', 'list']);
    expect(code).toBe(expected);
    expect(stderr).toContain('eligd: The inquiries could not be listed.\n');
    expect(stderr).toContain(told);
  });

  test('refused content exits with 1 and shows words without patient data', async () => {
    const detail = [
      { loc: ['body', 'callback_url'], msg: 'Jane Roe is no URL', type: 'url_parsing' },
    ];
    const { base_url } = await serve(() => ({ status: 400, json: { detail } }));
    const { run } = install(base_url, 'basic');
    const set = await run(['subscription', 'set', '--url', 'https://clinic.example']);
    expect(set.code).toBe(1);
    expect(set.stderr).toContain('callback_url: Jane Roe is no URL');
    const list = await run(['inquiry', 'list']);
    expect(list.code).toBe(1);
    expect(list.stderr).not.toContain('Jane');
    expect(list.stderr).toContain('callback_url: url_parsing');
  });

  test('a lost reply to a change is reported as unknown', async () => {
    const { base_url } = await serve(({ socket }) => void socket.destroy());
    const { code, stderr } = await install(base_url, 'basic').run(['subscription', 'delete']);
    expect(code).toBe(75);
    expect(stderr).toContain('eligd does not know whether the service made the change');
  });

  test('a web page in reply is reported as a wrong address', async () => {
    const { base_url } = await serve(() => ({
      text: '<html>',
      headers: { 'content-type': 'text/html' },
    }));
    const { code, stderr } = await install(base_url, 'basic').run(['subscription', 'show']);
    expect(code).toBe(78);
    expect(stderr).toContain('may not be the address of the service');
  });

  test('a missing secret is reported without contacting the service', async () => {
    const { code, stderr } = await install('http://127.0.0.1:1').run(['inquiry', 'list'], {
      ELIGD_SERVICE_PASSWORD: '',
    });
    expect(code).toBe(78);
    expect(stderr).toContain('A secret is missing: ELIGD_SERVICE_PASSWORD.');
  });
});

describe('the rate limit', () => {
  test('every request of a command counts against the limit, the login too', async () => {
    const { sandbox } = await bench();
    const installation = install(sandbox.url);
    await installation.run(['subscription', 'show']);
    expect(await slotsTaken(installation)).toBe(2);
  });

  test('a command exits with 75 when the service has asked eligd to wait', async () => {
    const { base_url, calls } = await serve(() => ({
      status: 429,
      json: {},
      headers: { 'retry-after': '3600' },
    }));
    const { run } = install(base_url, 'basic');
    const first = await run(['inquiry', 'list']);
    expect(first.code).toBe(75);
    expect(first.stderr).toContain('Try again in 3600 seconds.');
    expect(calls()).toHaveLength(1);
  });

  test('a command waits for a minute and a half, and then gives up', async () => {
    const { database, file } = install('http://127.0.0.1:1');
    const store = await openStore(database);
    const clock = virtualClock();
    const env = { clock, random: () => 0, log: () => {} };
    const gate = createCommandGate(store, await loadConfig(file), env);
    await gate.pause(clock.now() + 60_000);
    await (await clock.runUntil(gate.enter('urgent'))).leave();
    expect(clock.elapsed()).toBe(60_000);
    await gate.pause(clock.now() + 3_600_000);
    await expect(clock.runUntil(gate.enter('urgent'))).rejects.toMatchObject({
      kind: 'temporary',
      what: 'eligd did not ask the service.',
    });
    expect(clock.elapsed()).toBe(150_000);
    await store.close();
  });
});
