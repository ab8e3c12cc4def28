/** Computes with amounts in whole cents, so that sums and shares are exact. */
import type { Allowance, Money } from '../eligibility.ts';
import { isNone, isUnanswered } from '../none-words.ts';

/** Cents; `Infinity` where there is no limit. */
export type CentRange = { low: number; high: number };

/** "None" is not included: it may also mean that nothing is paid, or that nothing is left. */
const NO_LIMIT = /^(?:unlimited|no (?:limit|maximum|max|cap))\.?$/i;
const NO_LIMIT_LEFT = /^(?:unlimited|no limit)\.?$/i;
const NO_DEDUCTIBLE = new Set(['no deductible', 'waived']);
const NO_COPAY = new Set([
  ...['no', 'no copay', 'no co-pay', 'no copayment', 'no co-payment', 'waived', 'zero'],
]);
/** An amount without a word that it is used up: "$1,500 per calendar year". */
const SOMETHING = /[1-9]/;
const GONE =
  /\b(?:used|exhaust\w*|max(?:ed)?|met|reached|gone|spent|not?|none|nothing|zero|left|rem\w*)\b/i;
const CENTS_MAX = 1e13;
const ENDLESS = Number.POSITIVE_INFINITY;

/** Decimal text (`1500.00`) as cents, rounded; null when it is not an amount. */
export function centsOf(amount: string): number | null {
  if (!/^\d{1,12}(?:\.\d{1,20})?$/.test(amount)) return null;
  const [whole = '0', decimals = ''] = amount.split('.');
  const cents = Number(whole) * 100 + Math.round(Number(`0.${decimals || '0'}`) * 100);
  return cents > CENTS_MAX ? null : cents;
}

/** `66500` as `665.00`. */
export const dollarsOf = (cents: number) =>
  `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

export function centsOfMoney(money: Money | null | undefined): number | null {
  return money != null && 'amount' in money ? centsOf(money.amount) : null;
}

const wordsOf = (money: Money | null | undefined) =>
  money != null && 'text' in money ? money.text.trim() : null;

/** Returns whether the payer said anything about an allowance. */
export const isSaid = (allowance: Allowance | undefined) =>
  allowance !== undefined &&
  [allowance.amount, allowance.used, allowance.remaining].some((money) => money !== null);

/** Returns whether the payer said in words that there is no limit. */
export const isUnlimited = (money: Money | null | undefined) => NO_LIMIT.test(wordsOf(money) ?? '');

/** Returns whether the payer said in words that the amount is zero. */
export const isNothing = (money: Money | null | undefined) =>
  isNone(wordsOf(money) ?? '', NO_DEDUCTIBLE);

/** Returns a copay in words; null for "None" and similar words, which mean no copay. */
export function copayWords(copay: Money | null | undefined): string | null {
  const words = wordsOf(copay);
  return words === null || isNone(words, NO_COPAY) || isUnanswered(words) ? null : words;
}

/** Returns what is left of an allowance. Null: unknown. */
export function leftOf(allowance: Allowance | undefined): CentRange | null {
  if (allowance === undefined) return null;
  const [amount, used, left] = [allowance.amount, allowance.used, allowance.remaining].map(
    centsOfMoney,
  );
  if (left != null) return { low: left, high: left };
  if (amount == null) return null;
  if (used == null) return { low: 0, high: amount };
  const rest = Math.max(0, amount - used);
  return { low: rest, high: rest };
}

/** Returns what is left of a deductible; "0" and "None" mean that it is met. */
export function deductibleLeft(allowance: Allowance | undefined): CentRange | null {
  if (isNothing(allowance?.amount)) return { low: 0, high: 0 };
  return leftOf(allowance);
}

/** Returns whether an allowance exists; "0" and "None" mean that it does not. */
export function isThere(allowance: Allowance | undefined): boolean {
  if (allowance === undefined || isNothing(allowance.amount)) return false;
  return centsOfMoney(allowance.amount) !== 0;
}

/** Returns what is left of a maximum; infinite without a limit. Null: unknown. */
export function maximumLeft(allowance: Allowance | undefined): CentRange | null {
  if (allowance === undefined || isLeftOpen(allowance)) return null;
  const { amount, remaining } = allowance;
  const [whole, left] = [amount, remaining].map(centsOfMoney);
  // An amount is left, although there is no limit: at least this much is left.
  if (isUnlimited(amount)) return { low: left ?? ENDLESS, high: ENDLESS };
  if (!NO_LIMIT_LEFT.test(wordsOf(remaining) ?? '')) return leftOf(allowance);
  return whole == null ? { low: ENDLESS, high: ENDLESS } : null;
}

/** Returns whether words about the remaining amount may mean that nothing is left: "None". */
export function isLeftOpen({ amount, remaining }: Allowance): boolean {
  const words = wordsOf(remaining);
  if (words === null) return remaining === null && mayBeGone(amount);
  return !NO_LIMIT_LEFT.test(words) && !isUnanswered(words);
}

/** Returns whether a maximum in words may mean that it is used up: "Exhausted"; but not "None". */
export function mayBeGone(maximum: Money | null | undefined): boolean {
  const words = wordsOf(maximum);
  if (words === null || NO_LIMIT.test(words) || isNothing(maximum) || isUnanswered(words))
    return false;
  return !SOMETHING.test(words) || GONE.test(words);
}
