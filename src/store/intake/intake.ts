import { sql } from 'kysely';
import type { AppointmentInput } from '../../domain/appointment.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { parsed } from '../../domain/damaged.ts';
import type { PatientUpdate } from '../../domain/patient-update.ts';
import { parkDeliveriesOf } from '../answers/delivery-steps.ts';
import { resolveAttention } from '../bookkeeping/attention.ts';
import { type AuditEntry, appointmentSubject, writeAudit } from '../bookkeeping/audit.ts';
import { CHANGED } from '../calls/due-at-once.ts';
import { planVisitAgain } from '../calls/plan-due.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import {
  changeContent,
  changed,
  IDS_PER_STATEMENT,
  type KnownAppointment,
  knownAppointments,
  type NamedAppointment,
  type PreparedAppointment,
  prepare,
} from './appointments.ts';
import { noteArrival } from './arrivals.ts';
import { settleMissingClaims, takeClaims } from './claims.ts';
import type { IntakeContext } from './context.ts';
import { takePatientUpdates, withInsurance } from './patients.ts';
import {
  forgetRejectedFile,
  forgetUnreadable,
  forgetUnreadableItems,
  type Rejected,
  reject,
} from './rejected.ts';
import { limited, sift } from './sift.ts';
import { flagVanished } from './vanished.ts';

/** A batch from a connector; the contract's PullBatch has exactly these parts. */
export type IntakeBatch = {
  source: {
    key: string;
    name: string;
    is_last: boolean;
    completeness: 'full' | 'changes' | 'unknown';
    kept_as?: string;
  };
  appointments: readonly AppointmentInput[];
  claims?: readonly ClaimInput[];
  patients?: readonly PatientUpdate[];
  cancelled_ids?: readonly string[];
  rejected: readonly Rejected[];
  cursor: string | null;
};

export type IntakeCounts = {
  new: number;
  changed: number;
  unchanged: number;
  rejected: number;
  vanished: number;
};

export const NOTHING_COUNTED: Readonly<IntakeCounts> = {
  new: 0,
  changed: 0,
  unchanged: 0,
  rejected: 0,
  vanished: 0,
};

/**
 * Stores a batch: all of it, with the cursor, or nothing (G3). Returns what it changed. Taking the
 * same batch twice changes nothing. New and changed appointments become due for planning; intake
 * itself decides nothing.
 */
export async function acceptBatch(
  tx: Tx,
  connector: string,
  given: IntakeBatch,
  now: number,
): Promise<IntakeCounts> {
  const context = { tx, connector, now };
  const batch = limited(given);
  const source = await rememberSource(tx, connector, batch.source, now);
  const { appointments, claims, patients, ...sifted } = sift(batch);
  const rejected = [...batch.rejected, ...sifted.rejected];
  const counts = { ...NOTHING_COUNTED, rejected: rejected.length };
  const named = appointments.map((appointment) => ({ appointment, source }));
  await takePatientUpdates(context, patients, counts);
  await takeCancelled(context, { source_ids: batch.cancelled_ids ?? [], source }, counts);
  await takeAppointments(context, named, counts);
  await takeClaims(context, { claims, source }, counts);
  for (const item of rejected) await reject(context, batch.source, item);
  if (batch.cursor !== null) await setCursor(tx, connector, batch.cursor);
  if (batch.source.is_last) {
    if (batch.source.completeness !== 'changes')
      await forgetUnreadable(tx, connector, batch.source.key, now);
    counts.vanished = await flagVanished(
      tx,
      { connector, source, completeness: batch.source.completeness },
      now,
    );
    if (batch.source.completeness === 'full')
      counts.vanished += await settleMissingClaims(tx, connector, source, now);
    await tx.updateTable('sources').set({ completed_at: now }).where('id', '=', source).execute();
    // Not an arrival: a rejected file, a source with a cursor, which is polled all day, and an
    // export of claims.
    if (batch.source.kept_as === undefined) {
      await forgetRejectedFile(tx, connector, batch.source.name, now);
      if (batch.cursor === null && batch.claims === undefined)
        await noteArrival(tx, connector, source, now);
    }
  }
  return counts;
}

