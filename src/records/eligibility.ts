/**
 * The record of one eligibility inquiry, which eligd writes to the practice management system.
 * `normalize.ts` creates it from the service's answer, and `summary.ts` creates the flat values for
 * the front desk. `config/schemas/eligibility.schema.json` is the same schema for other programs.
 *
 * How to read it (guarantee G8, unknown is not no):
 *
 * | in the record | meaning |
 * |---|---|
 * | a value | the payer said so |
 * | `{ "text": … }` for an amount, a percentage or an age | the payer's words: no number, never 0 |
 * | `null` | asked; not answered, or not understood (then it is under `unparsed`) |
 * | an absent field or part | not asked |
 * | an absent field that `does_not_apply` names | asked; does not apply to this plan |
 *
 * A field that was answered without being asked about is included like any other.
 */

import { z } from 'zod';
import { OUTCOMES } from '../domain/outcome.ts';
import {
  ageSchema,
  answered,
  callSchema,
  confidenceSchema,
  customAnswersSchema,
  dateSchema,
  known,
  moneySchema,
  percentSchema,
  SPECIALTY_WORDS,
  text,
  timestampSchema,
  unparsedSchema,
  verificationSchema,
  yesNo,
} from './parts.ts';
import { openSchema } from './schemas.ts';

export type { Age, Call, CustomAnswers, Money, Percent, Unparsed, Verification } from './parts.ts';

export const ELIGIBILITY_SCHEMA = 'eligd.eligibility/1';

const planSchema = z
  .strictObject({
    answered,
    is_active: yesNo('Whether the coverage is active.'),
    plan_type: text('As the payer said (PPO, HMO, …); the service has no fixed list.'),
    plan_name: text('The name of the plan.'),
    effective_date: known(dateSchema, 'First day of the coverage.'),
    termination_date: known(
      dateSchema,
      'Last day of the coverage. Null does not mean that it never ends.',
    ),
    is_calendar_year_plan: yesNo(
      'True: benefits renew on January 1. False: on another day of the year.',
    ),
    is_provider_in_network: yesNo('Whether the provider is in the network of the plan.'),
    is_primary_insurance: yesNo('Whether this coverage pays first.'),
    is_provider_pcp: yesNo("Whether the provider is the patient's primary care provider."),
    has_other_insurance: yesNo('Whether the payer knows of another coverage.'),
    is_self_funded: yesNo('Whether the employer pays the claims.'),
    has_out_of_state_coverage: yesNo('Whether the plan covers care in another state.'),
    referral_required: yesNo('Whether a referral is required.'),
    referral_info: text('About referrals.'),
    out_of_network_benefits: text('About benefits out of network.'),
    custom_answers: customAnswersSchema.optional(),
  })
  .meta({ id: 'Plan', description: 'The plan.' });

const allowanceSchema = z
  .strictObject({
    amount: moneySchema.nullable().describe('The full amount.'),
    used: moneySchema.nullable().describe('The part that is used or met.'),
    remaining: moneySchema.nullable().describe('The remaining part.'),
  })
  .meta({
    id: 'Allowance',
    description:
      'An amount that gets used up. Of used and remaining, the one that was not asked for is ' +
      'computed when the other two are numbers.',
  });

const maximumsSchema = z
  .strictObject({
    answered,
    name: text('What the payer calls this set of amounts.'),
    individual_deductible: allowanceSchema.optional().describe('`remaining` is computed.'),
    individual_deductible_resets_each_calendar_year: yesNo(
      'Whether the individual deductible starts over on January 1.',
    ),
    family_deductible: allowanceSchema.optional().describe('`remaining` is computed.'),
    coverage_limit: allowanceSchema
      .optional()
      .describe('Dental: the maximum the plan pays. `used` is computed.'),
    orthodontics_coverage_limit: known(
      moneySchema,
      'Dental: the maximum the plan pays for orthodontics.',
    ),
    individual_out_of_pocket_maximum: allowanceSchema
      .optional()
      .describe('Medical, mental health. `remaining` is computed.'),
    family_out_of_pocket_maximum: allowanceSchema
      .optional()
      .describe('Medical, mental health. `remaining` is computed.'),
  })
  .meta({ id: 'Maximums', description: 'Deductibles, limits and out-of-pocket maximums.' });

const NO_LIMIT = 'Null where anything else was answered: the payer named no such limit.';

