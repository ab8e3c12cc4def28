import { createHash } from 'node:crypto';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { AppointmentInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { isAboutPersonOf } from '../../domain/claim-person.ts';
import { readAppointment, readClaim } from '../../domain/damaged.ts';
import type { DeliveryState } from '../../domain/states.ts';
import type { ClaimStatusRecord } from '../../records/claim-status.ts';
import type { Coordination } from '../../records/coordination.ts';
import type { EligibilityRecord } from '../../records/eligibility.ts';
import { deliverySubject, writeAudit } from '../bookkeeping/audit.ts';
import { CHANGED } from '../calls/due-at-once.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';
import { parkOtherRanks, unpark } from './delivery-steps.ts';

export type DeliveryRow = Selectable<Tables['deliveries']>;

/**
 * Plans the delivery of a record to an appointment; the same (appointment, coverage, record) is
 * planned only once. If that delivery was parked because the appointment had changed, it becomes
 * pending again, for the appointment as it is now; if it was parked because the connector could not
 * write it, it waits for you. A delivery to a former rank of the same coverage is parked.
 */
export async function planDelivery(
  tx: Tx,
  delivery: {
    connector: string;
    appointment: number;
    inquiry: number;
    record: number;
    coverage_rank: number;
    notes: string[];
    /**
     * The coordination of the appointment's coverages at this time; null or omitted for a single
     * coverage and for a claim.
     */
    coordination?: Coordination | null;
  },
  now: number,
): Promise<boolean> {
  // A delivery that an earlier version planned keeps its key, which also contained the patient, or
  // the office would get the answer twice (G4).
  const [planned] = await PLANNED(tx, delivery);
  const key = planned?.key ?? (await deliveryKey(tx, delivery));
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
  await parkOtherRanks(tx, delivery, now);
  if (row === undefined) return await unpark(tx, key, delivery.appointment, now);
  await writeAudit(tx, [
    {
      at: now,
      subject: deliverySubject(key),
      from_state: null,
      to_state: 'pending',
      reason: 'An answer arrived.',
    },
  ]);
  return true;
}

/** Reads the delivery of the record to the appointment. */
const PLANNED = prepared<{
  appointment: number;
  inquiry: number;
  record: number;
  coverage_rank: number;
}>()((tx, place) =>
  tx
    .selectFrom('deliveries')
    .select('key')
    .where('appointment', '=', place('appointment'))
    .where('inquiry', '=', place('inquiry'))
    .where('record', '=', place('record'))
    .where('coverage_rank', '=', place('coverage_rank'))
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** Reads the parts of the answer that the delivery key depends on. */
const ANSWER_OF_RECORD = prepared<{ record: number }>()((tx, place) =>
  tx
    .selectFrom('records')
    .innerJoin('answers', 'answers.id', 'records.answer')
    .innerJoin('inquiries_with_call as inquiries', 'inquiries.id', 'records.inquiry')
    .select([
      'inquiries.service_id',
      'records.revision',
      'answers.content_hash',
      'answers.verifications',
    ])
    .where('records.id', '=', place('record')),
);

/**
 * Returns the permanent key of the delivery, also for the PMS. It is derived from the subject and
 * content of the answer and not from row numbers, because those restart when the database is lost
 * or restored, and not from the patient, whose records may be merged between the backup and its
 * return. So the same answer keeps its key (G4), and no other answer gets it.
 */
async function deliveryKey(
  tx: Tx,
  {
    appointment,
    coverage_rank,
    record,
  }: { appointment: number; coverage_rank: number; record: number },
): Promise<string> {
  const [answer] = await ANSWER_OF_RECORD(tx, { record });
  if (answer === undefined) throw new Error('The record of a delivery has no answer.');
  const visit = await tx
    .selectFrom('appointments')
    .select(['connector', 'kind', 'source_id'])
    .where('id', '=', appointment)
    .executeTakeFirstOrThrow();
  const mark = createHash('sha256')
    .update(
      JSON.stringify([
        visit.connector,
        visit.kind,
        visit.source_id,
        answer.service_id,
        answer.revision,
        answer.content_hash,
        ...(answer.verifications === null ? [] : [answer.verifications]),
      ]),
    )
    .digest('hex')
    .slice(0, 20);
  return `${mark}-${coverage_rank}`;
}

/**
 * All deliveries of a batch are of one kind: a connector has separate methods for visits and for
 * claims.
 */
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

export type ClaimDelivery = WaitingDelivery & {
  kind: 'claim';
  input: ClaimInput;
  record: ClaimStatusRecord;
};

type WaitingDelivery = {
  id: number;
  key: string;
  state: DeliveryState;
  failures: number;
  coverage_rank: number;
  notes: string[];
  revision: number;
  appointment: number;
  /** The claim now has another patient or member ID than the answer is about (G8). */
  is_about_other: boolean;
};

/**
 * Claims due deliveries of a connector as a batch and commits its ID before anything is written, so
 * that a repetition after a crash is exactly the same batch (G4). An unfinished batch comes first.
 * Returns null when nothing is due.
 *
 * Deliveries of a changed appointment wait for planning, which may find that the answer is about a
 * former coverage or another person: one patient's answer must never reach another patient's chart.
 */
export async function claimBatch(
  tx: Tx,
  connector: string,
  now: number,
  limit: number,
): Promise<ClaimedBatch | null> {
  const begun = await dueDeliveries(tx, connector, now)
    .select(['deliveries.batch'])
    .where('deliveries.batch', 'is not', null)
    .orderBy('deliveries.id')
    .executeTakeFirst();
  const batch = begun?.batch ?? (await beginBatch(tx, connector, now, limit));
  if (batch === null) return null;
  const { created_at } = await tx
    .selectFrom('delivery_batches')
    .select('created_at')
    .where('id', '=', batch)
    .executeTakeFirstOrThrow();
  const deliveries = await deliveriesOf(tx, batch);
  return {
    id: batch,
    created_at,
    kind: deliveries[0]?.kind ?? 'appointment',
    deliveries,
  } as ClaimedBatch;
}

function dueDeliveries(tx: Tx, connector: string, now: number) {
  return tx
    .selectFrom('deliveries')
    .innerJoin('appointments', 'appointments.id', 'deliveries.appointment')
    .where('deliveries.connector', '=', connector)
    .where('deliveries.state', 'in', ['pending', 'failed'])
    .where('deliveries.due_at', '<=', now)
    .where(isPlanned);
}

/**
 * Selects appointments that planning has seen in their current form. One that is due again for
 * another reason also counts: its coverages are the same.
 */
function isPlanned(where: ExpressionBuilder<Tables, 'appointments'>) {
  return where.and([
    where('appointments.plan_due_at', 'is distinct from', CHANGED),
    where('appointments.plan_wait', 'is distinct from', 'planning_failed'),
  ]);
}

async function beginBatch(
  tx: Tx,
  connector: string,
  now: number,
  limit: number,
): Promise<string | null> {
  const waiting = await dueDeliveries(tx, connector, now)
    .select(['deliveries.id', 'appointments.kind'])
    .orderBy('deliveries.id')
    .limit(sql.lit(limit))
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
    .innerJoin('inquiries', 'inquiries.id', 'deliveries.inquiry')
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
      'appointments.source_id',
      'appointments.starts_at',
      'appointments.patient_key',
      'inquiries.need_base',
      'inquiries.draft',
      'records.revision',
      'records.record',
      'appointments.content',
    ])
    .where('deliveries.batch', '=', batch)
    .where('deliveries.state', 'in', ['pending', 'failed'])
    .where(isPlanned)
    .orderBy('deliveries.id')
    .execute();
  const written = await Promise.all(
    rows.map((row) => (row.kind === 'claim' ? revisionOfClaim(tx, row) : row.revision)),
  );
  return rows.map(({ record, notes, coordination, ...row }, index) => ({
    ...row,
    revision: written[index] ?? row.revision,
    notes: JSON.parse(notes) as string[],
    coordination: coordination === null ? null : (JSON.parse(coordination) as Coordination),
    record: JSON.parse(record) as unknown,
    input: row.kind === 'claim' ? readClaim(row) : readAppointment(row),
    is_about_other:
      row.kind === 'claim' && !isAboutPersonOf(row, { ...row, input: readClaim(row) }),
  })) as DeliveryToWrite[];
}

