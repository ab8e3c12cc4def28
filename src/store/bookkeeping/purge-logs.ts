/**
 * Purges the audit trail and the access log. Both remain verifiable chains: erased words leave
 * their hash, and rows are deleted only from the beginning of a log. An audit entry keeps the hash
 * of the last deleted row; without it the database allows no deletion (migrations/0029).
 */
import { sql } from 'kysely';
import type { Db, Tx } from '../engine/database.ts';
import { PURGED, writeAudit } from './audit.ts';
import { firstHeldEntries } from './legal-holds.ts';

export type Log = 'audit' | 'access_log';

export const LOGS: readonly Log[] = ['audit', 'access_log'];

export const logSubject = (log: Log): string => `log:${log}`;

const SUBJECTS_PER_STATEMENT = 500;
/** Kinds of subjects without an appointment whose words may name a file. */
const NAMED_KINDS = ['item', 'rejected', 'source'];

/**
 * Erases the words in the trail about `subjects`: the payer's, the service's, a note. The events
 * themselves stay, with a row that records the purge.
 */
export async function eraseWords(
  tx: Tx,
  subjects: readonly string[],
  { now, reason, before = now }: { now: number; reason: string; before?: number },
): Promise<void> {
  const entry = { at: now, from_state: null, to_state: PURGED, reason };
  await writeAudit(
    tx,
    subjects.map((subject) => ({ ...entry, subject })),
  );
  for (let first = 0; first < subjects.length; first += SUBJECTS_PER_STATEMENT)
    await tx
      .updateTable('audit')
      .set({ reason: '', salt: null })
      .where('subject', 'in', subjects.slice(first, first + SUBJECTS_PER_STATEMENT))
      .where('salt', 'is not', null)
      .where('to_state', '<>', PURGED)
      .where('at', '<=', before)
      .execute();
}

/** Returns subjects about files and their rows that have words older than `before`. */
export async function oldNamedSubjects(tx: Db | Tx, before: number): Promise<string[]> {
  const found: string[] = [];
  for (const kind of NAMED_KINDS) {
    const rows = await tx
      .selectFrom('audit')
      .select('subject')
      .distinct()
      .where('subject', '>=', `${kind}:`)
      .where('subject', '<', `${kind};`)
      .where('at', '<', before)
      .where('salt', 'is not', null)
      .where('to_state', '<>', PURGED)
      .execute();
    found.push(...rows.map(({ subject }) => subject));
  }
  return found;
}

/**
 * Purges both logs and returns the number of deleted entries. A log keeps everything from its first
 * entry about a held patient on.
 */
export async function purgeLogs(tx: Tx, limits: { before: number; now: number }): Promise<number> {
  const held = await firstHeldEntries(tx);
  let purged = 0;
  for (const log of LOGS) purged += await purgeLog(tx, log, { ...limits, keep_from: held[log] });
  return purged;
}

/**
 * Counts the entries that `purgeLogs` would delete. `is_written`: whether the trail gets an entry
 * first, so that the newest one of today may be deleted.
 */
export async function countOldEntries(
  db: Db,
  before: number,
  { is_written }: { is_written: boolean },
): Promise<{ count: number; oldest: number | null }> {
  const held = await firstHeldEntries(db);
  const total = { count: 0, oldest: null as number | null };
  for (const log of LOGS) {
    const keeps_newest = !(is_written && log === 'audit');
    const last = await lastToDelete(db, log, { before, keep_from: held[log], keeps_newest });
    if (last === null) continue;
    const row = await db
      .selectFrom(log)
      .select((select) => [
        select.fn.countAll<number>().as('count'),
        select.fn.min('at').as('oldest'),
      ])
      .where('id', '<=', last.id)
      .executeTakeFirst();
    total.count += row?.count ?? 0;
    const oldest = row?.oldest ?? null;
    if (oldest !== null) total.oldest = Math.min(total.oldest ?? oldest, oldest);
  }
  return total;
}

/**
 * Deletes the rows of a log that are older than `before` (epoch milliseconds) and precede the row
 * `keep_from`. Returns how many.
 */
export async function purgeLog(
  tx: Tx,
  log: Log,
  { before, now, keep_from }: { before: number; now: number; keep_from: number | null },
): Promise<number> {
  const last = await lastToDelete(tx, log, { before, keep_from, keeps_newest: true });
  if (last === null) return 0;
  const at = { at: now, subject: logSubject(log), from_state: null };
  const reason = 'These entries are older than retention.audit_days.';
  await writeAudit(tx, [
    { ...at, to_state: PURGED, reason, covers: last.id, start_hash: last.hash },
  ]);
  const { numDeletedRows } = await tx
    .deleteFrom(log)
    .where('id', '<=', last.id)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

type Range = { before: number; keep_from: number | null; keeps_newest: boolean };

/**
 * Returns the last row to delete. Never the newest row: the next one is chained to it, and its
 * number must not be reused.
 */
async function lastToDelete(
  tx: Db | Tx,
  log: Log,
  { before, keep_from, keeps_newest }: Range,
): Promise<{ id: number; hash: Buffer } | null> {
  const young = await tx
    .selectFrom(log)
    .select('id')
    .where('at', '>=', before)
    .orderBy(sql`+id`)
    .limit(sql.lit(1))
    .executeTakeFirst();
  const newest = await tx
    .selectFrom(log)
    .select((select) => select.fn.max('id').as('id'))
    .executeTakeFirst();
  const end = young?.id ?? (newest?.id ?? 0) + (keeps_newest ? 0 : 1);
  const last = await tx
    .selectFrom(log)
    .select(['id', 'hash'])
    .where('id', '<', Math.min(end, keep_from ?? end))
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return last ?? null;
}
