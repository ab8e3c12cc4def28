/**
 * Lists of the service that cannot be read, the whole one or that of one label. eligd makes no call
 * without them (G1), so it tries again, waits longer and longer, and tells the office.
 */
import type { Specialty } from '../../domain/specialty.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { raiseAttention, resolveAttention } from '../../store/bookkeeping/attention.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { ReadingFailure, SubmitDeps, SubmitMemory } from './deps.ts';
import { STOPPED_RETRY_MS } from './outcome.ts';

/** How long eligd waits after a list could not be read. Meanwhile it sends nothing. */
export const UNREAD_RETRY_MS = MINUTE_MS;
/** The wait grows with the length of the outage, up to this. */
const UNREAD_RETRY_MS_MAX = 10 * MINUTE_MS;
/** A list that stays unreadable longer than this goes on the attention list. */
const UNREAD_ATTENTION_MS = HOUR_MS;

/** The whole list of a specialty, or those of its labels. */
export type Lists = { specialty: Specialty; are_labels: boolean };

/** Returns whether the whole list could not be read and must not be read again yet. */
export function mustWait({ failures }: SubmitMemory, specialty: Specialty, now: number): boolean {
  const failed = failures.whole.get(specialty);
  // The clock may have been set back.
  return failed !== undefined && failed.since <= now && now < failed.retry_at;
}

/** Records that the whole list could not be read. */
export async function noteUnread(
  deps: SubmitDeps,
  specialty: Specialty,
  failure: ServiceFailure,
): Promise<void> {
  const { whole } = deps.memory.failures;
  const before = whole.get(specialty);
  const now = deps.env.clock.now();
  const { failed, is_told } = failedAgain(failure, before, now);
  if (before?.cause !== failed.cause)
    deps.env.log('reconciliation_failed', {
      specialty,
      failure: failure.class,
      http_status: failure.status,
    });
  whole.set(specialty, failed);
  const lists = { specialty, are_labels: false };
  if (is_told) await deps.store.write((tx) => reportUnread(tx, lists, failure, now));
}

/**
 * Returns when to read the list again, and whether the office hears of it: after an hour when the
 * service is unavailable, at once when it rejects us. Then the retries are also slow, because a few
 * failed logins may lock an account.
 */
export function failedAgain(
  failure: ServiceFailure,
  before: ReadingFailure | undefined,
  now: number,
): { failed: ReadingFailure; is_told: boolean } {
  // The clock may have been ahead.
  const since = Math.min(before?.since ?? now, now);
  const is_rejected =
    failure.class === 'stopped' ||
    failure.class === 'refused' ||
    isLoginRejected(failure) ||
    (failure.class === 'ambiguous' && failure.cause === 'too_large');
  const backoff_ms = Math.min(
    UNREAD_RETRY_MS_MAX,
    Math.max(UNREAD_RETRY_MS, Math.round((now - since) / 4)),
  );
  const asked_ms = 'retry_after_ms' in failure ? (failure.retry_after_ms ?? 0) : 0;
  const retry_at = now + Math.max(is_rejected ? STOPPED_RETRY_MS : backoff_ms, asked_ms);
  const failed = { since, retry_at, cause: `${failure.class} ${failure.status}` };
  return { failed, is_told: is_rejected || now - since >= UNREAD_ATTENTION_MS };
}

/** Returns whether the service or the proxy rejects our login, whatever we ask. */
export function isLoginRejected(failure: ServiceFailure): boolean {
  if (failure.class === 'stopped') return failure.status === 407;
  return (
    failure.class === 'unsent' &&
    (failure.cause === 'unauthorized' || failure.cause === 'proxy_login')
  );
}

/** Takes the lists off the attention list. */
export async function resolveUnread(tx: Tx, lists: Lists, at: number): Promise<void> {
  await resolveAttention(tx, subjectOf(lists), at);
}

/** Puts the lists on the attention list. */
export async function reportUnread(
  tx: Tx,
  lists: Lists,
  failure: ServiceFailure,
  now: number,
): Promise<void> {
  const { specialty, are_labels } = lists;
  const is_too_large = failure.class === 'ambiguous' && failure.cause === 'too_large';
  const answer = failure.status === null ? 'it cannot be reached' : `it answered ${failure.status}`;
  const why = is_too_large ? 'it is longer than eligd can compare (500,000 inquiries)' : answer;
  const kept = 'Everything that is due is kept, and is sent when';
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: subjectOf(lists) },
    {
      reason: 'submission_stopped',
      what: are_labels
        ? `eligd is not making ${specialty} calls that the service may already have: the query ` +
          `for the inquiries of one visit fails, because ${why}. ${kept} the query works again.`
        : `eligd is not sending anything: the service’s list of ${specialty} inquiries could ` +
          `not be read, because ${why}. ${kept} the list can be read again.`,
      next: is_too_large
        ? 'Ask the calling service for your own account, or to take old inquiries off its list.'
        : are_labels
          ? 'Run "eligd check". If it finds nothing, tell the calling service that its list of ' +
            'inquiries fails with the parameter external_id.'
          : 'Run "eligd check" to find the cause: the credentials (ELIGD_SERVICE_…), ' +
            'service.base_url, or the network.',
    },
    now,
  );
}

const subjectOf = ({ specialty, are_labels }: Lists) =>
  `${are_labels ? 'labels' : 'reconciliation'}:${specialty}`;
