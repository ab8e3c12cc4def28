import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateLimiter } from '../../src/domain/rate-limit.ts';
import { createRateLimiter, endAbandonedSlots } from '../../src/store/calls/rate-limit.ts';
import { temporaryPath, temporaryStore } from './temporary.ts';
import { type VirtualClock, virtualClock } from './virtual-clock.ts';

const WINDOW_MS = 60_000;

type Request = { started_ms: number; ended_ms: number };

async function perform(
  limiter: RateLimiter,
  clock: VirtualClock,
  duration_ms: number,
): Promise<Request> {
  const pass = await limiter.enter('send');
  const started_ms = clock.now();
  await clock.sleep(duration_ms);
  const ended_ms = clock.now();
  await pass.leave();
  return { started_ms, ended_ms };
}

/**
 * The most requests that a server can count in a window of 60 s if it may count each at any time
 * between its start and its end.
 */
function mostInAnyWindow(requests: readonly Request[]): number {
  return Math.max(
    ...requests.map(
      ({ ended_ms: from_ms }) =>
        requests.filter(
          ({ started_ms, ended_ms }) => started_ms < from_ms + WINDOW_MS && ended_ms >= from_ms,
        ).length,
    ),
  );
}

async function waited(limiter: RateLimiter, clock: VirtualClock): Promise<number> {
  const before_ms = clock.elapsed();
  await (await clock.runUntil(limiter.enter('send'))).leave();
  return clock.elapsed() - before_ms;
}

