/** Which inquiries fall due, and when the next one does. */
import { sql } from 'kysely';
import type { Specialty } from '../../domain/specialty.ts';
import type { InquiryState } from '../../domain/states.ts';
import { earlier } from '../../domain/time.ts';
import type { Db, Tx } from '../engine/database.ts';
import type { InquiryRow } from './inquiries.ts';

export type Claim = {
  /** Not after. */
  now: number;
  limit: number;
  specialties: readonly Specialty[];
};

/**
 * Planned inquiries that may be sent now, the nearest visit first. Left out: those on hold, and
 * those of which an appointment has changed and waits for planning, because the change may withdraw
 * them.
 */
export async function dueForSubmission(
  db: Db | Tx,
  { now, limit, specialties }: Claim,
): Promise<InquiryRow[]> {
  if (limit <= 0 || specialties.length === 0) return [];
  return await db
    .selectFrom('inquiries')
    .selectAll()
    .where('state', '=', sql.lit('planned'))
    .where('due_at', '<=', now)
    .where('hold_reason', 'is', null)
    .where('specialty', 'in', specialties)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('inquiry_appointments')
            .innerJoin('appointments', 'appointments.id', 'inquiry_appointments.appointment')
            .select('appointments.id')
            .whereRef('inquiry_appointments.inquiry', '=', 'inquiries.id')
            .where('appointments.plan_due_at', '<=', now),
        ),
      ),
    )
    .orderBy('visit_at')
    .orderBy('id')
    .limit(sql.lit(limit))
    .execute();
}

/**
 * The specialty and the state of everything that may soon be sent or looked for, each pair once.
 */
export async function waitingToSend(
  db: Db,
  now: number,
): Promise<{ specialty: Specialty; state: InquiryState }[]> {
  return await db
    .selectFrom('inquiries')
    .select(['specialty', 'state'])
    .distinct()
    .where((where) =>
      where.or([
        where.and([where('state', '=', sql.lit('planned')), where('due_at', '<=', now)]),
        where('state', 'in', ['sending', 'uncertain']),
      ]),
    )
    .execute();
}

export async function uncertainDue(db: Db, now: number, limit: number): Promise<InquiryRow[]> {
  return await db
    .selectFrom('inquiries')
    .selectAll()
    .where('state', '=', sql.lit('uncertain'))
    .where('lookup_at', '<=', now)
    .orderBy('lookup_at')
    .limit(sql.lit(limit))
    .execute();
}

type Due = {
  states?: readonly ('open' | 'answered')[];
  visits_from?: number;
  visits_until?: number;
};

/**
 * Inquiries whose time to be asked about has come, the longest waiting first; all, or those that
 * `only` describes.
 */
export async function dueForPolling(
  db: Db,
  now: number,
  limit: number,
  only: Due = {},
): Promise<InquiryRow[]> {
  const { states = ['open', 'answered'], visits_from, visits_until } = only;
  let due = db
    .selectFrom('inquiries')
    .selectAll()
    .where('service_id', 'is not', null)
    .where('poll_at', '<=', now)
    .where('state', 'in', states);
  if (visits_from !== undefined) due = due.where('visit_at', '>=', visits_from);
  if (visits_until !== undefined) due = due.where('visit_at', '<', visits_until);
  return await due.orderBy('poll_at').limit(sql.lit(limit)).execute();
}

/** Has an inquiry asked about at `poll_at`, unless the time in its row has changed meanwhile. */
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

/**
 * Answered inquiries of which the transcript verification is to be asked for, the longest waiting
 * first.
 */
export async function dueForVerification(
  db: Db,
  now: number,
  limit: number,
): Promise<InquiryRow[]> {
  return await db
    .selectFrom('inquiries')
    .selectAll()
    .where('verify_at', '<=', now)
    .where('service_id', 'is not', null)
    .orderBy('verify_at')
    .limit(sql.lit(limit))
    .execute();
}

/** What is due for verification now falls due at `verify_at`. */
export async function putOffVerifications(tx: Tx, now: number, verify_at: number): Promise<void> {
  await tx.updateTable('inquiries').set({ verify_at }).where('verify_at', '<=', now).execute();
}

/** When the next planned row falls due or the next lookup does; null: none in the future. */
export async function nextSubmissionDue(db: Db, now: number): Promise<number | null> {
  const { send_at, lookup_at } = await db
    .selectNoFrom(({ selectFrom }) => [
      selectFrom('inquiries')
        .select((select) => select.fn.min('due_at').as('at'))
        .where('state', '=', sql.lit('planned'))
        .where('hold_reason', 'is', null)
        .where('due_at', '>', now)
        .as('send_at'),
      selectFrom('inquiries')
        .select((select) => select.fn.min('lookup_at').as('at'))
        .where('state', '=', sql.lit('uncertain'))
        .as('lookup_at'),
    ])
    .executeTakeFirstOrThrow();
  return earlier(send_at, lookup_at);
}

/** The open inquiry whose turn to be asked about comes first. */
export async function nextOpenToAsk(db: Db): Promise<InquiryRow | null> {
  const row = await db
    .selectFrom('inquiries')
    .selectAll()
    .where('state', '=', sql.lit('open'))
    .where('poll_at', 'is not', null)
    .where('service_id', 'is not', null)
    .orderBy('poll_at')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row ?? null;
}

/** When the next inquiry is to be asked about, or the verification of one. */
export async function nextPollDue(db: Db): Promise<number | null> {
  const { poll_at, verify_at } = await db
    .selectNoFrom(({ selectFrom }) => [
      selectFrom('inquiries')
        .select((select) => select.fn.min('poll_at').as('at'))
        .where('poll_at', 'is not', null)
        .where('state', 'in', ['open', 'answered'])
        .as('poll_at'),
      selectFrom('inquiries')
        .select((select) => select.fn.min('verify_at').as('at'))
        .where('verify_at', 'is not', null)
        .as('verify_at'),
    ])
    .executeTakeFirstOrThrow();
  return earlier(poll_at, verify_at);
}
