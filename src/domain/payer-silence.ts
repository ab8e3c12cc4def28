/**
 * Detects a payer that cannot be reached: several calls in a row got no answer. Further calls to it
 * wait, so that they use up neither money nor attempts, and eligd sends one of them now and then to
 * try.
 */
import { DAY_MS, HOUR_MS, type Instant } from './time.ts';

/** The result of the last calls to a payer; absent: an answer. */
export type PayerSilence = {
  /** Calls in a row without an answer; of several attempts for one need, only the first counts. */
  unsuccessful: number;
  since: Instant;
  last_at: Instant;
  /** When eligd sends a call to try; null: calls are sent as they become due. */
  next_try_at: Instant | null;
};

/** Keys are those of `payerKey` in `turnaround.ts`. */
export type PayerSilences = Readonly<Record<string, PayerSilence>>;

const CALLS_MIN = 3;
/** Calls further apart than this are not in a row. */
const APART_MS_MAX = 14 * DAY_MS;
/** About the same hour of the next day, because payers answer the phone by day. */
const TRY_AGAIN_MS = 20 * HOUR_MS;
/** If the visit is closer to the next try than this, the office has to call. */
const ANSWER_MS = DAY_MS;

/**
 * Counts a call. `is_first_attempt`: repeated failures for one patient say nothing about the payer.
 */
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

/** Decides whether a call may be sent, or until when it waits. Only one call is the try. */
export function turnOf(
  silence: PayerSilence | null,
  now: Instant,
): { kind: 'call'; silence: PayerSilence | null } | { kind: 'wait'; until: Instant } {
  if (silence === null || silence.next_try_at === null) return { kind: 'call', silence };
  if (now < silence.next_try_at) return { kind: 'wait', until: silence.next_try_at };
  return { kind: 'call', silence: { ...silence, next_try_at: now + TRY_AGAIN_MS } };
}

/** Returns whether a try at `until` comes too late for a visit. */
export function isTooLateFor(visit_at: Instant, until: Instant): boolean {
  return visit_at - until < ANSWER_MS;
}

/** Returns the attention text about payers that cannot be reached; null: all can be reached. */
export function unreachablePayers(silences: PayerSilences): { what: string; next: string } | null {
  const names = Object.entries(silences)
    .filter(([, { next_try_at }]) => next_try_at !== null)
    .map(([payer, { unsuccessful }]) => `${nameOf(payer)} (${unsuccessful} in a row)`);
  if (names.length === 0) return null;
  return {
    what: `Calls to a payer got no answer: ${names.toSorted().join(', ')}. Further calls wait.`,
    next:
      'No action needed yet: eligd tries one call a day. If a visit is close, call the insurance ' +
      'company yourself.',
  };
}

export const WAITS_FOR_PAYER =
  'The last calls to this insurance company got no answer, so this one waits.';

/** Returns the carrier's identifier, or the payer ID. */
function nameOf(payer: string): string {
  return payer.split('|').at(-1) ?? payer;
}
