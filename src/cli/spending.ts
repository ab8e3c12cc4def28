/** Describes the spending on calls and the rest of the budget, for `status` and `cost`. */
import type { CallBudget, Spending, Spent } from '../domain/call-budget.ts';
import { dollars } from '../domain/price.ts';
import { isoTime } from './times.ts';

/** Returns `3 calls, $37.50`, or says for how many calls the price is unknown. */
export function spentWords({ calls, cents, unpriced }: Omit<Spent, 'estimated_cents'>): string {
  const count = calls === 1 ? '1 call' : `${calls} calls`;
  if (calls === 0) return 'no calls';
  if (unpriced === calls) return `${count} of unknown price`;
  if (unpriced > 0) return `${count}, ${dollars(cents)} and ${unpriced} of unknown price`;
  return `${count}, ${dollars(cents)}`;
}

/** Describes the rest of a limit; null: there is no limit. */
function leftWords({ calls_left, cents_left }: Spending): string | null {
  const parts = [
    ...(calls_left === null ? [] : [calls_left === 1 ? '1 call' : `${calls_left} calls`]),
    ...(cents_left === null ? [] : [dollars(cents_left)]),
  ];
  return parts.length === 0 ? null : parts.join(' and ');
}

/** Returns the sentences of two lines of `status`; `left` is null without a limit. */
export function budgetSentences({ day, month }: CallBudget): {
  spent: string;
  left: string | null;
} {
  const left = [
    ['today', leftWords(day)],
    ['this month', leftWords(month)],
  ].flatMap(([when, words]) => (words === null ? [] : [`${words} ${when}`]));
  const count = (calls: number) => (calls === 1 ? '1 call' : `${calls} calls`);
  const is_unpriced = month.calls > 0 && month.unpriced === month.calls;
  return {
    spent: is_unpriced
      ? `today ${count(day.calls)}, this month ${count(month.calls)}; their cost is unknown.`
      : `today ${spentWords(day)}; this month ${spentWords(month)}.`,
    left: left.length === 0 ? null : `${left.join('; ')}.`,
  };
}

/** Returns one period in the form of every `--json` output. */
export function spendingJson({
  from,
  until,
  calls,
  cents,
  unpriced,
  calls_left,
  cents_left,
}: Spending) {
  return {
    from: isoTime(from),
    until: isoTime(until),
    calls,
    cents,
    unpriced,
    calls_left,
    cents_left,
  };
}
