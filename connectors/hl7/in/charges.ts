/** Reads the charges of a visit in a DFT as a claim (HL7 v2.5.1, section 6.4.1). */
import type { CoverageInput, FieldProblem } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';
import { inForceOn } from '../../../src/domain/coverage-period.ts';
import { isNpi } from '../../../src/domain/identifiers.ts';
import { readAmount, sumOf } from '../../../src/records/values.ts';
import { type FieldReader, type Scope, scopeOf } from '../v2/fields.ts';
import type { Segment } from '../v2/message.ts';
import { readDate } from '../v2/times.ts';
import { DIAGNOSIS_CODE, PROCEDURE_CODE } from './appointments.ts';
import { coveragesOf, patientOf } from './patients.ts';

/**
 * FT1-6, table 0017: the type of a transaction. Every other type is a charge, because many senders
 * leave it empty.
 */
const OF_PATIENT = new Set(['CO', 'DP']);
const SETTLING = new Set(['PY', 'AJ', 'CD', 'CR']);

const NO_COVERAGE: CoverageInput = {
  carrier: '',
  payor_id: '',
  member_id: '',
  group_id: '',
  subscriber: null,
};

const kind = (segment: Segment) => segment.value(6).toUpperCase();

/**
 * Returns whether every transaction is a copay or a deposit paid at the desk, which says nothing
 * about the payer.
 */
export function isOfPatientAlone(group: Scope): boolean {
  const transactions = group.all('FT1');
  return transactions.length > 0 && transactions.every((segment) => OF_PATIENT.has(kind(segment)));
}

/**
 * Returns the claim of one patient of a message: all charges, sent to the first insurance.
 * Payments, credits, and adjustments without a charge settle the claim with their ID. The ID is
 * empty if no path has one.
 */
export function claimOf(group: Scope, fields: FieldReader, time_zone: string): ClaimInput {
  const transactions = group.all('FT1');
  const isCharge = (segment: Segment) =>
    !OF_PATIENT.has(kind(segment)) && !SETTLING.has(kind(segment));
  const charges = transactions.filter(isCharge);
  const scope = scopeOf(
    group.segments.filter((segment) => segment.name !== 'FT1' || isCharge(segment)),
  );
  const { patient, problems: of_patient } = patientOf(group, fields);
  const insurance = coveragesOf(group, fields, { time_zone });
  const service = serviceDay(
    fields.all(scope, 'date_of_service'),
    fields.first(scope, 'date_of_service').at,
  );
  const [coverage] = inForceOn(insurance.coverages ?? [], service.date);
  const billed = billedAmount(charges);
  return {
    source_id: fields.one(group, 'claim_id'),
    status: charges.length === 0 && transactions.length > 0 ? 'settled' : 'open',
    claim_number: fields.one(group, 'claim_number'),
    date_of_service: service.date,
    billed_amount: billed.amount,
    patient,
    coverage: coverage ?? NO_COVERAGE,
    coverage_rank: 1,
    // A message without IN1 has no insurance data, so the patient's stored data applies.
    ...(insurance.coverages === null && patient.id !== null
      ? { insurance: 'of_patient' as const }
      : {}),
    provider: {
      rendering_npi: fields.all(scope, 'charged_by_npi').find(isNpi) ?? '',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: fields.one(group, 'location') || null,
    place_of_service: '',
    specialty: null,
    procedure_codes: codesAt(fields.all(scope, 'charged_codes'), PROCEDURE_CODE),
    diagnosis_codes: codesAt(
      [...fields.all(scope, 'charge_diagnoses'), ...fields.all(group, 'diagnosis_codes')],
      DIAGNOSIS_CODE,
    ),
    problems: [...of_patient, ...insurance.problems, ...service.problems, ...billed.problems],
  };
}

function codesAt(values: readonly string[], form: RegExp): string[] {
  return [...new Set(values.map((code) => code.toUpperCase()).filter((code) => form.test(code)))];
}

/** Returns the first day, because a claim is filed under it. */
function serviceDay(
  values: readonly string[],
  at: string,
): { date: string | null; problems: FieldProblem[] } {
  const read = values.map(readDate);
  const days = read.filter((day) => typeof day === 'string').toSorted();
  const fault = read.find((day) => typeof day !== 'string');
  const remedy = 'Correct the date in the practice management system.';
  const problems =
    fault === undefined || typeof fault === 'string'
      ? []
      : [{ field: at, value_class: fault.fault, remedy, about: { field: 'date_of_service' } }];
  return { date: days[0] ?? null, problems };
}

/**
 * Returns the sum of FT1-11, the extended amount of each charge, or FT1-12 if that is empty. Exact,
 * as decimal text.
 */
function billedAmount(charges: readonly Segment[]): { amount: string; problems: FieldProblem[] } {
  // For a single unit, the unit amount is the whole amount.
  const texts = charges.map(
    (segment) =>
      segment.value(11) || (['', '1'].includes(segment.value(10)) ? segment.value(12) : ''),
  );
  // A sum of only some charges would be wrong.
  if (texts.length === 0 || texts.includes('')) return { amount: '', problems: [] };
  const amounts = texts
    .map(readAmount)
    .flatMap((reading) =>
      reading.is === 'read' && 'amount' in reading.value ? [reading.value] : [],
    );
  if (amounts.length === texts.length)
    return { amount: sumOf(amounts.map(({ amount }) => amount)), problems: [] };
  const remedy = 'Have the sender write FT1-11 as a plain number, such as 120.00.';
  const about = { field: 'billed_amount' };
  const problem = { field: 'FT1-11', value_class: 'not an amount', remedy, about };
  return { amount: '', problems: [problem] };
}
