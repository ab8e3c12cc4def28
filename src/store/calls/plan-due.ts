/** When planning looks at visits and claims again. What makes one due now wakes planning. */

import { sql } from 'kysely';
import { readAppointment, readClaim } from '../../domain/damaged.ts';
import type { PlanLimit } from '../../domain/due-times.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { AT_ONCE, CHANGED } from './due-at-once.ts';
import type { AppointmentRow, ClaimRow } from './links.ts';

/** Returns appointments that are due for planning, longest waiting first. */
export async function dueForPlanning(db: Db, now: number, limit: number) {
  return await DUE_FOR_PLANNING(db, { now }, limit);
}

const DUE_FOR_PLANNING = prepared<{ now: number }>()((db, place, limit: number) =>
  db
    .selectFrom('appointments')
    .select(['id', 'connector'])
    .where('plan_due_at', '<=', place('now'))
    .orderBy('plan_due_at')
    .limit(sql.lit(limit)),
);

/** Returns when the next appointment is due for planning; null when there is none. */
export async function nextPlanDue(db: Db): Promise<number | null> {
  const [row] = await NEXT_PLAN(db, {});
  return row?.at ?? null;
}

const NEXT_PLAN = prepared()((db) =>
  db
    .selectFrom('appointments')
    .select((select) => select.fn.min('plan_due_at').as('at'))
    .where('plan_due_at', 'is not', null),
);

/** Returns the appointment or claim as stored now; null when planning has handled it meanwhile. */
export async function appointmentDueForPlanning(
  tx: Tx,
  id: number,
): Promise<AppointmentRow | ClaimRow | null> {
  const [row] = await TO_PLAN(tx, { id });
  if (row === undefined) return null;
  const { content: _, ...rest } = row;
  const input = row.kind === 'claim' ? readClaim(row) : readAppointment(row);
  return { ...rest, input } as AppointmentRow | ClaimRow;
}

const TO_PLAN = prepared<{ id: number }>()((tx, place) =>
  tx
    .selectFrom('appointments')
    .select([
      'id',
      'kind',
      'connector',
      'source_id',
      'patient_key',
      'starts_at',
      'closed_reason',
      'missing_since',
      'is_confirmed',
      'content',
    ])
    .where('id', '=', place('id'))
    .where('plan_due_at', 'is not', null),
);

/** Plans every open visit and claim again, and those that the payer map had skipped. */
export async function planAllAgain(tx: Tx, now: number): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ plan_due_at: AT_ONCE })
    .where('superseded_at', 'is', null)
    .where((where) =>
      where.or([
        where('closed_reason', 'is', null),
        where.and([where('closed_reason', '=', 'skipped'), where('starts_at', '>', now)]),
      ]),
    )
    .execute();
  tx.wakePlanning();
}

/** Sets when planning returns to the appointment; `null`: when it changes. */
export async function setPlanDue(
  tx: Tx,
  appointment: number,
  due_at: number | null,
  wait: string | null,
): Promise<void> {
  await SET_PLAN_DUE(tx, { appointment, due_at, wait });
}

const SET_PLAN_DUE = prepared<{
  appointment: number;
  due_at: number | null;
  wait: string | null;
}>()((tx, place) =>
  tx
    .updateTable('appointments')
    .set({ plan_due_at: place('due_at'), plan_wait: place('wait') })
    .where('id', '=', place('appointment')),
);

/** Plans the appointment again, whatever it waits for. */
export async function planVisitAgain(tx: Tx, appointment: number): Promise<void> {
  await PLAN_VISIT_AGAIN(tx, { appointment });
  tx.wakePlanning();
}

const PLAN_VISIT_AGAIN = prepared<{ appointment: number }>()((tx, place) =>
  tx
    .updateTable('appointments')
    .set({ plan_due_at: AT_ONCE, plan_wait: null })
    .where('id', '=', place('appointment')),
);

/**
 * Plans the appointment again if planning leaves it alone because its stored text is damaged: the
 * office has to hear that an answer waits for it.
 */
export async function planDamagedAgain(tx: Tx, appointment: number): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ plan_due_at: CHANGED })
    .where('id', '=', appointment)
    .where('plan_due_at', 'is', null)
    .where('plan_wait', '=', 'planning_failed')
    .execute();
  tx.wakePlanning();
}

/**
 * Plans appointments again that planning had left alone because a call was in progress: too near,
 * past, waiting after a reschedule, or no longer in need of a further call. Nothing is sent for
 * them before that.
 */
export async function replanAppointmentsOf(tx: Tx, inquiries: readonly number[]): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ plan_due_at: AT_ONCE })
    .where('closed_reason', 'is', null)
    .where((where) =>
      where.or([
        where('plan_due_at', 'is', null),
        // A claim without a wait reason is otherwise planned again only after its date.
        where.and([
          where('kind', '=', sql.lit('claim')),
          where('plan_due_at', '>=', where.ref('starts_at')),
        ]),
        where('plan_wait', 'is not', null),
        // Planning holds a call for visits that have vanished.
        where('missing_since', 'is not', null),
        // It also holds one that is left with visits which keep the office's hold.
        where('id', 'in', (select) => select.selectFrom('kept_holds').select('appointment')),
        where('id', 'in', (select) =>
          select
            .selectFrom('inquiry_appointments')
            .innerJoin('inquiries', 'inquiries.id', 'inquiry_appointments.inquiry')
            .select('inquiry_appointments.appointment')
            .where('inquiries.id', 'in', inquiries)
            .where('inquiries.attempt', '>', 1),
        ),
      ]),
    )
    .where('id', 'in', (select) =>
      select
        .selectFrom('inquiry_appointments')
        .select('appointment')
        .where('inquiry', 'in', inquiries),
    )
    .execute();
  tx.wakePlanning();
}

/** Plans every open appointment again that the inquiries serve. */
export async function planAgain(tx: Tx, inquiries: readonly number[]): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ plan_due_at: AT_ONCE })
    .where('closed_reason', 'is', null)
    .where('id', 'in', (select) =>
      select
        .selectFrom('inquiry_appointments')
        .select('appointment')
        .where('inquiry', 'in', inquiries),
    )
    .execute();
  tx.wakePlanning();
}

/** Plans appointments and claims with one of the waits again if they would be due after `after`. */
export async function planWaitingAgain(tx: Tx, { waits, after, due_at }: PlanLimit): Promise<void> {
  await tx
    .updateTable('appointments')
    .set({ plan_due_at: due_at })
    .where('plan_wait', 'in', waits)
    .where('plan_due_at', '>', after)
    .execute();
  tx.wakePlanning();
}
