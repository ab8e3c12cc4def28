/** The service sends webhook events through the whole program, over real sockets. */

import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/index.ts';
import type { LogFields } from '../../src/domain/env.ts';
import { type Clinic, makeClinic, type Overrides } from '../support/clinic.ts';
import { freePort } from '../support/free-port.ts';
import { type MachineClock, setMachineClock } from '../support/machine-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { exportOf, visits } from '../support/visits.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Running = {
  clinic: Clinic;
  service: Service;
  machine: MachineClock;
  daemon: Daemon;
  public_url: string;
  events: { event: string; fields: LogFields }[];
  said: (event: string) => number;
  stop: () => Promise<void>;
};

/**
 * A clinic whose visits have been sent, with the daemon running and the service sending events to
 * it.
 */
async function running(
  count: number,
  {
    behaviors = {},
    webhook = {},
    member = 'ACTIVE',
    before = async () => {},
    config = {},
  }: {
    behaviors?: Record<string, string | number>;
    webhook?: Overrides;
    member?: string;
    before?: (service: Service) => Promise<void>;
    config?: Overrides;
  } = {},
): Promise<Running> {
  const machine = setMachineClock();
  const service = await startService();
  await service.behave(behaviors);
  await before(service);
  const port = await freePort();
  const public_url = `http://127.0.0.1:${port}/webhooks/inquiries`;
  const clinic = makeClinic({
    base_url: service.url,
    config: {
      schedule: { pull_seconds: 0.2 },
      ...config,
      webhook: { listen: `127.0.0.1:${port}`, public_url, ...webhook },
    },
    secrets: {
      ELIGD_SERVICE_USERNAME: 'clinic',
      ELIGD_SERVICE_PASSWORD: 'sandbox',
      ELIGD_WEBHOOK_SECRET: 'sandbox',
    },
  });
  clinic.drop(
    'export.csv',
    exportOf(visits(count, (index) => ({ member_id: `${member}${1000 + index}` }))),
  );
  const events: Running['events'] = [];
  const log = (event: string, fields: LogFields = {}) => void events.push({ event, fields });
  const daemon = await clinic.daemon({ log }, { idle_ms: 50 });
  const ending = new AbortController();
  const run = daemon.run(ending.signal);
  const stop = async () => {
    ending.abort();
    await run;
    await daemon.close();
  };
  closers.push(stop);
  await expect.poll(async () => (await service.ledger()).length, { timeout: 60_000 }).toBe(count);
  await expect
    .poll(() => events.some(({ event }) => /^subscription_/.test(event)), { timeout: 60_000 })
    .toBe(true);
  const said = (name: string) => events.filter(({ event }) => event === name).length;
  return { clinic, service, machine, daemon, public_url, events, said, stop };
}

/** Starts another process on the same installation and adds its log. */
async function startAgain({ clinic, events }: Running): Promise<void> {
  const daemon = await clinic.daemon(
    { log: (event, fields) => void events.push({ event, fields: fields ?? {} }) },
    { idle_ms: 50 },
  );
  const ending = new AbortController();
  const run = daemon.run(ending.signal);
  closers.push(async () => {
    ending.abort();
    await run;
    await daemon.close();
  });
}

const reads = async (service: Service) =>
  (await service.traffic()).by_route['GET /api/v0/dental/inquiries/:id'] ?? 0;
const inquiries = ({ store }: Daemon) =>
  store.db.selectFrom('inquiries_with_call').selectAll().orderBy('id').execute();
/** The webhook's items on the attention list, without those about payers that are not mapped. */
const reasons = ({ clinic }: Running) =>
  clinic.attention().flatMap(({ reason = '' }) => (reason === 'payer_unmapped' ? [] : [reason]));
const everythingWritten = ({ clinic }: Running, count: number) =>
  expect
    .poll(() => new Set(clinic.written().map(({ appointment_id }) => appointment_id)).size, {
      timeout: 60_000,
    })
    .toBe(count);

