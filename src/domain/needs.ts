import type { AppointmentInput, CoverageInput } from './appointment.ts';
import { lettersAndDigits } from './matching.ts';

/**
 * Who the patient is: the PMS's id together with the birth date, because families share member ids
 * and some systems use an id again. Without an id the name takes its place.
 */
export function patientKey(
  connector: string,
  appointment: Pick<AppointmentInput, 'patient'>,
): string {
  const { patient } = appointment;
  const who =
    patient.id ??
    `name:${lettersAndDigits(patient.last_name)},${lettersAndDigits(patient.first_name)}`;
  return [connector, who, patient.birth_date ?? ''].join('|');
}

/**
 * The need without year and attempt (G1). A change of payer, member id, birth date or tax id makes
 * another one; a change of name, group, time or codes does not. The payer is the PMS's own, not the
 * mapped carrier: mapping it must not cost a call.
 */
export function needBase(need: {
  patient_key: string;
  coverage: CoverageInput;
  tax_id: string;
  question_set: string;
}): string {
  return [coverageKey(need.patient_key, need.coverage), need.tax_id, need.question_set].join('|');
}

/**
 * Whether a need is about the appointment's patient and one of the coverages that it has now,
 * whatever is asked about them.
 */
export function isNeedOf(
  need_base: string,
  patient_key: string,
  coverages: readonly CoverageInput[],
): boolean {
  return coverages.some((coverage) =>
    need_base.startsWith(`${coverageKey(patient_key, coverage)}|`),
  );
}

function coverageKey(patient_key: string, coverage: CoverageInput): string {
  const payer =
    coverage.payor_id === ''
      ? `name:${lettersAndDigits(coverage.carrier)}`
      : lettersAndDigits(coverage.payor_id);
  return [patient_key, payer, lettersAndDigits(coverage.member_id)].join('|');
}

/**
 * The label that an inquiry carries at the service: the appointment's own id, with the connector
 * when there are several.
 */
export function externalId(template: string, connector: string, source_id: string): string {
  // In one pass and by a function: an id may hold braces, and "$&" means something to replaceAll.
  return template.replaceAll(/\{(connector|appointment)\}/g, (_, word) =>
    word === 'connector' ? connector : source_id,
  );
}
