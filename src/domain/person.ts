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

const DIED = /^(?:y|yes|t|true|1|x|d|dead|died|deceased|expired)$|^(?:deceased|died|expired) /i;
const LIVES = /^(?:n|no|f|false|a|alive|living|active|[0\W]+)$/i;
/** A day of death; years before are how databases write "no day". */
const DAY_OF_DEATH = /(?:^|[-/. ])(?:19[5-9]|20\d)\d|^\d{1,2}[-/.]\d{1,2}[-/.]\d\d$/;

/**
 * What a field says that holds whether the patient has died, or on which day; the same for every
 * connector. Undefined: nothing, or not known (`U`, `unknown`).
 */
export function saysDeceased(text: string): boolean | undefined {
  if (LIVES.test(text)) return false;
  return DIED.test(text) || DAY_OF_DEATH.test(text) ? true : undefined;
}

const plainName = ({ first_name, last_name }: Patient) =>
  `${first_name} ${last_name}`
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim();
