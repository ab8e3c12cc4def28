import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AppointmentInput } from '../domain/appointment.ts';
import type { ClaimInput } from '../domain/claim.ts';
import { DELIVERY_STEPS, type DeliveryState } from '../domain/states.ts';
import type { ClaimStatusRecord } from '../records/claim-status.ts';
import type { Coordination } from '../records/coordination.ts';
import type { EligibilityRecord } from '../records/eligibility.ts';
import { deliverySubject, writeAudit } from './audit.ts';
import type { Db, Tx } from './database.ts';
import type { Tables } from './tables.ts';

export type DeliveryRow = Selectable<Tables['deliveries']>;

/** Plans the delivery of a record to an appointment; the same (appointment, coverage, record) is planned once. */
export async function planDelivery(
  tx: Tx,
  delivery: {
    connector: string;
    appointment: number;
    inquiry: number;
    record: number;
    coverage_rank: number;
    notes: string[];
    /** How the coverages of the appointment go together as of now; null or left out with one coverage, and for a claim. */
    coordination?: Coordination | null;
  },
  now: number,
): Promise<boolean> {
  const key = await deliveryKey(tx, delivery);
  const row = await tx
    .insertInto('deliveries')
    .values({
      ...delivery,
      key,
      notes: JSON.stringify(delivery.notes),
      coordination: delivery.coordination == null ? null : JSON.stringify(delivery.coordination),
      state: 'pending',
      batch: null,
      due_at: now,
      delivered_at: null,
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
  await writeAudit(tx, [
    { at: now, subject: deliverySubject(key), from_state: null, to_state: 'pending', reason: 'An answer is there.' },
  ]);
  return true;
}

/**
 * Names the delivery for good, at the PMS as well. The service's id is in it because the numbers of a database that was lost
 * begin again, and another patient's record must not take the place of what was written before.
 */
async function deliveryKey(
  tx: Tx,
  {
    appointment,
    coverage_rank,
    record,
    inquiry,
  }: { appointment: number; coverage_rank: number; record: number; inquiry: number },
): Promise<string> {
  const row = await tx.selectFrom('inquiries').select('service_id').where('id', '=', inquiry).executeTakeFirst();
  const mark = createHash('sha256')
    .update(row?.service_id ?? '')
    .digest('hex')
    .slice(0, 8);
  return `${appointment}-${coverage_rank}-${record}-${mark}`;
}

/** Of one kind: a connector writes answers about visits and about claims in two ways. */
export type ClaimedBatch = { id: string; created_at: number } & (
  | { kind: 'appointment'; deliveries: AppointmentDelivery[] }
  | { kind: 'claim'; deliveries: ClaimDelivery[] }
);

export type DeliveryToWrite = AppointmentDelivery | ClaimDelivery;

export type AppointmentDelivery = WaitingDelivery & {
  kind: 'appointment';
  input: AppointmentInput;
  record: EligibilityRecord;
  coordination: Coordination | null;
};

export type ClaimDelivery = WaitingDelivery & { kind: 'claim'; input: ClaimInput; record: ClaimStatusRecord };

type WaitingDelivery = {
  id: number;
  key: string;
  state: DeliveryState;
  failures: number;
  coverage_rank: number;
  notes: string[];
  revision: number;
  appointment: number;
};

/**
 * Takes due deliveries of a connector as a batch and commits its id before anything is written, so that a repetition after a
 * crash is the very same batch (G4). A batch that was begun and not settled comes first. Null when nothing is due.
 */
export async function claimBatch(tx: Tx, connector: string, now: number, limit: number): Promise<ClaimedBatch | null> {
  const begun = await tx
    .selectFrom('deliveries')
    .select(['batch'])
    .where('connector', '=', connector)
    .where('state', 'in', ['pending', 'failed'])
    .where('due_at', '<=', now)
    .where('batch', 'is not', null)
    .orderBy('id')
    .executeTakeFirst();
  const batch = begun?.batch ?? (await beginBatch(tx, connector, now, limit));
  if (batch === null) return null;
  const { created_at } = await tx
    .selectFrom('delivery_batches')
    .select('created_at')
    .where('id', '=', batch)
    .executeTakeFirstOrThrow();
  const deliveries = await deliveriesOf(tx, batch);
  return { id: batch, created_at, kind: deliveries[0]?.kind ?? 'appointment', deliveries } as ClaimedBatch;
}

async function beginBatch(tx: Tx, connector: string, now: number, limit: number): Promise<string | null> {
  const waiting = await tx
    .selectFrom('deliveries')
    .innerJoin('appointments', 'appointments.id', 'deliveries.appointment')
    .select(['deliveries.id', 'appointments.kind'])
    .where('deliveries.connector', '=', connector)
    .where('deliveries.state', 'in', ['pending', 'failed'])
    .where('deliveries.due_at', '<=', now)
    .orderBy('deliveries.id')
    .limit(limit)
    .execute();
  const due = waiting.filter(({ kind }) => kind === waiting[0]?.kind);
  if (due.length === 0) return null;
  const stamp = new Date(now).toISOString().replaceAll(/[-:]/g, '').slice(0, 15);
  const { count } = await tx
    .selectFrom('delivery_batches')
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const id = `${stamp}Z-${count + 1}`;
  await tx.insertInto('delivery_batches').values({ id, connector, created_at: now }).execute();
  await tx
    .updateTable('deliveries')
    .set({ batch: id })
    .where(
      'id',
      'in',
      due.map((row) => row.id),
    )
    .execute();
  return id;
}

async function deliveriesOf(tx: Tx, batch: string): Promise<DeliveryToWrite[]> {
  const rows = await tx
    .selectFrom('deliveries')
    .innerJoin('records', 'records.id', 'deliveries.record')
    .innerJoin('appointments', 'appointments.id', 'deliveries.appointment')
    .select([
      'deliveries.id',
      'deliveries.key',
      'deliveries.state',
      'deliveries.failures',
      'deliveries.coverage_rank',
      'deliveries.notes',
      'deliveries.coordination',
      'deliveries.appointment',
      'appointments.kind',
      'records.revision',
      'records.record',
      'appointments.content',
    ])
    .where('deliveries.batch', '=', batch)
    .where('deliveries.state', 'in', ['pending', 'failed'])
    .orderBy('deliveries.id')
    .execute();
  return rows.map(({ record, content, notes, coordination, ...row }) => ({
    ...row,
    notes: JSON.parse(notes) as string[],
    coordination: coordination === null ? null : (JSON.parse(coordination) as Coordination),
    record: JSON.parse(record) as unknown,
    input: JSON.parse(content) as unknown,
  })) as DeliveryToWrite[];
}

/**
 * Settles one delivery after the write was tried. One that failed leaves its batch, so that the next try is a batch of its
 * own and the written neighbours are not written again (G7).
 */
export async function settleDelivery(
  tx: Tx,
  delivery: Pick<DeliveryToWrite, 'id' | 'key' | 'state' | 'failures'>,
  outcome: { to: DeliveryState; reason: string; due_at: number },
  now: number,
): Promise<void> {
  if (!DELIVERY_STEPS[delivery.state].includes(outcome.to))
    throw new Error(`A delivery cannot go from ${delivery.state} to ${outcome.to}.`);
  const is_delivered = outcome.to === 'delivered';
  await tx
    .updateTable('deliveries')
    .set({
      state: outcome.to,
      due_at: outcome.due_at,
      failures: is_delivered ? delivery.failures : delivery.failures + 1,
      delivered_at: is_delivered ? now : null,
      ...(is_delivered ? {} : { batch: null }),
    })
    .where('id', '=', delivery.id)
    .execute();
  await writeAudit(tx, [
    { at: now, subject: deliverySubject(delivery.key), from_state: delivery.state, to_state: outcome.to, reason: outcome.reason },
  ]);
}

/** Nothing more is written for an appointment. */
export async function parkDeliveriesOf(tx: Tx, appointment: number, reason: string, now: number): Promise<void> {
  const waiting = await tx
    .selectFrom('deliveries')
    .select(['id', 'key', 'state', 'failures'])
    .where('appointment', '=', appointment)
    .where('state', 'in', ['pending', 'failed'])
    .execute();
  for (const delivery of waiting) await settleDelivery(tx, delivery, { to: 'parked', reason, due_at: now }, now);
}

/** Makes each delivery a batch of its own, for a connector that stumbled over one of them and could not say which (G7). */
export async function splitBatch(tx: Tx, batch: ClaimedBatch, connector: string): Promise<void> {
  for (const [index, { id }] of batch.deliveries.entries()) {
    const own = `${batch.id}-${index + 1}`;
    await tx.insertInto('delivery_batches').values({ id: own, connector, created_at: batch.created_at }).execute();
    await tx.updateTable('deliveries').set({ batch: own }).where('id', '=', id).execute();
  }
}

/** Puts a whole batch off without touching its id: nothing of it could be tried, and the repetition is the same batch. */
export async function postponeBatch(tx: Tx, batch: string, due_at: number): Promise<void> {
  await tx
    .updateTable('deliveries')
    .set({ due_at })
    .where('batch', '=', batch)
    .where('state', 'in', ['pending', 'failed'])
    .execute();
}

export async function countDeliveries(db: Db): Promise<Partial<Record<DeliveryState, number>>> {
  const rows = await db
    .selectFrom('deliveries')
    .select((select) => ['state' as const, select.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute();
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

/** When the connector's next delivery falls due; null when none waits. */
export async function nextDeliveryDue(db: Db, connector: string): Promise<number | null> {
  const row = await db
    .selectFrom('deliveries')
    .select((select) => select.fn.min('due_at').as('at'))
    .where('connector', '=', connector)
    .where('state', 'in', ['pending', 'failed'])
    .executeTakeFirst();
  return row?.at ?? null;
}
