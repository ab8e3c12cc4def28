/** Queries of the list by `external_id` (G1), also where the service does not filter by it. */
import type { Specialty } from '../../domain/specialty.ts';
import type { ServiceFailure } from '../../service/api.ts';
import { type SubmitDeps, serviceNow } from './deps.ts';
import { stopForLostSends, untoldLoss } from './earlier-comparison.ts';
import { omitsKnown } from './list-end.ts';
import { compare, listedCount } from './reconcile.ts';
import { seenInquiry } from './seen.ts';

/**
 * Null: the label was queried. `all`: the service showed all of its inquiries in place of the
 * label's, so no other label has to be queried now. `stopped`: submission is stopped, because of
 * what the query showed or because it shows nothing. Otherwise why it could not be queried.
 */
export type LabelResult = ServiceFailure | 'all' | 'stopped' | null;

/** Queries one label, and saves the inquiries that the service shows under it. */
export async function queryLabel(
  deps: SubmitDeps,
  specialty: Specialty,
  external_id: string,
  signal: AbortSignal,
): Promise<LabelResult> {
  const { client, store, env } = deps;
  const listed = await client.list(specialty, { external_id }, { priority: 'send', signal });
  if (!listed.ok) return listed.failure;
  const { filter, is_complete, is_end_proven, total_count } = listed.value;
  const is_whole = is_complete && is_end_proven;
  // A filter that does something shows less than the whole list.
  const is_filtered =
    filter === 'none_or_applied' ||
    (is_whole && total_count < (await listedCount(store.db, specialty)));
  // First, because the whole list judges also inquiries that have no time.
  const shown = is_filtered || !is_whole ? null : await compareAll(deps, specialty, signal);
  if (shown === 'all' || shown === 'stopped') return shown;
  const seen = listed.value.inquiries.map(seenInquiry);
  if (seen.length > 0) {
    // A reconciliation of these few inquiries: each unknown one belongs to a lost reply, is a
    // duplicate call, is another installation's, or is unclaimed.
    const now = env.clock.now();
    const comparison = { specialty, seen, is_whole: false };
    const { is_stopped } = await store.write((tx) => compare({ tx, deps, now }, comparison));
    if (is_stopped) return 'stopped';
  }
  if (shown !== null) return shown;
  // The whole list in place of the label's may hide the calls that an older database lacks.
  return !is_filtered && (await stopForLostSends(deps, specialty)) ? 'stopped' : null;
}

/**
 * Compares the whole list in place of the list of each label. Null: it does not show everything. A
 * call that this database made since the loss may not be listed yet, for two settle times.
 */
async function compareAll(
  deps: SubmitDeps,
  specialty: Specialty,
  signal: AbortSignal,
): Promise<LabelResult> {
  const { client, store, env, settings } = deps;
  const now = env.clock.now();
  const settled_at = serviceNow(deps) - 2 * settings.settle_ms - settings.timeout_ms;
  const listed = await client.list(specialty, {}, { priority: 'send', signal });
  if (!listed.ok) return listed.failure;
  const seen = listed.value.inquiries.map(seenInquiry);
  const comparison = { specialty, seen, is_whole: true };
  const { is_stopped } = await store.write((tx) => compare({ tx, deps, now }, comparison));
  if (is_stopped) return 'stopped';
  const loss_at = (await untoldLoss(deps, specialty))?.updated_at ?? settled_at;
  const sent_until = Math.max(loss_at, settled_at);
  const is_whole =
    listed.value.is_complete &&
    listed.value.is_end_proven &&
    !(await omitsKnown(store.db, specialty, listed.value, sent_until));
  return is_whole ? 'all' : null;
}
