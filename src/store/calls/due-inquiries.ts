/** Queries for due inquiries and for the time of the next one. */
import { sql } from 'kysely';
import { SPECIALTIES, type Specialty } from '../../domain/specialty.ts';
import type { InquiryState } from '../../domain/states.ts';
import { earlier } from '../../domain/time.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import type { InquiryRow } from './inquiries.ts';

/** `now`: inquiries that become due later are left out. */
export type DueQuery = { now: number; limit: number; specialty: Specialty };

/**
 * Returns planned inquiries that may be sent now, nearest visit first. Leaves out those on hold;
 * those with a changed appointment that waits for planning, because planning may withdraw them,
 * also if it failed and no other open appointment needs them; and those of a connector with unread
 * messages, which may cancel the visit. That connector may no longer exist.
 */
export async function dueForSubmission(
  db: Db | Tx,
  { now, limit, specialty }: DueQuery,
): Promise<InquiryRow[]> {
  return await DUE(db, { now }, specialty, limit);
}

/**
 * Whether the inquiry, a row of `inquiries` under this name, serves an open visit or claim that was
 * planned with success, keeps no hold for it, and has not vanished from the exports.
 */
export const isNeeded = (inquiries: string) => sql<number>`exists(
  select other.id from inquiry_appointments as of_other
    join appointments as other on other.id = of_other.appointment
    where of_other.inquiry = ${sql.ref(`${inquiries}.id`)} and other.closed_reason is null
      and other.plan_wait is distinct from 'planning_failed'
      and (other.missing_since is null or other.is_confirmed = 1)
      and not exists (select 1 from kept_holds as k
        where k.appointment = other.id and k.inquiry = ${sql.ref(`${inquiries}.id`)}))`;

/** Returns whether a visit or claim needs the call: see `isNeeded`. */
export async function isCallNeeded(tx: Tx, id: number): Promise<boolean> {
  const row = await tx
    .selectFrom('inquiries')
    .select(isNeeded('inquiries').as('is_needed'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.is_needed === 1;
}

const DUE = prepared<{ now: number }>()((db, place, specialty: Specialty, limit: number) =>
  db
    .selectFrom('inquiries_with_call as inquiries')
    .selectAll()
    .where('state', '=', sql.lit('planned'))
    .where('due_at', '<=', place('now'))
    .where('hold_reason', 'is', null)
    .where('specialty', '=', sql.lit(specialty))
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('inquiry_appointments')
            .innerJoin('appointments', 'appointments.id', 'inquiry_appointments.appointment')
            .select('appointments.id')
            .whereRef('inquiry_appointments.inquiry', '=', 'inquiries.id')
            .where((appointment) =>
              appointment.or([
                appointment('appointments.plan_due_at', '<=', place('now')),
                appointment.and([
                  appointment('appointments.plan_wait', '=', sql.lit('planning_failed')),
                  sql<boolean>`not ${isNeeded('inquiries')}`,
                ]),
              ]),
            ),
        ),
      ),
    )
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('unread_messages')
            .select('unread_messages.id')
            .whereRef('unread_messages.connector', '=', 'inquiries.connector')
            .where('unread_messages.failed_at', 'is', null),
        ),
      ),
    )
    .orderBy('visit_at')
    .orderBy('id')
    .limit(sql.lit(limit)),
);

/**
 * Returns the specialty and the state of all inquiries that may need to be sent or looked up soon,
 * each pair once.
 */
export async function waitingToSend(
  db: Db | Tx,
  now: number,
): Promise<{ specialty: Specialty; state: InquiryState }[]> {
  return await WAITING(db, { now });
}

const WAITING = prepared<{ now: number }>()((db, place) => {
  const select = () => db.selectFrom('inquiries').select(['specialty', 'state']);
  const planned = SPECIALTIES.map((specialty) =>
    select()
      .where('state', '=', sql.lit('planned'))
      .where('specialty', '=', sql.lit(specialty))
      .where('due_at', '<=', place('now'))
      .limit(sql.lit(1))
      .as('planned'),
  );
  let waiting = select().distinct().where('state', 'in', ['sending', 'uncertain']);
  for (const one of planned) waiting = waiting.unionAll(db.selectFrom(one).selectAll());
  return waiting;
});

export async function uncertainDue(db: Db, now: number, limit: number): Promise<InquiryRow[]> {
  return await LOOKUPS(db, { now }, limit);
}

const LOOKUPS = prepared<{ now: number }>()((db, place, limit: number) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('state', '=', sql.lit('uncertain'))
    .where('lookup_at', '<=', place('now'))
    .orderBy('lookup_at')
    .limit(sql.lit(limit)),
);

type Due = {
  states?: readonly ('open' | 'answered')[];
  visits_from?: number;
  visits_until?: number;
};

/**
 * Returns inquiries that are due for a poll, longest waiting first; all, or those that match
 * `only`.
 */
