import type { Cents } from './price.ts';
import { addDays, addMonths, type Instant, type LocalDate, localDate, startOfDay } from './time.ts';

export type CallLimits = {
  /** Null: no limit. */
  calls_per_day: number | null;
  calls_per_month: number | null;
  dollars_per_day: number | null;
  dollars_per_month: number | null;
  /** The clinic's IANA time zone. */
  time_zone: string;
};

/** The clinic's current day or month. */
export type Period = {
  period: 'day' | 'month';
  from: Instant;
  /** When the next day or month begins. */
  until: Instant;
};

/** A limit that delays planned calls until its period ends. */
export type BudgetPeriod = Period & { unit: 'calls' | 'cents'; limit: number };

/** The calls and money used in a period. */
export type Spent = {
  calls: number;
  /**
   * The cost of the calls with a known price: the charge if it is settled, else the expected price.
   */
  cents: Cents;
  /** Calls without a known price; `cents` does not include them. */
  unpriced: number;
  /** Their cost by the current price list, counted toward limits in dollars; otherwise 0. */
  estimated_cents: Cents;
};

/** What was used in the day or month, and what is left; null: no limit. */
export type Spending = Period & Spent & { calls_left: number | null; cents_left: Cents | null };

export type CallBudget = {
  day: Spending;
  month: Spending;
  /** How many calls may still start now; null: no limit. */
  left: number | null;
  /** How much those calls may cost together; null: no limit. */
  left_cents: Cents | null;
  /** The limit that delays the next call, the longest period first; null: none does. */
  used_up: BudgetPeriod | null;
};

/** Returns the clinic's current month and day, in this order. */
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
 * Computes what the limits leave. `spent`: by period, as `budgetPeriods` returns them.
 * `next_cents`: the cost of the next call that waits to be sent; null: no call waits.
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

/** Converts dollars with at most two decimals to whole cents. */
export function centsOf(amount_dollars: number): Cents {
  return Math.round(amount_dollars * 100);
}

function smaller(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
