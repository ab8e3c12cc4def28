/** Calls that wait because a query by label, which must come before them, fails (G1, G2, G7). */
import type { Specialty } from '../../domain/specialty.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { type InquiryRow, inquiriesById } from '../../store/calls/inquiries.ts';
import type { LabelFailures, SubmitDeps, SubmitMemory } from './deps.ts';
import { STOPPED_RETRY_MS } from './outcome.ts';
import {
  failedAgain,
  isLoginRejected,
  reportUnread,
  resolveUnread,
  UNREAD_RETRY_MS,
} from './unread-lists.ts';

/** Returns what is known of the specialty's labels. */
export function labelFailures({ failures }: SubmitMemory, specialty: Specialty): LabelFailures {
  const known = failures.labels.get(specialty) ?? {
    waiting: new Map(),
    last_failed: null,
    none_before: 0,
    is_told: true,
  };
  failures.labels.set(specialty, known);
  return known;
}

/** Returns until when no label is to be queried; null: one may be. */
export function labelsWaitUntil({ none_before }: LabelFailures, now: number): number | null {
  // Later than any wait: the clock was set back.
  return none_before > now && none_before <= now + STOPPED_RETRY_MS ? none_before : null;
}

/**
 * Records that a label of the call could not be queried. No label is queried for a minute after two
 * calls failed in a row, and for longer after a rejected login, which may lock the account. Returns
 * when to query those of this call again.
 */
export async function noteUnqueried(
  deps: SubmitDeps,
  { id, specialty }: InquiryRow,
  failure: ServiceFailure,
): Promise<number> {
  const known = labelFailures(deps.memory, specialty);
  const now = deps.env.clock.now();
  const { failed, is_told } = failedAgain(failure, known.waiting.get(id), now);
  if (![...known.waiting.values()].some(({ cause }) => cause === failed.cause))
    deps.env.log('label_check_failed', {
      specialty,
      failure: failure.class,
      http_status: failure.status,
    });
  known.waiting.set(id, failed);
  const is_second = known.last_failed !== null && known.last_failed !== id;
  known.last_failed = is_second ? null : id;
  if (isLoginRejected(failure)) known.none_before = now + STOPPED_RETRY_MS;
  else if (is_second) known.none_before = now + UNREAD_RETRY_MS;
  if (is_told) {
    known.is_told = true;
    const lists = { specialty, are_labels: true };
    await deps.store.write((tx) => reportUnread(tx, lists, failure, now));
  }
  // Later than the calls that wait untried, so that those come first.
  return Math.max(failed.retry_at, now + 2 * UNREAD_RETRY_MS);
}

/** Records that all labels of the call were queried. */
export function noteQueried(memory: SubmitMemory, { id, specialty }: InquiryRow): void {
  const known = labelFailures(memory, specialty);
  known.waiting.delete(id);
  known.last_failed = null;
}

/**
 * Forgets calls that were sent, are on hold, or are no longer needed. When none is left that waits
 * for a label, the entry on the attention list ends.
 */
export async function endLabelWaits({ store, env, memory }: SubmitDeps): Promise<void> {
  for (const [specialty, known] of memory.failures.labels) {
    if (!known.is_told && known.waiting.size === 0) continue;
    const rows = await inquiriesById(store.db, [...known.waiting.keys()]);
    const due = rows.filter((row) => row.state === 'planned' && row.hold_reason === null);
    const due_ids = new Set(due.map(({ id }) => id));
    for (const id of known.waiting.keys()) if (!due_ids.has(id)) known.waiting.delete(id);
    if (known.waiting.size > 0 || !known.is_told) continue;
    const lists = { specialty, are_labels: true };
    await store.write((tx) => resolveUnread(tx, lists, env.clock.now()));
    known.is_told = false;
  }
}
