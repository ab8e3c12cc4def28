import { type InquiryDraft, inquiryType } from '../domain/inquiry.ts';
import { toWireDate } from './dates.ts';
import type { InquiryRequest } from './wire.ts';

/**
 * Fields that some accounts require although the specification does not: the deprecated `npi`, and
 * `insurance` when only the payer ID is known.
 */
export type AccountNeeds = { npi: boolean; insurance: boolean };

/**
 * Returns the request for a draft, about benefits or about a claim, in the service's terms
 * (docs/service.md "Inquiry request"). Omits unknown fields and those that the specialty does not
 * have. Throws a `RangeError` when a date of the draft is not real, which planning has excluded.
 */
export function inquiryRequest(
  draft: InquiryDraft,
  external_id: string,
  needs: AccountNeeds = { npi: false, insurance: false },
): InquiryRequest {
  const optional = {
    group_id: draft.group_id,
    billing_npi: draft.billing_npi,
    rendering_npi: draft.rendering_npi,
    practice_billing_address: draft.practice_billing_address,
    npi: needs.npi ? draft.rendering_npi || draft.billing_npi : '',
    insurance: draft.insurance === '' && needs.insurance ? 'UNKNOWN' : draft.insurance,
    insurance_payor_id: draft.insurance_payor_id,
    additional_info: draft.additional_info,
    call_script_id: draft.call_script_id ?? '',
    place_of_service: draft.place_of_service ?? '',
    benefits_form_name: draft.benefits_form_name ?? '',
    insurance_phone_number: draft.insurance_phone_number ?? '',
    claim_number: draft.claim?.claim_number ?? '',
    beneficiary: draft.specialty === 'medical' ? (draft.claim?.beneficiary ?? '') : '',
  };
  const lists = {
    diagnosis_codes: draft.diagnosis_codes,
    benefits_query: draft.benefits_query,
    benefits_codes: draft.benefits_codes,
  };
  return {
    type: inquiryType(draft),
    desired_completion_date: toWireDate(draft.desired_completion_date),
    patient_name: draft.patient_name,
    dob: toWireDate(draft.dob),
    member_id: draft.member_id,
    tax_id: draft.tax_id,
    external_id,
    is_specialist: draft.is_specialist,
    ...(draft.claim === undefined
      ? {}
      : { claims_date_of_service: toWireDate(draft.claim.date_of_service) }),
    ...(draft.billed_amount === undefined ? {} : { billed_amount: Number(draft.billed_amount) }),
    ...(draft.insurance_in_network === null
      ? {}
      : { insurance_in_network: draft.insurance_in_network }),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== '')),
    ...Object.fromEntries(Object.entries(lists).filter(([, values]) => values.length > 0)),
  };
}
