/**
 * Computes the cost of a call in whole US cents. A price that is not configured is unknown (null),
 * never 0, and a sum says how many calls it leaves out (G8).
 */
import type { InquiryDraft } from './inquiry.ts';
import { type FinalOutcome, finalOutcome } from './outcome.ts';
import type { Specialty } from './specialty.ts';
import { type Instant, type LocalDate, localDate } from './time.ts';

/** Whole US cents. */
export type Cents = number;

/** What the calling service charges. */
type PriceTerms = {
  /** Null: unknown, so no call has a known price. */
  per_inquiry_cents: Cents | null;
  /** For each procedure code in the question. */
  per_code_cents: Cents;
  /** The factor for an answer that is wanted on the same day. */
  urgent_factor: number;
  /** Outcomes that are not charged. */
  free_outcomes: readonly FinalOutcome[];
};

/** Terms that differ by specialty or by payer; fields left out keep the usual value. */
export type PriceOverride = Partial<PriceTerms>;

/** The terms of one payer, with every name and ID that a request may use for it. */
export type PayerPrices = {
  pms_name: string;
  pms_id: string;
  carrier: string;
  payor_id: string;
  prices: PriceOverride;
};

export type PriceRules = {
  usual: PriceTerms;
  specialties: Readonly<Record<Specialty, PriceOverride>>;
};

/** The parts of a call that determine its price. */
export type PricedCall = Pick<
  InquiryDraft,
  | 'specialty'
  | 'insurance'
  | 'insurance_payor_id'
  | 'benefits_codes'
  | 'desired_completion_date'
  | 'claim'
>;

/** What is stored with a call when it is sent. */
export type StoredPrice = { price_cents: Cents | null; free_outcomes: string };

/** The price list of an installation. */
export type PriceList = {
  /** Returns the terms for a call: the payer's, then the specialty's, then the usual ones. */
  termsFor: (
    call: Pick<PricedCall, 'specialty' | 'insurance' | 'insurance_payor_id'>,
  ) => PriceTerms;
};

/**
 * Builds the price list from rules and from payers with their own prices. Payers may change while
 * eligd runs, so they are read each time.
 */
export function priceList(rules: PriceRules, payers: () => readonly PayerPrices[]): PriceList {
  return {
    termsFor: (call) => ({
      ...rules.usual,
      ...rules.specialties[call.specialty],
      ...payerOf(call, payers())?.prices,
    }),
  };
}

/** The rules when no price is configured. */
export const NO_PRICES: PriceRules = {
  usual: { per_inquiry_cents: null, per_code_cents: 0, urgent_factor: 1, free_outcomes: [] },
  specialties: { dental: {}, medical: {}, mental_health: {} },
};

/** Finds the payer by payer ID, then by carrier identifier, then by name. */
function payerOf(
  { insurance, insurance_payor_id }: Pick<PricedCall, 'insurance' | 'insurance_payor_id'>,
  payers: readonly PayerPrices[],
): PayerPrices | undefined {
  const id = plain(insurance_payor_id);
  const name = plain(insurance);
  const byId = ({ payor_id, pms_id }: PayerPrices) =>
    id !== '' && (plain(payor_id) === id || plain(pms_id) === id);
  const byCarrier = ({ carrier }: PayerPrices) => name !== '' && plain(carrier) === name;
  const byName = ({ pms_name }: PayerPrices) => name !== '' && plain(pms_name) === name;
  return payers.find(byId) ?? payers.find(byCarrier) ?? payers.find(byName);
}

function plain(text: string): string {
  return text.toUpperCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

/** Returns whether the answer is wanted on or before the day when the call is sent. */
export function isUrgent(
  { desired_completion_date }: Pick<PricedCall, 'desired_completion_date'>,
  sent_on: LocalDate,
): boolean {
  return desired_completion_date <= sent_on;
}

/** How many procedure codes it asks about; those of a claim only say which claim it is. */
export function codesAsked({
  benefits_codes,
  claim,
}: Pick<PricedCall, 'benefits_codes' | 'claim'>): number {
  return claim === undefined ? benefits_codes.length : 0;
}

/** Returns the price of a call sent on `sent_on`, rounded to whole cents; null: unknown. */
export function priceOf(terms: PriceTerms, call: PricedCall, sent_on: LocalDate): Cents | null {
  const { per_inquiry_cents, per_code_cents, urgent_factor } = terms;
  if (per_inquiry_cents === null) return null;
  const usual = per_inquiry_cents + per_code_cents * codesAsked(call);
  // Factors are decimals such as 1.15: without toFixed, 115.49999999999999 would round to 115.
  return Math.round(Number((isUrgent(call, sent_on) ? usual * urgent_factor : usual).toFixed(4)));
}

/** Returns the price of a call sent at `at`, and the outcomes that are free. */
export function priceAt(
  prices: PriceList,
  call: PricedCall,
  { at, time_zone }: { at: Instant; time_zone: string },
): StoredPrice {
  const terms = prices.termsFor(call);
  return {
    price_cents: priceOf(terms, call, localDate(at, time_zone)),
    free_outcomes: terms.free_outcomes.join(','),
  };
}

/**
 * Returns the charge once the outcome is known; null: the outcome or the price is unknown. A free
 * outcome costs nothing, whatever the price.
 */
export function chargeOf(
  { price_cents, free_outcomes }: { price_cents: Cents | null; free_outcomes: string | null },
  service_status: string | null,
): Cents | null {
  const outcome = finalOutcome(service_status);
  if (outcome === null) return null;
  return (free_outcomes ?? '').split(',').includes(outcome) ? 0 : price_cents;
}

/** Formats cents as `$1,234.50`, or `unknown`. */
export function dollars(cents: Cents | null): string {
  if (cents === null) return 'unknown';
  const whole = Math.trunc(Math.abs(cents) / 100).toString();
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}$${grouped}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;
}
