import { describe, expect, test } from 'vitest';
import { budgetPeriods, callBudget } from '../../src/domain/call-budget.ts';

const TIME_ZONE = 'America/Chicago';
const limits = {
  calls_per_day: 3,
  calls_per_month: 10,
  dollars_per_day: null,
  dollars_per_month: null,
  time_zone: TIME_ZONE,
};
const at = (text: string) => Date.parse(text);
const spent = (calls: number, cents = 0, estimated_cents = 0) => ({
  calls,
  cents,
  estimated_cents,
  unpriced: 0,
});

describe('the budget of calls', () => {
  test('the call budget counts in days and months of the clinic, with daylight saving', () => {
    // 11:30 p.m. on October 31 in Chicago; the clocks go back on November 1.
    const [month, day] = budgetPeriods(TIME_ZONE, at('2026-11-01T04:30:00Z'));
    expect(month).toMatchObject({
      from: at('2026-10-01T05:00:00Z'),
      until: at('2026-11-01T05:00:00Z'),
    });
    expect(day).toMatchObject({
      from: at('2026-10-31T05:00:00Z'),
      until: at('2026-11-01T05:00:00Z'),
    });
    const [, next] = budgetPeriods(TIME_ZONE, at('2026-11-01T05:00:00Z'));
    expect(next).toMatchObject({
      from: at('2026-11-01T05:00:00Z'),
      until: at('2026-11-02T06:00:00Z'),
    });
  });

  const [month, day] = budgetPeriods(TIME_ZONE, at('2026-11-20T15:00:00Z'));

  test('the tighter limit counts, and eligd names the limit that lasts longest', () => {
    const budget = (in_month: number, in_day: number) => {
      const used = { month: { ...month, ...spent(in_month) }, day: { ...day, ...spent(in_day) } };
      const { left, used_up } = callBudget(limits, used, null);
      return { left, used_up };
    };
    expect(budget(9, 0)).toEqual({ left: 1, used_up: null });
    expect(budget(9, 3)).toEqual({ left: 0, used_up: { ...day, unit: 'calls', limit: 3 } });
    // The limit was lowered, and more calls than it allows have already started.
    expect(budget(12, 3)).toEqual({ left: 0, used_up: { ...month, unit: 'calls', limit: 10 } });
    const none = { ...limits, calls_per_day: null, calls_per_month: null };
    const used = { month: { ...month, ...spent(99) }, day: { ...day, ...spent(99) } };
    expect(callBudget(none, used, null)).toMatchObject({ left: null, used_up: null });
  });
});

describe('the budget in dollars', () => {
  const [month, day] = budgetPeriods(TIME_ZONE, at('2026-11-20T15:00:00Z'));
  const dollars = { ...limits, calls_per_day: null, calls_per_month: null };
  const budget = (cents: number, next_cents: number | null, estimated_cents = 0) =>
    callBudget(
      { ...dollars, dollars_per_day: 25 },
      {
        month: { ...month, ...spent(2, cents, estimated_cents) },
        day: { ...day, ...spent(2, cents, estimated_cents) },
      },
      next_cents,
    );

  test('the dollar budget is used up when the next call does not fit', () => {
    expect(budget(1250, 1250)).toMatchObject({ left_cents: 1250, used_up: null });
    expect(budget(1251, 1250)).toMatchObject({
      left_cents: 1249,
      used_up: { ...day, unit: 'cents', limit: 2500 },
    });
    // No call waits, because there is room.
    expect(budget(1251, null)).toMatchObject({ left_cents: 1249, used_up: null });
    expect(budget(2600, null)).toMatchObject({ left_cents: 0, used_up: { unit: 'cents' } });
  });

  test('the dollar budget counts calls of unknown price at the current price', () => {
    expect(budget(0, 1250, 1500)).toMatchObject({ left_cents: 1000, used_up: { limit: 2500 } });
  });
});
