import { sql } from 'kysely';
import type { DueLimits } from '../../domain/due-times.ts';
import type { Tx } from '../engine/database.ts';
import { planWaitingAgain } from './plan-due.ts';

/**
 * Restarts the lookups for all lost replies after the clock was set. The time since the last lookup
 * is unknown, and two lookups prove an absence only when they are a settle time apart (G1).
 */
export async function restartLookups(tx: Tx, listed_by: number): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ lookup_at: listed_by, absence_at: listed_by, empty_lookups: 0 })
    .where('state', '=', 'uncertain')
    .execute();
}

/**
 * Moves due times that lie beyond their limits back to the limits. A planned call may wait for any
 * time, so its wait begins again.
 */
export async function correctDueTimes(
  tx: Tx,
  { calls, lookups, polls, plans, deliveries }: DueLimits,
): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ lookup_at: lookups.due_at, absence_at: lookups.due_at, empty_lookups: 0 })
    .where('state', '=', 'uncertain')
    .where('lookup_at', '>', lookups.after)
    .execute();
  await tx
    .updateTable('inquiries')
    .set({
      due_at: sql`case when due_at > updated_at then ${calls.now} + due_at - updated_at
        when due_at > ${calls.due_at} then ${calls.due_at} else due_at end`,
      updated_at: calls.now,
    })
    .where('state', '=', 'planned')
    .where('due_at', '>', calls.now)
    .where('updated_at', '>', calls.now)
    .execute();
  await tx
    .updateTable('inquiries')
    .set({ poll_at: polls.due_at })
    .where('state', '=', 'open')
    .where('poll_at', '>', polls.after)
    .execute();
  await planWaitingAgain(tx, plans);
  await tx
    .updateTable('deliveries')
    .set({ due_at: deliveries.due_at })
    .where('state', 'in', ['pending', 'failed'])
    .where('due_at', '>', deliveries.after)
    .execute();
}
