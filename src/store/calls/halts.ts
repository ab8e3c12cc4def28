import { createHash } from 'node:crypto';
import type { Attention } from '../../domain/attention.ts';
import { raiseAttention, resolveAttention } from '../bookkeeping/attention.ts';
import { readLearned, writeLearned } from '../bookkeeping/learned-settings.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/**
 * Why nothing is sent. `account`: the service rejects our requests. `foreign`: another installation
 * uses the account. `new_database`: the database is new and there was an earlier one.
 * `calls_lost`: it lacks calls, and the service cannot show which.
 * `observe`: the configuration says so.
 */
export type HaltReason = 'account' | 'foreign' | 'new_database' | 'calls_lost' | 'observe';

export type Halt = {
  reason: HaltReason;
  since: number;
  next_try_at: number | null;
  detail: string;
};

export async function currentHalts(db: Db | Tx): Promise<Halt[]> {
  const rows = await CURRENT(db, {});
  return rows.map((row) => ({ ...row, reason: row.reason as HaltReason }));
}

const CURRENT = prepared()((db) => db.selectFrom('halts').selectAll().orderBy('since'));

/**
 * Returns the halts that the operator can end. `observe` can only be removed from the
 * configuration.
 */
export async function halted(db: Db | Tx): Promise<Halt[]> {
  return (await currentHalts(db)).filter(({ reason }) => reason !== 'observe');
}

/**
 * Returns a text that changes with the halts, so that a form ends only the halts that it showed.
 */
export function haltsMark(halts: readonly Halt[]): string {
  const text = JSON.stringify(halts.map(({ reason, detail }) => [reason, detail]));
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** The subject of the attention item about a halt. */
const subjectOf = (reason: HaltReason) => `halt:${reason}`;

/**
 * Stops submission, or postpones the next try, and puts it on the attention list. An existing halt
 * keeps its `since`.
 */
export async function halt(
  tx: Tx,
  { reason, detail, next_try_at }: Omit<Halt, 'since'>,
  entry: Pick<Attention, 'what' | 'next'>,
  now: number,
): Promise<void> {
  await tx
    .insertInto('halts')
    .values({ reason, since: now, next_try_at, detail })
    .onConflict((conflict) => conflict.column('reason').doUpdateSet({ next_try_at, detail }))
    .execute();
  await raiseAttention(
    tx,
    { connector: null, appointment: null, inquiry: null, subject: subjectOf(reason) },
    { ...entry, reason: reason === 'observe' ? 'observe_mode' : 'submission_stopped' },
    now,
  );
}

/**
 * Resumes submission, and takes the halt off the attention list. Returns whether submission was
 * stopped for that reason.
 */
export async function endHalt(tx: Tx, reason: HaltReason, now: number): Promise<boolean> {
  if ((await END(tx, { reason })).length === 0) return false;
  await resolveAttention(tx, subjectOf(reason), now);
  // The service ends that one: the office has not said that nobody else calls.
  if (reason !== 'account')
    await writeLearned(tx, RELEASED, String((await releaseCount(tx)) + 1), now);
  return true;
}

const END = prepared<{ reason: HaltReason }>()((tx, place) =>
  tx.deleteFrom('halts').where('reason', '=', place('reason')).returning('reason'),
);

const RELEASED = 'submission_releases';

/**
 * Returns how often the office has resumed submission. Until then, others may have made the calls,
 * and the office knows of all inquiries that others have created on the account.
 */
export async function releaseCount(db: Db | Tx): Promise<number> {
  // A damaged count differs from every other one: nothing would be sent anymore (G2).
  return Number((await readLearned(db, RELEASED))?.value) || 0;
}

/** Returns when the office has last resumed submission, by this machine's clock; null: never. */
export async function releasedAt(tx: Tx, now: number): Promise<number | null> {
  const last = await readLearned(tx, RELEASED);
  if (last === null || last.updated_at <= now) return last?.updated_at ?? null;
  // The clock was ahead. That time would hide what others create until then.
  await writeLearned(tx, RELEASED, last.value, now);
  return now;
}
