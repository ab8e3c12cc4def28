/**
 * Claims the next inquiries in the commit that settles the replies to the last ones: half of the
 * commits are saved. A crash after it leaves as many rows in `sending` as one after a separate
 * claim.
 */
import type { Specialty } from '../../domain/specialty.ts';
import { DAY_MS } from '../../domain/time.ts';
import { isWatchingForOlderCalls } from '../../store/bookkeeping/new-database.ts';
import { waitingToSend } from '../../store/calls/due-inquiries.ts';
import { currentHalts } from '../../store/calls/halts.ts';
import type { SubmitContext } from './deps.ts';
import { reconciliationsDemanded } from './reconcile.ts';

/** What one step sends, at most: another specialty, or a lookup, may become due meanwhile. */
export const BATCHES_PER_STEP = 20;

/**
 * Returns whether the next inquiries of the specialty may be claimed in this transaction, without
 * the checks between two steps: there is nothing for these to do. Rows in `sending` mean that the
 * replies to the last ones could not be settled.
 */
export async function mayClaimNext(
  { tx, deps, now }: SubmitContext,
  { specialty, signal }: { specialty: Specialty; signal: AbortSignal },
): Promise<boolean> {
  const { reconciled } = deps.memory;
  const compared_at = reconciled.get(specialty)?.at ?? null;
  if (signal.aborted || compared_at === null || compared_at <= now - DAY_MS) return false;
  if (reconciliationsDemanded(deps).length > 0) return false;
  if ((await currentHalts(tx)).length > 0 || (await isWatchingForOlderCalls(tx))) return false;
  const waiting = await waitingToSend(tx, now);
  return waiting.every((each) => each.state === 'planned' && each.specialty === specialty);
}
