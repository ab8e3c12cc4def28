import type { AppointmentInput, CoverageInput } from './appointment.ts';
import { lettersAndDigits } from './matching.ts';

/**
 * Identifies the patient by the PMS's ID and the birth date, because families share member IDs and
 * some systems reuse IDs. Without an ID, the name is used.
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
 * Returns the range that holds the key of the patient with this ID, whatever the birth date, and
 * every need of the patient: `from` is in it, `before` is not.
 */
export function keysOfPatient(
  connector: string,
  patient_id: string,
): { from: string; before: string } {
  // "}" is the character after "|", so the range is every key that starts with the ID and "|".
  return { from: `${connector}|${patient_id}|`, before: `${connector}|${patient_id}}` };
}

/**
 * Returns the need without year and attempt (G1). A change of payer, member ID, birth date, or tax
 * ID creates another need; a change of name, group, time, or codes does not. The payer is the PMS's
 * own, not the mapped carrier: mapping a payer must not cause another call.
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
 * Returns whether a need concerns the appointment's patient and one of the patient's current
 * coverages, whatever the question is.
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
 * Returns the label of an inquiry at the service: the appointment's own ID, with the connector when
 * there are several.
 */
export function externalId(template: string, connector: string, source_id: string): string {
  // Replaces in one pass with a function: an ID may contain braces, and "$&" is special in a
  // replacement.
  return template.replaceAll(/\{(connector|appointment)\}/g, (_, word) =>
    word === 'connector' ? connector : source_id,
  );
}