describe('answers by webhook', () => {
  test('one read brings each answer, and eligd keeps only the messages’ hashes', async () => {
    const system = await running(6);
    const before = await reads(system.service);
    await system.service.advance({ days: 9 });
    await everythingWritten(system, 6);
    // Two samples confirmed the IDs of the batch.
    expect((await reads(system.service)) - before).toBeLessThanOrEqual(6 + 2);
    const { db } = system.daemon.store;
    const inbox = await db.selectFrom('inbox').selectAll().execute();
    expect(inbox.length).toBeGreaterThan(0);
    expect(inbox.every(({ body }) => body === null)).toBe(true);
    expect(system.said('webhook_heard')).toBe(1);
  });

  test('eligd stops reading once events have agreed with replies, and explains it', async () => {
    const system = await running(10);
    const ends = (await system.service.ledgerWithSteps())
      .map(({ steps }) => Date.parse(steps.at(-1)?.at ?? ''))
      .toSorted();
    for (const [index, end] of ends.entries()) {
      const left_ms = end + 6 * 60_000 - system.machine.now();
      if (left_ms > 0) system.machine.pass({ seconds: left_ms / 1000 });
      await expect
        .poll(() => system.clinic.written().length, { timeout: 60_000 })
        .toBeGreaterThan(index);
    }
    expect(system.said('webhook_believed')).toBe(1);
    const { db } = system.daemon.store;
    const told = await db
      .selectFrom('audit')
      .selectAll()
      .where('reason', '=', 'The service reported the inquiry: successful.')
      .execute();
    // eligd still reads some inquiries, and may read one before its event.
    expect(told.length).toBeGreaterThan(0);
    const subjects = told.map(({ subject }) => Number(subject.split(':')[1]));
    const row = (await inquiries(system.daemon)).find(({ id }) => subjects.includes(id));
    await system.stop();
    const explained = await system.clinic.run('explain', row?.external_id ?? '');
    expect(explained.stdout).toContain('The service reported the inquiry: successful.');
    const shown = JSON.parse(
      (await system.clinic.run('show', row?.external_id ?? '', '--json')).stdout,
    ) as unknown;
    expect(JSON.stringify(shown)).toContain(row?.service_id);
  });

  test.each([
    ['each message comes three times', { webhook_repeat: 2 }],
    ['they come in the wrong order', { webhook_order: 'reversed' }],
    ['each inquiry comes in a message of its own', { webhook_max_bytes: 1 }],
    ["they hold other callers' inquiries", { webhook_strangers: 3 }],
    ['half of the messages are lost', { webhook_lost_percent: 50, webhook_max_bytes: 1 }],
  ])('every answer arrives although %s', async (_, behaviors) => {
    const is_lost = 'webhook_lost_percent' in behaviors;
    // Of so many messages, some arrive.
    const count = is_lost ? 16 : 6;
    const system = await running(count, { behaviors });
    await system.service.advance({ days: 9 });
    if (is_lost) {
      await expect
        .poll(() => system.clinic.written().length, { timeout: 60_000 })
        .toBeGreaterThan(0);
      system.machine.pass({ days: 3, hours: 22 });
    }
    await everythingWritten(system, count);
    const ids = new Map(
      (await system.service.ledger()).map(({ external_id, id }) => [external_id, id]),
    );
    for (const line of system.clinic.written())
      expect(line.inquiry_id).toBe(ids.get(line.appointment_id ?? ''));
    expect(system.clinic.written()).toHaveLength(count);
    expect(await system.service.ledger()).toHaveLength(count);
  });

  test('a revised answer is delivered when its event arrives, with the changes', async () => {
    const system = await running(1, { member: 'REVISE' });
    const [entry] = await system.service.ledgerWithSteps();
    const ended = entry?.steps.find(({ status }) => status === 'SUCCESS')?.at ?? '';
    await system.service.advanceTo(new Date(Date.parse(ended) + 60_000).toISOString());
    await expect.poll(() => system.clinic.written().length, { timeout: 60_000 }).toBe(1);
    await system.service.advance({ hours: 26 });
    await expect.poll(() => system.clinic.written().length, { timeout: 60_000 }).toBe(2);
    const [first, second] = system.clinic.written();
    expect([first?.revision, second?.revision]).toEqual(['1', '2']);
    expect(first?.notes).not.toContain('Revised');
    expect(second?.notes).toMatch(/Revised: \S.* (changed from|was added|was removed)/);
  });

  test.each([
    ['events in order', 'in_order'],
    ['events in reverse order', 'reversed'],
  ])('%s that arrive before the reply with their ID wait for the reply', async (_, order) => {
    const late = {
      method: 'POST',
      path: 'dental/',
      when: 'after',
      action: 'delay',
      delay_ms: 3_000,
    } as const;
    const system = await running(1, {
      behaviors: { webhook_order: order },
      before: (service) => service.fault(late),
    });
    const { db } = system.daemon.store;
    await system.service.advance({ days: 9 });
    await expect
      .poll(async () => (await db.selectFrom('inbox_unknown').selectAll().execute()).length, {
        timeout: 2_500,
      })
      .toBe(1);
    expect(await inquiries(system.daemon)).toMatchObject([{ state: 'sending', service_id: null }]);
    await everythingWritten(system, 1);
    expect(await db.selectFrom('inbox_unknown').selectAll().execute()).toEqual([]);
    expect(system.said('webhook_strangers')).toBe(0);
  });
});

