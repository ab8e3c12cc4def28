/**
 * The stored progress of appointments, from which `domain/explanation.ts` makes sentences.
 * Read-only.
 */
import { sql } from 'kysely';
import type { CurrentInquiry, OpenEntry, Progress } from '../../domain/explanation.ts';
import { KEPT_HOLD, VANISHED_HOLD } from '../../domain/inquiry.ts';
import type { DeliveryRow } from '../answers/deliveries.ts';
import { isNeeded } from '../calls/due-inquiries.ts';
import { currentHalts } from '../calls/halts.ts';
import { keepingHolds } from '../calls/kept-holds.ts';
import type { Db } from '../engine/database.ts';
import { isCurrentLink, stageOfLink } from './situation.ts';

const IDS_PER_STATEMENT = 500;

/**
 * Returns each appointment with its progress. Uses a fixed number of statements for every few
 * hundred.
 */
export async function withProgress<Appointment extends { id: number }>(
  db: Db,
  appointments: readonly Appointment[],
): Promise<(Appointment & { progress: Progress })[]> {
  const halts = await currentHalts(db);
  const all: (Appointment & { progress: Progress })[] = [];
  for (let first = 0; first < appointments.length; first += IDS_PER_STATEMENT) {
    const part = appointments.slice(first, first + IDS_PER_STATEMENT);
    const ids = part.map(({ id }) => id);
    const inquiries = Map.groupBy(
      await currentInquiries(db, ids),
      ({ appointment }) => appointment,
    );
    const entries = Map.groupBy(await openEntries(db, ids), ({ appointment }) => appointment);
    const deliveries = Map.groupBy(await deliveriesTo(db, ids), ({ appointment }) => appointment);
    const keeping = new Set(await keepingHolds(db, ids));
    for (const each of part) {
      const progress = {
        keeps_hold: keeping.has(each.id),
        inquiries: (inquiries.get(each.id) ?? []).map((row) => ({
          ...row,
          hold_reason: holdOf(row, keeping.has(each.id)),
        })),
        entries: entries.get(each.id) ?? [],
        deliveries: deliveries.get(each.id) ?? [],
        halts,
      };
      all.push({ ...each, progress });
    }
  }
  return all;
}

/**
 * `is_needed`: 0 if every open visit or claim that the call serves keeps a hold for it, has
 * vanished, or could not be planned. `has_vanished`: 1 if this visit has.
 */
type StoredInquiry = CurrentInquiry & { is_needed: number; has_vanished: number };

/** Returns the call's hold. One that follows from the call's visits may not be stored yet. */
function holdOf(
  { hold_reason, is_needed, has_vanished }: StoredInquiry,
  keeps_hold: boolean,
): string | null {
  if (hold_reason !== null || is_needed === 1) return hold_reason;
  if (keeps_hold) return KEPT_HOLD;
  return has_vanished === 1 ? VANISHED_HOLD : null;
}

/** By appointment, least advanced first. */
async function currentInquiries(db: Db, appointments: readonly number[]): Promise<StoredInquiry[]> {
  return await db
    .selectFrom('inquiry_appointments as l')
    .innerJoin('inquiries_with_call as i', 'i.id', 'l.inquiry')
    .innerJoin('appointments as a', 'a.id', 'l.appointment')
    .select(({ exists, selectFrom }) => [
      'l.appointment',
      'l.coverage_rank',
      stageOfLink.as('stage'),
      'i.id',
      'i.state',
      'i.service_status',
      'i.due_at',
      'i.hold_reason',
      'i.lookup_at',
      'i.poll_at',
      'i.sent_at',
      'i.was_accepted',
      'i.overdue_since',
      'i.reason',
      isNeeded('i').as('is_needed'),
      sql<number>`a.missing_since is not null and a.is_confirmed = 0`.as('has_vanished'),
      exists(
        selectFrom('unread_messages')
          .select('id')
          .whereRef('connector', '=', 'i.connector')
          .where('failed_at', 'is', null),
      )
        .$castTo<number>()
        .as('has_unread'),
    ])
    .where('l.appointment', 'in', appointments)
    .where(isCurrentLink)
    .orderBy('l.appointment')
    .orderBy('stage')
    .orderBy('l.coverage_rank')
    .execute();
}

/**
 * Returns the open attention items about the appointments themselves or about their inquiries,
 * oldest first. CROSS JOIN keeps SQLite from starting with every open item.
 */
export async function openEntries(db: Db, appointments: readonly number[]): Promise<OpenEntry[]> {
  const ids = sql.join(appointments);
  const { rows } = await sql<OpenEntry>`
    select t.appointment, t.reason, t.what, t.next, t.since, t.id, t.words from attention t
    where t.resolved_at is null and t.appointment in (${ids}) and t.subject not like 'inquiry:%'
    union
    select l.appointment, t.reason, t.what, t.next, t.since, t.id, t.words
    from inquiry_appointments l
    cross join inquiries i on i.id = l.inquiry
    cross join attention t on t.inquiry = l.inquiry
    where l.appointment in (${ids}) and i.state <> 'withdrawn'
      and t.resolved_at is null and t.subject like 'inquiry:%'
    order by 6`.execute(db);
  return rows.map(({ id, appointment, reason, what, words, next, since }) => ({
    id,
    appointment,
    reason,
    what,
    words,
    next,
    since,
  }));
}

export async function deliveriesTo(
  db: Db,
  appointments: readonly number[],
): Promise<DeliveryRow[]> {
  return await db
    .selectFrom('deliveries')
    .selectAll()
    .where('appointment', 'in', appointments)
    .orderBy('id')
    .execute();
}
