/** The price list of the configuration and of payers.csv, as `domain/price.ts` uses it. */

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

/** Whoever knows the prices of payers, now and after a change. */
export type PricedPayers = { readonly prices: readonly PayerPrices[] };

export function priceRules(prices: Config['prices']): PriceRules {
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

/** What the stages and every page go by. */
export function pricesOf(config: Pick<Config, 'prices'>, payers: PricedPayers): PriceList {
  return priceList(priceRules(config.prices), () => payers.prices);
}

/** The limits of calls and dollars, with the prices that they are counted by. */
export function budgetRules(config: Config, payers: PricedPayers) {
  const { calls_per_day, calls_per_month, dollars_per_day, dollars_per_month } = config.policy;
  const { time_zone } = config.clinic;
  return {
    limits: { calls_per_day, calls_per_month, dollars_per_day, dollars_per_month, time_zone },
    prices: pricesOf(config, payers),
  };
}

/**
 * The payers' prices for a command that only reads: a payer map with errors, which "eligd check"
 * tells of, has none.
 */
export function payersForPrices(config: Pick<Config, 'policy' | 'folder'>): PricedPayers {
  try {
    return readPayers(config);
  } catch (error) {
    if (error instanceof EligdError) return { prices: [] };
    throw error;
  }
}
