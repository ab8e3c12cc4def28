import {
  budgetPeriods,
  type CallBudget,
  type CallLimits,
  callBudget,
  type Period,
  type Spent,
} from '../../domain/call-budget.ts';
import { readDraft } from '../../domain/inquiry.ts';
import { type Cents, type PriceList, priceAt } from '../../domain/price.ts';
import { SPECIALTIES } from '../../domain/specialty.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { isCurrentCall } from './calls.ts';
import { dueForSubmission } from './due-inquiries.ts';
import type { InquiryRow } from './inquiries.ts';

/** The limits on calls, and the prices of calls. */
export type BudgetRules = { limits: CallLimits; prices: PriceList };

/** Returns what was spent in the clinic's day and month, and what the limits still allow. */
export async function readBudget(
  db: Db | Tx,
  { limits, prices }: BudgetRules,
  now: number,
): Promise<CallBudget> {
  const [month, day] = budgetPeriods(limits.time_zone, now);
  const counts_money = limits.dollars_per_day !== null || limits.dollars_per_month !== null;
  const spent = async (period: Period): Promise<Period & Spent> => ({
    ...period,
    ...(await spentBetween(db, period.from, period.until)),
    estimated_cents: counts_money
      ? await estimateSince(db, period.from, { prices, time_zone: limits.time_zone })
      : 0,
  });
  return callBudget(
    limits,
    { month: await spent(month), day: await spent(day) },
    counts_money ? await nextPrice(db, { limits, prices }, now) : null,
  );
}

/**
 * Returns what may still be spent on calls. Without a limit, as in most clinics, skips the count.
 */
export async function leftToSpend(
  tx: Tx,
  rules: BudgetRules,
  now: number,
): Promise<Pick<CallBudget, 'left' | 'left_cents'>> {
  const { time_zone: _, ...limits } = rules.limits;
  if (Object.values(limits).every((limit) => limit === null))
    return { left: null, left_cents: null };
  return await readBudget(tx, rules, now);
}

/**
 * Counts the calls that were started from `from` until before `until`. Calls that were proven
 * unsent or absent do not count.
 */
export async function spentBetween(
  db: Db | Tx,
  from: number,
  until: number,
): Promise<Omit<Spent, 'estimated_cents'>> {
  const [spent] = await SPENT(db, { from, until });
  const { calls, cents, priced } = spent ?? { calls: 0, cents: null, priced: 0 };
  return { calls, cents: cents ?? 0, unpriced: calls - priced };
}

const SPENT = prepared<{ from: number; until: number }>()((db, place) =>
  db
    .selectFrom('calls')
    .select((select) => [
      select.fn.countAll<number>().as('calls'),
      select.fn.sum<number | null>(select.fn.coalesce('charge_cents', 'price_cents')).as('cents'),
      select.fn.count<number>(select.fn.coalesce('charge_cents', 'price_cents')).as('priced'),
    ])
    .where('sent_at', '>=', place('from'))
    .where('sent_at', '<', place('until'))
    .where(isCurrentCall),
);

/**
 * Estimates the cost of calls that were sent before there was a price list: a limit in dollars must
 * include them.
 */
async function estimateSince(
  db: Db | Tx,
  from: number,
  { prices, time_zone }: { prices: PriceList; time_zone: string },
): Promise<Cents> {
  const rows = await db
    .selectFrom('inquiries_with_call')
    .select(['draft', 'sent_at'])
    .where('sent_at', '>=', from)
    .where('price_cents', 'is', null)
    .where('charge_cents', 'is', null)
    .execute();
  return rows.reduce((sum, { draft: stored, sent_at }) => {
    const draft = readDraft(stored);
    if (draft === null || sent_at === null) return sum;
    return sum + (priceAt(prices, draft, { at: sent_at, time_zone }).price_cents ?? 0);
  }, 0);
}

/** Returns the price of the next call; null: none is due, or its price is unknown. */
async function nextPrice(
  db: Db | Tx,
  { limits, prices }: BudgetRules,
  now: number,
): Promise<Cents | null> {
  const due: InquiryRow[] = [];
  for (const specialty of SPECIALTIES)
    due.push(...(await dueForSubmission(db, { now, limit: 1, specialty })));
  const [next] = due.toSorted((a, b) => a.visit_at - b.visit_at || a.id - b.id);
  const draft = next === undefined ? null : readDraft(next.draft);
  if (draft === null) return null;
  return priceAt(prices, draft, { at: now, time_zone: limits.time_zone }).price_cents;
}
