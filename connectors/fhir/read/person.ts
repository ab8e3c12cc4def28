import type { FieldProblem, Patient } from '../../../src/domain/appointment.ts';
import { isDate } from '../../../src/domain/time.ts';
import type { FhirConfig } from '../config.ts';
import { type Json, listAt, textAt, textsAt } from '../element.ts';

/** The location and date of the mapping. */
export type Place = {
  config: FhirConfig;
  time_zone: string;
  /** The current day at the clinic. */
  today: string;
};

const NAME_USES = ['official', 'usual', '', 'temp', 'nickname', 'anonymous', 'maiden', 'old'];

/** Returns the legal name that is valid today. */
export function nameOf(person: unknown, today: string): { first_name: string; last_name: string } {
  const isOver = (name: Json) => {
    const end = textAt(name, 'period', 'end');
    return end !== '' && end.slice(0, 10) < today;
  };
  const rank = (name: Json) =>
    NAME_USES.indexOf(textAt(name, 'use')) + (isOver(name) ? NAME_USES.length : 0);
  const [name] = listAt(person, 'name').toSorted((a, b) => rank(a) - rank(b));
  const family = textAt(name, 'family');
  const given = textsAt(name, 'given')[0] ?? '';
  if (family !== '' || given !== '') return { first_name: given, last_name: family };
  const text = textAt(name, 'text');
  const comma = text.indexOf(',');
  if (comma >= 0)
    return { first_name: text.slice(comma + 1).trim(), last_name: text.slice(0, comma).trim() };
  const space = text.lastIndexOf(' ');
  return {
    first_name: text.slice(0, Math.max(space, 0)).trim(),
    last_name: text.slice(space + 1).trim(),
  };
}

/** Returns the patient. An incomplete birth date is left out, and added to `problems`. */
export function toPatient(
  patient: Json,
  id: string,
  today: string,
  problems: FieldProblem[],
): Patient {
  const { first_name, last_name } = nameOf(patient, today);
  const written = textAt(patient, 'birthDate');
  const birth_date = isDate(written) ? written : null;
  if (written !== '' && birth_date === null) {
    const remedy = 'Enter the whole birth date of the patient in the practice management system.';
    problems.push({
      field: 'Patient.birthDate',
      value_class: 'not a whole date',
      remedy,
      about: { field: 'dob' },
    });
  }
  const died = patient.deceasedBoolean === true || textAt(patient, 'deceasedDateTime') !== '';
  return { id, first_name, last_name, birth_date, ...(died ? { is_deceased: true } : {}) };
}
