import * as z from 'zod';
import { givenName, matchKey } from './matching.ts';
import { SPECIALTIES, type Specialty } from './specialty.ts';
import { type Instant, isDate, type LocalDate, localDate } from './time.ts';

/**
 * What will be asked, before it is put into the service's words: ISO dates, and codes in order
 * without repeats. Stored while the inquiry is planned; the exact wire body is made from it right
 * before it is sent.
 */
export type InquiryDraft = {
  specialty: Specialty;
  patient_name: string;
  /** Empty only where the office has called itself: no call is planned without a birth date. */
  dob: LocalDate | '';
  member_id: string;
  group_id: string;
  tax_id: string;
  billing_npi: string;
  rendering_npi: string;
  /**
   * The service's carrier identifier, or its name as text where the specialty takes text; empty:
   * not said.
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
   * The next four are left out when nothing is known; medical and mental health, the telephone
   * number medical alone.
   */
  place_of_service?: string;
  /** US dollars, decimal text. */
  billed_amount?: string;
  benefits_form_name?: string;
  insurance_phone_number?: string;
  /** Codes of the visit that the service would refuse; not sent. Left out when there are none. */
  left_out_codes?: string[];
  /** Makes it a question about a claim; left out when it is about benefits. */
  claim?: ClaimQuestion;
};

export type ClaimQuestion = {
  /** Empty: not known. */
  claim_number: string;
  date_of_service: LocalDate;
  /** Medical alone; empty: not said. */
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

/** The hold of a planned inquiry whose stored draft is damaged. */
export const DAMAGED_HOLD = 'damaged';

/** A draft as it is stored; null when it is damaged, so that one row stops no other (G7). */
export function readDraft(stored: string): InquiryDraft | null {
  try {
    const draft: unknown = JSON.parse(stored);
    // As stored, not as zod copies it: drafts are compared as texts, and a copy has another order.
    return draftSchema.safeParse(draft).success ? (draft as InquiryDraft) : null;
  } catch {
    return null;
  }
}

/** As `readDraft`, for work that only this inquiry waits for. Throws when the draft is damaged. */
export function parseDraft(stored: string): InquiryDraft {
  const draft = readDraft(stored);
  // Without a word of it: a draft names the patient (G6).
  if (draft === null) throw new Error('The stored draft of an inquiry is damaged.');
  return draft;
}

/**
 * The day an inquiry's answer is wanted by; of a damaged draft the day of the visit, so that it is
 * asked for all the same.
 */
export function completionDate(
  { draft, visit_at }: { draft: string; visit_at: Instant },
  time_zone: string,
): LocalDate {
  return readDraft(draft)?.desired_completion_date ?? localDate(visit_at, time_zone);
}

/**
 * The first name that is asked about, which tells twins apart. Of a damaged draft one that no
 * patient has, so that nothing of another is taken for it.
 */
export function givenNameOf({ draft }: { draft: string }): string {
  const read = readDraft(draft);
  return read === null ? '\u0000' : givenName(read.patient_name);
}

/** The service's `type` of what a draft asks. */
export function inquiryType({ claim }: Pick<InquiryDraft, 'claim'>): 'BENEFITS' | 'CLAIMS_STATUS' {
  return claim === undefined ? 'BENEFITS' : 'CLAIMS_STATUS';
}

/** The match key of the request that a draft becomes. */
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
 * One draft for several appointments on the same need: the first one's values, the codes of all,
 * and the earliest completion date, so that one call serves every visit (docs/design.md "Needs,
 * appointments, deliveries").
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
