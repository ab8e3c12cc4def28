/**
 * A list that may be cut proves nothing about what it leaves out. While the list of a specialty has
 * no certain end, one query by `external_id` precedes every first send (G1): a call that a lost or
 * restored database has forgotten shows up there, and serves instead of a second one.
 */
import { externalId } from '../../domain/needs.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { InquiryList } from '../../service/api.ts';
import type { InquiryRow } from '../../store/calls/inquiries.ts';
import { hasUnclaimed, noteSeen, whatAListMustShow } from '../../store/calls/ledger.ts';
import { appointmentsOf } from '../../store/calls/links.ts';
import type { Db } from '../../store/engine/database.ts';
import type { SubmitDeps } from './deps.ts';
import { seenInquiry } from './seen.ts';

/**
 * Whether a fixed cap may hide calls of ours behind the list. A proven end hides nothing. An
 * assumed end is doubted when the list is as long as caps are, when it leaves out what is known to
 * be there, or when it shows calls that this database does not know: then the database has
 * forgotten some, and perhaps more than the list shows.
 */
export async function mayHideCalls(
  db: Db,
  specialty: Specialty,
  list: Pick<InquiryList, 'is_complete' | 'is_end_proven' | 'inquiries' | 'total_count'>,
): Promise<boolean> {
  if (!list.is_complete) return true;
  if (list.is_end_proven) return false;
  if (isUsualCap(list.total_count)) return true;
  const shown = new Set<string>(list.inquiries.map(({ id }) => id));
  const must_show = await whatAListMustShow(db, specialty);
  if (!must_show.every(({ service_id }) => shown.has(service_id))) return true;
  return await hasUnclaimed(db, specialty);
}

/** The lengths at which services cut a list: multiples of 5 to 100, of 50 beyond, powers of two. */
export function isUsualCap(count: number): boolean {
  if (count < 5) return false;
  if (count <= 100 && count % 5 === 0) return true;
  return count % 50 === 0 || (count & (count - 1)) === 0;
}

/**
 * Asks for each row's label and keeps what the service shows under it, for the look into the ledger
 * that precedes every call. Returns the rows that may be sent now; when a query fails, it and what
 * comes after it wait.
 */
export async function checkLabels(
  deps: SubmitDeps,
  rows: readonly InquiryRow[],
  { external_id_template, signal }: { external_id_template: string; signal: AbortSignal },
): Promise<Set<number>> {
  const checked = new Set<number>();
  for (const row of rows) {
    const visits = await appointmentsOf(deps.store.db, row.id);
    const labels = new Set([
      row.external_id,
      ...visits.map(({ connector, source_id }) =>
        externalId(external_id_template, connector, source_id),
      ),
    ]);
    for (const label of labels) {
      if (signal.aborted || !(await checkLabel(deps, row, label, signal))) return checked;
    }
    checked.add(row.id);
  }
  return checked;
}

/** False: the query failed, so this row and those after it wait for the next step. */
async function checkLabel(
  { client, store, env }: SubmitDeps,
  { id, specialty }: InquiryRow,
  external_id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const listed = await client.list(specialty, { external_id }, { priority: 'send', signal });
  if (!listed.ok) {
    env.log('label_check_failed', { inquiry: id, failure: listed.failure.class });
    return false;
  }
  const seen = listed.value.inquiries.map(seenInquiry);
  if (seen.length > 0) await store.write((tx) => noteSeen(tx, specialty, seen, env.clock.now()));
  return true;
}
