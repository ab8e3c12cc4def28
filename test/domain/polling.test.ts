import { describe, expect, test } from 'vitest';
import {
  isAnswerDue,
  nextPollAt,
  overdueAt,
  type PollingFacts,
  urgencyOf,
} from '../../src/domain/polling.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';

const ZONE = 'America/Chicago';
/** 2030-01-10 is a Thursday; Chicago is six hours behind UTC. */
const chicago = (day: number, hour: number, minute = 0) => Date.UTC(2030, 0, day, hour + 6, minute);

function facts(over: Partial<PollingFacts> = {}): PollingFacts {
  return {
    now: chicago(7, 9),
    desired_completion_date: '2030-01-10',
    visit_at: chicago(11, 9),
    interval_ms: HOUR_MS,
    urgent_interval_ms: 15 * MINUTE_MS,
    time_zone: ZONE,
    has_webhook: false,
    sent_at: chicago(7, 9),
    turnaround: null,
    random: 0.5,
    ...over,
  };
}

/** All times at which eligd polls an inquiry without an answer until its visit. */
function asked(over: Partial<PollingFacts> = {}): number[] {
  const times: number[] = [];
  for (let now = over.now ?? facts().now; now < facts(over).visit_at; ) {
    now = nextPollAt(facts({ ...over, now }));
    times.push(now);
  }
  return times;
}

describe('polling an open inquiry', () => {
  test('eligd polls rarely until the completion date’s morning, then by the interval', () => {
    const before = asked().filter((at) => at < chicago(10, 7));
    expect(before.length).toBeLessThanOrEqual(3);
    const morning = asked().filter((at) => at >= chicago(10, 7) && at < chicago(10, 13));
    expect(morning[0]).toBe(chicago(10, 7, 30));
    expect(morning.length).toBeGreaterThanOrEqual(5);
    expect(asked({ time_zone: 'America/New_York' }).find((at) => at > chicago(10, 5))).toBe(
      chicago(10, 6, 30),
    );
  });

  test('without webhooks, eligd polls at least once a day, however far the visit is', () => {
    for (const random of [0, 0.5, 0.999]) {
      const times = [chicago(1, 9), ...asked({ now: chicago(1, 9), random })];
      const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
      expect(Math.max(...waits)).toBeLessThanOrEqual(24 * HOUR_MS);
    }
  });

  test('before the completion date, eligd polls at 24 times the interval', () => {
    const first = (interval_ms: number) => nextPollAt(facts({ interval_ms })) - facts().now;
    expect(first(3_000)).toBe(72_000);
    expect(first(10 * MINUTE_MS)).toBe(4 * HOUR_MS);
    const near = facts({ now: chicago(11, 8), interval_ms: 3_000 });
    expect(nextPollAt(near) - near.now).toBeLessThanOrEqual(3_000);
  });

  test('eligd polls more often only while the payer’s calls usually end', () => {
    const turnaround = { median_ms: 20 * HOUR_MS, p90_ms: 28 * HOUR_MS };
    const sent_at = chicago(7, 9);
    const times = asked({ sent_at, turnaround }).filter((at) => at < chicago(10, 7));
    const around = times.filter(
      (at) => at >= sent_at + 19 * HOUR_MS && at <= sent_at + 29 * HOUR_MS,
    );
    expect(around.length).toBeGreaterThanOrEqual(8);
    expect(around.length).toBeLessThanOrEqual(10);
    expect(times.length - around.length).toBeLessThanOrEqual(2);
    const told = asked({ sent_at, turnaround, has_webhook: true });
    expect(told).toEqual(asked({ sent_at, has_webhook: true }));
  });

  test('eligd polls in the clinic’s morning on the night when the clocks change', () => {
    const night = {
      now: Date.UTC(2030, 2, 10, 5),
      desired_completion_date: '2030-03-10',
      visit_at: Date.UTC(2030, 2, 11, 14),
    };
    // Chicago goes from six hours behind UTC to five at two o'clock, and back in November.
    expect(nextPollAt(facts(night))).toBe(Date.UTC(2030, 2, 10, 12, 30));
    const back = {
      now: Date.UTC(2030, 10, 3, 5),
      desired_completion_date: '2030-11-03',
      visit_at: Date.UTC(2030, 10, 4, 15),
    };
    expect(nextPollAt(facts(back))).toBe(Date.UTC(2030, 10, 3, 13, 30));
  });

  test('eligd polls more often near the visit, down to the urgent interval', () => {
    const times = asked();
    const waits = times.slice(1).map((at, index) => ({ at, wait_ms: at - (times[index] ?? 0) }));
    const day = waits.filter(({ at }) => at > chicago(10, 12) && at < chicago(11, 9));
    for (const [index, { wait_ms }] of day.entries())
      expect(wait_ms).toBeLessThanOrEqual(day[index - 1]?.wait_ms ?? HOUR_MS);
    expect(Math.min(...day.map(({ wait_ms }) => wait_ms))).toBeGreaterThanOrEqual(14 * MINUTE_MS);
    expect(nextPollAt(facts({ now: chicago(11, 8) })) - chicago(11, 8)).toBe(15 * MINUTE_MS);
  });

  test('eligd polls twice a day after the visit', () => {
    expect(nextPollAt(facts({ now: chicago(12, 9) })) - chicago(12, 9)).toBe(12 * HOUR_MS);
  });

  test('eligd polls before today’s visit although its completion date is later', () => {
    const now = chicago(10, 2);
    expect(nextPollAt(facts({ now, visit_at: chicago(10, 6) }))).toBeLessThanOrEqual(
      now + 15 * MINUTE_MS,
    );
  });

  test('a thousand inquiries are not polled in the same second', () => {
    for (const now of [chicago(7, 9), chicago(9, 22), chicago(10, 9)]) {
      const times = Array.from({ length: 1000 }, (_, index) =>
        nextPollAt(facts({ now, random: index / 1000 })),
      );
      const seconds = Map.groupBy(times, (at) => Math.floor(at / 1000));
      expect(Math.max(...[...seconds.values()].map(({ length }) => length))).toBeLessThanOrEqual(
        10,
      );
    }
  });
});

