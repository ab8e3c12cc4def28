import type { Specialty } from '../../domain/specialty.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { raiseAttention, resolveAttention } from '../../store/bookkeeping/attention.ts';
import {
  forgetLearned,
  readLearned,
  writeLearned,
} from '../../store/bookkeeping/learned-settings.ts';
import { noteSeen, type SeenInquiry } from '../../store/calls/calls.ts';
import { currentHalts, endHalt, halt, haltSubject } from '../../store/calls/halts.ts';
import type { Db, Tx } from '../../store/engine/database.ts';
import type { Store } from '../../store/engine/store.ts';
import { attributeCalls } from './attribute.ts';
import type { Reconciled, SubmitContext, SubmitDeps } from './deps.ts';
import { earlierComparison, keepComparison } from './earlier-comparison.ts';
import { mayHideCalls } from './list-end.ts';
import { STOPPED_RETRY_MS } from './outcome.ts';
import { seenInquiry } from './seen.ts';

/** When the list could not be read, nothing is sent, and it is asked for again. */
export const RECONCILE_RETRY_MS = MINUTE_MS;
/** The longer the list could not be read, the more slowly it is asked for, up to this. */
const RECONCILE_RETRY_MS_MAX = 10 * MINUTE_MS;
/** A service that is away for longer is on the attention list. */
const AWAY_ATTENTION_MS = HOUR_MS;

/**
 * Reconciliation: the service's whole list against the calls, at every start, after a clock jump,
 * daily, and always before the next send (docs/design.md "Reconciliation"). What nobody owns is
 * kept and consulted before any call, so that a restored or lost database does not call twice (G1).
 * Returns whether the specialty may be sent for.
 */
export async function ensureReconciled(deps: SubmitDeps, specialty: Specialty): Promise<boolean> {
  const { running } = deps.memory;
  // At a start two ask for it at once.
  const under_way = running.get(specialty);
  if (under_way !== undefined) return await under_way;
  const comparison = reconcileIfDue(deps, specialty).finally(() => running.delete(specialty));
  running.set(specialty, comparison);
  return await comparison;
}

async function reconcileIfDue(deps: SubmitDeps, specialty: Specialty): Promise<boolean> {
  const { env, store, client, memory } = deps;
  const last = memory.reconciled.get(specialty) ?? (await takeUpComparison(deps, specialty));
  if (last !== null && !last.is_due && last.at > env.clock.now() - DAY_MS) return true;
  const started_at = env.clock.now();
  const failed = memory.failures.get(specialty);
  if (failed !== undefined && failed.since <= started_at && started_at < failed.retry_at)
    return false;
  const listed = await client.list(specialty, {}, { priority: 'send' });
  if (!listed.ok) {
    await noteFailedReconciliation(deps, specialty, listed.failure);
    return false;
  }
  if (!listed.value.is_complete)
    env.log('reconciliation_incomplete', {
      specialty,
      unreadable_inquiries: listed.value.unreadable_count,
    });
  const seen = listed.value.inquiries.map(seenInquiry);
  const fresh = await store.write(async (tx) => {
    await resolveAttention(tx, reconciliationSubject(specialty), started_at);
    await writeLearned(tx, reconciledFact(specialty), String(seen.length), started_at);
    return await compare({ tx, deps, now: started_at }, { specialty, seen, last });
  });
  env.log('reconciliation_done', {
    specialty,
    listed_inquiries: seen.length,
    unknown_inquiries: fresh,
  });
  const skew_ms = deps.clockSkew();
  const reconciled = {
    at: started_at,
    service_at: skew_ms === null ? null : started_at - skew_ms,
    is_due: false,
    hides_calls: await mayHideCalls(store.db, specialty, listed.value),
  };
  memory.reconciled.set(specialty, reconciled);
  await keepComparison(deps, specialty, reconciled);
  memory.failures.delete(specialty);
  return true;
}

/** At the start of a process: the comparison of the process before, where it still counts. */
async function takeUpComparison(
  deps: SubmitDeps,
  specialty: Specialty,
): Promise<Reconciled | null> {
  const earlier = await earlierComparison(deps, specialty);
  if (earlier !== null) deps.memory.reconciled.set(specialty, earlier);
  return earlier;
}

/**
 * Nothing is sent without a reconciliation, so a list that stays unreadable goes on the
 * attention list: at once when the service rejects us (and then it is asked slowly, because an
 * account may be locked after a few bad passwords), after an hour when it is away.
 */
async function noteFailedReconciliation(
  deps: SubmitDeps,
  specialty: Specialty,
  failure: ServiceFailure,
): Promise<void> {
  const { store, env, memory } = deps;
  const now = env.clock.now();
  const since = memory.failures.get(specialty)?.since ?? now;
  const is_turned_away =
    failure.class === 'stopped' ||
    failure.class === 'refused' ||
    failure.status === 401 ||
    (failure.class === 'ambiguous' && failure.cause === 'too_large');
  const patient_ms = Math.min(
    RECONCILE_RETRY_MS_MAX,
    Math.max(RECONCILE_RETRY_MS, (now - since) / 4),
  );
  const wait_ms = Math.max(is_turned_away ? STOPPED_RETRY_MS : patient_ms, retryAfter(failure));
  const cause = `${failure.class} ${failure.status}`;
  if (memory.failures.get(specialty)?.cause !== cause)
    env.log('reconciliation_failed', {
      specialty,
      failure: failure.class,
      http_status: failure.status,
    });
  memory.failures.set(specialty, { since, retry_at: now + wait_ms, cause });
  if (!is_turned_away && now - since < AWAY_ATTENTION_MS) return;
  await store.write((tx) => reportUnreadableList(tx, specialty, failure, now));
}

