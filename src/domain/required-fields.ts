import type { AppointmentInput, CoverageInput, FieldProblem } from './appointment.ts';
import type { Attention } from './attention.ts';
import { isNpi, taxIdDigits } from './identifiers.ts';
import type { RequiredField } from './policy.ts';
import type { Provider } from './provider.ts';
import { isDate } from './time.ts';

type Checked = { appointment: AppointmentInput; coverage: CoverageInput; provider: Provider; rank: number };

const LABELS: Readonly<Record<RequiredField, string>> = {
  patient_name: "the patient's name",
  dob: "the patient's birth date",
  member_id: 'the member id',
  tax_id: 'the tax id',
  billing_npi: 'the billing NPI',
  rendering_npi: "the provider's NPI",
  group_id: 'the group number',
  payor_id: 'the payor id',
  carrier: 'the insurance carrier',
  procedure_codes: 'the procedure codes',
};

/**
 * What has to be mended before a call is paid for. A required field must be there; a field that is there must be well-formed
 * even when it is not required, because the service refuses the whole inquiry otherwise.
 */
export function missingFields(checked: Checked, required: readonly RequiredField[]): Attention[] {
  const values = fieldValues(checked);
  const found: Attention[] = [];
  for (const [field, value] of Object.entries(values) as [RequiredField, string][]) {
    const where = checked.rank === 1 ? LABELS[field] : `${LABELS[field]} (coverage ${checked.rank})`;
    // The request cannot be written without a birth date, whatever the configuration says.
    if (value === '' && (field === 'dob' || required.includes(field))) found.push(missing(where, checked.appointment.problems));
    const fault = value === '' ? null : malformed(field, value);
    if (fault !== null)
      found.push({ reason: 'field_malformed', what: `No call is made: ${where} ${fault}.`, next: fixSentence(field) });
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
  };
}

function malformed(field: RequiredField, value: string): string | null {
  if (field === 'tax_id' && taxIdDigits(value) === null) return 'has not nine digits';
  if ((field === 'billing_npi' || field === 'rendering_npi') && !isNpi(value))
    return 'is not a valid NPI (ten digits, of which the last one checks the others)';
  if (field === 'dob' && !isDate(value)) return 'is no date';
  if (field === 'member_id' && !/[\p{L}\p{N}]/u.test(value)) return 'holds no letter or digit';
  return null;
}

/** The connector names the column as the user knows it, so what it could not read stands beside what is missing. */
function missing(where: string, problems: readonly FieldProblem[]): Attention {
  const next = 'Correct it in the practice management system; the next export starts the call.';
  if (problems.length === 0) return { reason: 'field_missing', what: `No call is made: ${where} is missing.`, next };
  const unread = problems.map(({ field, value_class }) => `${field}: ${value_class}`).join(', ');
  return { reason: 'field_malformed', what: `No call is made: ${where} is missing or cannot be read (${unread}).`, next };
}

function fixSentence(field: RequiredField): string {
  const places: Partial<Record<RequiredField, string>> = {
    tax_id: 'Correct it in the practice management system, or in clinic, locations or providers of the configuration.',
    billing_npi: 'Correct it in the practice management system, or in clinic, locations or providers of the configuration.',
    rendering_npi: "Correct the provider's NPI in the practice management system (npiregistry.cms.hhs.gov has it).",
  };
  return places[field] ?? 'Correct it in the practice management system; the next export starts the call.';
}
