import { centsOf } from '../domain/call-budget.ts';
import type { PayerPrices, PriceOverride } from '../domain/price.ts';

type Values = Partial<
  Record<
    | 'pms_name'
    | 'pms_id'
    | 'carrier'
    | 'payor_id'
    | 'price_per_inquiry'
    | 'price_per_code'
    | 'urgent_factor'
    | 'free_outcomes',
    string
  >
>;

/**
 * Returns the prices in a line of payers.csv; null: the usual prices. Calls `refuse` for each value
 * that cannot be read.
 */
export function payerPrices(values: Values, refuse: (problem: string) => void): PayerPrices | null {
  const amount = (column: 'price_per_inquiry' | 'price_per_code') => {
    const text = values[column] ?? '';
    if (text === '') return undefined;
    if (/^\$?\d{1,5}(\.\d{1,2})?$/.test(text)) return centsOf(Number(text.replace('$', '')));
    refuse(`its ${column} is not an amount in dollars. Write a number such as 12.50.`);
    return undefined;
  };
  const per_inquiry_cents = amount('price_per_inquiry');
  const per_code_cents = amount('price_per_code');
  const urgent_factor = factor(values.urgent_factor ?? '', refuse);
  const free_outcomes = outcomes(values.free_outcomes ?? '', refuse);
  const prices: PriceOverride = {
    ...(per_inquiry_cents === undefined ? {} : { per_inquiry_cents }),
    ...(per_code_cents === undefined ? {} : { per_code_cents }),
    ...(urgent_factor === undefined ? {} : { urgent_factor }),
    ...(free_outcomes === undefined ? {} : { free_outcomes }),
  };
  if (Object.keys(prices).length === 0) return null;
  const { pms_name = '', pms_id = '', carrier = '', payor_id = '' } = values;
  return { pms_name, pms_id, carrier, payor_id, prices };
}

function factor(text: string, refuse: (problem: string) => void): number | undefined {
  if (text === '') return undefined;
  const value = /^\d{1,2}(\.\d{1,4})?$/.test(text) ? Number(text) : 0;
  if (value >= 1) return value;
  refuse('its urgent_factor is not a number from 1 on. Write a number such as 2.');
  return undefined;
}

/** Parses `unsuccessful; cancelled`, or `none`. */
function outcomes(
  text: string,
  refuse: (problem: string) => void,
): PriceOverride['free_outcomes'] | undefined {
  const words = text
    .toLowerCase()
    .split(/[;\s]+/)
    .filter((word) => word !== '');
  if (words.length === 0) return undefined;
  const known = words.filter((word) => word === 'unsuccessful' || word === 'cancelled');
  if (words.length === 1 && words[0] === 'none') return [];
  if (known.length === words.length) return known;
  refuse(`its free_outcomes is "${text}". Write unsuccessful, cancelled, both with ";", or none.`);
  return undefined;
}
