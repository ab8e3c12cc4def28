/**
 * How an inquiry ended. The service's word is read here and nowhere else: its case and its spelling
 * are its own affair (docs/service.md "Enumerations"), and every other part of eligd asks for the
 * outcome.
 */
export const OUTCOMES = ['successful', 'unsuccessful', 'cancelled', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** The outcomes of an inquiry that has ended. */
export type FinalOutcome = Exclude<Outcome, 'unknown'>;

/** By letters alone. A word that only hints at an end ("completed") stays unknown. */
const WORDS: Readonly<Record<string, FinalOutcome>> = {
  SUCCESS: 'successful',
  SUCCESSFUL: 'successful',
  SUCCEEDED: 'successful',
  UNSUCCESSFUL: 'unsuccessful',
  NOTSUCCESSFUL: 'unsuccessful',
  CANCELLED: 'cancelled',
  CANCELED: 'cancelled',
};

/** The words of the specification that say that the inquiry goes on, or that nobody knows. */
const GOING_ON: ReadonlySet<string> = new Set(['SCHEDULED', 'INPROGRESS', 'UNKNOWN']);

const STATUS_CHARS_MAX = 100;

const lettersOf = (status: string) =>
  status
    .slice(0, STATUS_CHARS_MAX)
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '');

/** `unknown`: the inquiry goes on, the service gave no word, or a word that nobody knows. */
export function outcomeOf(status: string | null | undefined): Outcome {
  const letters = lettersOf(status ?? '');
  return Object.hasOwn(WORDS, letters) ? (WORDS[letters] ?? 'unknown') : 'unknown';
}

/** Null while the inquiry goes on; a word that nobody knows counts as going on. */
export function finalOutcome(status: string | null | undefined): FinalOutcome | null {
  const outcome = outcomeOf(status);
  return outcome === 'unknown' ? null : outcome;
}

/** Whether the service's word is one of the specification's, in whatever spelling. */
export function isKnownStatus(status: string): boolean {
  return outcomeOf(status) !== 'unknown' || GOING_ON.has(lettersOf(status));
}

/** Whether the call has not begun yet, by the service's word. */
export function isScheduled(status: string | null | undefined): boolean {
  return lettersOf(status ?? '') === 'SCHEDULED';
}
