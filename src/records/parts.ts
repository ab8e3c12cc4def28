/** The parts that records of both kinds share. */
import { z } from 'zod';
import type { Specialty } from '../domain/specialty.ts';

export const SPECIALTY_WORDS = [
  'dental',
  'medical',
  'mental_health',
] as const satisfies readonly Specialty[];

export const dateSchema = z.iso.date().describe('A calendar date, YYYY-MM-DD.');
export const timestampSchema = z.iso
  .datetime({ precision: 3 })
  .describe('UTC with milliseconds, 2026-11-23T15:30:00.000Z.');

const wordsSchema = z
  .strictObject({ text: z.string().min(1).describe('The words as received.') })
  .meta({
    id: 'Words',
    description:
      "The payer's words where a number was expected, e.g. unlimited or N/A. Never to be " +
      'read as 0.',
  });

export const moneySchema = z
  .union([
    z.strictObject({
      amount: z
        .string()
        .regex(/^\d+\.\d{2,}$/)
        .describe('Decimal text with at least two decimals, exact: 1500.00.'),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/)
        .describe('ISO 4217.'),
    }),
    wordsSchema,
  ])
  .meta({
    id: 'Money',
    description: "An amount with its currency, or the payer's words in its place.",
  });

/** The same, including negative amounts: what a payer takes back from a claim. */
export const signedMoneySchema = z
  .union([
    z.strictObject({
      amount: z
        .string()
        .regex(/^-?\d+\.\d{2,}$/)
        .describe(
          'Decimal text, exact: 1500.00, or -120.00 for an amount that the payer took back.',
        ),
      currency: z
        .string()
        .regex(/^[A-Z]{3}$/)
        .describe('ISO 4217.'),
    }),
    wordsSchema,
  ])
  .meta({
    id: 'SignedMoney',
    description: "An amount that may be below zero, or the payer's words in its place.",
  });

export const percentSchema = z.union([z.number().min(0).max(100), wordsSchema]).meta({
  id: 'Percent',
  description: 'A percentage from 0 to 100; 80 is 80 percent. The field says whose share it is.',
});

export const ageSchema = z
  .union([z.int().min(1).max(120), wordsSchema])
  .meta({ id: 'Age', description: "An age in years, or the payer's words in its place." });

export const customAnswersSchema = z
  .array(
    z.strictObject({
      question: z.string().describe('The key, as received.'),
      answer: z.string().nullable().describe('The answer, as received; null when empty.'),
    }),
  )
  .meta({
    id: 'CustomAnswers',
    description: 'Answers to custom follow-up questions. Absent when the answer has none.',
  });

/** A field that is absent when not asked, and null when not answered. */
export const known = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.nullable().optional().describe(description);

export const yesNo = (description: string) => known(z.boolean(), description);
export const text = (description: string) => known(z.string(), description);

export const answered = z
  .boolean()
  .describe('Whether the payer said anything here that could be read.');

export const callSchema = z
  .strictObject({
    ended_at: timestampSchema.nullable(),
    representative: z
      .string()
      .nullable()
      .describe("The payer's representative, as named in the call."),
    reference_number: z.string().nullable().describe("The payer's reference number of the call."),
    recording_url: z.string().nullable(),
    transcript_url: z.string().nullable(),
    has_transcript: z
      .boolean()
      .describe(
        'Whether the answer holds the transcript itself. Its text stays in the stored answer.',
      ),
    custom_answers: customAnswersSchema.optional(),
  })
  .meta({ id: 'Call', description: 'One call to the payer.' });

export const unparsedSchema = z
  .strictObject({
    path: z.string().describe('Its path in the inquiry: results.maximums.individual_deductible.'),
    value: z.unknown().describe('The value as received, any JSON.'),
    why: z.string().describe('A stable phrase: unknown field, not an amount, impossible date, …'),
  })
  .meta({
    id: 'Unparsed',
    description: 'Part of the answer that has no place in the record, or that you should check.',
  });

const checkSchema = z
  .strictObject({
    name: z.string().nullable(),
    description: z.string().nullable(),
    status: z.string().nullable().describe('As the service said; MET is the only documented word.'),
    is_met: z.boolean().describe('True only when the status is MET.'),
    evidence: z.string().nullable().describe('The words of the transcript.'),
    reasoning: z.string().nullable(),
    validation: z.unknown().optional().describe('As received; may be absent.'),
    call_log_id: z.string().nullable().describe("The service's id of the call that was checked."),
    checked_at: timestampSchema.nullable(),
  })
  .meta({
    id: 'Check',
    description: 'One criterion that the service checked in the transcript of a call.',
  });

export const verificationSchema = z
  .strictObject({ checks: z.array(checkSchema).describe('The newest call first.') })
  .meta({
    id: 'Verification',
    description: 'Transcript verification: checks of the calls behind this record.',
  });

export const confidenceSchema = z
  .enum(['high', 'low'])
  .describe(
    'high: every check of the transcripts is met. low: one is not, in the newest call. ' +
      'Absent until there is a check.',
  );

export type Call = z.infer<typeof callSchema>;
export type CustomAnswers = z.infer<typeof customAnswersSchema>;
export type Money = z.infer<typeof moneySchema>;
export type Percent = z.infer<typeof percentSchema>;
export type Age = z.infer<typeof ageSchema>;
export type Unparsed = z.infer<typeof unparsedSchema>;
export type Check = z.infer<typeof checkSchema>;
export type Verification = z.infer<typeof verificationSchema>;
export type Confidence = z.infer<typeof confidenceSchema>;
