/**
 * The record of one claims-status inquiry. `claim-normalize.ts` makes it from the service's answer,
 * `config/schemas/claim.schema.json` is the same schema for others. It is read as the eligibility
 * record is: null is unknown, never 0 (G8).
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
    said_as: z.string().optional().describe('The code as the answer has it, when that differs.'),
    asked: z.boolean().describe('Whether the claim has this code.'),
    answered,
    paid: signedMoneySchema.nullable().describe('What the payer paid.'),
    patient_responsibility: signedMoneySchema.nullable().describe('What the patient owes.'),
    applied_to_deductible: signedMoneySchema
      .nullable()
      .describe('What of that goes to the deductible.'),
    adjustment: z.string().nullable().describe('About adjustments.'),
    denial_reason: z.string().nullable(),
    appeal_info: z.string().nullable().describe('About an appeal or a correction.'),
  })
  .meta({ id: 'ClaimCode', description: 'What became of one procedure of the claim.' });

const claimSchema = z
  .strictObject({
    answered,
    status: z
      .enum(CLAIM_STATUSES)
      .describe(
        'What the payer said in one of seven words. paid: also approved with a day of payment. ' +
          'partly_paid: codes of it are denied, or the payer says so. unknown: silent, or a ' +
          'word that is not known.',
      ),
    said_status: z.string().nullable().describe('The status in the words of the answer.'),
    number: z.string().nullable().describe("The payer's number of the claim."),
    received_on: dateSchema.nullable(),
    processed_on: dateSchema.nullable(),
    paid_on: dateSchema.nullable(),
    processed_up_to: known(
      dateSchema,
      'The day up to which the payer has processed what came in. Absent when nothing was said.',
    ),
    turnaround: text('How long the payer takes. Absent when nothing was said.'),
    codes: z.array(codeSchema).describe('As answered; then those of the claim that were not.'),
  })
  .meta({ id: 'Claim', description: 'What the payer said about the claim.' });

/** The one schema of the record. Strict: a field that is not listed is an error. */
export const claimStatusRecordSchema = z
  .strictObject({
    schema: z.literal(CLAIM_SCHEMA),
    inquiry_id: z.string().describe("The service's id of the inquiry."),
    inquiry_created_at: timestampSchema.nullable(),
    specialty: z.enum(SPECIALTY_WORDS),
    outcome: z
      .enum(OUTCOMES)
      .describe(
        "How the inquiry ended, read from the service's word whatever its case: successful, " +
          'unsuccessful, cancelled; unknown for any other word.',
      ),
    status: z
      .string()
      .describe(
        "Of the inquiry, as the service said: SUCCESS, UNSUCCESSFUL, CANCELLED. The claim's " +
          'is in `claim`.',
      ),
    completeness: z
      .enum(['complete', 'partial', 'none'])
      .describe(
        'none: nothing that could be read was answered. partial: the status is unknown, or a ' +
          'decided claim lacks one of its codes. complete: otherwise.',
      ),
    summary: z
      .string()
      .nullable()
      .describe("The service's summary of the call; null when it gave none."),
    asked: z
      .strictObject({
        claim_number: z.string().describe('Empty when the clinic did not know it.'),
        date_of_service: dateSchema,
        procedure_codes: z.array(z.string()).describe('As sent.'),
        billed_amount: moneySchema.nullable().describe('As the clinic has it.'),
      })
      .describe('What the inquiry asked about.'),
    calls: z.array(callSchema).describe('In the order of the answer; empty when it names no call.'),
    confidence: confidenceSchema.optional(),
    verification: verificationSchema
      .nullable()
      .describe('What the service found in the transcripts; null while it has said nothing.'),
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

/** The record's JSON Schema (draft 2020-12), as published in `config/schemas/claim.schema.json`. */
export function claimJsonSchema(): Record<string, unknown> {
  return openSchema(z.toJSONSchema(claimStatusRecordSchema), CLAIM_SCHEMA);
}