describe('the rate limit', () => {
  test('the limit holds in every sliding minute and wastes nothing (G5)', async () => {
    const duration = fc.oneof(
      fc.nat(500),
      fc.nat(30_000),
      fc.integer({ min: 30_000, max: 120_000 }),
    );
    const crowd = fc.array(fc.record({ duration, delay: fc.nat(90_000) }), {
      minLength: 5,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 6 }), crowd, async (max_per_minute, requests) => {
        const clock = virtualClock();
        const limiter = createRateLimiter(await temporaryStore(), clock, max_per_minute);
        const all = Promise.all(
          requests.map(async (request) => {
            await clock.sleep(request.delay);
            return await perform(limiter, clock, request.duration);
          }),
        );
        const done = await clock.runUntil(all);
        expect(mostInAnyWindow(done)).toBeLessThanOrEqual(max_per_minute);
        // Each round of requests takes at most as long as its longest one, a minute, plus a
        // lookup for one in progress.
        const generations = Math.ceil(requests.length / max_per_minute);
        expect(clock.elapsed()).toBeLessThanOrEqual(
          90_000 + generations * (120_000 + WINDOW_MS + 100),
        );
      }),
      { numRuns: 8 },
    );
  });

  test('the limit is available at once, and the next slot a minute after the first', async () => {
    const clock = virtualClock();
    const limiter = createRateLimiter(await temporaryStore(), clock, 3);
    const done = await clock.runUntil(
      Promise.all([100, 200, 300, 100].map((each) => perform(limiter, clock, each))),
    );
    const start_ms = done[0]!.started_ms;
    expect(done.map(({ started_ms }) => started_ms - start_ms)).toEqual([0, 0, 0, 100 + WINDOW_MS]);
  });

  test('the limit holds for two processes on one database', async () => {
    const clock = virtualClock();
    const path = temporaryPath();
    const [daemon, command] = [await temporaryStore(path), await temporaryStore(path)];
    const limiters = [daemon, command].map((store) => createRateLimiter(store, clock, 4));
    const requests = Array.from({ length: 16 }, (_, index) =>
      perform(limiters[index % 2]!, clock, index * 700),
    );
    expect(mostInAnyWindow(await clock.runUntil(Promise.all(requests)))).toBe(4);
  });

  test('the limit holds across a restart', async () => {
    const clock = virtualClock();
    const path = temporaryPath();
    const before = await temporaryStore(path);
    const limiter = createRateLimiter(before, clock, 2);
    await clock.runUntil(Promise.all([perform(limiter, clock, 0), perform(limiter, clock, 0)]));
    await before.close();
    const after = createRateLimiter(await temporaryStore(path), clock, 2);
    expect(await waited(after, clock)).toBe(WINDOW_MS);
  });

  test('a request that a crash interrupted counts as ended at the next start', async () => {
    const clock = virtualClock();
    const path = temporaryPath();
    const before = await temporaryStore(path);
    await clock.runUntil(createRateLimiter(before, clock, 1).enter('send'));
    await before.close();
    await clock.runUntil(clock.sleep(30_000));
    const store = await temporaryStore(path);
    const found = await endAbandonedSlots(store, clock.now());
    expect(await waited(createRateLimiter(store, clock, 1, found), clock)).toBe(WINDOW_MS);
  });

  test('the limit holds across a restart after the clock was set forward', async () => {
    const clock = virtualClock();
    const path = temporaryPath();
    const before = await temporaryStore(path);
    const limiter = createRateLimiter(before, clock, 2);
    await clock.runUntil(perform(limiter, clock, 0));
    clock.set(clock.now() + 10 * WINDOW_MS);
    await clock.runUntil(perform(limiter, clock, 0));
    await before.close();
    const store = await temporaryStore(path);
    const after = createRateLimiter(store, clock, 2, await endAbandonedSlots(store, clock.now()));
    expect(await waited(after, clock)).toBe(WINDOW_MS);
  });

  test('the limit holds across a restart before the clock is set forward', async () => {
    const clock = virtualClock();
    const path = temporaryPath();
    const before = await temporaryStore(path);
    await clock.runUntil(createRateLimiter(before, clock, 1).enter('send'));
    await before.close();
    const store = await temporaryStore(path);
    const limiter = createRateLimiter(store, clock, 1, await endAbandonedSlots(store, clock.now()));
    clock.set(clock.now() + 10 * WINDOW_MS);
    expect(await waited(limiter, clock)).toBe(WINDOW_MS);
  });

  test('a dead process’s slot becomes free in the end', async () => {
    const clock = virtualClock();
    const store = await temporaryStore();
    const limiter = createRateLimiter(store, clock, 1);
    await clock.runUntil(limiter.enter('send'));
    await clock.runUntil(clock.sleep(9 * WINDOW_MS));
    expect(await waited(limiter, clock)).toBe(WINDOW_MS);
  });

  test('sending goes first, then urgent work, then the order of arrival', async () => {
    const clock = virtualClock();
    const limiter = createRateLimiter(await temporaryStore(), clock, 1);
    const order: string[] = [];
    const go = async (name: string, priority: 'send' | 'urgent' | 'routine') => {
      const pass = await limiter.enter(priority);
      order.push(name);
      await pass.leave();
    };
    await clock.runUntil(go('first', 'routine'));
    const waiting = [go('r1', 'routine'), go('r2', 'routine'), go('u1', 'urgent')];
    await clock.rest();
    waiting.push(go('s1', 'send'), go('u2', 'urgent'), go('s2', 'send'));
    await clock.runUntil(Promise.all(waiting));
    expect(order).toEqual(['first', 's1', 's2', 'u1', 'u2', 'r1', 'r2']);
  });

  test('a waiter that has gone away keeps no slot', async () => {
    const clock = virtualClock();
    const store = await temporaryStore();
    const limiter = createRateLimiter(store, clock, 5);
    const stop = new AbortController();
    const refused = expect(limiter.enter('send', stop.signal)).rejects.toThrow('enough');
    stop.abort(new Error('enough'));
    await refused;
    await clock.rest();
    expect(await store.db.selectFrom('rate_slots').selectAll().execute()).toEqual([]);
  });

  test('a limit of zero means no limit', async () => {
    const clock = virtualClock();
    const limiter = createRateLimiter(await temporaryStore(), clock, 0);
    for (let count = 0; count < 100; count += 1) await limiter.enter('send');
    expect(clock.elapsed()).toBe(0);
  });

  test('a wait stops when told to, and takes no slot', async () => {
    const clock = virtualClock();
    const store = await temporaryStore();
    const limiter = createRateLimiter(store, clock, 1);
    await clock.runUntil(limiter.enter('send'));
    const stop = new AbortController();
    const refused = expect(limiter.enter('send', stop.signal)).rejects.toThrow('enough');
    await clock.rest();
    stop.abort(new Error('enough'));
    await refused;
    expect(await store.db.selectFrom('rate_slots').selectAll().execute()).toHaveLength(1);
  });

  test('no one waits longer than a minute when the clock is set back', async () => {
    const clock = virtualClock();
    const limiter = createRateLimiter(await temporaryStore(), clock, 1);
    await clock.runUntil(perform(limiter, clock, 1000));
    clock.set(clock.now() - 24 * 3_600_000);
    expect(await waited(limiter, clock)).toBeLessThanOrEqual(WINDOW_MS);
  });
});

