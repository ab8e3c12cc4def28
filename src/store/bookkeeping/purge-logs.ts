/**
 * What the audit trail and the access log lose with time. Both stay chains that can be checked:
 * words go and leave their hash, rows go from the beginning and leave the hash of the last of them
 * in an entry of the trail, without which the database lets nothing go (migrations/0029).
 */
import { sql } from 'kysely';
import type { Tx } from '../engine/database.ts';
import { PURGED, writeAudit } from './audit.ts';

export type Log = 'audit' | 'access_log';

export const logSubject = (log: Log): string => `log:${log}`;

const SUBJECTS_PER_STATEMENT = 500;
/** Kinds of subjects that hang on no appointment and whose words may name a file. */
const NAMED_KINDS = ['item', 'rejected', 'source'];

/**
 * Erases what the trail says about `subjects` in words: the payer's, the service's, a note. That
 * something happened stays, and that it was purged.
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

/** Subjects about files and rows of files with words that are older than `before`. */
export async function oldNamedSubjects(tx: Tx, before: number): Promise<string[]> {
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

/** Both logs; returns how many entries went. */
export async function purgeLogs(tx: Tx, limits: { before: number; now: number }): Promise<number> {
  return (await purgeLog(tx, 'audit', limits)) + (await purgeLog(tx, 'access_log', limits));
}

/**
 * Deletes the rows of a log that come before the first one from `before` on (epoch milliseconds).
 * Returns how many.
 */
export async function purgeLog(
  tx: Tx,
  log: Log,
  { before, now }: { before: number; now: number },
): Promise<number> {
  const last = await lastToGo(tx, log, before);
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

/** Never the newest row: the next one hangs on it, and its number must not be given again. */
async function lastToGo(
  tx: Tx,
  log: Log,
  before: number,
): Promise<{ id: number; hash: Buffer } | null> {
  const stays = await tx
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
  const last = await tx
    .selectFrom(log)
    .select(['id', 'hash'])
    .where('id', '<', stays?.id ?? newest?.id ?? 0)
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return last ?? null;
}