const benefitRuleSchema = z
  .strictObject({
    is_covered: yesNo('Whether it is covered. Null is unknown, never no.'),
    is_prior_auth_required: yesNo('Whether prior authorization is required.'),
    prior_auth_info: text('About prior authorization.'),
    plan_pays_percent: known(
      percentSchema,
      "The plan's share (the service's coverage_percentage; or a coinsurance that names the " +
        'plan as the one who pays).',
    ),
    patient_pays_percent: known(
      percentSchema,
      "The patient's share (the service's coinsurance_percentage). Over 50 it is under " +
        "`unparsed` as well, because payers also say coinsurance of the plan's share.",
    ),
    copay: known(moneySchema, 'What the patient pays per visit or service.'),
    is_deductible_waived: yesNo('Whether the deductible is waived for it.'),
    frequency_limitations: text(`How often it is covered. ${NO_LIMIT}`),
    age_limit: known(ageSchema, `The age up to which it is covered. ${NO_LIMIT}`),
    is_downgraded: yesNo(
      'Whether the plan pays for a cheaper procedure instead. Null where anything else was ' +
        'answered: the payer named no downgrade.',
    ),
    downgraded_info: text('About the downgrade.'),
    limitations: text('Other limitations.'),
    more_info: text('Anything else that was said.'),
  })
  .meta({
    id: 'BenefitRule',
    description: "The plan's benefits for a procedure or a class of procedures.",
  });

const classSchema = z
  .strictObject({
    name: z.string().describe('The class as named by the service, e.g. DIAGNOSTIC.'),
    answered,
    benefits: benefitRuleSchema,
  })
  .meta({ id: 'ProcedureClass' });

const nextEligibleSchema = z
  .strictObject({
    standing: z
      .enum(['open', 'from_date', 'used_up'])
      .describe(
        'open: nothing on file prevents another one. from_date: one is allowed from ' +
          '`date` on. used_up: never again.',
      ),
    date: dateSchema.nullable(),
    counted: z.array(dateSchema).describe('The treatments that were counted, earliest first.'),
  })
  .meta({
    id: 'NextEligible',
    description:
      'When another treatment is allowed, computed from the frequency and the treatments of ' +
      'this code. Absent when the frequency is not in one of the usual forms, when it ' +
      "is limited by tooth, or when the payer did not give the history: then the payer's " +
      'words are the only source.',
  });

const codeSchema = z
  .strictObject({
    code: z.string().describe('Upper case; a dental code with its D (1110 is D1110).'),
    said_as: z.string().optional().describe('The code as written in the answer, if different.'),
    name: z.string().nullable().describe('The name of the procedure, as said.'),
    asked: z.boolean().describe('Whether the inquiry asked about this code.'),
    answered,
    benefits: benefitRuleSchema,
    next_eligible: nextEligibleSchema.optional(),
  })
  .meta({
    id: 'ProcedureCode',
    description:
      'A code that was asked or answered. A code is listed twice when it was answered twice.',
  });

const treatmentSchema = z
  .strictObject({
    date: dateSchema,
    code: z.string().nullable().describe('Upper case; a dental code with its D.'),
    said_as: z.string().optional().describe('The code as written in the answer, if different.'),
    teeth: z.array(z.string()).nullable(),
    surfaces: z.array(z.string()).nullable(),
    quadrants: z.array(z.string()).nullable(),
  })
  .meta({ id: 'Treatment' });

const earlierSchema = z
  .strictObject({
    kind: z.enum(['code', 'class']).describe('Whether it is about a code or a class of them.'),
    name: z.string().describe('The code, upper case; or the class as named by the service.'),
    title: z.string().nullable().describe('The name of the procedure, as said.'),
    benefits: benefitRuleSchema,
    said_on: dateSchema.describe('The day of the call in which the payer said it.'),
    about: z
      .enum(['patient', 'plan'])
      .describe(
        'patient: the call was about this patient. plan: it was about another patient in the ' +
          'same group, and the payer named the same plan for both.',
      ),
    inquiry_id: z
      .string()
      .nullable()
      .describe('The inquiry of that call; null when it was for another patient.'),
    representative: z.string().nullable(),
    reference_number: z.string().nullable(),
  })
  .meta({
    id: 'Earlier',
    description: 'A term of the plan that the payer named in an earlier call, and not in this one.',
  });

