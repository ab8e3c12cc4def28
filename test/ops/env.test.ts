import { describe, expect, test } from 'vitest';
import { realClock, scaledClock } from '../../src/ops/env.ts';

describe('a clock', () => {
  test('a clock sleeps at least as long as asked', async () => {
    const before = realClock.elapsed();
    await realClock.sleep(20);
    expect(realClock.elapsed() - before).toBeGreaterThanOrEqual(19);
  });

  test.each([
    ['before', true],
    ['during', false],
  ])("aborting %s a sleep rejects it with the signal's reason", async (_, is_aborted_before) => {
    const controller = new AbortController();
    const reason = new Error('stop');
    if (is_aborted_before) controller.abort(reason);
    const sleep = realClock.sleep(60_000, controller.signal);
    if (!is_aborted_before) setTimeout(() => controller.abort(reason), 5);
    await expect(sleep).rejects.toBe(reason);
  });

  test('a sleep that is longer than a timer can be does not end at once', async () => {
    const controller = new AbortController();
    const sleep = realClock.sleep(60 * 86_400_000, controller.signal).then(
      () => 'woke',
      () => 'aborted',
    );
    setTimeout(() => controller.abort(), 20);
    expect(await sleep).toBe('aborted');
  });
});

describe('a scaled clock', () => {
  test('a scaled clock runs faster from its anchor, and two of them agree', () => {
    const anchor_ms = Date.now() - 1000;
    const [one, other] = [
      scaledClock({ anchor_ms, speed: 3600 }),
      scaledClock({ anchor_ms, speed: 3600 }),
    ];
    expect(one.now() - anchor_ms).toBeGreaterThanOrEqual(3_600_000);
    expect(Math.abs(one.now() - other.now())).toBeLessThan(3600 * 200);
  });

  test('a scaled clock sleeps a minute in a fraction of it', async () => {
    const clock = scaledClock({ anchor_ms: Date.now(), speed: 3600 });
    const [elapsed, real] = [clock.elapsed(), performance.now()];
    await clock.sleep(60_000);
    expect(performance.now() - real).toBeLessThan(5000);
    expect(clock.elapsed() - elapsed).toBeGreaterThan(50_000);
  });
});
