import { Temporal } from 'temporal-polyfill';
import { type Instant, startOfDay } from './time.ts';

export type CallLimits = {
  /** Null: no limit. */
  calls_per_day: number | null;
  calls_per_month: number | null;
  /** The clinic's, IANA. */
  time_zone: string;
};

/** The clinic's day or month that holds now, and how many calls may start in it. */
export type BudgetPeriod = {
  period: 'day' | 'month';
  limit: number;
  from: Instant;
  /** When the next one begins. */
  until: Instant;
};

export type CallBudget = {
  /** How many calls may still start now; null: no limit. */
  left: number | null;
  /** The limit that allows none, the one that lasts longest; null: none is used up. */
  used_up: BudgetPeriod | null;
};

/** The periods that a limit is set for, the longest first. */
export function budgetPeriods(limits: CallLimits, now: Instant): BudgetPeriod[] {
  const { calls_per_day, calls_per_month, time_zone } = limits;
  const day = Temporal.Instant.fromEpochMilliseconds(now)
    .toZonedDateTimeISO(time_zone)
    .toPlainDate();
  const month = day.with({ day: 1 });
  const at = (date: Temporal.PlainDate) => startOfDay(date.toString(), time_zone);
  const periods: BudgetPeriod[] = [];
  if (calls_per_month !== null)
    periods.push({
      period: 'month',
      limit: calls_per_month,
      from: at(month),
      until: at(month.add({ months: 1 })),
    });
  if (calls_per_day !== null)
    periods.push({
      period: 'day',
      limit: calls_per_day,
      from: at(day),
      until: at(day.add({ days: 1 })),
    });
  return periods;
}

/** `periods` as `budgetPeriods` gives them, each with the calls that were started since `from`. */
export function callBudget(periods: readonly (BudgetPeriod & { started: number })[]): CallBudget {
  if (periods.length === 0) return { left: null, used_up: null };
  const left = Math.max(0, Math.min(...periods.map(({ limit, started }) => limit - started)));
  const used_up = periods.find(({ limit, started }) => started >= limit);
  if (used_up === undefined) return { left, used_up: null };
  const { started: _, ...period } = used_up;
  return { left, used_up: period };
}
