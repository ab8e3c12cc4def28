import { z } from 'zod';

/*
 * The part `prices` of the configuration: what the calling service charges.
 */

const DOLLARS_MAX = 10_000;

/** US dollars with at most two decimals. */
export const dollarAmount = z
  .number()
  .min(0)
  .max(DOLLARS_MAX)
  .refine((value) => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6, {
    error: 'is not an amount in dollars and cents.',
    params: { next: 'Write at most two decimals, such as 12.50.' },
  });

const urgentFactor = z.number().min(1).max(100);
const freeOutcomes = z.array(z.enum(['unsuccessful', 'cancelled']));

const asUsual = 'null: as above.';
const override = z
  .strictObject({
    per_inquiry: dollarAmount.nullable().default(null).describe(`US dollars; ${asUsual}`),
    per_code: dollarAmount.nullable().default(null).describe(`US dollars; ${asUsual}`),
    urgent_factor: urgentFactor.nullable().default(null).describe(`A factor; ${asUsual}`),
    free_outcomes: freeOutcomes.nullable().default(null).describe(`Outcomes; ${asUsual}`),
  })
  .prefault({});

export const prices = z
  .strictObject({
    per_inquiry: dollarAmount
      .nullable()
      .default(null)
      .describe('US dollars for each inquiry; null: not known, and no cost is shown.')
      .meta({ examples: [12.5] }),
    per_code: dollarAmount
      .default(0)
      .describe('US dollars for each procedure code that is asked about.'),
    urgent_factor: urgentFactor
      .default(1)
      .describe('An answer that is wanted on the day it is asked for costs so many times as much.'),
    free_outcomes: freeOutcomes
      .default([])
      .describe('Outcomes that the service does not charge: unsuccessful, cancelled.'),
    dental: override.describe('What differs for dental inquiries.'),
    medical: override.describe('What differs for medical inquiries.'),
    mental_health: override.describe('What differs for mental health inquiries.'),
  })
  .prefault({})
  .describe('What the service charges; prices of a payer are in payers.csv.');
