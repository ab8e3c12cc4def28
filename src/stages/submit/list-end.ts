/** What the end of a list is good for: whether something may be hidden behind it (G1). */
import type { Specialty } from '../../domain/specialty.ts';
import type { InquiryList } from '../../service/api.ts';
import { hasUnclaimed, whatAListMustShow } from '../../store/calls/calls.ts';
import type { Db } from '../../store/engine/database.ts';

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