describe('a pause that the service asked for', () => {
  test('the pause applies to everyone, and across a restart', async () => {
    const clock = virtualClock();
    const path = temporaryPath();
    const before = await temporaryStore(path);
    await createRateLimiter(before, clock, 10).pause(clock.now() + 90_000);
    await before.close();
    expect(await waited(createRateLimiter(await temporaryStore(path), clock, 10), clock)).toBe(
      90_000,
    );
  });

  test('the pause applies without a limit, and a shorter one does not end it', async () => {
    const clock = virtualClock();
    const limiter = createRateLimiter(await temporaryStore(), clock, 0);
    await limiter.pause(clock.now() + 90_000);
    await limiter.pause(clock.now() + 10_000);
    expect(await waited(limiter, clock)).toBe(90_000);
  });

  test('a pause that becomes longer is waited for to its end', async () => {
    const clock = virtualClock();
    const limiter = createRateLimiter(await temporaryStore(), clock, 10);
    await limiter.pause(clock.now() + 10_000);
    const entered = limiter.enter('send');
    await clock.rest();
    await limiter.pause(clock.now() + 60_000);
    await clock.runUntil(entered);
    expect(clock.elapsed()).toBe(60_000);
  });
});

describe('after a 429', () => {
  /** The requests in each minute with constant demand, from now on for this long. */
  async function perMinute(limiter: RateLimiter, clock: VirtualClock): Promise<number> {
    const from_ms = clock.elapsed();
    let count = 0;
    while (clock.elapsed() - from_ms < WINDOW_MS) {
      await (await clock.runUntil(limiter.enter('send'))).leave();
      count += 1;
    }
    return count - 1;
  }

  test('the pace is halved and evenly spread, and grows to the configured one again', async () => {
    const store = await temporaryStore();
    const clock = virtualClock();
    const limiter = createRateLimiter(store, clock, 60);
    await limiter.slowDown();
    // Requests in progress at the same time are the same refusal.
    await limiter.slowDown();
    await waited(limiter, clock);
    expect(await waited(limiter, clock)).toBe(2_000);
    await clock.runUntil(clock.sleep(WINDOW_MS));
    expect(await perMinute(limiter, clock)).toBeLessThanOrEqual(30);
    // The next process knows the pace.
    const next = createRateLimiter(store, clock, 60);
    await waited(next, clock);
    expect(await waited(next, clock)).toBe(2_000);
    await clock.runUntil(clock.sleep(60 * 60_000));
    expect(await waited(next, clock)).toBe(0);
    expect(await waited(next, clock)).toBe(0);
  });

  test('the pace grows although the clock was a year ahead when it was halved', async () => {
    const store = await temporaryStore();
    const clock = virtualClock();
    clock.set(clock.now() + 365 * 24 * 60 * 60_000);
    await createRateLimiter(store, clock, 60).slowDown();
    clock.set(clock.now() - 365 * 24 * 60 * 60_000);
    const limiter = createRateLimiter(store, clock, 60);
    await waited(limiter, clock);
    expect(await waited(limiter, clock)).toBe(2_000);
    await clock.runUntil(clock.sleep(60 * 60_000));
    expect(await waited(limiter, clock)).toBe(0);
    expect(await waited(limiter, clock)).toBe(0);
  });
});
