/** Judges the end of a list: whether it may hide inquiries beyond it (G1). */
import type { Specialty } from '../../domain/specialty.ts';
import type { InquiryList } from '../../service/api.ts';
import { hasUnclaimed } from '../../store/calls/calls.ts';
import { inquiriesToBeListed } from '../../store/calls/listed-calls.ts';
import type { Db } from '../../store/engine/database.ts';

/**
 * Returns whether a fixed cap may hide calls of ours beyond the end of the list. It may when the
 * list omits inquiries that are known to exist, or when it shows calls unknown to this database:
 * then the database has forgotten some calls, perhaps more than the list shows, whatever the list
 * says of its end. Otherwise only an assumed end is in doubt, if the list has the length of a usual
 * cap.
 */
export async function mayHideCalls(
  db: Db,
  specialty: Specialty,
  list: Pick<InquiryList, 'is_complete' | 'is_end_proven' | 'inquiries' | 'total_count'>,
): Promise<boolean> {
  if (isEndDoubtful(list) || (await omitsKnown(db, specialty, list))) return true;
  return await hasUnclaimed(db, specialty);
}

/** Returns whether the list omits inquiries that are known to exist; see `inquiriesToBeListed`. */
export async function omitsKnown(
  db: Db,
  specialty: Specialty,
  { inquiries }: Pick<InquiryList, 'inquiries'>,
  sent_until?: number,
): Promise<boolean> {
  const shown = new Set<string>(inquiries.map(({ id }) => id));
  const must_show = await inquiriesToBeListed(db, specialty, sent_until);
  return must_show.some(({ service_id }) => !shown.has(service_id));
}

/** Returns whether the list may go on beyond its end. */
export function isEndDoubtful({
  is_complete,
  is_end_proven,
  total_count,
}: Pick<InquiryList, 'is_complete' | 'is_end_proven' | 'total_count'>): boolean {
  return !is_complete || (!is_end_proven && isUsualCap(total_count));
}

/**
 * Returns whether services cut lists at this length: multiples of 5 up to 100, of 50 beyond, powers
 * of two.
 */
function isUsualCap(count: number): boolean {
  if (count < 5) return false;
  if (count <= 100 && count % 5 === 0) return true;
  return count % 50 === 0 || (count & (count - 1)) === 0;
}
