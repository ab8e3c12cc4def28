/**
 * A list that may be cut proves nothing about what it leaves out. While the list of a specialty has
 * no certain end, one query by `external_id` precedes every first send (G1): a call that a lost or
 * restored database has forgotten shows up there, and serves instead of a second one.
 */
import { externalId } from '../../domain/needs.ts';
import { type InquiryRow, updateInquiry } from '../../store/calls/inquiries.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import type { SubmitDeps } from './deps.ts';
import { compare, RECONCILE_RETRY_MS } from './reconcile.ts';
import { seenInquiry } from './seen.ts';

/**
 * Asks for each row's label and keeps what the service shows under it, for the check
 * that precedes every call. Returns the rows that may be sent now; when a query fails, it and what
 * comes after it wait.
 */
export async function checkLabels(
  deps: SubmitDeps,
  rows: readonly InquiryRow[],
  { external_id_template, signal }: { external_id_template: string; signal: AbortSignal },
): Promise<Set<number>> {
  const checked = new Set<number>();
  for (const [index, row] of rows.entries()) {
    const visits = await appointmentsOf(deps.store.db, row.id);
    const labels = new Set([
      row.external_id,
      ...visits.map(({ connector, source_id }) =>
        externalId(external_id_template, connector, source_id),
      ),
    ]);
    for (const label of labels) {
      if (signal.aborted) return checked;
      if (await checkLabel(deps, row, label, signal)) continue;
      await putOff(deps, rows.slice(index));
      return checked;
    }
    checked.add(row.id);
  }
  return checked;
}

/** They stay due, and the service that could not be asked is not asked again at once. */
async function putOff({ store, env }: SubmitDeps, rows: readonly InquiryRow[]): Promise<void> {
  const now = env.clock.now();
  await store.write(async (tx) => {
    for (const { id } of rows)
      await updateInquiry(tx, id, { due_at: now + RECONCILE_RETRY_MS }, now);
  });
}

/** False: the query failed, so this row and those after it wait for the next step. */
async function checkLabel(
  deps: SubmitDeps,
  { id, specialty }: InquiryRow,
  external_id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, store, env } = deps;
  const listed = await client.list(specialty, { external_id }, { priority: 'send', signal });
  if (!listed.ok) {
    env.log('label_check_failed', { inquiry: id, failure: listed.failure.class });
    return false;
  }
  const seen = listed.value.inquiries.map(seenInquiry);
  if (seen.length > 0) {
    // A reconciliation of these few: what nobody knew belongs to a lost reply, is a duplicate call,
    // or is unclaimed. Whether another installation uses the account, the whole list says.
    const now = env.clock.now();
    await store.write((tx) => compare({ tx, deps, now }, { specialty, seen, last: null }));
  }
  return true;
}
