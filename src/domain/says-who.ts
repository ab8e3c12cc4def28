/**
 * Payers' names and the IDs of visits are texts of the PMS that commands show unasked, because
 * nobody could work without them. A PMS may write a patient's name, birth date or member ID into
 * one of them; then it is shown only to those who ask for patients.
 */
import type { AppointmentInput } from './appointment.ts';
import type { ClaimInput } from './claim.ts';

type About = AppointmentInput | ClaimInput;

const WORD_CHARS_MIN = 3;
/** Of a name within a longer word, as in SMITHJ. */
const PART_CHARS_MIN = 4;
const MEMBER_ID_CHARS_MIN = 5;

type Person = { name: string; birth_date: string | null };

/** Whether `text`, of a visit or a claim, says who its patient or a subscriber is. */
export function saysWho(text: string, about: About): boolean {
  const coverages = 'coverage' in about ? [about.coverage] : about.coverages;
  const { first_name, last_name, birth_date } = about.patient;
  const people = [
    { name: `${first_name} ${last_name}`, birth_date },
    ...coverages.flatMap(({ subscriber }) => subscriber ?? []),
  ];
  return saysWhoOf(text, { people, member_ids: coverages.map(({ member_id }) => member_id) });
}

/** The same of people and member IDs that are known in another way. */
export function saysWhoOf(
  text: string,
  { people, member_ids }: { people: readonly Person[]; member_ids: readonly string[] },
): boolean {
  const words = new Set(wordsOf(text));
  // A payer's name is words; a name within one of them is chance. An ID has none of its own.
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

/** The digits of a date in the orders in which people write it. */
function datesOf(date: string | null): string[] {
  const [year = '', month = '', day = ''] = (date ?? '').split('-');
  if (day === '') return [];
  return [`${year}${month}${day}`, `${month}${day}${year}`, `${day}${month}${year}`];
}
