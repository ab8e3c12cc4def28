/** Calls whose IDs eligd does not know, and which the service may list later. */
import { type ExpressionBuilder, sql } from 'kysely';
import { parsed } from '../../domain/damaged.ts';
import type { Specialty } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';
import type { CallRow } from './calls.ts';

/**
 * Returns the labels, as sent, of calls that count as absent, and of lost ones whose inquiries the
 * office has withdrawn, by match key; nothing for match keys without such calls. The service may
 * list one of them by now.
 */
export async function absentLabels(
  db: Db | Tx,
  specialty: Specialty,
  match_keys: readonly string[],
): Promise<Map<string, string[]>> {
  if (match_keys.length === 0) return new Map();
  const absent = Map.groupBy(
    await ABSENT(db, { match_keys, specialty }),
    ({ match_key }) => match_key,
  );
  return new Map([...absent].map(([match_key, calls]) => [match_key, calls.map(labelAsSent)]));
}

function isAbsent(where: ExpressionBuilder<Tables, 'calls'>) {
  const withdrawn = where
    .selectFrom('inquiries')
    .select('id')
    .whereRef('inquiries.id', '=', 'calls.inquiry')
    .where('state', '=', sql.lit('withdrawn'));
  return where.or([
    where('fate', '=', sql.lit('absent')),
    where.and([where('fate', '=', sql.lit('lost')), where.exists(withdrawn)]),
  ]);
}

/** The column has the label in capital letters; the body, as sent, until retention empties it. */
function labelAsSent({ external_id, body }: Pick<CallRow, 'external_id' | 'body'>): string {
  const sent = parsed(body ?? '') as { external_id?: string } | null;
  return sent?.external_id ?? external_id;
}

const ABSENT = prepared<{ match_keys: readonly string[]; specialty: Specialty }>()((tx, place) =>
  tx
    .selectFrom('calls')
    .select(['match_key', 'external_id', 'body'])
    .where('match_key', 'in', place('match_keys'))
    .where('specialty', '=', place('specialty'))
    .where(isAbsent),
);

/** What tells whether a listed inquiry may be a call of ours. */
export type MadeCallRow = Pick<CallRow, (typeof MADE)[number]>;

const MADE = [
  'id',
  'inquiry',
  'external_id',
  'match_key',
  'given_name',
  'fate',
  'sent_at',
  'sent_service_at',
] as const;

/**
 * Returns the calls of every specialty that count as absent, and the lost ones of inquiries that
 * the office has withdrawn.
 */
export async function absentCalls(tx: Tx): Promise<MadeCallRow[]> {
  return await ALL_ABSENT(tx, {});
}

const ALL_ABSENT = prepared()((tx) =>
  tx.selectFrom('calls').select(MADE).where('service_id', 'is', null).where(isAbsent),
);
