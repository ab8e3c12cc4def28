/** Adds up the cost of a set of calls by day, payer, and outcome. */
import type { Spent } from './call-budget.ts';
import { finalOutcome } from './outcome.ts';
import {
  type Cents,
  chargeOf,
  isUrgent,
  type PricedCall,
  type PriceList,
  priceOf,
} from './price.ts';
import type { InquiryState } from './states.ts';
import { type Instant, type LocalDate, localDate } from './time.ts';

/** A call as stored in the database. */
export type MadeCall = {
  sent_at: Instant;
  /** The call's label at the service. */
  external_id: string;
  service_id: string | null;
  state: InquiryState;
  service_status: string | null;
  price_cents: Cents | null;
  charge_cents: Cents | null;
  /** Null: the stored draft is damaged. */
  asked: (PricedCall & { type: 'BENEFITS' | 'CLAIMS_STATUS' }) | null;
};

/** One line of the expected bill. */
export type CostLine = {
  day: LocalDate;
  payer: string;
  /** `open`: no outcome yet. `unconfirmed`: eligd does not know whether the call exists. */
  outcome: 'successful' | 'unsuccessful' | 'cancelled' | 'open' | 'unconfirmed';
  is_urgent: boolean;
  /** The charge, or the expected price while there is no outcome; null: unknown. */
  cents: Cents | null;
  call: MadeCall;
};

export type CostGroup = Omit<Spent, 'estimated_cents'> & { name: string };

/**
 * Builds the line of a call. `other`: a price list by which to price it again; null: keep the
 * stored price.
 */
export function costLine(call: MadeCall, time_zone: string, other: PriceList | null): CostLine {
  const { asked } = call;
  const day = localDate(call.sent_at, time_zone);
  return {
    day,
    payer: payerName(asked),
    outcome: outcomeWord(call),
    is_urgent: asked !== null && isUrgent(asked, day),
    cents: other === null ? (call.charge_cents ?? call.price_cents) : repriced(call, day, other),
    call,
  };
}

function repriced({ asked, service_status }: MadeCall, day: LocalDate, by: PriceList) {
  if (asked === null) return null;
  const terms = by.termsFor(asked);
  const price_cents = priceOf(terms, asked, day);
  const free_outcomes = terms.free_outcomes.join(',');
  return chargeOf({ price_cents, free_outcomes }, service_status) ?? price_cents;
}

function payerName(asked: PricedCall | null): string {
  if (asked === null) return 'unknown';
  const { insurance, insurance_payor_id } = asked;
  if (insurance !== '' && insurance !== 'UNKNOWN') return insurance;
  return insurance_payor_id === '' ? 'unknown' : `payer ID ${insurance_payor_id}`;
}

function outcomeWord({ state, service_status }: MadeCall): CostLine['outcome'] {
  if (state === 'sending' || state === 'uncertain' || state === 'undecidable') return 'unconfirmed';
  return finalOutcome(service_status) ?? 'open';
}

/** Returns the sum of the lines. */
export function totalOf(lines: readonly CostLine[]): Omit<CostGroup, 'name'> {
  const priced = lines.filter(({ cents }) => cents !== null);
  return {
    calls: lines.length,
    cents: priced.reduce((sum, { cents }) => sum + (cents ?? 0), 0),
    unpriced: lines.length - priced.length,
  };
}

/**
 * Groups the lines by name. The groups are sorted by `sort`: by name, or the most expensive first.
 */
export function groupCosts(
  lines: readonly CostLine[],
  nameOf: (line: CostLine) => string,
  sort: 'name' | 'cost',
): CostGroup[] {
  const groups = Map.groupBy(lines, nameOf);
  const sums = [...groups].map(([name, members]) => ({ name, ...totalOf(members) }));
  return sums.toSorted((a, b) =>
    sort === 'name'
      ? a.name.localeCompare(b.name)
      : b.cents - a.cents || b.calls - a.calls || a.name.localeCompare(b.name),
  );
}
