/**
 * Decides how an inquiry ended. Only this file reads the service's status, whose case and spelling
 * may vary (docs/service.md "Enumerations"); every other part of eligd uses the outcome.
 */
export const OUTCOMES = ['successful', 'unsuccessful', 'cancelled', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];
/** The outcomes of an inquiry that has ended. */
export type FinalOutcome = Exclude<Outcome, 'unknown'>;

/** Keys are the letters alone. A word that only suggests an end ("completed") stays unknown. */
const WORDS: Readonly<Record<string, FinalOutcome>> = {
  SUCCESS: 'successful',
  SUCCESSFUL: 'successful',
  SUCCEEDED: 'successful',
  UNSUCCESSFUL: 'unsuccessful',
  NOTSUCCESSFUL: 'unsuccessful',
  CANCELLED: 'cancelled',
  CANCELED: 'cancelled',
};

/**
 * The statuses in the specification for an inquiry that has not ended or whose state is unknown.
 */
const GOING_ON: ReadonlySet<string> = new Set(['SCHEDULED', 'INPROGRESS', 'UNKNOWN']);

const STATUS_CHARS_MAX = 100;

const lettersOf = (status: string) =>
  status
    .slice(0, STATUS_CHARS_MAX)
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, '');

/** `unknown`: the inquiry has not ended, or the service gave no status or an unknown one. */
export function outcomeOf(status: string | null | undefined): Outcome {
  const letters = lettersOf(status ?? '');
  return Object.hasOwn(WORDS, letters) ? (WORDS[letters] ?? 'unknown') : 'unknown';
}

/** Returns null until the inquiry has ended, and for an unknown status. */
export function finalOutcome(status: string | null | undefined): FinalOutcome | null {
  const outcome = outcomeOf(status);
  return outcome === 'unknown' ? null : outcome;
}

/** Returns whether the status is in the specification, in whatever spelling. */
export function isKnownStatus(status: string): boolean {
  return outcomeOf(status) !== 'unknown' || GOING_ON.has(lettersOf(status));
}

/** Returns whether the status says that the call has not begun yet. */
export function isScheduled(status: string | null | undefined): boolean {
  return lettersOf(status ?? '') === 'SCHEDULED';
}