export async function dueForPolling(
  db: Db,
  now: number,
  limit: number,
  only: Due = {},
): Promise<InquiryRow[]> {
  const { states = ['open', 'answered'], visits_from, visits_until } = only;
  if (visits_from === undefined && visits_until === undefined)
    return await TO_POLL(db, { now }, limit, states.join(' '));
  return await TO_POLL_BEFORE_VISITS(
    db,
    { now, from: visits_from ?? 0, until: visits_until ?? Number.MAX_SAFE_INTEGER },
    limit,
    states.join(' '),
  );
}

const TO_POLL = prepared<{ now: number }>()((db, place, limit: number, states: string) =>
  openToPoll(db, states).where('poll_at', '<=', place('now')).limit(sql.lit(limit)),
);

const TO_POLL_BEFORE_VISITS = prepared<{ now: number; from: number; until: number }>()(
  (db, place, limit: number, states: string) =>
    openToPoll(db, states)
      .where('poll_at', '<=', place('now'))
      .where('visit_at', '>=', place('from'))
      .where('visit_at', '<', place('until'))
      .limit(sql.lit(limit)),
);

/** `states`: separated by spaces. */
function openToPoll(db: Db | Tx, states: string) {
  return db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('service_id', 'is not', null)
    .where('state', 'in', states.split(' ') as InquiryState[])
    .orderBy('poll_at', (order) => order.asc().nullsFirst());
}

/**
 * Schedules a poll of the inquiry at `poll_at`, unless the time in its row has changed meanwhile.
 */
export async function putOff(
  tx: Tx,
  { id, poll_at: before }: Pick<InquiryRow, 'id' | 'poll_at'>,
  poll_at: number,
  now: number,
): Promise<void> {
  await tx
    .updateTable('inquiries')
    .set({ poll_at, updated_at: now })
    .where('id', '=', id)
    .where('poll_at', '=', before)
    .execute();
}

/** Verifications that are due later than `after` and not later than `until` (epoch ms). */
export type VerificationTimes = { after: number; until: number };

/** Returns answered inquiries whose transcript verification is due, longest waiting first. */
export async function dueForVerification(
  db: Db,
  { after, until }: VerificationTimes,
  limit: number,
): Promise<InquiryRow[]> {
  return await VERIFICATIONS(db, { after, until }, limit);
}

const VERIFICATIONS = prepared<VerificationTimes>()((db, place, limit: number) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('verify_at', '>', place('after'))
    .where('verify_at', '<=', place('until'))
    .where('service_id', 'is not', null)
    .orderBy('verify_at')
    .limit(sql.lit(limit)),
);

/** Returns when the next planned inquiry or the next lookup is due; null: none in the future. */
export async function nextSubmissionDue(db: Db, now: number): Promise<number | null> {
  const [next] = await NEXT_SUBMISSION(db, { now });
  return earlier(next?.send_at ?? null, next?.lookup_at ?? null);
}

const NEXT_SUBMISSION = prepared<{ now: number }>()((db, place) =>
  db.selectNoFrom(({ selectFrom }) => [
    selectFrom('inquiries')
      .select((select) => select.fn.min('due_at').as('at'))
      .where('state', '=', sql.lit('planned'))
      .where('hold_reason', 'is', null)
      .where('due_at', '>', place('now'))
      .as('send_at'),
    selectFrom('inquiries')
      .select((select) => select.fn.min('lookup_at').as('at'))
      .where('state', '=', sql.lit('uncertain'))
      .as('lookup_at'),
  ]),
);

/** Returns the open inquiry that is polled next. */
export async function nextOpenToAsk(db: Db): Promise<InquiryRow | null> {
  const [row] = await NEXT_OPEN(db, {});
  return row ?? null;
}

const NEXT_OPEN = prepared()((db) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('state', '=', sql.lit('open'))
    .where('poll_at', 'is not', null)
    .where('service_id', 'is not', null)
    .orderBy('poll_at')
    .limit(sql.lit(1)),
);

/** Returns when the next poll is due, or the next verification that is due after `after`. */
export async function nextPollDue(db: Db, after: number): Promise<number | null> {
  const [next] = await NEXT_POLL(db, { after });
  return earlier(next?.poll_at ?? null, next?.verify_at ?? null);
}

const NEXT_POLL = prepared<{ after: number }>()((db, place) =>
  db.selectNoFrom(({ selectFrom }) => [
    selectFrom('inquiries')
      .select((select) => select.fn.min('poll_at').as('at'))
      .where('poll_at', 'is not', null)
      .where('state', 'in', ['open', 'answered'])
      .as('poll_at'),
    selectFrom('inquiries')
      .select((select) => select.fn.min('verify_at').as('at'))
      .where('verify_at', '>', place('after'))
      .as('verify_at'),
  ]),
);
