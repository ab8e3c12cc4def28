/**
 * The record of one claims-status inquiry. `claim-normalize.ts` creates it from the service's
 * answer; `config/schemas/claim.schema.json` is the same schema for other programs. Null means
 * unknown, as in the eligibility record, and never 0 (G8).
 */

import { z } from 'zod';
import { OUTCOMES } from '../domain/outcome.ts';
import {
  answered,
  callSchema,
  confidenceSchema,
  dateSchema,
  known,
  moneySchema,
  SPECIALTY_WORDS,
  signedMoneySchema,
  text,
  timestampSchema,
  unparsedSchema,
  verificationSchema,
} from './parts.ts';
import { openSchema } from './schemas.ts';

export const CLAIM_SCHEMA = 'eligd.claim/1';

export const CLAIM_STATUSES = [
  'paid',
  'partly_paid',
  'approved',
  'denied',
  'pending',
  'not_on_file',
  'unknown',
] as const;
export type ClaimStatus = (typeof CLAIM_STATUSES)[number];

const codeSchema = z
  .strictObject({
    code: z.string().describe('Upper case; a dental code with its D (1110 is D1110).'),
    said_as: z.string().optional().describe('The code as written in the answer, if different.'),
    asked: z.boolean().describe('Whether the claim has this code.'),
    answered,
    paid: signedMoneySchema.nullable().describe('What the payer paid.'),
    patient_responsibility: signedMoneySchema.nullable().describe('What the patient owes.'),
    applied_to_deductible: signedMoneySchema
      .nullable()
      .describe('The part applied to the deductible.'),
    adjustment: z.string().nullable().describe('About adjustments.'),
    denial_reason: z.string().nullable(),
    appeal_info: z.string().nullable().describe('How to appeal or correct the claim.'),
  })
  .meta({ id: 'ClaimCode', description: 'The result for one procedure of the claim.' });

const claimSchema = z
  .strictObject({
    answered,
    status: z
      .enum(CLAIM_STATUSES)
      .describe(
        'What the payer said, as one of seven words. paid: includes approved with a payment ' +
          'date. partly_paid: some codes are denied, or the payer says so. unknown: no status, ' +
          'or a word that eligd does not know.',
      ),
    said_status: z.string().nullable().describe('The status as the payer said it.'),
    number: z.string().nullable().describe("The payer's claim number."),
    received_on: dateSchema.nullable(),
    processed_on: dateSchema.nullable(),
    paid_on: dateSchema.nullable(),
    processed_up_to: known(
      dateSchema,
      'The payer has processed claims received up to this day. Absent when the payer did not say.',
    ),
    turnaround: text('How long the payer takes. Absent when the payer did not say.'),
    codes: z
      .array(codeSchema)
      .describe(
        'The codes in the order of the answer, then the codes of ' + 'the claim without an answer.',
      ),
  })
  .meta({ id: 'Claim', description: 'What the payer said about the claim.' });

/** The schema of the record. It is strict: a field that is not listed is an error. */
export const claimStatusRecordSchema = z
  .strictObject({
    schema: z.literal(CLAIM_SCHEMA),
    inquiry_id: z.string().describe("The calling service's ID of the inquiry."),
    inquiry_created_at: timestampSchema.nullable(),
    specialty: z.enum(SPECIALTY_WORDS),
    outcome: z
      .enum(OUTCOMES)
      .describe(
        "How the inquiry ended, from the service's word in any case: successful, " +
          'unsuccessful, cancelled; unknown for any other word.',
      ),
    status: z
      .string()
      .describe(
        "The inquiry's status, as the service said: SUCCESS, UNSUCCESSFUL, CANCELLED. The " +
          "claim's is in `claim`.",
      ),
    completeness: z
      .enum(['complete', 'partial', 'none'])
      .describe(
        'none: the answer has nothing readable. partial: the status is unknown, or a ' +
          'decided claim lacks one of its codes. complete: otherwise.',
      ),
    summary: z
      .string()
      .nullable()
      .describe("The calling service's summary of the call; null when it gave none."),
    asked: z
      .strictObject({
        claim_number: z.string().describe('Empty when the clinic did not know it.'),
        date_of_service: dateSchema,
        procedure_codes: z.array(z.string()).describe('As sent.'),
        billed_amount: moneySchema
          .nullable()
          .describe('The amount in the practice management system.'),
      })
      .describe('What the inquiry asked about.'),
    calls: z.array(callSchema).describe('In the order of the answer; empty when it names no call.'),
    confidence: confidenceSchema.optional(),
    verification: verificationSchema
      .nullable()
      .describe("The calling service's checks of the transcripts; null until they arrive."),
    claim: claimSchema,
    unparsed: z.array(unparsedSchema),
  })
  .meta({
    title: 'eligd claim status record',
    description: 'What a payer said about a claim. null: unknown.',
  });

export type ClaimStatusRecord = z.infer<typeof claimStatusRecordSchema>;
export type ClaimDetails = z.infer<typeof claimSchema>;
export type ClaimCode = z.infer<typeof codeSchema>;

/**
 * Returns the record's JSON Schema (draft 2020-12), as published in
 * `config/schemas/claim.schema.json`.
 */
export function claimJsonSchema(): Record<string, unknown> {
  return openSchema(z.toJSONSchema(claimStatusRecordSchema), CLAIM_SCHEMA);
}
