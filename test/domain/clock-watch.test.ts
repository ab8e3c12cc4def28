import { describe, expect, test } from 'vitest';
import { ClockWatch, clockSkew } from '../../src/domain/clock-watch.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';

const SERVICE_MS = Date.parse('2026-11-23T15:00:00Z');

function machine(ahead_ms = 0) {
  let set_by_ms = ahead_ms;
  let passed_ms = 0;
  const clock = {
    now: () => SERVICE_MS + passed_ms + set_by_ms,
    elapsed: () => passed_ms + 0.25,
    sleep: async () => {},
  };
  const watch = new ClockWatch(clock);
  return {
    watch,
    pass: (duration_ms: number) => {
      passed_ms += duration_ms;
    },
    set: (by_ms: number) => {
      set_by_ms += by_ms;
    },
    hear: () =>
      watch.observe({
        service_ms: SERVICE_MS + passed_ms,
        sent_ms: clock.now(),
        received_ms: clock.now(),
      }),
  };
}

describe('the clock', () => {
  test('eligd does not trust the clock before the service has answered', () => {
    const { watch } = machine();
    expect({ is_trusted: watch.isTrusted(), skew_ms: watch.skewMs() }).toEqual({
      is_trusted: false,
      skew_ms: null,
    });
  });

  test('eligd trusts the clock once it agrees with the service', () => {
    const { watch, hear, pass } = machine(2 * MINUTE_MS);
    expect(hear()).toBe(true);
    pass(48 * HOUR_MS);
    expect({ is_trusted: watch.isTrusted(), skew_ms: watch.skewMs() }).toEqual({
      is_trusted: true,
      skew_ms: 2 * MINUTE_MS,
    });
  });

  test('after the clock was set, eligd does not trust it until the service answers', () => {
    const { watch, hear, set } = machine();
    hear();
    set(24 * HOUR_MS);
    expect(watch.isTrusted()).toBe(false);
    expect(hear()).toBe(true);
    expect(watch.isTrusted()).toBe(false);
    set(-24 * HOUR_MS);
    expect(hear()).toBe(true);
    expect(watch.isTrusted()).toBe(true);
  });

  test('a clock that stays right or stays wrong changes no judgment', () => {
    const right = machine();
    expect([right.hear(), right.hear()]).toEqual([true, false]);
    const wrong = machine(HOUR_MS);
    expect([wrong.hear(), wrong.hear()]).toEqual([true, false]);
  });
});

describe('the skew', () => {
  test.each([
    [
      'none, when the service answered while the request was out',
      { service_ms: 5_000, sent_ms: 4_500, received_ms: 5_500 },
      0,
    ],
    [
      'none within the second that a Date header cannot say',
      { service_ms: 5_000, sent_ms: 5_999, received_ms: 6_000 },
      0,
    ],
    [
      'positive, when this machine is ahead',
      { service_ms: 5_000, sent_ms: 65_000, received_ms: 65_100 },
      60_000,
    ],
    [
      'negative, when this machine is behind',
      { service_ms: 65_000, sent_ms: 4_900, received_ms: 5_000 },
      -60_000,
    ],
  ])('the skew is %s', (_, seen, skew_ms) => {
    expect(clockSkew(seen)).toBe(skew_ms);
  });
});
