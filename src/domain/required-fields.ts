import type { AppointmentInput, CoverageInput, FieldProblem } from './appointment.ts';
import type { Attention } from './attention.ts';
import type { ClaimInput } from './claim.ts';
import { isNpi, taxIdDigits } from './identifiers.ts';
import type { ClaimRequiredField, RequiredField } from './policy.ts';
import type { Provider } from './provider.ts';
import { isDate } from './time.ts';

/** The fields that an appointment and a claim share. */
type Asked = Pick<
  AppointmentInput,
  'patient' | 'procedure_codes' | 'diagnosis_codes' | 'billed_amount' | 'problems'
>;

type Checked = { appointment: Asked; coverage: CoverageInput; provider: Provider; rank: number };

const LABELS: Readonly<Record<ClaimRequiredField, string>> = {
  patient_name: "the patient's name",
  dob: "the patient's birth date",
  member_id: 'the member ID',
  tax_id: 'the tax ID',
  billing_npi: 'the billing NPI',
  rendering_npi: "the provider's NPI",
  group_id: 'the group number',
  payor_id: 'the payer ID',
  carrier: 'the insurance company',
  procedure_codes: 'a procedure code',
  diagnosis_codes: 'a diagnosis code',
  place_of_service: 'the place of service',
  billed_amount: 'the billed amount',
  claim_number: 'the insurance company’s claim number',
  date_of_service: 'the date of service',
};

/**
 * Returns what the office must fix before eligd pays for a call. A required field must be present.
 * A field that is present must be well-formed even if it is not required, because the service would
 * otherwise reject the whole inquiry.
 */
export function missingFields(checked: Checked, required: readonly RequiredField[]): Attention[] {
  return faultsOf(checked, fieldValues(checked), required);
}

/** Does the same for a claim, which always needs its date of service. */
export function missingClaimFields(
  claim: ClaimInput,
  provider: Provider,
  required: readonly ClaimRequiredField[],
): Attention[] {
  const checked = {
    appointment: claim,
    coverage: claim.coverage,
    provider,
    rank: claim.coverage_rank,
  };
  const own = {
    claim_number: claim.claim_number.trim(),
    date_of_service: claim.date_of_service ?? '',
  };
  return faultsOf(checked, { ...fieldValues(checked), ...own }, required);
}

function faultsOf(
  checked: Checked,
  values: Partial<Record<ClaimRequiredField, string>>,
  required: readonly ClaimRequiredField[],
): Attention[] {
  const found: Attention[] = [];
  for (const [field, value] of Object.entries(values) as [ClaimRequiredField, string][]) {
    const where =
      checked.rank === 1 ? LABELS[field] : `${LABELS[field]} (coverage ${checked.rank})`;
    // The request always needs a birth date, and a claim's request its date, whatever is
    // configured.
    const is_needed = field === 'dob' || field === 'date_of_service' || required.includes(field);
    if (value === '' && is_needed) found.push(missing(where, problemsOf(field, checked)));
    const fault = value === '' ? null : malformed(field, value);
    if (fault !== null)
      found.push({
        reason: 'field_malformed',
        what: `eligd made no call: ${where} ${fault}.`,
        next: fixSentence(field),
      });
  }
  return found;
}

function fieldValues({ appointment, coverage, provider }: Checked): Record<RequiredField, string> {
  return {
    patient_name: `${appointment.patient.first_name}${appointment.patient.last_name}`.trim(),
    dob: appointment.patient.birth_date ?? '',
    member_id: coverage.member_id.trim(),
    tax_id: provider.tax_id,
    billing_npi: provider.billing_npi,
    rendering_npi: provider.rendering_npi,
    group_id: coverage.group_id.trim(),
    payor_id: coverage.payor_id.trim(),
    carrier: coverage.carrier.trim(),
    procedure_codes: appointment.procedure_codes.join(' '),
    diagnosis_codes: appointment.diagnosis_codes.join(' '),
    place_of_service: provider.place_of_service.trim(),
    billed_amount: appointment.billed_amount ?? '',
  };
}

function malformed(field: ClaimRequiredField, value: string): string | null {
  if (field === 'tax_id' && taxIdDigits(value) === null) return 'does not have nine digits';
  if ((field === 'billing_npi' || field === 'rendering_npi') && !isNpi(value))
    return 'is not a valid NPI; check for a typo (10 digits)';
  if ((field === 'dob' || field === 'date_of_service') && !isDate(value)) return 'is not a date';
  if (field === 'billed_amount' && !/^\d{1,9}(?:\.\d+)?$/.test(value)) return 'is not an amount';
  if (field === 'member_id' && !/[\p{L}\p{N}]/u.test(value)) return 'has no letters or digits';
  return null;
}

/** Returns the unreadable values of this field and coverage, and those of unknown fields. */
function problemsOf(field: string, { appointment, rank }: Checked): FieldProblem[] {
  return appointment.problems.filter(
    ({ about }) =>
      about === undefined || (about.field === field && (about.coverage_rank ?? rank) === rank),
  );
}

/** Builds the item for a missing field. It names unreadable columns as the user knows them. */
function missing(where: string, problems: readonly FieldProblem[]): Attention {
  const next = 'Correct it in your practice software. eligd calls after the next export.';
  if (problems.length === 0)
    return { reason: 'field_missing', what: `eligd made no call: ${where} is missing.`, next };
  const unread = problems.map(({ field, value_class }) => `${field}: ${value_class}`).join(', ');
  return {
    reason: 'field_malformed',
    what: `eligd made no call: ${where} is missing or cannot be read (${unread}).`,
    next,
  };
}

function fixSentence(field: ClaimRequiredField): string {
  const places: Partial<Record<ClaimRequiredField, string>> = {
    tax_id:
      'Correct it in your practice software, or under clinic, locations, or providers in the ' +
      'configuration.',
    billing_npi:
      'Correct it in your practice software, or under clinic, locations, or providers in the ' +
      'configuration.',
    rendering_npi:
      'Correct the provider’s NPI in your practice software (look it up at ' +
      'npiregistry.cms.hhs.gov).',
  };
  return (
    places[field] ?? 'Correct it in your practice software. eligd calls after the next export.'
  );
}
