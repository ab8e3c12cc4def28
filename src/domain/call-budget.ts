import type { Cents } from './price.ts';
import { addDays, addMonths, type Instant, type LocalDate, localDate, startOfDay } from './time.ts';

export type CallLimits = {
  /** Null: no limit. */
  calls_per_day: number | null;
  calls_per_month: number | null;
  dollars_per_day: number | null;
  dollars_per_month: number | null;
  /** The clinic's, IANA. */
  time_zone: string;
};

/** The clinic's day or month that holds now. */
export type Period = {
  period: 'day' | 'month';
  from: Instant;
  /** When the next one begins. */
  until: Instant;
};

/** A limit that keeps planned calls back until its period is over. */
export type BudgetPeriod = Period & { unit: 'calls' | 'cents'; limit: number };

/** What was spent in a period. */
export type Spent = {
  calls: number;
  /** What the calls of known price cost, as far as it is settled, otherwise as it is expected. */
  cents: Cents;
  /** Calls whose price is not known: `cents` says nothing of them. */
  unpriced: number;
  /** What those would cost by the price list of now, for limits in dollars; otherwise 0. */
  estimated_cents: Cents;
};

/** What was spent in the day or month, and what may still be; null: no limit. */
export type Spending = Period & Spent & { calls_left: number | null; cents_left: Cents | null };

export type CallBudget = {
  day: Spending;
  month: Spending;
  /** How many calls may still start now; null: no limit. */
  left: number | null;
  /** How much they may cost together; null: no limit. */
  left_cents: Cents | null;
  /** The limit that keeps the next call back, the one that lasts longest; null: none does. */
  used_up: BudgetPeriod | null;
};

/** The clinic's month and day that hold now, the longest first. */
export function budgetPeriods(time_zone: string, now: Instant): [Period, Period] {
  const day = localDate(now, time_zone);
  const month = `${day.slice(0, 8)}01`;
  const at = (date: LocalDate) => startOfDay(date, time_zone);
  return [
    { period: 'month', from: at(month), until: at(addMonths(month, 1)) },
    { period: 'day', from: at(day), until: at(addDays(day, 1)) },
  ];
}

/**
 * What the limits leave. `spent`: by period, as `budgetPeriods` gives them. `next_cents`: what the
 * next call costs that waits to be sent; null: none waits.
 */
export function callBudget(
  limits: CallLimits,
  spent: { month: Period & Spent; day: Period & Spent },
  next_cents: Cents | null,
): CallBudget {
  const month = leftOf(spent.month, limits.calls_per_month, limits.dollars_per_month);
  const day = leftOf(spent.day, limits.calls_per_day, limits.dollars_per_day);
  const used = [
    ...usedUp(month, limits.calls_per_month, limits.dollars_per_month, next_cents),
    ...usedUp(day, limits.calls_per_day, limits.dollars_per_day, next_cents),
  ];
  return {
    day,
    month,
    left: smaller(month.calls_left, day.calls_left),
    left_cents: smaller(month.cents_left, day.cents_left),
    used_up: used[0] ?? null,
  };
}

function leftOf(
  spent: Period & Spent,
  calls_max: number | null,
  dollars_max: number | null,
): Spending {
  return {
    ...spent,
    calls_left: calls_max === null ? null : Math.max(0, calls_max - spent.calls),
    cents_left:
      dollars_max === null
        ? null
        : Math.max(0, centsOf(dollars_max) - spent.cents - spent.estimated_cents),
  };
}

function usedUp(
  { period, from, until, calls_left, cents_left }: Spending,
  calls_max: number | null,
  dollars_max: number | null,
  next_cents: Cents | null,
): BudgetPeriod[] {
  const found: BudgetPeriod[] = [];
  if (calls_max !== null && calls_left === 0)
    found.push({ period, from, until, unit: 'calls', limit: calls_max });
  if (dollars_max !== null && cents_left !== null && cents_left < Math.max(1, next_cents ?? 1))
    found.push({ period, from, until, unit: 'cents', limit: centsOf(dollars_max) });
  return found;
}

/** Dollars with at most two decimals as whole cents. */
export function centsOf(amount_dollars: number): Cents {
  return Math.round(amount_dollars * 100);
}

function smaller(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