/** Stores appointments; if several have the same ID, the last one counts. */
export async function takeAppointments(
  { tx, connector, now }: IntakeContext,
  named: readonly NamedAppointment[],
  counts: IntakeCounts,
): Promise<void> {
  if (named.length === 0) return;
  const latest = new Map(named.map((each) => [each.appointment.source_id, each]));
  const known = await knownAppointments(tx, connector, [...latest.keys()]);
  const insured = await withInsurance(tx, connector, [...latest.values()]);
  const audit: AuditEntry[] = [];
  const seen: { id: number; source: number }[] = [];
  const added: PreparedAppointment[] = [];
  for (const { appointment, source } of insured) {
    const prepared = prepare(connector, appointment, source, now);
    const row = known.get(appointment.source_id);
    if (
      row === undefined ||
      (isOtherPerson(row, prepared) && (await supersede(tx, row, now, audit)))
    ) {
      added.push(prepared);
    } else if (row.content === prepared.content && row.missing_since === null) {
      seen.push({ id: row.id, source });
    } else {
      await update(tx, row, prepared, now);
      audit.push(changed(row, appointment, now));
      counts.changed += 1;
    }
  }
  await insert(tx, added, audit, now);
  await touch(tx, seen);
  await writeAudit(tx, audit);
  await forgetUnreadableItems(tx, connector, [...latest.keys()], now);
  counts.new += added.length;
  counts.unchanged += seen.length;
}

/**
 * Cancels appointments for which the source gives only the ID. Skips unknown and already canceled
 * ones. The source has named them, so they do not count as vanished. Planning puts a damaged one on
 * the attention list.
 */
export async function takeCancelled(
  { tx, connector, now }: IntakeContext,
  { source_ids, source }: { source_ids: readonly string[]; source: number },
  counts: IntakeCounts,
): Promise<void> {
  const known = [...(await knownAppointments(tx, connector, source_ids)).values()];
  for (const row of known) {
    const appointment = parsed(row.content) as AppointmentInput | null;
    if (appointment?.status === 'cancelled') continue;
    if (appointment === null) {
      await planVisitAgain(tx, row.id);
      continue;
    }
    await changeContent(tx, row, { ...appointment, status: 'cancelled' }, now);
    counts.changed += 1;
  }
  await touch(
    tx,
    known.map(({ id }) => ({ id, source })),
  );
  await forgetUnreadableItems(tx, connector, source_ids, now);
}

/**
 * Returns whether the last completed source had this content, so that reading it again would change
 * nothing. An export that equals an earlier one must be read: it reverts the changes of those in
 * between.
 */
export async function isLatestSource(db: Db, connector: string, key: string): Promise<boolean> {
  const [row] = await LATEST_SOURCE(db, { connector });
  return row?.key === key;
}

const LATEST_SOURCE = prepared<{ connector: string }>()((db, place) =>
  db
    .selectFrom('sources')
    .select('key')
    .where('connector', '=', place('connector'))
    .where('completed_at', 'is not', null)
    .orderBy('completed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** Returns the cursor of the connector's last accepted batch; null: none. */
export async function cursorOf(db: Db, connector: string): Promise<string | null> {
  const [row] = await CURSOR(db, { connector });
  return row?.cursor ?? null;
}

const CURSOR = prepared<{ connector: string }>()((db, place) =>
  db.selectFrom('connectors').select('cursor').where('id', '=', place('connector')),
);

async function setCursor(tx: Tx, id: string, cursor: string): Promise<void> {
  await tx
    .insertInto('connectors')
    .values({ id, cursor })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ cursor }))
    .execute();
}

