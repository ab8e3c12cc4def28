/** Reads stored visits and claims. One whose text is damaged is still shown in lists (G2). */
import type { AppointmentInput, Patient, ProviderInput } from './appointment.ts';
import type { ClaimInput } from './claim.ts';

/** Shown instead of the patient, whose name is lost. */
export const DAMAGED_PATIENT: Patient = {
  id: null,
  first_name: '',
  last_name: '(stored data damaged)',
  birth_date: null,
};

const PROVIDER: ProviderInput = {
  rendering_npi: '',
  billing_npi: '',
  tax_id: '',
  is_specialist: null,
  in_network: null,
};

const UNKNOWN = {
  patient: DAMAGED_PATIENT,
  provider: PROVIDER,
  location: null,
  specialty: null,
  procedure_codes: [],
  diagnosis_codes: [],
  problems: [],
};

type Stored = { source_id: string; starts_at: number; content: string };

/** Returns a stored visit; of a damaged one, only its ID and its start are known. */
export function readAppointment({ source_id, starts_at, content }: Stored): AppointmentInput {
  return (
    (parsed(content) as AppointmentInput | null) ?? {
      ...UNKNOWN,
      source_id,
      starts_at: new Date(starts_at).toISOString(),
      status: 'booked',
      coverages: [],
    }
  );
}

/** Returns a stored claim; of a damaged one, only its ID is known. */
export function readClaim({ source_id, content }: Omit<Stored, 'starts_at'>): ClaimInput {
  return (
    (parsed(content) as ClaimInput | null) ?? {
      ...UNKNOWN,
      source_id,
      status: 'open',
      claim_number: '',
      date_of_service: null,
      billed_amount: '',
      coverage: { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null },
      coverage_rank: 1,
      place_of_service: '',
    }
  );
}

/** Returns what a stored text holds; null: it is damaged. */
export function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
