import * as z from 'zod';
import { fittingCodes } from './codes.ts';
import { parsed } from './damaged.ts';
import { givenName, matchKey } from './matching.ts';
import { SPECIALTIES, type Specialty } from './specialty.ts';
import { type Instant, isDate, type LocalDate, localDate } from './time.ts';

/**
 * The content of an inquiry before it is converted to the service's format: ISO dates, and codes in
 * order without repeats. It is stored while the inquiry is planned; eligd creates the exact wire
 * body from it right before sending.
 */
export type InquiryDraft = {
  specialty: Specialty;
  patient_name: string;
  /** Empty only if the office called the payer itself: eligd plans no call without a birth date. */
  dob: LocalDate | '';
  member_id: string;
  group_id: string;
  tax_id: string;
  billing_npi: string;
  rendering_npi: string;
  /**
   * The service's carrier identifier, or the carrier's name if the specialty accepts text; empty:
   * not given.
   */
  insurance: string;
  insurance_payor_id: string;
  insurance_in_network: boolean | null;
  is_specialist: boolean;
  practice_billing_address: string;
  diagnosis_codes: string[];
  benefits_query: string[];
  benefits_codes: string[];
  call_script_id: string | null;
  additional_info: string;
  desired_completion_date: LocalDate;
  /**
   * The next four fields are left out when unknown. They apply to medical and mental health; the
   * phone number applies to medical only.
   */
  place_of_service?: string;
  /** US dollars, decimal text. */
  billed_amount?: string;
  benefits_form_name?: string;
  insurance_phone_number?: string;
  /** Codes of the visit that the service would reject; not sent. Left out when there are none. */
  left_out_codes?: string[];
  /** Makes the inquiry a question about a claim; left out for benefits. */
  claim?: ClaimQuestion;
};

type ClaimQuestion = {
  /** Empty: unknown. */
  claim_number: string;
  date_of_service: LocalDate;
  /** Medical only; empty: not given. */
  beneficiary: string;
};

const text = z.string();
const date = text.refine(isDate);

const draftSchema: z.ZodType<InquiryDraft> = z.object({
  specialty: z.enum(SPECIALTIES),
  patient_name: text,
  dob: z.union([date, z.literal('')]),
  member_id: text,
  group_id: text,
  tax_id: text,
  billing_npi: text,
  rendering_npi: text,
  insurance: text,
  insurance_payor_id: text,
  insurance_in_network: z.boolean().nullable(),
  is_specialist: z.boolean(),
  practice_billing_address: text,
  diagnosis_codes: z.array(text),
  benefits_query: z.array(text),
  benefits_codes: z.array(text),
  call_script_id: text.nullable(),
  additional_info: text,
  desired_completion_date: date,
  place_of_service: text.exactOptional(),
  billed_amount: text.exactOptional(),
  benefits_form_name: text.exactOptional(),
  insurance_phone_number: text.exactOptional(),
  claim: z.object({ claim_number: text, date_of_service: date, beneficiary: text }).exactOptional(),
});

/** The hold reason of a planned inquiry whose stored draft is damaged. */
export const DAMAGED_HOLD = 'damaged';
/** The hold reason of a planned inquiry that serves only visits missing from the export. */
export const VANISHED_HOLD = 'vanished';

/** The hold of a call that is left with visits which keep the office's hold. */
export const KEPT_HOLD = 'kept';

/**
 * Parses a stored draft; null when it is damaged, so that one row does not stop the others (G7).
 */
export function readDraft(stored: string): InquiryDraft | null {
  try {
    const draft: unknown = JSON.parse(stored);
    // Returns the stored object, not zod's copy: drafts are compared as text, and the copy's keys
    // are in another order.
    return draftSchema.safeParse(draft).success ? (draft as InquiryDraft) : null;
  } catch {
    return null;
  }
}

