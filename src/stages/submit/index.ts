/**
 * Sends due inquiries, once each (G1). In this order, because each protects the next: rows that a
 * dead process left in `sending` become uncertain; the service's list is compared with the calls;
 * what is uncertain is looked for; then what is due is sent.
 */
import type { Specialty } from '../../domain/specialty.ts';
import { earlier } from '../../domain/time.ts';
import { isAboutOlderCalls, stopForOlderCalls } from '../../store/bookkeeping/new-database.ts';
import { nextSubmissionDue, uncertainDue, waitingToSend } from '../../store/calls/due-inquiries.ts';
import { currentHalts, type Halt } from '../../store/calls/halts.ts';
import { inState } from '../../store/calls/inquiries.ts';
import { dueForPlanning } from '../../store/calls/links.ts';
import type { StepResult } from '../loop.ts';
import type { SubmitDeps } from './deps.ts';
import { lookUp } from './lookup.ts';
import { noticeClock } from './notice-clock.ts';
import {
  allowStrangers,
  ensureReconciled,
  RECONCILE_RETRY_MS,
  reconciliationsDemanded,
  wasReconciled,
} from './reconcile.ts';
import { recoverSending, sendDue } from './send.ts';

export {
  newSubmitMemory,
  type SubmitDeps,
  type SubmitMemory,
  type SubmitSettings,
} from './deps.ts';
export { demandReconciliation, ensureReconciled, forgetReconciled } from './reconcile.ts';

const LOOKUPS_PER_STEP = 20;

/**
 * Whether the list has to be read before anything is planned or sent: something may be sent, or
 * somebody has to be told of what it shows. Whatever becomes due later in this process is compared
 * with the list before it is sent, as ever.
 */
export async function isListWanted(
  { store, env }: Pick<SubmitDeps, 'store' | 'env'>,
  specialty: Specialty,
): Promise<boolean> {
  const now = env.clock.now();
  const { db } = store;
  const may_send =
    (await dueForPlanning(db, now, 1)).length > 0 || (await waitingToSend(db, now)).length > 0;
  return (
    may_send ||
    (await isAboutOlderCalls(db)) ||
    (await currentHalts(db)).some(({ reason }) => reason !== 'observe') ||
    !(await wasReconciled(db, specialty, now))
  );
}

export async function submitStep(
  deps: SubmitDeps,
  options: { external_id_template: string; signal: AbortSignal },
): Promise<StepResult> {
  const { store, env } = deps;
  await noticeClock(deps);
  await allowStrangers(deps);
  await tryWithOwnLogin(deps);
  const reconciled: Specialty[] = [];
  const waiting = await waitingToSend(store.db, env.clock.now());
  const to_send = [...new Set(waiting.map(({ specialty }) => specialty))];
  if (waiting.some(({ state }) => state === 'sending')) await recoverLeft(deps);
  const wanted = [...new Set([...to_send, ...reconciliationsDemanded(deps)])];
  for (const specialty of wanted)
    if (await ensureReconciled(deps, specialty)) reconciled.push(specialty);
  await heedOlderCalls(deps, reconciled.length === wanted.length);
  const looked = waiting.some(({ state }) => state !== 'planned')
    ? await takeLookups(deps, options.signal)
    : 0;
  const halts = await currentHalts(store.db);
  const blocking = halts.filter((halt) => !isTryDue(halt, env.clock.now()));
  let sent = 0;
  if (blocking.length === 0 && !deps.settings.is_observing) {
    for (const specialty of reconciled) {
      // While the account is in doubt, one inquiry tries the door.
      const limit = halts.length > 0 ? 1 : Number.MAX_SAFE_INTEGER;
      sent += await sendDue(deps, { ...options, specialties: [specialty], limit });
    }
  }
  const now = env.clock.now();
  const next_try = blocking.map(({ next_try_at }) => next_try_at).reduce(earlier, null);
  const retry = reconciled.length < wanted.length ? now + RECONCILE_RETRY_MS : null;
  return {
    did: looked + sent,
    next_at: earlier(earlier(next_try, retry), await nextSubmissionDue(store.db, now)),
  };
}

/** A database that is new where calls were made before sends nothing until somebody confirms it. */
async function heedOlderCalls({ store, env }: SubmitDeps, is_compared: boolean): Promise<void> {
  if (!(await isAboutOlderCalls(store.db))) return;
  await store.write(async (tx) => {
    if (await stopForOlderCalls(tx, { is_compared, now: env.clock.now() }))
      tx.after(() => env.log('submission_stopped', { reason: 'new_database' }));
  });
}

/**
 * A slow retry begins with a login of its own: a token that died early may be why the service
 * rejects calls.
 */
async function tryWithOwnLogin({ store, env, client, memory }: SubmitDeps): Promise<void> {
  const account = (await currentHalts(store.db)).find(({ reason }) => reason === 'account');
  if (account === undefined || !isTryDue(account, env.clock.now())) return;
  if (memory.tried_at === account.next_try_at) return;
  memory.tried_at = account.next_try_at;
  client.forgetToken();
}

/**
 * Between two steps no request is out, so a row that is found in `sending` was left there by a
 * process that died, or by a reply that could not be committed: its request may have been out
 * (docs/design.md "Sending").
 */
async function recoverLeft(deps: SubmitDeps): Promise<void> {
  const left = await inState(deps.store.db, 'sending');
  const now = deps.env.clock.now();
  if (left.length > 0) await deps.store.write((tx) => recoverSending({ tx, deps, now }, left));
}

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
