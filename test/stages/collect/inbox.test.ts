/** Events and polls that arrive at the same time. */
import { describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../../src/domain/time.ts';
import { realClock } from '../../../src/ops/env.ts';
import type { RequestGate } from '../../../src/service/api.ts';
import { webhookState } from '../../../src/store/answers/webhook-watch.ts';
import { aCoverage } from '../../domain/examples.ts';
import { type Installation, install } from '../installation.ts';

/** Visits on several days whose calls have been made. */
async function callsFor(clinic: Installation, ...days: number[]): Promise<void> {
  const visits = days.map((day, index) =>
    clinic.visit(`A-${index}`, { coverages: [aCoverage({ member_id: `W${index}` })] }, day),
  );
  await clinic.read(...visits);
  await clinic.planNow();
  while ((await clinic.submitNow()).did > 0);
}

/** The read forms of every inquiry, as the service sends them after the calls. */
async function ended(clinic: Installation, results: unknown = {}): Promise<object[]> {
  return (await clinic.inquiries()).map(({ service_id }) => ({
    id: service_id,
    status: 'SUCCESS',
    results,
    request: {},
  }));
}

const due = (clinic: Installation) =>
  clinic.store.write((tx) => tx.updateTable('inquiries').set({ poll_at: clinic.now() }).execute());

/** Makes the client's reads wait until `release`. */
function heldReads(clinic: Installation) {
  const { read } = clinic.client;
  const released = Promise.withResolvers<void>();
  const asked: string[] = [];
  clinic.client.read = async (...call) => {
    asked.push(call[1]);
    await released.promise;
    return await read(...call);
  };
  return { asked, release: () => released.resolve() };
}

test('a reply in progress when an event came does not undo the event’s answer', async () => {
  const clinic = await install();
  await callsFor(clinic, 3);
  await clinic.service.fault({
    method: 'GET',
    path: 'dental/inquiries/',
    when: 'after',
    action: 'delay',
    delay_ms: 400,
  });
  await due(clinic);
  const routine = clinic.collectNow();
  await expect.poll(async () => (await clinic.service.pendingFaults()).length).toBe(0);
  await clinic.service.advance({ days: 3 });
  await clinic.report('h-1', await ended(clinic));
  await Promise.all([routine, clinic.drainNow()]);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered']);
  expect(await clinic.deliveries()).toHaveLength(1);
});

test('eligd polls an inquiry in webhook events once, however long it waits', async () => {
  const clinic = await install();
  await callsFor(clinic, 3, 3, 3);
  await clinic.service.advance({ days: 3 });
  const { asked, release } = heldReads(clinic);
  await clinic.report('h-1', await ended(clinic));
  const draining = clinic.drainNow();
  await expect.poll(() => asked.length).toBe(3);
  for (let round = 0; round < 3; round += 1) {
    clinic.pass(5 * MINUTE_MS);
    expect(await clinic.collectNow()).toMatchObject({ did: 0 });
  }
  release();
  await draining;
  expect(asked).toHaveLength(3);
  expect((await clinic.inquiries()).map(({ state }) => state)).toEqual([
    'answered',
    'answered',
    'answered',
  ]);
});

test('an event nested too deeply to be compared leads to a poll and is drained', async () => {
  const clinic = await install();
  await callsFor(clinic, 3);
  await clinic.service.advance({ days: 3 });
  await clinic.collectAll();
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  const [row] = await clinic.inquiries();
  const body =
    `{"inquiries":[{"id":"${row?.service_id}","status":"SUCCESS","request":{},` +
    `"results":${deep}}]}`;
  await clinic.store.write((tx) =>
    tx
      .insertInto('inbox')
      .values({ message_hash: 'h-1', body: Buffer.from(body), received_at: 1 })
      .execute(),
  );
  const { asked, release } = heldReads(clinic);
  release();
  expect(await clinic.drainNow()).toMatchObject({ did: 1 });
  expect(asked).toHaveLength(1);
  expect(await clinic.store.db.selectFrom('inbox').select('body').execute()).toEqual([
    { body: null },
  ]);
  expect(clinic.events).not.toContain('stage_failed');
});

/** Makes requests of these priorities wait forever, as if others used up the rate limit. */
function gateWithout(...starved: string[]): RequestGate {
  return {
    enter: async (priority, signal) => {
      if (starved.includes(priority))
        await new Promise((_, reject) => signal?.addEventListener('abort', reject));
      return { leave: async () => {} };
    },
    pause: async () => {},
  };
}

const hurried = (duration_ms: number, signal?: AbortSignal) =>
  realClock.sleep(duration_ms / 200, signal);

test('many waiting polls do not delay urgent ones, and stay due', async () => {
  const clinic = await install({ gate: gateWithout('routine'), sleep: hurried });
  await callsFor(clinic, 0.5, ...Array.from({ length: 60 }, () => 3));
  await clinic.service.advance({ days: 3 });
  await due(clinic);
  await clinic.store.write((tx) =>
    tx
      .updateTable('inquiries')
      .set({ poll_at: clinic.now() + 1 })
      .where('id', '=', 1)
      .execute(),
  );
  const waiting = clinic.collectNow();
  clinic.pass(1);
  await waiting;
  await clinic.collectNow();
  const [near, ...far] = await clinic.inquiries();
  expect(near?.state).toBe('answered');
  expect(
    far.filter(({ state, poll_at }) => state === 'open' && (poll_at ?? Infinity) <= clinic.now()),
  ).toHaveLength(60);
  expect(clinic.events).not.toContain('poll_failed');
});

test('an answer does not wait for its call’s checks when no slot is free', async () => {
  const gate = { ...gateWithout() };
  const clinic = await install({
    gate,
    sleep: hurried,
    collecting: { verify_for_ms: 48 * HOUR_MS },
  });
  await callsFor(clinic, 3, 3);
  await clinic.service.advance({ days: 3 });
  gate.enter = gateWithout('routine').enter;
  await clinic.report('h-1', await ended(clinic));
  await clinic.drainNow();
  expect(await clinic.deliveries()).toHaveLength(2);
  expect(clinic.events).not.toContain('verification_not_read');
  gate.enter = gateWithout().enter;
  clinic.pass(2 * MINUTE_MS);
  await clinic.collectNow();
  expect(clinic.events).toContain('verification_received');
});

describe('a webhook event that reports an end before the GET does', () => {
  const openAt = async (clinic: Installation) => {
    const [row] = await clinic.inquiries();
    return Math.round(((row?.poll_at ?? 0) - clinic.now()) / MINUTE_MS);
  };

  test('eligd polls again after 1, 5, 15, and 60 minutes, then on the schedule', async () => {
    const clinic = await install();
    await callsFor(clinic, 6);
    await clinic.report('h-1', await ended(clinic));
    await clinic.drainNow();
    for (const minutes of [1, 5, 15, 60]) {
      expect(await openAt(clinic)).toBe(minutes);
      clinic.pass(minutes * MINUTE_MS + 1_000);
      expect(await clinic.collectNow()).toMatchObject({ did: 1 });
    }
    expect(await openAt(clinic)).toBeGreaterThan(60);
  });

  test('the event does not prove that webhooks are reliable until the GET agrees', async () => {
    const clinic = await install();
    await callsFor(clinic, 6);
    const state = async () => (await webhookState(clinic.store.db)).state;
    await clinic.report('h-1', await ended(clinic));
    await clinic.drainNow();
    expect(await state()).toBe('unproven');
    await clinic.service.advance({ days: 6 });
    clinic.pass(MINUTE_MS + 1_000);
    await clinic.collectNow();
    expect((await clinic.inquiries()).map(({ state }) => state)).toEqual(['answered']);
    expect(await state()).toBe('heard');
  });
});