describe('a service that stops sending events', () => {
  test.each([
    ['it sends nothing', { webhook_lost_percent: 100 }],
    ['it signs with another secret', { webhook_secret: 'wrong' }],
    ['it signs in another header', { webhook_header: 'X-Signature' }],
  ])(
    'because %s, eligd polls instead, loses nothing, and lists the problem once',
    async (_, behaviors) => {
      const system = await running(4, { behaviors });
      await system.service.advance({ days: 9 });
      expect(system.clinic.written()).toEqual([]);
      // The morning of the completion date, the day before the visit on the 11th.
      system.machine.pass({ days: 3, hours: 0 });
      await everythingWritten(system, 4);
      expect(system.said('webhook_silent')).toBe(0);
      system.machine.pass({ hours: 1 });
      await expect.poll(() => system.said('webhook_silent'), { timeout: 60_000 }).toBe(1);
      system.machine.pass({ hours: 3 });
      await expect.poll(() => reasons(system), { timeout: 60_000 }).toEqual(['webhook_silent']);
      expect(system.said('webhook_silent')).toBe(1);
    },
  );

  test('when events arrive again, eligd trusts them again and clears the list', async () => {
    const system = await running(3, { behaviors: { webhook_lost_percent: 100 } });
    await system.service.advance({ days: 9 });
    system.machine.pass({ days: 3 });
    await everythingWritten(system, 3);
    system.machine.pass({ hours: 1 });
    await expect.poll(() => system.said('webhook_silent'), { timeout: 60_000 }).toBe(1);
    await system.service.behave({ webhook_lost_percent: 0 });
    system.machine.pass({ hours: 2 });
    const next = visits(4, (index) => ({
      appointment_at: '2030-01-16T10:00',
      member_id: `ACTIVE${2000 + index}`,
    }));
    system.clinic.drop('next.csv', exportOf(next.slice(3)));
    await expect
      .poll(async () => (await system.service.ledger()).length, { timeout: 60_000 })
      .toBe(4);
    await system.service.advance({ days: 9 });
    await everythingWritten(system, 4);
    expect(system.said('webhook_heard')).toBe(1);
    await expect.poll(() => reasons(system), { timeout: 60_000 }).toEqual([]);
  });

  test('answers whose events were lost while eligd did not run are found soon', async () => {
    const system = await running(1);
    await system.service.advance({ days: 9 });
    await everythingWritten(system, 1);
    system.clinic.drop('next.csv', exportOf(visits(7).slice(1)));
    await expect
      .poll(async () => (await system.service.ledger()).length, { timeout: 60_000 })
      .toBe(7);
    await system.stop();
    await system.service.behave({ webhook_lost_percent: 100 });
    await system.service.advance({ days: 9 });
    // The morning of the completion date. With events, eligd polls from 1 p.m. on.
    system.machine.pass({ days: 3 });
    await startAgain(system);
    await expect.poll(() => system.said('http_listening'), { timeout: 60_000 }).toBe(2);
    system.machine.pass({ minutes: 70 });
    await everythingWritten(system, 7);
    expect(system.said('webhook_heard')).toBe(1);
    expect(system.said('webhook_silent')).toBe(0);
  });

  test('answers found at the start, after a time offline, prove nothing about events', async () => {
    const system = await running(3);
    await system.stop();
    await system.service.advance({ days: 9 });
    system.machine.pass({ days: 3 });
    await startAgain(system);
    await everythingWritten(system, 3);
    system.machine.pass({ hours: 2 });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(system.said('webhook_silent')).toBe(0);
  });
});