function retryAfter(failure: ServiceFailure): number {
  return 'retry_after_ms' in failure ? (failure.retry_after_ms ?? 0) : 0;
}

async function reportUnreadableList(
  tx: Tx,
  specialty: Specialty,
  failure: ServiceFailure,
  now: number,
): Promise<void> {
  const is_too_large = failure.class === 'ambiguous' && failure.cause === 'too_large';
  const answer = failure.status === null ? 'it cannot be reached' : `it answered ${failure.status}`;
  const why = is_too_large ? 'it is longer than eligd can compare (500,000 inquiries)' : answer;
  await raiseAttention(
    tx,
    {
      connector: null,
      appointment: null,
      inquiry: null,
      subject: reconciliationSubject(specialty),
    },
    {
      reason: 'submission_stopped',
      what:
        `eligd is not sending anything: the service’s list of ${specialty} inquiries could not ` +
        `be read, because ${why}. Everything that is due is kept, and is sent when the list ` +
        'can be read again.',
      next: is_too_large
        ? 'Ask the calling service for your own account, or to take old inquiries off its list.'
        : 'Run "eligd check" to find the cause: the credentials (ELIGD_SERVICE_…), ' +
          'service.base_url, or the network.',
    },
    now,
  );
}

const reconciledFact = (specialty: Specialty) => `reconciled:${specialty}`;

/** Whether any process of eligd compared the list on this database within the last day. */
export async function wasReconciled(db: Db, specialty: Specialty, now: number): Promise<boolean> {
  const fact = await readLearned(db, reconciledFact(specialty));
  return fact !== null && fact.updated_at <= now && now - fact.updated_at < DAY_MS;
}

/** The list could not be read: it is wanted whether or not anything is to be sent. */
export async function forgetReconciled(store: Store, specialty: Specialty): Promise<void> {
  await store.write((tx) => forgetLearned(tx, reconciledFact(specialty)));
}

function reconciliationSubject(specialty: Specialty): string {
  return `reconciliation:${specialty}`;
}

/**
 * Has every specialty reconciled again before the next send. That there was a reconciliation is
 * remembered: what is new since is strange.
 */
export function demandReconciliation(deps: Pick<SubmitDeps, 'memory'>): void {
  for (const last of deps.memory.reconciled.values()) last.is_due = true;
}

/**
 * What is to be reconciled even when nothing is to be sent: a duplicate call, or one that was
 * searched for, shows up that way. A list that could not be read, as at a start, is still wanted.
 */
export function reconciliationsDemanded({ memory }: Pick<SubmitDeps, 'memory'>): Specialty[] {
  const due = [...memory.reconciled].filter(([, { is_due }]) => is_due);
  return [...new Set([...due.map(([specialty]) => specialty), ...memory.failures.keys()])];
}

/** Others may use the account by now: what stopped submission because of them is over. */
export async function allowStrangers({ store, env, settings }: SubmitDeps): Promise<void> {
  if (!settings.is_shared_account) return;
  if (!(await currentHalts(store.db)).some(({ reason }) => reason === 'foreign')) return;
  await store.write(async (tx) => {
    await endHalt(tx, 'foreign');
    await resolveAttention(tx, haltSubject('foreign'), env.clock.now());
  });
  env.log('submission_resumed');
}

/** `last`: when this process compared the list before; null for the first time. */
type Comparison = {
  specialty: Specialty;
  seen: SeenInquiry[];
  last: Reconciled | null;
};

/**
 * Notes what a list showed, and gives each inquiry that was not known before to whom it belongs.
 * Returns how many were not known.
 */
export async function compare(
  context: SubmitContext,
  { specialty, seen, last }: Comparison,
): Promise<number> {
  const { tx, deps, now } = context;
  const fresh = await noteSeen(tx, specialty, seen, now);
  const question = {
    specialty,
    fresh: new Set(fresh.map(({ service_id }) => service_id)),
    // Without the service's clock, whatever is new may have been made since.
    compared_at: last === null ? null : (last.service_at ?? Number.NEGATIVE_INFINITY),
  };
  let strangers = 0;
  for (const match_key of new Set(fresh.map((each) => each.match_key)))
    strangers += (await attributeCalls(context, { ...question, match_keys: [match_key] }))
      .strangers;
  if (strangers > 0 && !deps.settings.is_shared_account) await stopForStrangers(context, strangers);
  return fresh.length;
}

/**
 * New inquiries on the account that this database did not send: another installation would call for
 * the same patients.
 */
async function stopForStrangers(
  { tx, deps, now }: SubmitContext,
  strangers: number,
): Promise<void> {
  const detail = `${strangers} new inquiries on the account were not sent by this installation.`;
  await halt(tx, { reason: 'foreign', detail, next_try_at: null }, now);
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: haltSubject('foreign') },
    {
      reason: 'submission_stopped',
      what:
        `eligd is not sending anything: ${strangers} new inquiries on the account were not ` +
        'sent by this installation, so another installation may be calling for the same ' +
        'patients.',
      next:
        'Stop the other installation and run "eligd release submission"; if others are meant ' +
        'to use the account, set service.shared_account: true.',
    },
    now,
  );
  tx.after(() =>
    deps.env.log('submission_stopped', { reason: 'foreign', unknown_inquiries: strangers }),
  );
}
