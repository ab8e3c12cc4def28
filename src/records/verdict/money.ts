/** Amounts in whole cents: sums and shares are exact. */
import type { Allowance, Money } from '../eligibility.ts';

/** Cents; `Infinity` where there is no limit. */
export type CentRange = { low: number; high: number };

/** "None" is no such word: it may as well mean that nothing is paid, or that nothing is left. */
const NO_LIMIT = /^(?:unlimited|no (?:limit|maximum|max|cap))\.?$/i;
const NO_LIMIT_LEFT = /^(?:unlimited|no limit)\.?$/i;
const NOTHING = /^(?:none|no deductible|waived)\.?$/i;
const NO_COPAY =
  /^(?:none|no|no co-?pay(?:ment)?|waived|n\/?a|not applicable|does not apply|zero)\.?$/i;
const UNANSWERED =
  /^(?:n\/?a|unknown|not (?:applicable|available|provided|disclosed|known)|does not apply)\.?$/i;
/** An amount, and no word that it is gone: "$1,500 per calendar year". */
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

/** Whether an allowance is there at all: somebody said something about it. */
export const isSaid = (allowance: Allowance | undefined) =>
  allowance !== undefined &&
  [allowance.amount, allowance.used, allowance.remaining].some((money) => money !== null);

/** Whether the payer said in words that there is no limit. */
export const isUnlimited = (money: Money | null | undefined) => NO_LIMIT.test(wordsOf(money) ?? '');

/** Whether the payer said in words that there is none of it. */
export const isNothing = (money: Money | null | undefined) => NOTHING.test(wordsOf(money) ?? '');

/** Words that say that nobody knows, or that it does not apply. */
export const isUnanswered = ({ text }: { text: string }) => UNANSWERED.test(text.trim());

/** A copay in words that say something of it; "None" and the like mean that no copay is due. */
export function copayWords(copay: Money | null | undefined): string | null {
  const words = wordsOf(copay);
  return words === null || NO_COPAY.test(words) || UNANSWERED.test(words) ? null : words;
}

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

/** What is left of a maximum; without limit, it is infinite. Null: nothing is known. */
export function maximumLeft(allowance: Allowance | undefined): CentRange | null {
  if (allowance === undefined || isLeftOpen(allowance)) return null;
  const { amount, remaining } = allowance;
  const [whole, left] = [amount, remaining].map(centsOfMoney);
  // Something is left of a maximum that is not there: at least that much.
  if (isUnlimited(amount)) return { low: left ?? ENDLESS, high: ENDLESS };
  if (!NO_LIMIT_LEFT.test(wordsOf(remaining) ?? '')) return leftOf(allowance);
  return whole == null ? { low: ENDLESS, high: ENDLESS } : null;
}

/** The payer said in words what is left, and they may mean that nothing is: "None". */
export function isLeftOpen({ amount, remaining }: Allowance): boolean {
  const words = wordsOf(remaining);
  if (words === null) return remaining === null && mayBeGone(amount);
  return !NO_LIMIT_LEFT.test(words) && !UNANSWERED.test(words);
}

/** A maximum in words that may say that nothing is left of it: "Exhausted". "None" says less. */
export function mayBeGone(maximum: Money | null | undefined): boolean {
  const words = wordsOf(maximum);
  if (words === null || [NO_LIMIT, NOTHING, UNANSWERED].some((each) => each.test(words)))
    return false;
  return !SOMETHING.test(words) || GONE.test(words);
}
