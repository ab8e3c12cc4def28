/**
 * Makes every change of a delivery's state, following the table in `domain/states.ts` and recording
 * it in the audit trail.
 */
import type { Selectable, Updateable } from 'kysely';
import { type DeliveryState, isDeliveryStep } from '../../domain/states.ts';
import { deliverySubject, writeAudit } from '../bookkeeping/audit.ts';
import type { Tx } from '../engine/database.ts';
import { prepared, preparedUpdate } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';

type DeliveryToMove = Pick<Selectable<Tables['deliveries']>, 'id' | 'key' | 'state' | 'failures'>;

/**
 * Settles deliveries after an attempt to write them. A failed one leaves its batch, so that the
 * retry is a batch of its own and the written deliveries are not written again (G7).
 */
export async function settleDeliveries(
  tx: Tx,
  deliveries: readonly DeliveryToMove[],
  { to, reason, due_at }: { to: DeliveryState; reason: string; due_at: number },
  now: number,
): Promise<void> {
  for (const { state } of deliveries) checkStep(state, to);
  const is_delivered = to === 'delivered';
  // A delivery that was parked during the write, because its appointment had changed, stays parked.
  const settled = await SETTLE(
    tx,
    deliveries.map(({ id, state, failures }) => ({
      id,
      was: state,
      state: to,
      due_at,
      failures: is_delivered ? failures : failures + 1,
      delivered_at: is_delivered ? now : null,
      ...(is_delivered ? {} : { batch: null }),
    })),
  );
  const ids = new Set(settled.map(({ id }) => id));
  await writeAudit(
    tx,
    deliveries
      .filter(({ id }) => ids.has(id))
      .map(({ key, state }) => ({
        at: now,
        subject: deliverySubject(key),
        from_state: state,
        to_state: to,
        reason,
      })),
  );
}

const SETTLE = preparedUpdate<
  Updateable<Tables['deliveries']> & { id: number; was: DeliveryState }
>('deliveries', 'state');

/** Parks the waiting deliveries of an appointment, or only those of one inquiry. */
export async function parkDeliveriesOf(
  tx: Tx,
  what: { appointment: number; inquiry?: number },
  reason: string,
  now: number,
): Promise<void> {
  let query = tx
    .selectFrom('deliveries')
    .select(['id', 'key', 'state', 'failures'])
    .where('appointment', '=', what.appointment)
    .where('state', 'in', ['pending', 'failed']);
  if (what.inquiry !== undefined) query = query.where('inquiry', '=', what.inquiry);
  await settleDeliveries(tx, await query.execute(), { to: 'parked', reason, due_at: now }, now);
}

/** Returns whether an answer waits to be written for the appointment. */
export async function hasWaitingDeliveries(tx: Tx, appointment: number): Promise<boolean> {
  const row = await tx
    .selectFrom('deliveries')
    .select('id')
    .where('appointment', '=', appointment)
    .where('state', 'in', ['pending', 'failed'])
    .executeTakeFirst();
  return row !== undefined;
}

/** Parks waiting deliveries to other ranks, which the coverage had before. */
export async function parkOtherRanks(
  tx: Tx,
  {
    appointment,
    inquiry,
    coverage_rank,
  }: { appointment: number; inquiry: number; coverage_rank: number },
  now: number,
): Promise<void> {
  const others = await OF_OTHER_RANKS(tx, { appointment, inquiry, coverage_rank });
  const reason = 'The order of the coverages of the appointment has changed.';
  await settleDeliveries(tx, others, { to: 'parked', reason, due_at: now }, now);
}

const OF_OTHER_RANKS = prepared<{ appointment: number; inquiry: number; coverage_rank: number }>()(
  (tx, place) =>
    tx
      .selectFrom('deliveries')
      .select(['id', 'key', 'state', 'failures'])
      .where('appointment', '=', place('appointment'))
      .where('inquiry', '=', place('inquiry'))
      .where('coverage_rank', '!=', place('coverage_rank'))
      .where('state', 'in', ['pending', 'failed']),
);

/**
 * Makes a parked delivery pending again, unless the operator has to decide about it. Returns
 * whether it did. `appointment`: for which it is written; it was planned for another row if the
 * visit was another patient's meanwhile.
 */
export async function unpark(
  tx: Tx,
  key: string,
  appointment: number,
  now: number,
): Promise<boolean> {
  const parked = await tx
    .selectFrom('deliveries')
    .select(['id', 'key', 'state'])
    .where('key', '=', key)
    .where('state', '=', 'parked')
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('attention')
            .select('id')
            .where('subject', '=', deliverySubject(key))
            .where('reason', '=', 'delivery_parked')
            .where('resolved_at', 'is', null),
        ),
      ),
    )
    .execute();
  const [delivery] = parked;
  if (delivery === undefined) return false;
  await tx.updateTable('deliveries').set({ appointment }).where('id', '=', delivery.id).execute();
  await reopen(tx, parked, 'The appointment matches the answer again.', now);
  return true;
}

/**
 * Makes the failed deliveries of an appointment due now and its parked ones pending again: the
 * newest revision of each answer that still serves the appointment. Deliveries that were parked
 * because the appointment changed stay parked. Returns the keys of the deliveries that are pending
 * again.
 */
export async function reopenDeliveries(
  tx: Tx,
  appointment: number,
  reason: string,
  now: number,
): Promise<string[]> {
  const parked = await tx
    .selectFrom('deliveries as d')
    .innerJoin('appointments as a', 'a.id', 'd.appointment')
    .innerJoin('inquiry_appointments as link', (join) =>
      join
        .onRef('link.appointment', '=', 'd.appointment')
        .onRef('link.inquiry', '=', 'd.inquiry')
        .onRef('link.coverage_rank', '=', 'd.coverage_rank'),
    )
    .select(['d.id', 'd.key', 'd.state'])
    .where('d.appointment', '=', appointment)
    .where('d.state', '=', 'parked')
    .where('a.superseded_at', 'is', null)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('deliveries as newer')
            .select('newer.id')
            .whereRef('newer.appointment', '=', 'd.appointment')
            .whereRef('newer.inquiry', '=', 'd.inquiry')
            .whereRef('newer.coverage_rank', '=', 'd.coverage_rank')
            .whereRef('newer.record', '>', 'd.record'),
        ),
      ),
    )
    .orderBy('d.id')
    .execute();
  await reopen(tx, parked, reason, now);
  await tx
    .updateTable('deliveries')
    .set({ due_at: now })
    .where('appointment', '=', appointment)
    .where('state', '=', 'failed')
    .execute();
  return parked.map(({ key }) => key);
}

async function reopen(
  tx: Tx,
  rows: readonly Omit<DeliveryToMove, 'failures'>[],
  reason: string,
  now: number,
): Promise<void> {
  if (rows.length === 0) return;
  for (const { state } of rows) checkStep(state, 'pending');
  await tx
    .updateTable('deliveries')
    .set({ state: 'pending', due_at: now, failures: 0, batch: null })
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  await writeAudit(
    tx,
    rows.map(({ key, state }) => ({
      at: now,
      subject: deliverySubject(key),
      from_state: state,
      to_state: 'pending',
      reason,
    })),
  );
}

/**
 * Checks the step against the table in `domain/states.ts`, the only definition of which state may
 * follow which.
 */
function checkStep(from: DeliveryState, to: DeliveryState): void {
  if (!isDeliveryStep(from, to)) throw new Error(`A delivery cannot go from ${from} to ${to}.`);
}
