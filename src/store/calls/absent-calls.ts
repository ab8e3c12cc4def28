/** Calls that were proven absent, and that the service may list later all the same. */
import { sql } from 'kysely';
import { parsed } from '../../domain/damaged.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { CallRow } from './calls.ts';
import type { InquiryRow } from './inquiries.ts';

/**
 * Returns the labels, as sent, of absent calls that were made for each inquiry or with its match
 * key; nothing for inquiries without any. The service may list such a call by now.
 */
export async function absentLabels(
  db: Db | Tx,
  specialty: Specialty,
  rows: readonly Pick<InquiryRow, 'id' | 'match_key'>[],
): Promise<Map<number, string[]>> {
  const labels = new Map<number, string[]>();
  if (rows.length === 0) return labels;
  const match_keys = rows.map(({ match_key }) => match_key);
  const absent = await ABSENT(db, { match_keys, inquiries: rows.map(({ id }) => id), specialty });
  for (const { id, match_key } of rows) {
    const own = absent.filter((call) => call.inquiry === id || call.match_key === match_key);
    if (own.length > 0) labels.set(id, own.map(labelAsSent));
  }
  return labels;
}

/** The column has the label in capital letters; the body, as sent, until retention empties it. */
function labelAsSent({ external_id, body }: Pick<CallRow, 'external_id' | 'body'>): string {
  const sent = parsed(body ?? '') as { external_id?: string } | null;
  return sent?.external_id ?? external_id;
}

const ABSENT = prepared<{
  match_keys: readonly string[];
  inquiries: readonly number[];
  specialty: Specialty;
}>()((tx, place) =>
  tx
    .selectFrom('calls')
    .select(['inquiry', 'match_key', 'external_id', 'body'])
    .where((where) =>
      where.or([
        where('match_key', 'in', place('match_keys')),
        where('inquiry', 'in', place('inquiries')),
      ]),
    )
    .where('fate', '=', sql.lit('absent'))
    .where('specialty', '=', place('specialty')),
);
