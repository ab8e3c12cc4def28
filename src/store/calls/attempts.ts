/**
 * The attempts for one need: calls about the same questions, one after another. When two records of
 * a patient are merged, calls for both may be under way; then the newest attempt is not always the
 * one that brings the answer (G1).
 */
import { outcomeOf } from '../../domain/outcome.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { type InquiryRow, inquiriesById } from './inquiries.ts';
import { planAgain } from './links.ts';

type Need = Pick<InquiryRow, 'need_base' | 'benefit_year'>;

/**
 * Returns those of the unsent inquiries whose need another inquiry serves: a newer attempt, or the
 * call for another record of the patient. The latter becomes the newest, which planning uses.
 */
export async function servedByOthers(
  tx: Tx,
  ids: readonly number[],
  now: number,
): Promise<number[]> {
  const served: number[] = [];
  for (const row of await inquiriesById(tx, ids)) {
    const attempts = await attemptsFor(tx, row);
    const is_newest = attempts.at(-1)?.id === row.id;
    if (is_newest && !attempts.some((other) => isOfOtherRecord(other, row))) continue;
    if (is_newest) await putFirst(tx, row, attempts, now);
    await planAgain(tx, row.id, now);
    served.push(row.id);
  }
  return served;
}

/**
 * Returns whether the call for another record of the patient serves the visits of an unsuccessful
 * call: it is under way, or brought the answer. It becomes the newest, which planning uses.
 */
export async function givesWay(tx: Tx, row: InquiryRow, now: number): Promise<boolean> {
  const attempts = await attemptsFor(tx, row);
  if (!attempts.some((other) => isOfOtherRecord(other, row) && mayServe(other))) return false;
  await putFirst(tx, row, attempts, now);
  await planAgain(tx, row.id, now);
  return true;
}

/** Returns the calls for the need of an inquiry that may serve it instead, the newest first. */
export async function callsInstead(db: Db, inquiry: InquiryRow): Promise<InquiryRow[]> {
  const attempts = await attemptsFor(db, inquiry);
  return attempts
    .filter((other) => other.id !== inquiry.id && (other.state === 'answered' || isUnderWay(other)))
    .toReversed();
}

/**
 * Returns whether an older attempt is a call for another record of the patient. One for the same
 * record was answered before the newer one was planned.
 */
function isOfOtherRecord(other: InquiryRow, row: InquiryRow): boolean {
  if (other.attempt >= row.attempt - row.retry) return false;
  return other.state === 'answered' ? (other.answered_at ?? 0) > row.created_at : isUnderWay(other);
}

function mayServe(call: InquiryRow): boolean {
  return call.state === 'answered'
    ? outcomeOf(call.service_status) === 'successful'
    : isUnderWay(call);
}

function isUnderWay({ state, poll_at }: InquiryRow): boolean {
  return state === 'sending' || state === 'uncertain' || (state === 'open' && poll_at !== null);
}

/** Returns all attempts for the need, the newest last. */
async function attemptsFor(db: Db | Tx, { need_base, benefit_year }: Need): Promise<InquiryRow[]> {
  return await ATTEMPTS(db, { need_base, benefit_year });
}

const ATTEMPTS = prepared<Need>()((db, place) =>
  db
    .selectFrom('inquiries')
    .selectAll()
    .where('need_base', '=', place('need_base'))
    .where('benefit_year', '=', place('benefit_year'))
    .orderBy('attempt'),
);

async function putFirst(
  tx: Tx,
  row: InquiryRow,
  attempts: readonly InquiryRow[],
  now: number,
): Promise<void> {
  await orderAttempts(tx, [row, ...attempts.filter(({ id }) => id !== row.id)], {}, now);
}

/** Numbers all attempts for a need in this order, the newest last. */
export async function orderAttempts(
  tx: Tx,
  order: readonly Pick<InquiryRow, 'id'>[],
  moved_to: Partial<Pick<InquiryRow, 'need_base' | 'patient_key'>>,
  now: number,
): Promise<void> {
  // Use temporary numbers first: (need, year, attempt) is unique.
  for (const [index, { id }] of order.entries())
    await tx
      .updateTable('inquiries')
      .set({ attempt: -1 - index })
      .where('id', '=', id)
      .execute();
  for (const [index, { id }] of order.entries())
    await tx
      .updateTable('inquiries')
      .set({ ...moved_to, attempt: index + 1, updated_at: now })
      .where('id', '=', id)
      .execute();
}
