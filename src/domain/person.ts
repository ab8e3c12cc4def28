import type { Patient } from './appointment.ts';

/**
 * Whether two readings of a patient out of one source contradict each other, so that they are two
 * people: an id, a birth date or a name that both give differs. An id alone proves nothing, because
 * families share account numbers.
 */
export function isSomebodyElse(one: Patient, other: Patient): boolean {
  const differ = (a: string | null, b: string | null) =>
    a !== null && b !== null && a !== '' && b !== '' && a !== b;
  return (
    differ(one.id, other.id) ||
    differ(one.birth_date, other.birth_date) ||
    differ(plainName(one), plainName(other))
  );
}

const plainName = ({ first_name, last_name }: Patient) =>
  `${first_name} ${last_name}`
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim();
