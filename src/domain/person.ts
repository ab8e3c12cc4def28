import type { Patient } from './appointment.ts';

/**
 * Returns whether two records of a patient from one source are two people: both give an ID, a birth
 * date, or a name, and these differ. An equal ID alone proves nothing, because families share
 * account numbers.
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

/**
 * Returns the IDs that several people share in one source, as `isSomebodyElse` decides it for two.
 * It reads each record once. Null represents the people without an ID.
 */
export function idsOfSeveral(people: readonly Patient[]): Set<string | null> {
  const several = new Set<string | null>();
  const first = new Map<string | null, { birth_date: string; name: string }>();
  for (const person of people) {
    const birth_date = person.birth_date ?? '';
    const name = plainName(person);
    const known = first.get(person.id) ?? { birth_date, name };
    first.set(person.id, {
      birth_date: known.birth_date || birth_date,
      name: known.name || name,
    });
    const differ = (a: string, b: string) => a !== '' && b !== '' && a !== b;
    if (differ(known.birth_date, birth_date) || differ(known.name, name)) several.add(person.id);
  }
  return several;
}

const DIED = /^(?:y|yes|t|true|1|x|d|dead|died|deceased|expired)$|^(?:deceased|died|expired) /i;
const LIVES = /^(?:n|no|f|false|a|alive|living|active|[0\W]+)$/i;
/** A date of death; databases write earlier years for "no date". */
const DAY_OF_DEATH = /(?:^|[-/. ])(?:19[5-9]|20\d)\d|^\d{1,2}[-/.]\d{1,2}[-/.]\d\d$/;

/**
 * Reads a field that says whether the patient has died, or on which date; the same for every
 * connector. Undefined: empty or unknown (`U`, `unknown`).
 */
export function saysDeceased(text: string): boolean | undefined {
  if (text === '') return undefined;
  if (LIVES.test(text)) return false;
  return DIED.test(text) || DAY_OF_DEATH.test(text) ? true : undefined;
}

const plainName = ({ first_name, last_name }: Patient) =>
  `${first_name} ${last_name}`
    .toLowerCase()
    .replaceAll(/[^\p{L}]+/gu, ' ')
    .trim();
