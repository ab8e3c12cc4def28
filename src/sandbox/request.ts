export const SPECIALTIES = ['dental', 'medical', 'mental_health'] as const;

export type Specialty = (typeof SPECIALTIES)[number];

/**
 * The inquiry request (docs/service.md "Inquiry request"), after `validation.ts` has accepted it.
 * Unknown fields are kept.
 */
export type InquiryRequest = {
  type: 'BENEFITS' | 'CLAIMS_STATUS' | 'UNKNOWN';
  desired_completion_date: string;
  patient_name: string;
  dob: string;
  member_id: string;
  tax_id: string;
  group_id?: string | null;
  insurance_in_network?: boolean | '' | null;
  npi?: string | null;
  billing_npi?: string | null;
  rendering_npi?: string | null;
  external_id?: string | null;
  practice_billing_address?: string | null;
  diagnosis_codes?: string[] | null;
  claims_date_of_service?: string | null;
  claim_number?: string | null;
  additional_info?: string | null;
  call_script_id?: string | null;
  insurance?: string | null;
  benefits_query?: string[] | null;
  benefits_codes?: string[] | null;
  is_specialist?: boolean | null;
  insurance_payor_id?: string | null;
  benefits_form_name?: string | null;
  place_of_service?: string | null;
  billed_amount?: number | null;
  insurance_phone_number?: string | null;
  beneficiary?: string | null;
};

/** An inquiry as stored by the service. */
export type Inquiry = {
  seq: number;
  id: string;
  specialty: Specialty;
  external_id: string | null;
  request: InquiryRequest;
  created_ms: number;
  /** Counts the inquiries about the same member ID, birth date, and tax ID, from 1. */
  attempt: number;
};