const clausesSchema = z
  .strictObject({
    answered,
    waiting_periods: text('About waiting periods.'),
    missing_tooth_clause: text('About teeth that were missing before the coverage began.'),
    deductible_applies_to_preventive: yesNo(
      'Whether preventive care counts toward the deductible.',
    ),
    preventive_applies_to_maximum: yesNo(
      "Whether preventive care counts toward the maximum (the service's " +
        'preventative_applies_to_maximum).',
    ),
    has_pending_claims: yesNo('Whether claims are pending that will use up benefits.'),
  })
  .meta({ id: 'Clauses', description: 'Dental: clauses of the plan.' });

/** The schema of the record. It is strict: a field that is not listed is an error. */
export const eligibilityRecordSchema = z
  .strictObject({
    schema: z.literal(ELIGIBILITY_SCHEMA),
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
        'As the service said: SUCCESS, UNSUCCESSFUL, CANCELLED. Any other word is kept, and ' +
          'listed under unparsed.',
      ),
    completeness: z
      .enum(['complete', 'partial', 'none'])
      .describe(
        'none: the answer has nothing readable. partial: a part or a code that was ' +
          'asked has no answer, or not the one that decides: whether the plan is active, whether ' +
          'a code is covered, and its share. complete: otherwise.',
      ),
    summary: z
      .string()
      .nullable()
      .describe("The calling service's summary of the call; null when it gave none."),
    entered_by: z
      .string()
      .optional()
      .describe('Who in the office entered it; absent: the service made the call.'),
    asked: z
      .strictObject({
        benefits_query: z.array(z.string()),
        benefits_codes: z.array(z.string()).describe('As sent.'),
        call_script_id: z
          .string()
          .optional()
          .describe('A script of the account that chose the questions, when one was named.'),
      })
      .describe('What the inquiry asked.'),
    calls: z.array(callSchema).describe('In the order of the answer; empty when it names no call.'),
    confidence: confidenceSchema.optional(),
    verification: verificationSchema
      .nullable()
      .describe("The calling service's checks of the transcripts; null until they arrive."),
    plan: planSchema.optional(),
    maximums: maximumsSchema.optional(),
    procedure_classes: z
      .strictObject({ answered, classes: z.array(classSchema) })
      .optional()
      .describe('Benefits by class of procedures.'),
    procedure_codes: z
      .strictObject({ answered, codes: z.array(codeSchema) })
      .optional()
      .describe('Benefits by procedure code.'),
    treatment_history: z
      .strictObject({
        answered,
        treatments: z.array(treatmentSchema).describe('By date, earliest first.'),
      })
      .optional()
      .describe(
        'Dental: what the payer has on file. With answered false, an empty list means unknown, ' +
          'not none.',
      ),
    clauses: clausesSchema.optional(),
    earlier: z
      .array(earlierSchema)
      .optional()
      .describe(
        'Benefits for codes and classes that this call did not ask about again, with ' +
          'the day on which the payer said it. Left out: nothing is known from earlier.',
      ),
    does_not_apply: z
      .array(z.string())
      .optional()
      .describe(
        'Paths of fields that were asked about and that the answer leaves out because they do ' +
          'not apply: maximums.family_deductible of an individual plan. They are absent from ' +
          'their part. Left out: none. What another specialty has is absent without being named.',
      ),
    unparsed: z.array(unparsedSchema),
  })
  .meta({
    title: 'eligd eligibility record',
    description: 'What a payer said about a patient. null: unknown; absent: not asked.',
  });

export type EligibilityRecord = z.infer<typeof eligibilityRecordSchema>;
export type EligibilityPlan = z.infer<typeof planSchema>;
export type EligibilityMaximums = z.infer<typeof maximumsSchema>;
export type EligibilityClauses = z.infer<typeof clausesSchema>;
export type Allowance = z.infer<typeof allowanceSchema>;
export type BenefitRule = z.infer<typeof benefitRuleSchema>;
export type ProcedureCodeBenefits = z.infer<typeof codeSchema>;
export type NextEligible = z.infer<typeof nextEligibleSchema>;
export type EarlierTerm = z.infer<typeof earlierSchema>;
export type Treatment = z.infer<typeof treatmentSchema>;

/**
 * Returns the record's JSON Schema (draft 2020-12), as published in
 * `config/schemas/eligibility.schema.json`.
 */
export function eligibilityJsonSchema(): Record<string, unknown> {
  return openSchema(z.toJSONSchema(eligibilityRecordSchema), ELIGIBILITY_SCHEMA);
}
