/**
 * Sends due inquiries, once each (G1). The order matters, because each step protects the next one:
 * mark rows that a dead process left in `sending` as uncertain; compare the service's list with the
 * calls; look up uncertain inquiries; send what is due.
 */
import type { Specialty } from '../../domain/specialty.ts';
import { earlier } from '../../domain/time.ts';
import {
  isWatchingForOlderCalls,
  stopForOlderCalls,
} from '../../store/bookkeeping/new-database.ts';
import { nextSubmissionDue, uncertainDue, waitingToSend } from '../../store/calls/due-inquiries.ts';
import { currentHalts, type Halt } from '../../store/calls/halts.ts';
import { inState } from '../../store/calls/inquiries.ts';
import { dueForPlanning } from '../../store/calls/plan-due.ts';
import type { StepResult } from '../loop.ts';
import type { SubmitDeps } from './deps.ts';
import { hasEverySend } from './earlier-comparison.ts';
import { checkUndecidable } from './label-check.ts';
import { endLabelWaits, recallLabelWaits } from './label-failures.ts';
import { lookUp } from './lookup.ts';
import { noticeClock } from './notice-clock.ts';
import { makeUncertain } from './outcome.ts';
import {
  allowStrangers,
  ensureReconciled,
  reconciliationsDemanded,
  wasReconciled,
} from './reconcile.ts';
import { sendDue } from './send.ts';
import { UNREAD_RETRY_MS } from './unread-lists.ts';

export {
  newSubmitMemory,
  type SubmitDeps,
  type SubmitMemory,
  type SubmitSettings,
} from './deps.ts';
export {
  beginWithoutComparison,
  demandReconciliation,
  ensureReconciled,
  forgetReconciled,
} from './reconcile.ts';

const LOOKUPS_PER_STEP = 20;

/**
 * Returns whether eligd must read the list before it plans or sends: because it may send something,
 * because the list may show something that the office must know, or because an older database may
 * have been put in place: its calls must not look like another installation's. Inquiries that
 * become due later are still compared with the list before they are sent.
 */
export async function isListWanted(
  deps: Pick<SubmitDeps, 'store' | 'env' | 'sends'>,
  specialty: Specialty,
): Promise<boolean> {
  const { store, env } = deps;
  const now = env.clock.now();
  const { db } = store;
  const may_send =
    (await dueForPlanning(db, now, 1)).length > 0 || (await waitingToSend(db, now)).length > 0;
  return (
    may_send ||
    (await isWatchingForOlderCalls(db)) ||
    (await currentHalts(db)).some(({ reason }) => reason !== 'observe') ||
    !(await hasEverySend(deps)) ||
    !(await wasReconciled(db, specialty, now))
  );
}

/**
 * Does one step of the stage, in the order above. Returns what it did, and when the next one is
 * due.
 */
export async function submitStep(
  deps: SubmitDeps,
  options: { external_id_template: string; signal: AbortSignal },
): Promise<StepResult> {
  const { store, env } = deps;
  await noticeClock(deps);
  await allowStrangers(deps);
  await loginAgainBeforeRetry(deps);
  await recallLabelWaits(deps);
  const reconciled: Specialty[] = [];
  const waiting = await waitingToSend(store.db, env.clock.now());
  const to_send = waiting.map(({ specialty }) => specialty);
  await recoverInterrupted(deps);
  const wanted = [...new Set([...to_send, ...reconciliationsDemanded(deps)])];
  for (const specialty of wanted) {
    const before = deps.memory.reconciled.get(specialty);
    if (!(await ensureReconciled(deps, specialty))) continue;
    reconciled.push(specialty);
    if (deps.memory.reconciled.get(specialty)?.at !== before?.at)
      await checkUndecidable(deps, specialty, options.signal);
  }
  await stopIfCallsAreOlder(deps, reconciled.length === wanted.length);
  const looked_up = waiting.some(({ state }) => state !== 'planned')
    ? await takeLookups(deps, options.signal)
    : 0;
  const halts = await currentHalts(store.db);
  const blocking = halts.filter((halt) => !isTryDue(halt, env.clock.now()));
  let sent = 0;
  if (blocking.length === 0 && !deps.settings.is_observing) {
    for (const specialty of reconciled) {
      // The labels of the other specialty may have stopped submission.
      if ((await currentHalts(store.db)).length > halts.length) break;
      // While the account is in doubt, a single inquiry tests whether it works again.
      const limit = halts.length > 0 ? 1 : Number.MAX_SAFE_INTEGER;
      sent += await sendDue(deps, { ...options, specialty, limit });
    }
  }
  const did = looked_up + sent;
  await endLabelWaits(deps);
  // Then the next step follows at once.
  if (did > 0) return { did, next_at: null };
  const now = env.clock.now();
  const next_try = blocking.map(({ next_try_at }) => next_try_at).reduce(earlier, null);
  const retry = reconciled.length < wanted.length ? now + UNREAD_RETRY_MS : null;
  return {
    did,
    next_at: earlier(earlier(next_try, retry), await nextSubmissionDue(store.db, now)),
  };
}

/**
 * Stops submission on a new database of an installation that has made calls before, until the
 * operator confirms. `is_compared`: this step has compared the service's list with the database.
 */
async function stopIfCallsAreOlder(
  { store, env }: SubmitDeps,
  is_compared: boolean,
): Promise<void> {
  if (!(await isWatchingForOlderCalls(store.db))) return;
  await store.write(async (tx) => {
    if (await stopForOlderCalls(tx, { is_compared, now: env.clock.now() }))
      tx.after(() => env.log('submission_stopped', { reason: 'new_database' }));
  });
}

/**
 * Logs in again before a retry on a stopped account: an expired token may be the reason why the
 * service rejects requests.
 */
async function loginAgainBeforeRetry({ store, env, client, memory }: SubmitDeps): Promise<void> {
  const account = (await currentHalts(store.db)).find(({ reason }) => reason === 'account');
  if (account === undefined || !isTryDue(account, env.clock.now())) return;
  if (memory.tried_at === account.next_try_at) return;
  memory.tried_at = account.next_try_at;
  client.forgetToken();
}

/**
 * Recovers rows in `sending`. No request is in flight between two steps, so such a row was left by
 * a process that died, or by an error outside the request, such as a commit that failed. Its
 * request may have left long after the intent was committed, and nobody saw its end, which is at
 * most the timeout from now (docs/design.md "Absence is proven").
 */
export async function recoverInterrupted(deps: SubmitDeps): Promise<void> {
  const left = await inState(deps.store.db, 'sending');
  if (left.length === 0) return;
  // At a start, the clock may be set before the first step.
  await noticeClock(deps);
  const now = deps.env.clock.now();
  const why = {
    reason: 'eligd stopped while the request was in progress.',
    was_accepted: false,
    ended_by: now + deps.settings.timeout_ms,
  };
  const ids = left.map(({ id }) => id);
  await deps.store.write((tx) => makeUncertain({ tx, deps, now }, ids, why));
}

/** Looks up uncertain inquiries that are due. Returns how many were due. */
async function takeLookups(deps: SubmitDeps, signal: AbortSignal): Promise<number> {
  const due = await uncertainDue(deps.store.db, deps.env.clock.now(), LOOKUPS_PER_STEP);
  for (const row of due) {
    if (signal.aborted) break;
    await lookUp(deps, row);
  }
  return due.length;
}

function isTryDue(halt: Halt, now: number): boolean {
  return halt.next_try_at !== null && halt.next_try_at <= now;
}
