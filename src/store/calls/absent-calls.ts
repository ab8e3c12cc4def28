/**
 * Calls that two lookups have not found, or in whose place an older one was found. The service may
 * list one late: then it is adopted or reported, and never a stranger's (G1).
 */
import { type Selectable, sql } from 'kysely';
import type { Specialty } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { Tables } from '../engine/tables.ts';
import type { SeenInquiry } from './ledger.ts';

export type AbsentCall = Selectable<Tables['absent_calls']>;

export async function noteAbsent(tx: Tx, call: AbsentCall): Promise<void> {
  await tx.insertInto('absent_calls').values(call).execute();
}

export async function absentCallsOf(tx: Tx, inquiry: number): Promise<AbsentCall[]> {
  return await tx.selectFrom('absent_calls').selectAll().where('inquiry', '=', inquiry).execute();
}

/** Those that what the list shows may be. */
export async function absentCallsLike(
  tx: Tx,
  specialty: Specialty,
  seen: SeenInquiry,
): Promise<AbsentCall[]> {
  const alike = await tx
    .selectFrom('absent_calls')
    .selectAll()
    .where('match_key', '=', seen.match_key)
    .where('specialty', '=', specialty)
    .execute();
  return alike.filter((call) => isSameCall(call, seen));
}

/**
 * Whether another attempt fell due `from` then `to` now, of which an earlier one has calls that
 * were proven absent.
 */
export async function attemptAfterAbsence(
  db: Db,
  specialty: Specialty,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const row = await db
    .selectFrom('inquiries as i')
    .innerJoin('inquiries as earlier', (join) =>
      join
        .onRef('earlier.need_base', '=', 'i.need_base')
        .onRef('earlier.benefit_year', '=', 'i.benefit_year'),
    )
    .innerJoin('absent_calls as call', 'call.inquiry', 'earlier.id')
    .select('i.id')
    .where('i.state', '=', sql.lit('planned'))
    .where('i.due_at', '>', from)
    .where('i.due_at', '<=', to)
    .where('i.retry', '>', 0)
    .where('i.specialty', '=', sql.lit(specialty))
    .whereRef('earlier.attempt', '<', 'i.attempt')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * The same question under the same label, and about the same one of two twins as far as is known.
 */
export function isSameCall(call: AbsentCall, seen: SeenInquiry): boolean {
  const names = new Set([call.given_name, seen.given_name].filter((name) => name !== ''));
  return (
    call.match_key === seen.match_key && call.external_id === seen.external_id && names.size <= 1
  );
}
