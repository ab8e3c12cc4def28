/** Amounts in whole cents: sums and shares are exact. */
import type { Allowance, Money } from '../eligibility.ts';

/** Cents; `Infinity` where there is no limit. */
export type CentRange = { low: number; high: number };

const NO_LIMIT = /^(?:unlimited|no (?:limit|maximum|max|cap)|none)\.?$/i;
const NOTHING = /^(?:none|no deductible|waived)\.?$/i;
const CENTS_MAX = 1e13;

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

/** Whether an allowance is there at all: somebody said something about it. */
export const isSaid = (allowance: Allowance | undefined) =>
  allowance !== undefined &&
  [allowance.amount, allowance.used, allowance.remaining].some((money) => money !== null);

/** Whether the payer said in words that there is no limit. */
export const isUnlimited = (money: Money | null | undefined) => NO_LIMIT.test(wordsOf(money) ?? '');

/** Whether the payer said in words that there is none of it. */
export const isNothing = (money: Money | null | undefined) => NOTHING.test(wordsOf(money) ?? '');

/** What is left of an allowance. Null: nothing is known. */
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

/** What of a deductible is left; "0" and "None" mean that it is met. */
export function deductibleLeft(allowance: Allowance | undefined): CentRange | null {
  if (NOTHING.test(wordsOf(allowance?.amount) ?? '')) return { low: 0, high: 0 };
  return leftOf(allowance);
}

/** Whether there is a deductible of the family at all: "0" and "None" are none. */
export function isThere(allowance: Allowance | undefined): boolean {
  if (allowance === undefined || NOTHING.test(wordsOf(allowance.amount) ?? '')) return false;
  return centsOfMoney(allowance.amount) !== 0;
}

/** What is left of a maximum; without limit, it is infinite. */
export function maximumLeft(allowance: Allowance | undefined): CentRange | null {
  const left = centsOfMoney(allowance?.remaining);
  if (left === null && (isUnlimited(allowance?.amount) || isUnlimited(allowance?.remaining)))
    return { low: Number.POSITIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  return leftOf(allowance);
}
