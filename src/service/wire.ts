/**
 * The service's wire formats (docs/service.md "Resources and their fields"). Every object is loose:
 * fields unknown to the specification are kept. Reading is tolerant, because one unexpected field
 * must not hide an inquiry (G7); `records/` interprets the results.
 */
import { z } from 'zod';
import { type InquiryId, inquiryId } from '../domain/ids.ts';

const text = z.string().optional();
const flag = z.boolean().optional();
const texts = z.array(z.string()).optional();

/** Inquiry request, as documented for the dental endpoints. Dates are `MM-DD-YYYY`. */
const dentalRequestSchema = z.looseObject({
  /** BENEFITS, CLAIMS_STATUS, UNKNOWN. */
  type: z.string(),
  desired_completion_date: z.string(),
  patient_name: z.string(),
  dob: z.string(),
  member_id: z.string(),
  /** Nine digits. */
  tax_id: z.string(),
  group_id: text,
  insurance_in_network: flag,
  /** Deprecated in favor of the next two; ten digits each. */
  npi: text,
  billing_npi: text,
  rendering_npi: text,
  external_id: text,
  practice_billing_address: text,
  diagnosis_codes: texts,
  claims_date_of_service: text,
  claim_number: text,
  additional_info: text,
  call_script_id: z.string().nullish(),
  insurance: text,
  /** Values depend on the specialty and on the account; never a closed list. */
  benefits_query: texts,
  benefits_codes: texts,
  is_specialist: flag,
  insurance_payor_id: text,
});

const mentalHealthRequestSchema = dentalRequestSchema.extend({
  benefits_form_name: text,
  place_of_service: text,
  billed_amount: z.number().optional(),
});

const medicalRequestSchema = mentalHealthRequestSchema.extend({
  insurance_phone_number: text,
  /** A known value is PRIMARY. */
  beneficiary: text,
});

/** The request with the fields of all three specialties; the medical one has them all. */
export const inquiryRequestSchema = medicalRequestSchema;
export type InquiryRequest = z.infer<typeof inquiryRequestSchema>;

/** Creation response. `usableId` decides whether its ID can be used. */
export const creationResponseSchema = z.looseObject({
  success: z.boolean().optional(),
  inquiry_id: z.unknown().optional(),
});

/** The documented ones have a dozen characters; it is stored with every call, and compared. */
const STATUS_CHARS_MAX = 200;

/**
 * Read form. Only `id`, `status` and `request` are required; other fields are used if they are
 * readable.
 */
const inquirySchema = z.looseObject({
  id: z.string(),
  /**
   * SCHEDULED, IN_PROGRESS, SUCCESS, UNSUCCESSFUL, CANCELLED, UNKNOWN, or anything else: kept
   * verbatim, but for its length.
   */
  status: z.string().transform((word) => word.slice(0, STATUS_CHARS_MAX)),
  creation_ts: z.string().nullish().catch(null),
  summary: z.string().nullish().catch(null),
  results: z.unknown().optional(),
  request: z.record(z.string(), z.unknown()),
});

export type Inquiry = {
  id: InquiryId;
  /** As the service wrote it. */
  status: string;
  /** As the service wrote it; see `parseWireTimestamp`. */
  creation_ts: string | null;
  summary: string | null;
  results: unknown;
  request: Record<string, unknown>;
  /** The parsed JSON of the whole read form, unchanged. */
  raw: unknown;
};

/** Reads a read form; null when it is not one. */
export function parseInquiry(raw: unknown): Inquiry | null {
  // The reply to a create is no read form, and zod takes long to say why.
  if (typeof raw !== 'object' || raw === null || !('request' in raw)) return null;
  const parsed = inquirySchema.safeParse(raw);
  if (!parsed.success) return null;
  const id = usableId(parsed.data.id);
  if (id === null) return null;
  return {
    id,
    status: parsed.data.status,
    creation_ts: parsed.data.creation_ts ?? null,
    summary: parsed.data.summary ?? null,
    results: parsed.data.results ?? null,
    request: parsed.data.request,
    raw,
  };
}

/**
 * Returns an ID that can be stored and queried: 1 to 200 characters, without blanks and control
 * characters. Rejects `.` and `..`, which would change a path. Null for anything else.
 */
export function usableId(value: unknown): InquiryId | null {
  if (typeof value !== 'string') return null;
  const trimmed = value.trim();
  if (!/^[^\s\p{C}]{1,200}$/u.test(trimmed) || trimmed === '.' || trimmed === '..') return null;
  return inquiryId(trimmed);
}

const shownText = z.string().nullish().catch(null);

/**
 * The part of a verification record that eligd shows; fields of another form are omitted here, and
 * only here.
 */
export const verificationSchema = z.looseObject({
  id: shownText,
  inquiry_id: shownText,
  creation_ts: shownText,
  /** A known status is MET. */
  verification_items: z
    .array(
      z.looseObject({ name: shownText, status: shownText }).catch({ name: null, status: null }),
    )
    .nullish()
    .catch(null),
});

/** The records as received, any JSON: one with an unexpected form must not hide the others (G7). */
export const verificationReplySchema = z.looseObject({
  success: z.boolean().optional(),
  count: z.number().optional(),
  verifications: z.array(z.unknown()),
});

export const subscriptionSchema = z.looseObject({
  callback_url: z.string(),
  /** Minutes between messages; 5 when the service does not say. */
  update_frequency_min: z.number().nullish(),
});
export type Subscription = z.infer<typeof subscriptionSchema>;

/** The content of a webhook message (docs/service.md "Events"). */
export const webhookMessageSchema = z.looseObject({
  subscription_id: z.string().nullish(),
  inquiries: z.array(z.unknown()),
  message_hash: z.string().nullish(),
});

const validationItemSchema = z.looseObject({
  loc: z.array(z.union([z.string(), z.number()])),
  msg: z.string().catch(''),
  type: z.string().catch(''),
});

const validationErrorSchema = z.looseObject({ detail: z.array(z.unknown()) });

/**
 * One item of an HTTPValidationError, without fields that a server may add (`input` repeats the
 * patient's data).
 */
export type ValidationItem = { loc: (string | number)[]; msg: string; type: string };

/**
 * Returns the readable items of an HTTPValidationError. A `detail` that is a plain sentence becomes
 * one item without a location.
 */
export function parseValidationItems(body: unknown): ValidationItem[] {
  const sentence = z.looseObject({ detail: z.string().min(1) }).safeParse(body);
  if (sentence.success) return [{ loc: [], msg: sentence.data.detail, type: '' }];
  const parsed = validationErrorSchema.safeParse(body);
  if (!parsed.success) return [];
  return parsed.data.detail.flatMap((detail) => {
    const item = validationItemSchema.safeParse(detail);
    return item.success ? [{ loc: item.data.loc, msg: item.data.msg, type: item.data.type }] : [];
  });
}

/** Token response. `expires_in` (seconds) is not in the specification; some servers send it. */
export const tokenReplySchema = z.looseObject({
  /** Visible ASCII only, because it goes into a header. */
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  token_type: z.string().nullish().catch(null),
  expires_in: z.coerce.number().positive().nullish().catch(null),
});
