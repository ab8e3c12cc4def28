import { type Insertable, sql } from 'kysely';
import type { AppointmentInput, CoverageInput } from '../../domain/appointment.ts';
import { ANSWER_REASONS, UNKNOWN_REASONS } from '../../domain/attention.ts';
import type { ClaimInput } from '../../domain/claim.ts';
import { readAppointment } from '../../domain/damaged.ts';
import type { ClosedReason } from '../../domain/explanation.ts';
import { type InquiryDraft, readDraft } from '../../domain/inquiry.ts';
import { nameNextVisit, resolveAttention } from '../bookkeeping/attention.ts';
import { appointmentSubject, inquirySubject, writeAudit } from '../bookkeeping/audit.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { SubjectKind, Tables } from '../engine/tables.ts';
import { UNLESS_CHANGED } from './due-at-once.ts';

/**
 * Links between inquiries and the appointments that they serve. The relation is many-to-many:
 * visits share a call, and a visit may have two coverages.
 */
export type LinkedAppointment = {
  id: number;
  kind: SubjectKind;
  connector: string;
  source_id: string;
  starts_at: number;
  closed_reason: ClosedReason | null;
  missing_since: number | null;
  is_confirmed: 0 | 1;
  /** 1: it keeps the office's hold, which this call has if it serves only such visits. */
  keeps_hold: 0 | 1;
  coverage_rank: number;
  /** The content that the appointment needs; null when the stored text is damaged. */
  draft: InquiryDraft | null;
};

export async function link(
  tx: Tx,
  join: { inquiry: number; appointment: number; coverage_rank: number; draft: InquiryDraft },
  now: number,
): Promise<void> {
  await LINK(tx, [{ ...join, draft: JSON.stringify(join.draft), created_at: now }]);
}

const LINK = preparedRows<Insertable<Tables['inquiry_appointments']>>()((tx, links) =>
  tx
    .insertInto('inquiry_appointments')
    .values(links)
    .onConflict((conflict) =>
      conflict.columns(['inquiry', 'appointment']).doUpdateSet({
        draft: (excluded) => excluded.ref('excluded.draft'),
        coverage_rank: (excluded) => excluded.ref('excluded.coverage_rank'),
      }),
    ),
);

/** Saves the new rank of the inquiry's coverage on the appointment. */
export async function setCoverageRank(
  tx: Tx,
  join: { inquiry: number; appointment: number; coverage_rank: number },
): Promise<void> {
  const { inquiry, appointment, coverage_rank } = join;
  await tx
    .updateTable('inquiry_appointments')
    .set({ coverage_rank })
    .where('inquiry', '=', inquiry)
    .where('appointment', '=', appointment)
    .execute();
}

export async function unlink(
  tx: Tx,
  inquiry: number,
  appointment: number,
  now: number,
): Promise<void> {
  await tx
    .deleteFrom('inquiry_appointments')
    .where('inquiry', '=', inquiry)
    .where('appointment', '=', appointment)
    .execute();
  await nameNextVisit(tx, 'inquiry', inquiry, now);
}

/** Returns them in the order of linking: the first provides the inquiry's external ID. */
export async function appointmentsOf(db: Db | Tx, inquiry: number): Promise<LinkedAppointment[]> {
  const rows = await LINKED_TO(db, { inquiry });
  return rows.map((row) => ({ ...row, draft: readDraft(row.draft) }));
}

const LINKED_TO = prepared<{ inquiry: number }>()((db, place) =>
  db
    .selectFrom('inquiry_appointments')
    .innerJoin('appointments', 'appointments.id', 'inquiry_appointments.appointment')
    .select([
      'appointments.id',
      'appointments.kind',
      'appointments.connector',
      'appointments.source_id',
      'appointments.starts_at',
      'appointments.closed_reason',
      'appointments.missing_since',
      'appointments.is_confirmed',
      'inquiry_appointments.coverage_rank',
      'inquiry_appointments.draft',
    ])
    .select(
      sql<0 | 1>`exists (select 1 from kept_holds k
        where k.appointment = appointments.id and k.inquiry = inquiry_appointments.inquiry)`.as(
        'keeps_hold',
      ),
    )
    .where('inquiry_appointments.inquiry', '=', place('inquiry'))
    .orderBy('inquiry_appointments.created_at')
    .orderBy('appointments.id'),
);

/** Returns whether the inquiry serves an open visit; one that is over is open until it is old. */
export async function isAwaited(db: Db | Tx, inquiry: number): Promise<boolean> {
  return (await appointmentsOf(db, inquiry)).some(({ closed_reason }) => closed_reason === null);
}

/** Returns whether the visit has vanished, and the office has not released its calls since. */
export const isInDoubt = ({
  missing_since,
  is_confirmed,
}: Pick<AppointmentRow, 'missing_since' | 'is_confirmed'>): boolean =>
  missing_since !== null && is_confirmed === 0;

export async function inquiriesOf(
  db: Db | Tx,
  appointment: number,
): Promise<{ id: number; coverage_rank: number }[]> {
  return await INQUIRIES_OF(db, { appointment });
}

const INQUIRIES_OF = prepared<{ appointment: number }>()((db, place) =>
  db
    .selectFrom('inquiry_appointments')
    .select(['inquiry as id', 'coverage_rank'])
    .where('appointment', '=', place('appointment'))
    .orderBy('coverage_rank')
    .orderBy('inquiry'),
);

/** Returns the inquiries of the appointment that has this ID in the PMS now. */
export async function inquiriesOfSource(
  tx: Tx,
  connector: string,
  source_id: string,
): Promise<{ id: number; coverage_rank: number }[]> {
  const row = await appointmentOfSource(tx, connector, source_id);
  return row === null ? [] : await inquiriesOf(tx, row.id);
}