/**
 * Returns the revision of a claim delivery. eligd calls about a claim several times, so revisions
 * are counted across calls.
 */
async function revisionOfClaim(
  tx: Tx,
  { id, appointment }: { id: number; appointment: number },
): Promise<number> {
  const { count } = await tx
    .selectFrom('deliveries')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('appointment', '=', appointment)
    .where('id', '<=', id)
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Puts each delivery in a batch of its own, after the connector failed on one of them without
 * saying which (G7).
 */
export async function splitBatch(tx: Tx, batch: ClaimedBatch, connector: string): Promise<void> {
  for (const [index, { id }] of batch.deliveries.entries()) {
    const own = `${batch.id}-${index + 1}`;
    await tx
      .insertInto('delivery_batches')
      .values({ id: own, connector, created_at: batch.created_at })
      .execute();
    await tx.updateTable('deliveries').set({ batch: own }).where('id', '=', id).execute();
  }
}

/**
 * Postpones a batch without changing its ID: nothing of it was tried, and the repetition is the
 * same batch.
 */
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

/** Returns when the connector's next delivery after `after` is due; null when there is none. */
export async function nextDeliveryDue(
  db: Db,
  connector: string,
  after: number,
): Promise<number | null> {
  const [row] = await NEXT_DUE(db, { after }, connector);
  return row?.at ?? null;
}

const NEXT_DUE = prepared<{ after: number }>()((db, place, connector: string) =>
  db
    .selectFrom('deliveries')
    .select((select) => select.fn.min('due_at').as('at'))
    .where('connector', '=', sql.lit(connector))
    .where('state', 'in', ['pending', 'failed'])
    .where('due_at', '>', place('after')),
);
