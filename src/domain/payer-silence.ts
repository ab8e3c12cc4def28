/**
 * A payer that cannot be reached: several calls to it in a row brought nothing. Further calls wait,
 * so that they use up neither money nor attempts, and one of them goes out now and then as a try.
 */
import { DAY_MS, HOUR_MS, type Instant } from './time.ts';

/** What the last calls to a payer brought; absent: an answer. */
export type PayerSilence = {
  /** Calls in a row without an answer; of several attempts for one need, the first. */
  unsuccessful: number;
  since: Instant;
  last_at: Instant;
  /** When a call goes out as a try; null: calls go out as they fall due. */
  next_try_at: Instant | null;
};

/** By `payerKey` of `turnaround.ts`. */
export type PayerSilences = Readonly<Record<string, PayerSilence>>;

const CALLS_MIN = 3;
/** Calls that are further apart are no row. */
const APART_MS_MAX = 14 * DAY_MS;
/** The same hour of the next day, or earlier: payers answer the phone by day. */
const TRY_AGAIN_MS = 20 * HOUR_MS;
/** A visit that is nearer to the next try has to be looked after by the office. */
const ANSWER_MS = DAY_MS;

/** `is_first_attempt`: a patient whose calls fail again and again says nothing of the payer. */
export function afterCall(
  before: PayerSilence | null,
  { is_answered, is_first_attempt }: { is_answered: boolean; is_first_attempt: boolean },
  now: Instant,
): PayerSilence | null {
  if (is_answered) return null;
  const known = before !== null && now - before.last_at <= APART_MS_MAX ? before : null;
  const unsuccessful = (known?.unsuccessful ?? 0) + (is_first_attempt ? 1 : 0);
  if (unsuccessful === 0) return null;
  return {
    unsuccessful,
    since: known?.since ?? now,
    last_at: now,
    next_try_at: unsuccessful >= CALLS_MIN ? now + TRY_AGAIN_MS : null,
  };
}

/** Whether a call may go out; otherwise until when it waits. One call at a time is the try. */
export function turnOf(
  silence: PayerSilence | null,
  now: Instant,
): { kind: 'call'; silence: PayerSilence | null } | { kind: 'wait'; until: Instant } {
  if (silence === null || silence.next_try_at === null) return { kind: 'call', silence };
  if (now < silence.next_try_at) return { kind: 'wait', until: silence.next_try_at };
  return { kind: 'call', silence: { ...silence, next_try_at: now + TRY_AGAIN_MS } };
}

/** Whether a try at `until` comes too late for a visit. */
export function isTooLateFor(visit_at: Instant, until: Instant): boolean {
  return visit_at - until < ANSWER_MS;
}

/** The alert text about payers that cannot be reached; null: all can be reached. */
export function unreachablePayers(silences: PayerSilences): { what: string; next: string } | null {
  const names = Object.entries(silences)
    .filter(([, { next_try_at }]) => next_try_at !== null)
    .map(([payer, { unsuccessful }]) => `${nameOf(payer)} (${unsuccessful} in a row)`);
  if (names.length === 0) return null;
  return {
    what: `Calls to a payer brought no answer: ${names.toSorted().join(', ')}. Further calls wait.`,
    next:
      'No action needed yet: eligd tries one call a day. If a visit is close, call the payer ' +
      'yourself.',
  };
}

export const WAITS_FOR_PAYER = 'The last calls to this payer brought no answer, so this one waits.';

/** The carrier's identifier, or the payer ID. */
function nameOf(payer: string): string {
  return payer.split('|').at(-1) ?? payer;
}
