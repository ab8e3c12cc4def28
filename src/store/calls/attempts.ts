/**
 * The attempts for one need: calls about the same questions, one after another. The newest serves
 * the visits. When two records of a patient are merged, calls for both may be under way, and the
 * newest may not be the one that brings the answer (G1).
 */
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { type InquiryRow, inquiriesById } from './inquiries.ts';
import { planAgain } from './links.ts';

type Need = Pick<InquiryRow, 'need_base' | 'benefit_year'>;

/**
 * Returns those of the unsent inquiries whose need another inquiry serves: a newer attempt, or a
 * call for another record of the patient. The latter becomes the newest.
 */
export async function servedByOthers(
  tx: Tx,
  ids: readonly number[],
  now: number,
): Promise<number[]> {
  const served: number[] = [];
  for (const row of await inquiriesById(tx, ids)) {
    const attempts = await attemptsFor(tx, row);
    const other = attempts.findLast(({ id, ...call }) => id !== row.id && mayExist(call));
    if (attempts.at(-1)?.id === row.id && other === undefined) continue;
    if (other !== undefined) await makeNewest(tx, other, now);
    await planAgain(tx, row.id, now);
    served.push(row.id);
  }
  return served;
}

/** Returns the call for another record of the patient that is under way; null: there is none. */
export async function otherUnderWay(db: Db | Tx, row: InquiryRow): Promise<InquiryRow | null> {
  const attempts = await attemptsFor(db, row);
  return attempts.findLast((other) => other.id !== row.id && isUnderWay(other)) ?? null;
}

/**
 * Returns the older calls for the need of an inquiry that are under way or brought an answer, the
 * newest first.
 */
export async function olderCalls(tx: Tx, inquiry: InquiryRow): Promise<InquiryRow[]> {
  return (await attemptsFor(tx, inquiry))
    .filter((other) => other.attempt < inquiry.attempt)
    .filter((other) => other.state === 'answered' || isUnderWay(other))
    .toReversed();
}

/** Makes an inquiry, with the attempts that it follows, the newest for its need. */
export async function makeNewest(tx: Tx, { id }: InquiryRow, now: number): Promise<void> {
  const [row] = await inquiriesById(tx, [id]);
  if (row === undefined) return;
  const attempts = await attemptsFor(tx, row);
  const [its, others] = [
    attempts.filter((other) => isInSeries(other, row)),
    attempts.filter((other) => !isInSeries(other, row)),
  ];
  await orderAttempts(tx, [...others, ...its], {}, now);
  for (const other of others) await planAgain(tx, other.id, now);
}

/** Whether an attempt is this one, or one of the unsuccessful ones right before it. */
function isInSeries(other: InquiryRow, { attempt, retry }: InquiryRow): boolean {
  return other.attempt <= attempt && other.attempt >= attempt - retry;
}

/** Whether it waits for its first answer. An answer that was taken back may already be replaced. */
function isUnderWay({ state, answered_at }: Pick<InquiryRow, 'state' | 'answered_at'>): boolean {
  return ['sending', 'uncertain', 'open'].includes(state) && answered_at === null;
}

/** Whether the service may have it, so that no other call may be made (G1). */
function mayExist(row: Pick<InquiryRow, 'state' | 'answered_at'>): boolean {
  return row.state === 'undecidable' || isUnderWay(row);
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
