/**
 * The office's holds that no call has at the moment: planning has taken the held call back, because
 * the visit was away, its coverage was corrected, or another call comes first. The visit or claim
 * keeps the hold, and the next call for that coverage is on hold. A kept hold names a call for the
 * coverage: one that was held, or one that is not on hold because another visit needs it, too. That
 * one is put on hold if only visits are left that keep a hold for it.
 */
import type { Insertable } from 'kysely';
import { codesNotAsked } from '../../domain/ask-again.ts';
import { readDraft } from '../../domain/inquiry.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import type { InquiryState } from '../../domain/states.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared, preparedRows } from '../engine/prepared.ts';
import type { Tables } from '../engine/tables.ts';
import { type InquiryRow, inquiryById } from './inquiries.ts';
import { appointmentOfSource, appointmentsOf, unlink } from './links.ts';

/** Unlinks the call from the visit or claim, which keeps the office's hold. */
export async function leaveCall(
  tx: Tx,
  { inquiry, appointment }: { inquiry: number; appointment: number },
  now: number,
): Promise<void> {
  const row = await inquiryById(tx, inquiry);
  if (row !== null && isHeld(row)) await KEEP(tx, [{ inquiry, appointment }]);
  await unlink(tx, inquiry, appointment, now);
}

/** Has every visit and claim of the calls keep the office's hold: these calls are taken back. */
export async function keepHoldsOf(tx: Tx, inquiries: readonly InquiryRow[]): Promise<void> {
  for (const { id } of inquiries.filter(isHeld)) {
    const served = await appointmentsOf(tx, id);
    if (served.length > 0)
      await KEEP(
        tx,
        served.map((each) => ({ inquiry: id, appointment: each.id })),
      );
  }
}

/** Returns whether the office holds the call. One that was taken back holds nothing anymore. */
export function isHeld({ state, hold_reason }: InquiryRow): boolean {
  return hold_reason === OPERATOR_HOLD && state !== 'withdrawn';
}

const KEEP = preparedRows<Insertable<Tables['kept_holds']>>()((tx, holds) =>
  tx
    .insertInto('kept_holds')
    .values(holds)
    .onConflict((conflict) => conflict.doNothing()),
);

/** Returns the calls whose hold the visit or claim keeps. */
export async function keptHolds(db: Db | Tx, appointment: number): Promise<InquiryRow[]> {
  return await KEPT(db, { appointment });
}

const KEPT = prepared<{ appointment: number }>()((db, place) =>
  db
    .selectFrom('kept_holds')
    .innerJoin('inquiries_with_call as inquiries', 'inquiries.id', 'kept_holds.inquiry')
    .selectAll('inquiries')
    .where('kept_holds.appointment', '=', place('appointment'))
    .orderBy('inquiries.id'),
);

/**
 * Returns the calls whose hold the visit or claim still keeps. A hold ends once its call was made,
 * because another visit needed it, and asks about all codes of this one.
 */
export async function stillKept(tx: Tx, appointment: number): Promise<InquiryRow[]> {
  const kept = await keptHolds(tx, appointment);
  const over: number[] = [];
  for (const call of kept.filter(isMade))
    if (await asksAll(tx, call, appointment)) over.push(call.id);
  await endHolds(tx, appointment, over);
  return kept.filter(({ id }) => !over.includes(id));
}

/** Returns whether the call serves the visit and asks about all its codes. */
async function asksAll(tx: Tx, call: InquiryRow, appointment: number): Promise<boolean> {
  const linked = (await appointmentsOf(tx, call.id)).find(({ id }) => id === appointment);
  const codes = linked?.draft?.benefits_codes ?? [];
  const asked = readDraft(call.draft)?.benefits_codes ?? [];
  return linked !== undefined && codesNotAsked(codes, [asked]).length === 0;
}

/** Returns those of the visits and claims that keep a hold for a call that is not made. */
export async function keepingHolds(db: Db, appointments: readonly number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('kept_holds')
    .select('appointment')
    .where('appointment', 'in', appointments)
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('inquiry_appointments as l')
            .innerJoin('inquiries as i', 'i.id', 'l.inquiry')
            .select('i.id')
            .whereRef('l.inquiry', '=', 'kept_holds.inquiry')
            .whereRef('l.appointment', '=', 'kept_holds.appointment')
            .where('i.state', 'not in', ['withdrawn', ...MAY_BE_MADE]),
        ),
      ),
    )
    .execute();
  return rows.map(({ appointment }) => appointment);
}

/**
 * Moves the holds to the visit that replaces the one with this ID in the PMS, unless that one takes
 * place, too.
 */
export async function takeHolds(
  tx: Tx,
  { id: appointment, connector }: { id: number; connector: string },
  replaces: string,
): Promise<void> {
  const former = await appointmentOfSource(tx, connector, replaces);
  if (former === null || former.closed_reason === null) return;
  const inquiries = (await stillKept(tx, former.id)).map(({ id }) => id);
  if (inquiries.length === 0) return;
  await KEEP(
    tx,
    inquiries.map((inquiry) => ({ inquiry, appointment })),
  );
  await endHolds(tx, former.id, inquiries);
}

/** Has the visit keep the hold for this call, which is not on hold and is not made yet. */
export async function keepHoldFor(
  tx: Tx,
  held: { inquiry: number; appointment: number },
): Promise<void> {
  await KEEP(tx, [held]);
}

/** Returns whether the call may be made later, and the office does not hold it. */
export function isFree(row: InquiryRow): boolean {
  return MAY_BE_MADE.has(row.state) && !isHeld(row);
}

/** Returns whether the service has the call, may have it for good, or has answered it. */
export function isMade({ state }: InquiryRow): boolean {
  return state !== 'withdrawn' && !MAY_BE_MADE.has(state);
}

const MAY_BE_MADE: ReadonlySet<InquiryState> = new Set([
  'planned',
  'sending',
  'uncertain',
  'rejected',
]);

/** Ends these holds of the visit or claim: a call for the coverage has them, or is made. */
export async function endHolds(
  tx: Tx,
  appointment: number,
  inquiries: readonly number[],
): Promise<void> {
  if (inquiries.length === 0) return;
  await tx
    .deleteFrom('kept_holds')
    .where('appointment', '=', appointment)
    .where('inquiry', 'in', inquiries)
    .execute();
}

/** Ends every hold that these visits and claims keep. Returns whether there was one. */
export async function endHoldsOf(tx: Tx, appointments: readonly number[]): Promise<boolean> {
  if (appointments.length === 0) return false;
  const { numDeletedRows } = await tx
    .deleteFrom('kept_holds')
    .where('appointment', 'in', appointments)
    .executeTakeFirst();
  return numDeletedRows > 0;
}

/**
 * Ends the holds for the need of a released call, also of visits that are away at the moment.
 * Returns the visits and claims that kept one.
 */
export async function endHoldsFor(
  tx: Tx,
  { need_base, benefit_year }: Pick<InquiryRow, 'need_base' | 'benefit_year'>,
): Promise<number[]> {
  const of_need = tx
    .selectFrom('inquiries')
    .select('id')
    .where('need_base', '=', need_base)
    .where('benefit_year', '=', benefit_year);
  const kept = await tx
    .selectFrom('kept_holds')
    .select('appointment')
    .where('inquiry', 'in', of_need)
    .execute();
  await tx.deleteFrom('kept_holds').where('inquiry', 'in', of_need).execute();
  return kept.map(({ appointment }) => appointment);
}