describe('the subscription', () => {
  const subscription = async ({ clinic }: Running) =>
    (
      JSON.parse((await clinic.run('subscription', 'show', '--json')).stdout) as {
        subscription: unknown;
      }
    ).subscription;
  const set = (service: Service, callback_url: string, update_frequency_min = 5) =>
    fetch(`${service.url}/api/v0/subscription/`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from('sandbox:sandbox').toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ callback_url, update_frequency_min }),
    });

  test.each(['object', 'empty', '204'])(
    'eligd subscribes at the start if changes answer %s, and keeps it at the stop',
    async (body) => {
      const system = await running(1, {
        behaviors: { subscription_body: body },
        webhook: { update_frequency_minutes: 3 },
      });
      const wanted = { callback_url: system.public_url, update_frequency_min: 3 };
      expect(await subscription(system)).toEqual(wanted);
      await system.stop();
      expect(await subscription(system)).toEqual(wanted);
    },
  );

  test('eligd restores a subscription that was changed or deleted', async () => {
    const system = await running(1);
    await set(system.service, system.public_url, 60);
    system.machine.pass({ hours: 7 });
    await system.stop();
    await startAgain(system);
    await expect
      .poll(() => subscription(system), { timeout: 60_000 })
      .toEqual({ callback_url: system.public_url, update_frequency_min: 5 });
  });

  test('eligd polls and names the address when the subscription points elsewhere', async () => {
    const before = (service: Service) =>
      set(service, 'https://other.example/hook?token=secret').then(() => {});
    const system = await running(1, { before });
    expect(await subscription(system)).toMatchObject({
      callback_url: 'https://other.example/hook?token=secret',
    });
    const said = system.events.filter(({ event }) => event === 'subscription_elsewhere');
    expect(said).toMatchObject([
      { event: 'subscription_elsewhere', fields: { host: 'other.example' } },
    ]);
    await expect
      .poll(() => reasons(system), { timeout: 60_000 })
      .toEqual(['subscription_elsewhere']);
    const told = system.clinic
      .attention()
      .map(({ what_happened }) => what_happened)
      .join();
    expect(told).toContain('https://other.example/hook,');
    expect(told).not.toContain('token');
  });

  test('eligd lists a refused subscription and tries again', async () => {
    const refusal = {
      method: 'POST',
      path: 'subscription',
      when: 'before',
      action: 'status',
      status: 422,
      times: 1,
    } as const;
    const system = await running(1, { before: (service) => service.fault(refusal) });
    await expect.poll(() => reasons(system), { timeout: 60_000 }).toEqual(['subscription_failed']);
    expect(await subscription(system)).toBeNull();
    await system.stop();
    await startAgain(system);
    await expect
      .poll(() => subscription(system), { timeout: 60_000 })
      .toMatchObject({ callback_url: system.public_url });
    await expect.poll(() => reasons(system), { timeout: 60_000 }).toEqual([]);
  });

  test('if events are rarer than requested, eligd waits longer for them', async () => {
    const system = await running(2, {
      behaviors: { subscription_minutes_min: 60, webhook_lost_percent: 100 },
    });
    expect(await subscription(system)).toMatchObject({ update_frequency_min: 60 });
    await system.service.advance({ days: 9 });
    system.machine.pass({ days: 3, hours: 0 });
    await everythingWritten(system, 2);
    system.machine.pass({ hours: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    // The daily jobs of the days that passed at once may still be running.
    await expect.poll(() => reasons(system), { timeout: 60_000 }).toEqual([]);
    expect(system.said('webhook_silent')).toBe(0);
    system.machine.pass({ hours: 2 });
    await expect.poll(() => system.said('webhook_silent'), { timeout: 60_000 }).toBe(1);
  });

  test('eligd recognizes its address in any spelling, and no other address', async () => {
    const system = await running(1);
    const written = system.public_url.replace('http://127.0.0.1', 'HTTP://127.0.0.1');
    await set(system.service, written);
    const state = async () => {
      const { stdout } = await system.clinic.run('check', '--json');
      return (JSON.parse(stdout) as { lines: { part: string; state: string }[] }).lines.find(
        ({ part }) => part === 'subscription',
      )?.state;
    };
    expect(await state()).toBe('ok');
    await set(system.service, `${system.public_url}/`);
    expect(await state()).toBe('failed');
  });

  test('with take_over, eligd replaces a subscription that points elsewhere', async () => {
    const before = (service: Service) => set(service, 'https://other.example/hook').then(() => {});
    const system = await running(1, { before, webhook: { take_over: true } });
    expect(await subscription(system)).toMatchObject({ callback_url: system.public_url });
    expect(reasons(system)).toEqual([]);
  });
});