/** Returns the appointment that has this ID in the PMS now. */
export async function appointmentOfSource(
  tx: Tx,
  connector: string,
  source_id: string,
): Promise<{ id: number; closed_reason: ClosedReason | null } | null> {
  const row = await tx
    .selectFrom('appointments')
    .select(['id', 'closed_reason'])
    .where('connector', '=', connector)
    .where('source_id', '=', source_id)
    .where('superseded_at', 'is', null)
    .executeTakeFirst();
  return row ?? null;
}

type PlannableRow = {
  id: number;
  connector: string;
  source_id: string;
  patient_key: string;
  starts_at: number;
  closed_reason: ClosedReason | null;
  missing_since: number | null;
  is_confirmed: 0 | 1;
};

export type AppointmentRow = PlannableRow & { kind: 'appointment'; input: AppointmentInput };
export type ClaimRow = PlannableRow & { kind: 'claim'; input: ClaimInput };

/** Returns a patient's upcoming and past visits with their present IDs in the PMS. */
export async function visitsOf(
  tx: Db | Tx,
  patient_key: string,
): Promise<{ connector: string; source_id: string; starts_at: number }[]> {
  return await VISITS_OF(tx, { patient_key });
}

const VISITS_OF = prepared<{ patient_key: string }>()((db, place) =>
  db
    .selectFrom('appointments')
    .select(['connector', 'source_id', 'starts_at'])
    .where('patient_key', '=', place('patient_key'))
    .where('kind', '=', sql.lit('appointment'))
    .where('superseded_at', 'is', null)
    .where((where) =>
      where.or([where('closed_reason', 'is', null), where('closed_reason', '=', sql.lit('past'))]),
    ),
);

/** Returns the coverages that the PMS has for an appointment now, primary first. */
export async function coveragesOf(tx: Tx, appointment: number): Promise<CoverageInput[]> {
  const row = await tx
    .selectFrom('appointments')
    .select(['source_id', 'starts_at', 'content'])
    .where('id', '=', appointment)
    .where('kind', '=', sql.lit('appointment'))
    .executeTakeFirst();
  return row === undefined ? [] : readAppointment(row).coverages;
}

/** Returns the appointments that are not closed. */
export async function stillOpen(tx: Tx, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom('appointments')
    .select('id')
    .where('id', 'in', ids)
    .where('closed_reason', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Notes that those of the visits that have vanished take place nevertheless: the office has
 * released their calls. Returns whether there is one.
 */
export async function confirmVisits(tx: Tx, appointments: readonly number[]): Promise<boolean> {
  if (appointments.length === 0) return false;
  const { numUpdatedRows } = await tx
    .updateTable('appointments')
    .set({ is_confirmed: 1 })
    .where('id', 'in', appointments)
    .where('missing_since', 'is not', null)
    .where('is_confirmed', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows > 0;
}

/**
 * Returns whether the appointment may need a call: it is open, or planning could open it again,
 * because its insurance has arrived or the payer map has changed.
 */
export async function mayNeedCall(tx: Tx, id: number, now: number): Promise<boolean> {
  const row = await tx
    .selectFrom('appointments')
    .select('id')
    .where('id', '=', id)
    .where((where) =>
      where.or([
        where('closed_reason', 'is', null),
        where.and([
          where('closed_reason', 'in', ['no_coverage', 'skipped']),
          where('starts_at', '>', now),
        ]),
      ]),
    )
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Closes an appointment with a reason (G2) and resolves its attention items. If planning has not
 * seen its last change, it still must (G8).
 */
export async function closeAppointment(
  tx: Tx,
  id: number,
  reason: ClosedReason,
  now: number,
): Promise<void> {
  await CLOSE(tx, { id, reason, now });
  await resolveAttention(tx, appointmentSubject(id), now);
  // Items about missing answers stay for a past visit: the office may still need the answer.
  if (reason !== 'past') await resolveAnswers(tx, id, now);
  await nameNextVisit(tx, 'appointment', id, now);
  await writeAudit(tx, [
    { at: now, subject: appointmentSubject(id), from_state: null, to_state: 'closed', reason },
  ]);
}

const CLOSE = prepared<{ id: number; reason: ClosedReason; now: number }>()((tx, place) =>
  tx
    .updateTable('appointments')
    .set({ closed_reason: place('reason'), closed_at: place('now') })
    .set({ plan_due_at: UNLESS_CHANGED, plan_wait: null })
    .where('id', '=', place('id')),
);

/** Resolves items about answers that nobody needs. */
async function resolveAnswers(tx: Tx, id: number, now: number): Promise<void> {
  for (const inquiry of await inquiriesOf(tx, id)) {
    if (await isAwaited(tx, inquiry.id)) continue;
    const reasons = [...ANSWER_REASONS, ...UNKNOWN_REASONS];
    await resolveAttention(tx, inquirySubject(inquiry.id), now, reasons);
  }
}

/** Returns the inquiries linked to appointments at `now`, with the IDs of the appointments. */
export async function inquiriesUnder(
  db: Db,
  appointments: readonly number[],
  now: number,
): Promise<{ connector: string; source_id: string; inquiry: number }[]> {
  return await db
    .selectFrom('inquiry_appointments')
    .innerJoin('appointments', 'appointments.id', 'inquiry_appointments.appointment')
    .innerJoin('inquiries', 'inquiries.id', 'inquiry_appointments.inquiry')
    .select(['appointments.connector', 'appointments.source_id', 'inquiries.id as inquiry'])
    .where('appointments.id', 'in', appointments)
    .where('inquiry_appointments.created_at', '=', now)
    .where('inquiries.state', '<>', 'withdrawn')
    .orderBy('inquiries.id')
    .execute();
}
