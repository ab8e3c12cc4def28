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
/** A label that is not queried again for so long after it may be: no call waits for it. */
const NO_LONGER_WAITED_FOR_MS = HOUR_MS;

/** The inquiries with one label; without a label, the whole list. */
type Question = { specialty: Specialty; label?: string };

/** Stands for all labels: the service rejects us, whatever we ask. */
const ALL_LABELS = '';

/** When to read the list again. `is_about_all`: until then, no label is to be queried. */
export type Wait = { retry_at: number; is_about_all: boolean };

/** Returns whether the list failed and must not be read again yet; null: read it. */
export function waitFor(memory: SubmitMemory, question: Question, now: number): Wait | null {
  const failures = failuresOf(memory, question);
  for (const key of [ALL_LABELS, question.label]) {
    const failed = key === undefined ? undefined : failures.get(key);
    // The clock may have been set back.
    if (failed !== undefined && failed.since <= now && now < failed.retry_at)
      return { retry_at: failed.retry_at, is_about_all: key === ALL_LABELS };
  }
  return null;
}

/** The whole list has a single entry, as if it were all labels. */
function failuresOf(
  { failures }: SubmitMemory,
  { specialty, label }: Question,
): ReadonlyMap<string, ReadingFailure> {
  if (label !== undefined) return failures.labels.get(specialty) ?? new Map();
  const failed = failures.whole.get(specialty);
  return new Map(failed === undefined ? [] : [[ALL_LABELS, failed]]);
}

/**
 * Records the failure. The office hears of it after an hour when the service is unavailable, at
 * once when it rejects us. Then the retries are also slow, because a few failed logins may lock an
 * account.
 */
export async function noteUnread(
  { store, env, memory }: SubmitDeps,
  question: Question,
  failure: ServiceFailure,
): Promise<Wait> {
  const { specialty, label } = question;
  const now = env.clock.now();
  const known = failuresOf(memory, question);
  const is_about_all = label === undefined || failure.class === 'stopped' || failure.status === 401;
  const key = is_about_all ? ALL_LABELS : label;
  const since = known.get(key)?.since ?? now;
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
  if (![...known.values()].some((failed) => failed.cause === cause))
    env.log(label === undefined ? 'reconciliation_failed' : 'label_check_failed', {
      specialty,
      failure: failure.class,
      http_status: failure.status,
    });
  const failed = { since, retry_at, cause };
  if (label === undefined) memory.failures.whole.set(specialty, failed);
  else memory.failures.labels.set(specialty, new Map([...known, [key, failed]]));
  if (is_rejected || now - since >= UNREAD_ATTENTION_MS)
    await store.write((tx) => report(tx, question, failure, now));
  return { retry_at, is_about_all };
}

/**
 * Takes the list off the attention list: it was read at `at`. The entry about labels stays as long
 * as a call waits for another one of them.
 */
export async function noteRead(
  tx: Tx,
  { failures }: SubmitMemory,
  { specialty, label }: Question,
  at: number,
): Promise<void> {
  const left = [...(failures.labels.get(specialty) ?? [])].filter(
    ([key, { retry_at }]) =>
      key !== label && key !== ALL_LABELS && retry_at > at - NO_LONGER_WAITED_FOR_MS,
  );
  const about = left.length === 0 ? [subjectOf({ specialty, label: ALL_LABELS })] : [];
  if (label === undefined) about.push(subjectOf({ specialty }));
  if (about.length > 0) await resolveAttention(tx, about, at);
  tx.after(() => failures.labels.set(specialty, new Map(left)));
}

async function report(
  tx: Tx,
  question: Question,
  failure: ServiceFailure,
  now: number,
): Promise<void> {
  const { specialty, label } = question;
  const is_whole = label === undefined;
  const is_too_large = failure.class === 'ambiguous' && failure.cause === 'too_large';
  const answer = failure.status === null ? 'it cannot be reached' : `it answered ${failure.status}`;
  const why = is_too_large ? 'it is longer than eligd can compare (500,000 inquiries)' : answer;
  const kept = 'Everything that is due is kept, and is sent when';
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: subjectOf(question) },
    {
      reason: 'submission_stopped',
      what: is_whole
        ? `eligd is not sending anything: the service’s list of ${specialty} inquiries could ` +
          `not be read, because ${why}. ${kept} the list can be read again.`
        : `eligd is not making ${specialty} calls that the service may already have: the query ` +
          `for the inquiries of one visit fails, because ${why}. ${kept} the query works again.`,
      next: is_too_large
        ? 'Ask the calling service for your own account, or to take old inquiries off its list.'
        : is_whole
          ? 'Run "eligd check" to find the cause: the credentials (ELIGD_SERVICE_…), ' +
            'service.base_url, or the network.'
          : 'Run "eligd check". If it finds nothing, tell the calling service that its list of ' +
            'inquiries fails with the parameter external_id.',
    },
    now,
  );
}

const subjectOf = ({ specialty, label }: Question) =>
  `${label === undefined ? 'reconciliation' : 'labels'}:${specialty}`;
