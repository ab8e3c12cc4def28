import { z } from 'zod';

/* The section `prices` of the configuration: what the calling service charges. */

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
      .describe('US dollars for each inquiry; null: unknown, and no cost is shown.')
      .meta({ examples: [12.5] }),
    per_code: dollarAmount
      .default(0)
      .describe('US dollars for each procedure code in the questions.'),
    urgent_factor: urgentFactor
      .default(1)
      .describe('Price factor for an answer that is due on the day of the inquiry.'),
    free_outcomes: freeOutcomes
      .default([])
      .describe('Outcomes that are free: unsuccessful, cancelled.'),
    dental: override.describe('Prices that differ for dental inquiries.'),
    medical: override.describe('Prices that differ for medical inquiries.'),
    mental_health: override.describe('Prices that differ for mental health inquiries.'),
  })
  .prefault({})
  .describe("The service's prices; prices of a single payer are in payers.csv.");
