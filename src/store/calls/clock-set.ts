import type { Tx } from '../engine/database.ts';

const HOUR_MS = 3_600_000;
/** An open inquiry is asked about once a day at the least. */
const POLL_MS_MAX = 48 * HOUR_MS;
/** A failed delivery waits six hours at most. */
const DELIVERY_MS_MAX = 12 * HOUR_MS;
const LOOK_MS_MAX = HOUR_MS;
/** What planning is tried again for within minutes, in `plan_wait`. */
const TRIED_AGAIN = [
  'clock_unproven',
  'answer_age_unproven',
  'other_inquiry_first',
  'planning_failed',
];
const PLAN_MS_MAX = HOUR_MS / 4;

/**
 * The looks for every lost reply begin anew: the clock was set, so nobody knows how long ago the
 * last one was, and two looks prove an absence only when they are a settle time apart (G1).
 */
export async function restartLooks(tx: Tx, look_at: number): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ look_at, empty_looks: 0 })
    .where('state', '=', 'uncertain')
    .execute();
}

/**
 * What lies further ahead than it ever does was set by a clock that was ahead; it is due now, and
 * nothing waits for days (G2).
 */
export async function mendDueTimes(tx: Tx, settle_ms: number, now: number): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ look_at: now + settle_ms, empty_looks: 0 })
    .where('state', '=', 'uncertain')
    .where('look_at', '>', now + Math.max(settle_ms, LOOK_MS_MAX))
    .execute();
  await tx
    .updateTable('inquiries')
    .set({ poll_at: now })
    .where('state', '=', 'open')
    .where('poll_at', '>', now + POLL_MS_MAX)
    .execute();
  await tx
    .updateTable('appointments')
    .set({ plan_due_at: now })
    .where('plan_wait', 'in', TRIED_AGAIN)
    .where('plan_due_at', '>', now + PLAN_MS_MAX)
    .execute();
  await tx
    .updateTable('deliveries')
    .set({ due_at: now })
    .where('state', 'in', ['pending', 'failed'])
    .where('due_at', '>', now + DELIVERY_MS_MAX)
    .execute();
}
