/**
 * Finds patients in payers' names and in the IDs of visits. Commands show these texts of the PMS
 * without `--patients`, because users need them to work. If a PMS writes a patient's name, birth
 * date, or member ID into one, commands show it only with `--patients`.
 */
import type { AppointmentInput } from './appointment.ts';
import type { ClaimInput } from './claim.ts';
import { DAMAGED_PATIENT, parsed } from './damaged.ts';

type About = AppointmentInput | ClaimInput;

const WORD_CHARS_MIN = 3;
/** The shortest name that counts within a longer word, as in SMITHJ. */
const PART_CHARS_MIN = 4;
const MEMBER_ID_CHARS_MIN = 5;

type Person = { name: string; birth_date: string | null };

/**
 * Returns whether a text of a visit or claim says who its patient or a subscriber is. Where the
 * stored names are damaged, any text may.
 */
export function saysWho(text: string, about: About): boolean {
  if (about.patient === DAMAGED_PATIENT) return true;
  const coverages = 'coverage' in about ? [about.coverage] : about.coverages;
  const { first_name, last_name, birth_date } = about.patient;
  const people = [
    { name: `${first_name} ${last_name}`, birth_date },
    ...coverages.flatMap(({ subscriber }) => subscriber ?? []),
  ];
  return saysWhoOf(text, { people, member_ids: coverages.map(({ member_id }) => member_id) });
}

/** Does the same for the stored form of a visit or claim. */
export function storedSaysWho(text: string, content: string): boolean {
  const about = parsed(content) as About | null;
  return about === null || saysWho(text, about);
}

/** Does the same for people and member IDs that the caller knows. */
export function saysWhoOf(
  text: string,
  { people, member_ids }: { people: readonly Person[]; member_ids: readonly string[] },
): boolean {
  const words = new Set(wordsOf(text));
  // A payer's name consists of words, so a name within one of them is chance; an ID does not.
  const joined = /\s/.test(text.trim()) ? '' : plain(text).replaceAll(/\P{L}/gu, '');
  const digits = text.replaceAll(/\D/g, '');
  const marks = lettersAndDigits(text);
  const isNamed = ({ name }: Person) =>
    wordsOf(name).some(
      (word) => words.has(word) || (word.length >= PART_CHARS_MIN && joined.includes(word)),
    );
  const isDated = ({ birth_date }: Person) =>
    datesOf(birth_date).some((date) => digits.includes(date));
  const ids = member_ids
    .map(lettersAndDigits)
    .filter(({ length }) => length >= MEMBER_ID_CHARS_MIN);
  return (
    people.some((each) => isNamed(each) || isDated(each)) || ids.some((id) => marks.includes(id))
  );
}

const lettersAndDigits = (text: string): string => plain(text).replaceAll(/[^\p{L}\p{N}]/gu, '');

function wordsOf(text: string): string[] {
  return plain(text)
    .split(/\P{L}+/u)
    .filter((word) => word.length >= WORD_CHARS_MIN);
}

const plain = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Returns the digits of a date in the orders in which people write it. */
function datesOf(date: string | null): string[] {
  const [year = '', month = '', day = ''] = (date ?? '').split('-');
  if (day === '') return [];
  return [`${year}${month}${day}`, `${month}${day}${year}`, `${day}${month}${year}`];
}
