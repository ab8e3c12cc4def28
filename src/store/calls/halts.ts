import { createHash } from 'node:crypto';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';

/**
 * Why nothing is sent: `account` the service turned us away, `foreign` somebody else uses the
 * account, `new_database` the database is new where there was another one before, `observe` the
 * configuration says so.
 */
export type HaltReason = 'account' | 'foreign' | 'new_database' | 'observe';

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

/** What an operator can end: who set the mode in the configuration takes it away there. */
export async function halted(db: Db | Tx): Promise<Halt[]> {
  return (await currentHalts(db)).filter(({ reason }) => reason !== 'observe');
}

/** Another word whenever calls are stopped for something else: nobody ends what is not shown. */
export function haltsMark(halts: readonly Halt[]): string {
  const text = JSON.stringify(halts.map(({ reason, detail }) => [reason, detail]));
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** What the attention list's entry about a halt stands under. */
export function haltSubject(reason: HaltReason): string {
  return `halt:${reason}`;
}

/** Stops submission, or puts the next try off; `since` of one that stands is kept. */
export async function halt(
  tx: Tx,
  { reason, detail, next_try_at }: Omit<Halt, 'since'>,
  now: number,
): Promise<void> {
  await tx
    .insertInto('halts')
    .values({ reason, since: now, next_try_at, detail })
    .onConflict((conflict) => conflict.column('reason').doUpdateSet({ next_try_at, detail }))
    .execute();
}

/** Lets submission go on. Returns whether it was stopped for that reason. */
export async function endHalt(tx: Tx, reason: HaltReason): Promise<boolean> {
  const gone = await tx
    .deleteFrom('halts')
    .where('reason', '=', reason)
    .returning('reason')
    .execute();
  return gone.length > 0;
}
