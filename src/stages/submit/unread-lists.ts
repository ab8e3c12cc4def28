/**
 * Lists of the service that cannot be read, the whole one or that of one label. eligd makes no call
 * without them (G1), so it tries again, waits longer and longer, and tells the office.
 */
import type { Specialty } from '../../domain/specialty.ts';
import { HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { raiseAttention, resolveAttention } from '../../store/bookkeeping/attention.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { SubmitDeps } from './deps.ts';
import { STOPPED_RETRY_MS } from './outcome.ts';

/** How long eligd waits after a list could not be read. Meanwhile it sends nothing. */
export const UNREAD_RETRY_MS = MINUTE_MS;
/** The wait grows with the length of the outage, up to this. */
const UNREAD_RETRY_MS_MAX = 10 * MINUTE_MS;
/** A list that stays unreadable longer than this goes on the attention list. */
const UNREAD_ATTENTION_MS = HOUR_MS;

/** The whole list of the service, or the inquiries with one label. */
type Listing = 'whole' | 'labels';

type Question = { specialty: Specialty; listing: Listing };

/**
 * Records the failure. The office hears of it after an hour when the service is unavailable, at
 * once when it rejects us. Then the retries are also slow, because a few failed logins may lock an
 * account. Returns when to read the list again.
 */
export async function noteUnread(
  { store, env, memory }: SubmitDeps,
  question: Question,
  failure: ServiceFailure,
): Promise<number> {
  const { specialty, listing } = question;
  const failures = memory.failures[listing];
  const now = env.clock.now();
  const before = failures.get(specialty);
  const since = before?.since ?? now;
  const is_rejected =
    failure.class === 'stopped' ||
    failure.class === 'refused' ||
    failure.status === 401 ||
    (failure.class === 'ambiguous' && failure.cause === 'too_large');
  const backoff_ms = Math.min(
    UNREAD_RETRY_MS_MAX,
    Math.max(UNREAD_RETRY_MS, Math.round((now - since) / 4)),
  );
  const asked_ms = 'retry_after_ms' in failure ? (failure.retry_after_ms ?? 0) : 0;
  const retry_at = now + Math.max(is_rejected ? STOPPED_RETRY_MS : backoff_ms, asked_ms);
  const cause = `${failure.class} ${failure.status}`;
  const is_whole = listing === 'whole';
  if (before?.cause !== cause)
    env.log(is_whole ? 'reconciliation_failed' : 'label_check_failed', {
      specialty,
      failure: failure.class,
      http_status: failure.status,
    });
  failures.set(specialty, { since, retry_at, cause });
  if (is_rejected || now - since >= UNREAD_ATTENTION_MS)
    await store.write((tx) => report(tx, question, failure, now));
  return retry_at;
}

/**
 * Takes the list off the attention list: it was read at `at`. The whole list also shows whether any
 * label must still be queried.
 */
export async function noteRead(tx: Tx, question: Question, at: number): Promise<void> {
  const { specialty, listing } = question;
  const about = [subjectOf({ specialty, listing: 'labels' })];
  if (listing === 'whole') about.push(subjectOf(question));
  await resolveAttention(tx, about, at);
}

async function report(
  tx: Tx,
  question: Question,
  failure: ServiceFailure,
  now: number,
): Promise<void> {
  const { specialty, listing } = question;
  const is_too_large = failure.class === 'ambiguous' && failure.cause === 'too_large';
  const answer = failure.status === null ? 'it cannot be reached' : `it answered ${failure.status}`;
  const why = is_too_large ? 'it is longer than eligd can compare (500,000 inquiries)' : answer;
  const kept = 'Everything that is due is kept, and is sent when';
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: subjectOf(question) },
    {
      reason: 'submission_stopped',
      what:
        listing === 'whole'
          ? `eligd is not sending anything: the service’s list of ${specialty} inquiries could ` +
            `not be read, because ${why}. ${kept} the list can be read again.`
          : `eligd is not making ${specialty} calls that the service may already have: the query ` +
            `for the inquiries of one visit fails, because ${why}. ${kept} the query works again.`,
      next: is_too_large
        ? 'Ask the calling service for your own account, or to take old inquiries off its list.'
        : listing === 'whole'
          ? 'Run "eligd check" to find the cause: the credentials (ELIGD_SERVICE_…), ' +
            'service.base_url, or the network.'
          : 'Run "eligd check". If it finds nothing, tell the calling service that its list of ' +
            'inquiries fails with the parameter external_id.',
    },
    now,
  );
}

const subjectOf = ({ specialty, listing }: Question) =>
  `${listing === 'whole' ? 'reconciliation' : 'labels'}:${specialty}`;
