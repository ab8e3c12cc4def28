import { describe, expect, test } from 'vitest';
import { budgetPeriods, callBudget } from '../../src/domain/call-budget.ts';

const limits = { calls_per_day: 3, calls_per_month: 10, time_zone: 'America/Chicago' };
const at = (text: string) => Date.parse(text);

describe('the budget of calls', () => {
  test('counts the days and months of the clinic, daylight saving time included', () => {
    // 11:30 p.m. on October 31 in Chicago; the clocks go back on November 1.
    const [month, day] = budgetPeriods(limits, at('2026-11-01T04:30:00Z'));
    expect(month).toMatchObject({
      from: at('2026-10-01T05:00:00Z'),
      until: at('2026-11-01T05:00:00Z'),
    });
    expect(day).toMatchObject({
      from: at('2026-10-31T05:00:00Z'),
      until: at('2026-11-01T05:00:00Z'),
    });
    const [, next] = budgetPeriods(limits, at('2026-11-01T05:00:00Z'));
    expect(next).toMatchObject({
      from: at('2026-11-01T05:00:00Z'),
      until: at('2026-11-02T06:00:00Z'),
    });
  });

  test('leaves what the tighter limit leaves, and names the one that lasts longest', () => {
    const [month, day] = budgetPeriods(limits, at('2026-11-20T15:00:00Z'));
    const budget = (in_month: number, in_day: number) =>
      callBudget([
        { ...month!, started: in_month },
        { ...day!, started: in_day },
      ]);
    expect(budget(9, 0)).toEqual({ left: 1, used_up: null });
    expect(budget(9, 3)).toEqual({ left: 0, used_up: day });
    // A limit that was lowered: more calls than it allows have started already.
    expect(budget(12, 3)).toEqual({ left: 0, used_up: month });
    expect(callBudget([])).toEqual({ left: null, used_up: null });
  });
});
