import {
  budgetPeriods,
  type CallBudget,
  type CallLimits,
  callBudget,
} from '../../domain/call-budget.ts';
import type { Db, Tx } from '../engine/database.ts';

/** What the limits of calls per day and month leave now. */
export async function readBudget(
  db: Db | Tx,
  limits: CallLimits,
  now: number,
): Promise<CallBudget> {
  const periods = [];
  for (const period of budgetPeriods(limits, now))
    periods.push({ ...period, started: await sentSince(db, period.from) });
  return callBudget(periods);
}

/**
 * How many calls were started since `from`. A proven unsent one has no `sent_at` any more.
 */
async function sentSince(db: Db | Tx, from: number): Promise<number> {
  const { count } = await db
    .selectFrom('inquiries')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('sent_at', '>=', from)
    .executeTakeFirstOrThrow();
  return count;
}