async function rememberSource(
  tx: Tx,
  connector: string,
  source: IntakeBatch['source'],
  now: number,
): Promise<number> {
  const row = await tx
    .insertInto('sources')
    .values({
      connector,
      key: source.key,
      name: source.name,
      first_seen_at: now,
      completed_at: null,
    })
    .onConflict((conflict) =>
      conflict.columns(['connector', 'key']).doUpdateSet({ name: source.name }),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/**
 * Returns whether the row now belongs to another person: the source ID came back with another birth
 * date and another member ID, so it is another appointment (docs/design.md "Needs, appointments,
 * deliveries"). Where the stored data is damaged, another patient counts as another person.
 */
function isOtherPerson(row: KnownAppointment, next: PreparedAppointment): boolean {
  if (row.patient_key === next.patient_key) return false;
  const before = parsed(row.content) as AppointmentInput | null;
  if (before === null) return true;
  const after = JSON.parse(next.content) as AppointmentInput;
  const member = (appointment: AppointmentInput) => appointment.coverages[0]?.member_id ?? '';
  return before.patient.birth_date !== after.patient.birth_date && member(before) !== member(after);
}

/**
 * Closes the row of the person who had the ID before. Returns true, so that a condition can use it.
 */
async function supersede(
  tx: Tx,
  row: KnownAppointment,
  now: number,
  audit: AuditEntry[],
): Promise<true> {
  await tx
    .updateTable('appointments')
    .set({ superseded_at: now, closed_reason: 'replaced', closed_at: now, plan_due_at: CHANGED })
    .where('id', '=', row.id)
    .execute();
  const reason = 'The practice management system now uses this appointment ID for someone else.';
  // If written now, the answer would reach the other person's chart.
  await parkDeliveriesOf(tx, { appointment: row.id }, reason, now);
  audit.push({
    at: now,
    subject: appointmentSubject(row.id),
    from_state: null,
    to_state: 'closed',
    reason,
  });
  return true;
}

async function update(
  tx: Tx,
  row: KnownAppointment,
  next: PreparedAppointment,
  now: number,
): Promise<void> {
  const { created_at: _, ...changes } = next;
  // Reopens a closed appointment; planning then decides about it again.
  await tx
    .updateTable('appointments')
    .set({ ...changes, updated_at: now })
    .where('id', '=', row.id)
    .execute();
  if (row.missing_since !== null)
    await resolveAttention(tx, appointmentSubject(row.id), now, ['vanished']);
}

async function insert(
  tx: Tx,
  rows: readonly PreparedAppointment[],
  audit: AuditEntry[],
  now: number,
): Promise<void> {
  for (const { id } of await INSERT(tx, rows.map(withoutNulls))) {
    audit.push({
      at: now,
      subject: appointmentSubject(id),
      from_state: null,
      to_state: 'accepted',
      reason: 'Read from the practice management system.',
    });
  }
}

/** Leaves out the columns that are null in a new row, as they are without a value. */
function withoutNulls(row: PreparedAppointment) {
  return {
    connector: row.connector,
    source_id: row.source_id,
    content: row.content,
    starts_at: row.starts_at,
    patient_key: row.patient_key,
    last_source: row.last_source,
    plan_due_at: row.plan_due_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

const INSERT = preparedRows<ReturnType<typeof withoutNulls>>()((tx, rows) =>
  tx.insertInto('appointments').values(rows).returning('id'),
);

/** Records for each appointment that this source was the last one to name it. */
async function touch(tx: Tx, seen: readonly { id: number; source: number }[]): Promise<void> {
  for (const [source, rows] of Map.groupBy(seen, ({ source }) => source)) {
    for (let first = 0; first < rows.length; first += IDS_PER_STATEMENT) {
      const ids = rows.slice(first, first + IDS_PER_STATEMENT).map(({ id }) => id);
      await TOUCH(tx, { source, ids });
    }
  }
}

const TOUCH = prepared<{ source: number; ids: readonly number[] }>()((tx, place) =>
  tx
    .updateTable('appointments')
    .set({ last_source: place('source'), missed_source: null })
    .where('id', 'in', place('ids')),
);
