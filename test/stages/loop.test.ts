import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { realClock } from '../../src/ops/env.ts';
import { Waker } from '../../src/stages/loop.ts';

const env = { clock: realClock, random: () => 0, log: () => {} };

test('a wait leaves no listener on the signal that lives as long as the daemon', async () => {
  const { signal } = new AbortController();
  const waker = new Waker();
  for (let count = 0; count < 50; count += 1) {
    const wait = waker.wait(env, 60_000, signal);
    waker.wake();
    await wait;
    await waker.wait(env, 0, signal);
  }
  expect(getEventListeners(signal, 'abort').length).toBe(0);
});

test('a wait ends with its signal, and an earlier wake is not lost', async () => {
  const stop = new AbortController();
  const waker = new Waker();
  waker.wake();
  await waker.wait(env, 60_000, stop.signal);
  const wait = waker.wait(env, 60_000, stop.signal);
  stop.abort();
  await wait;
  await waker.wait(env, 60_000, stop.signal);
});