describe('eligd check and the path from outside', () => {
  type Line = { part: string; state: string; what: string; next: string | null };
  const checked = async ({ clinic }: Running, part: string): Promise<Line | undefined> =>
    (JSON.parse((await clinic.run('check', '--json')).stdout) as { lines: Line[] }).lines.find(
      (line) => line.part === part,
    );

  /** A reverse proxy in front of eligd; `deal` can make it a bad one. */
  async function behindProxy(
    deal: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean,
  ): Promise<Running> {
    const port = await freePort();
    const proxy = createServer((incoming, outgoing) => {
      if (deal(incoming, outgoing)) return;
      const { method = 'GET', headers } = incoming;
      const onward = httpRequest(
        { port, host: '127.0.0.1', path: '/inside', method, headers },
        (reply) => {
          outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(outgoing);
        },
      );
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    closers.push(async () => {
      proxy.closeAllConnections();
      proxy.close();
    });
    const { port: proxy_port } = proxy.address() as AddressInfo;
    const public_url = `http://127.0.0.1:${proxy_port}/webhooks/inquiries`;
    return await running(1, {
      webhook: { listen: `127.0.0.1:${port}`, path: '/inside', public_url },
    });
  }

  test('check passes if the whole path works', async () => {
    const system = await behindProxy(() => false);
    expect(await checked(system, 'webhook')).toMatchObject({ state: 'ok' });
    expect(await checked(system, 'subscription')).toMatchObject({ state: 'ok' });
    expect(await checked(system, 'reports')).toMatchObject({ state: 'skipped' });
    await system.service.advance({ days: 9 });
    await everythingWritten(system, 1);
    expect(await checked(system, 'reports')).toMatchObject({ state: 'ok' });
    // The message of a check does not prove that the service sends events.
    expect(system.said('webhook_heard')).toBe(1);
    await system.stop();
    expect(await checked(system, 'webhook')).toMatchObject({
      state: 'skipped',
      what: expect.stringContaining('the daemon is not running'),
    });
  });

  test.each([
    ['cuts long reports', 413, 'client_max_body_size'],
    ['does not know the path', 404, 'webhook.path'],
    ['cannot reach eligd', 502, '127.0.0.1:'],
  ])('check says what to do when the proxy %s', async (_, status, remedy) => {
    const system = await behindProxy((incoming, outgoing) => {
      const is_long = Number(incoming.headers['content-length']) > 1_000_000;
      if (status === 413 && !is_long) return false;
      incoming.resume();
      incoming.on('end', () => outgoing.writeHead(status).end());
      return true;
    });
    const line = await checked(system, 'webhook');
    expect(line).toMatchObject({ state: 'failed', what: expect.stringContaining(String(status)) });
    expect(line?.next).toContain(remedy);
  });

  test('check fails if another server answers 200 to everything', async () => {
    const system = await behindProxy((incoming, outgoing) => {
      incoming.resume();
      incoming.on('end', () => outgoing.writeHead(200).end('<form>Please log in</form>'));
      return true;
    });
    expect(await checked(system, 'webhook')).toMatchObject({
      state: 'failed',
      what: expect.stringContaining('not eligd'),
    });
  });
});