describe('polling while the service sends webhook events', () => {
  test('with webhooks, eligd starts after the completion date’s morning, more rarely', () => {
    const times = asked({ has_webhook: true });
    expect(times[0]).toBe(chicago(10, 13, 30));
    expect(times.length).toBeLessThan(asked().length / 2);
  });

  test('in the last hours before the visit, eligd polls as if there were no webhooks', () => {
    const now = chicago(11, 6);
    expect(nextPollAt(facts({ now, has_webhook: true }))).toBe(nextPollAt(facts({ now })));
  });

  test('eligd polls in time for a visit that is before the end of the morning', () => {
    const now = chicago(10, 8);
    expect(
      nextPollAt(facts({ now, has_webhook: true, visit_at: chicago(10, 12, 30) })),
    ).toBeLessThan(chicago(10, 11));
  });
});

describe('an answer', () => {
  test('an answer is due from the morning of the completion date on', () => {
    expect(isAnswerDue(chicago(10, 6, 59), '2030-01-10', ZONE)).toBe(false);
    expect(isAnswerDue(chicago(10, 7), '2030-01-10', ZONE)).toBe(true);
  });

  test('an answer is overdue on the completion date’s afternoon, or before the visit', () => {
    expect(overdueAt('2030-01-10', chicago(11, 9), ZONE)).toBe(chicago(10, 17));
    expect(overdueAt('2030-01-10', chicago(10, 14), ZONE)).toBe(chicago(10, 12));
  });

  test('an overdue answer matters by the hours left until the visit', () => {
    const visit_at = chicago(14, 9);
    expect(
      [chicago(11, 17), chicago(13, 10), chicago(14, 6), chicago(14, 10)].map((now) =>
        urgencyOf(visit_at, now),
      ),
    ).toEqual(['flag', 'tell', 'call', 'over']);
  });
});
