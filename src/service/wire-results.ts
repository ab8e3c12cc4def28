/**
 * The results records (specification, "Results record"), as they may arrive: every field may be absent or null, amounts are
 * numbers or text, enumerations are open, and unknown fields are kept. The client never rejects an inquiry by these schemas;
 * they document the wire, and tests hold samples and the sandbox against them.
 */
import { z } from 'zod';

const text = z.string().nullish();
const flag = z.boolean().nullish();
const answers = z.record(z.string(), z.unknown()).nullish();

/** A number, a numeric string, `"$1,500.00"`, or a word such as `"unlimited"` or `"N/A"`. */
export const amountSchema = z.union([z.number(), z.string()]).nullish();

export const callDetailSchema = z.looseObject({
  call_end_time: text,
  representative_name: text,
  reference_number: text,
  call_recording_url: text,
  call_transcript_url: text,
  call_transcript: text,
  /** Some replies name the transcript so. */
  transcript: text,
  custom_answers: answers,
});

export const planInformationSchema = z.looseObject({
  is_active: flag,
  plan_type: text,
  plan_name: text,
  effective_date: text,
  termination_date: text,
  is_calendar_year_plan: flag,
  is_provider_in_network: flag,
  is_primary_insurance: flag,
  is_provider_pcp: flag,
  has_other_insurance: flag,
  is_self_funded: flag,
  has_out_of_state_coverage: flag,
  referral_required: flag,
  referral_info: text,
  out_of_network_benefits: text,
  custom_answers: answers,
});

export const maximumsSchema = z.looseObject({
  name: text,
  individual_deductible: amountSchema,
  individual_deductible_used: amountSchema,
  individual_deductible_resets_each_calendar_year: flag,
  family_deductible: amountSchema,
  family_deductible_used: amountSchema,
  coverage_limit: amountSchema,
  coverage_limit_remaining: amountSchema,
  orthodontics_coverage_limit: amountSchema,
  individual_out_of_pocket_maximum: amountSchema,
  individual_out_of_pocket_maximum_used: amountSchema,
  family_out_of_pocket_maximum: amountSchema,
  family_out_of_pocket_maximum_used: amountSchema,
});

export const treatmentHistoryItemSchema = z.looseObject({
  procedure_code: text,
  tooth_numbers: z.array(z.union([z.string(), z.number()])).nullish(),
  surfaces: z.array(z.string()).nullish(),
  quadrant_numbers: z.array(z.union([z.string(), z.number()])).nullish(),
});

export const procedureCodeInfoSchema = z.looseObject({ procedure_code: text, procedure_name: text });

export const benefitsSchema = z.looseObject({
  is_covered: flag,
  is_prior_auth_required: flag,
  prior_auth_info: text,
  coverage_percentage: amountSchema,
  frequency_limitations: text,
  more_info: text,
  age_limit: amountSchema,
  is_downgraded: flag,
  downgraded_info: text,
  is_deductible_waived: flag,
  copay_amount: amountSchema,
  coinsurance_percentage: amountSchema,
  limitations: text,
});

export const codePairSchema = z.tuple([procedureCodeInfoSchema, benefitsSchema]);

export const extraDentalInfoSchema = z.looseObject({
  waiting_periods: text,
  deductible_applies_to_preventive: flag,
  preventative_applies_to_maximum: flag,
  missing_tooth_clause: text,
  has_pending_claims: flag,
});

/** Results of a BENEFITS inquiry; only the parts that were asked for and apply. */
export const benefitsResultsSchema = z.looseObject({
  /** An array; a single object in some medical and mental health replies. */
  call_details: z.union([z.array(callDetailSchema), callDetailSchema]).nullish(),
  plan_information: planInformationSchema.nullish(),
  maximums: maximumsSchema.nullish(),
  /** By date. */
  treatment_history: z.record(z.string(), z.array(treatmentHistoryItemSchema)).nullish(),
  /** By class name, e.g. DIAGNOSTIC. */
  procedure_classes: z.record(z.string(), benefitsSchema).nullish(),
  procedure_codes: z.array(codePairSchema).nullish(),
  extra_info: extraDentalInfoSchema.nullish(),
});

export const claimCodeDetailSchema = z.looseObject({
  procedure_code: text,
  /** The wire's own spelling. */
  amound_paid: amountSchema,
  patient_responsibility: amountSchema,
  patient_applied_to_deductible: amountSchema,
  adjustment_details: text,
  claim_denial_reason: text,
  appeal_or_correction_info: text,
});

/** Results of a CLAIMS_STATUS inquiry. */
export const claimResultsSchema = z.looseObject({
  call_details: z.union([z.array(callDetailSchema), callDetailSchema]).nullish(),
  status: text,
  number: text,
  timeline: z.looseObject({ date_received: text, date_processed: text, date_paid: text }).nullish(),
  unprocessed_claim_info: z
    .looseObject({ date_processed_up_to: text, turnaround_time: z.union([z.string(), z.number()]).nullish() })
    .nullish(),
  code_details: z.array(claimCodeDetailSchema).nullish(),
});
