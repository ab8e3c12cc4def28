/** Builds the price list of `domain/price.ts` from the configuration and payers.csv. */

import { centsOf } from '../domain/call-budget.ts';
import { EligdError } from '../domain/errors.ts';
import {
  type PayerPrices,
  type PriceList,
  type PriceOverride,
  type PriceRules,
  priceList,
} from '../domain/price.ts';
import type { Config } from './config-schema.ts';
import { readPayers } from './payer-file.ts';

type Override = Config['prices']['dental'];

/** An object with the payers' current prices, also after a change. */
export type PricedPayers = { readonly prices: readonly PayerPrices[] };

function priceRules(prices: Config['prices']): PriceRules {
  const { per_inquiry, per_code, urgent_factor, free_outcomes } = prices;
  return {
    usual: {
      per_inquiry_cents: per_inquiry === null ? null : centsOf(per_inquiry),
      per_code_cents: centsOf(per_code),
      urgent_factor,
      free_outcomes,
    },
    specialties: {
      dental: priceOverride(prices.dental),
      medical: priceOverride(prices.medical),
      mental_health: priceOverride(prices.mental_health),
    },
  };
}

function priceOverride(given: Override): PriceOverride {
  const { per_inquiry, per_code, urgent_factor, free_outcomes } = given;
  return {
    ...(per_inquiry === null ? {} : { per_inquiry_cents: centsOf(per_inquiry) }),
    ...(per_code === null ? {} : { per_code_cents: centsOf(per_code) }),
    ...(urgent_factor === null ? {} : { urgent_factor }),
    ...(free_outcomes === null ? {} : { free_outcomes }),
  };
}

/** Returns the price list for the stages and every page. */
export function pricesOf(config: Pick<Config, 'prices'>, payers: PricedPayers): PriceList {
  return priceList(priceRules(config.prices), () => payers.prices);
}

/** Returns the limits of calls and dollars, with the prices for counting. */
export function budgetRules(config: Config, payers: PricedPayers) {
  const { calls_per_day, calls_per_month, dollars_per_day, dollars_per_month } = config.policy;
  const { time_zone } = config.clinic;
  return {
    limits: { calls_per_day, calls_per_month, dollars_per_day, dollars_per_month, time_zone },
    prices: pricesOf(config, payers),
  };
}

/**
 * Returns the payers' prices for a command that only reads. A payer map with errors counts as one
 * without prices; "eligd check" reports the errors.
 */
export function payersForPrices(config: Pick<Config, 'policy' | 'folder'>): PricedPayers {
  try {
    return readPayers(config);
  } catch (error) {
    if (error instanceof EligdError) return { prices: [] };
    throw error;
  }
}