/** Parses a stored draft for work on this inquiry alone. Throws when the draft is damaged. */
export function parseDraft(stored: string): InquiryDraft {
  const draft = readDraft(stored);
  // The message does not quote the draft, because it names the patient (G6).
  if (draft === null) throw new Error('The stored draft of an inquiry is damaged.');
  return draft;
}

/**
 * Returns the day by which the answer is wanted. For a damaged draft, returns the day of the visit,
 * so that eligd still polls for the answer.
 */
export function completionDate(
  { draft, visit_at }: { draft: string; visit_at: Instant },
  time_zone: string,
): LocalDate {
  return readDraft(draft)?.desired_completion_date ?? localDate(visit_at, time_zone);
}

/**
 * Returns the patient's first name, which distinguishes twins. For a damaged draft, returns a name
 * that no patient has, so that it matches no other inquiry.
 */
export function givenNameOf({ draft }: { draft: string }): string {
  const read = readDraft(draft);
  return read === null ? '\u0000' : givenName(read.patient_name);
}

/** Returns the service's `type` of a draft. */
export function inquiryType({ claim }: Pick<InquiryDraft, 'claim'>): 'BENEFITS' | 'CLAIMS_STATUS' {
  return claim === undefined ? 'BENEFITS' : 'CLAIMS_STATUS';
}

/** Returns the match key of the request that a draft becomes. */
export function draftMatchKey(draft: InquiryDraft): string {
  return matchKey({
    type: inquiryType(draft),
    member_id: draft.member_id,
    dob: draft.dob,
    tax_id: draft.tax_id,
    claim_number: draft.claim?.claim_number,
    claims_date_of_service: draft.claim?.date_of_service,
  });
}

/**
 * Returns the draft with the number and the date of the claim in a request. `body`: the request as
 * sent; null: only its match key is known, which has them normalized.
 */
export function claimAsSent(
  draft: InquiryDraft,
  { match_key, body }: { match_key: string; body: string | null },
): InquiryDraft {
  if (draft.claim === undefined) return draft;
  const [normalized, date_of_service] = match_key.split('|').slice(-2);
  const sent = parsed(body ?? '') as { claim_number?: string } | null;
  const claim_number = sent === null ? (normalized ?? '') : (sent.claim_number ?? '');
  const date_is_known = date_of_service !== undefined && isDate(date_of_service);
  return {
    ...draft,
    claim: { ...draft.claim, claim_number, ...(date_is_known ? { date_of_service } : {}) },
  };
}

/**
 * Returns the draft with the procedure codes that the service says the call asked about. `request`:
 * the echo of the request; one without codes changes nothing.
 */
export function codesAsEchoed(
  draft: InquiryDraft,
  request: Readonly<Record<string, unknown>>,
): InquiryDraft {
  const read = z.array(z.string()).safeParse(request.benefits_codes);
  const { fitting } = fittingCodes(draft.specialty, read.success ? read.data : []);
  const is_same = fitting.join() === draft.benefits_codes.join();
  return fitting.length === 0 || is_same ? draft : { ...draft, benefits_codes: fitting };
}

/**
 * Returns one draft for several appointments with the same need: the first one's values, the codes
 * of all, and the earliest completion date. One call then serves every visit (docs/design.md
 * "Needs, appointments, deliveries").
 */
export function mergeDrafts(drafts: readonly [InquiryDraft, ...InquiryDraft[]]): InquiryDraft {
  const union = (field: 'benefits_codes' | 'diagnosis_codes' | 'benefits_query') => [
    ...new Set(drafts.flatMap((draft) => draft[field])),
  ];
  const left_out = drafts.flatMap(({ left_out_codes }) => left_out_codes ?? []);
  return {
    ...drafts[0],
    benefits_codes: union('benefits_codes'),
    diagnosis_codes: union('diagnosis_codes'),
    benefits_query: union('benefits_query'),
    ...(left_out.length === 0 ? {} : { left_out_codes: [...new Set(left_out)] }),
    desired_completion_date:
      drafts.map((draft) => draft.desired_completion_date).sort()[0] ??
      drafts[0].desired_completion_date,
  };
}
