/**
 * The attempts for one need: calls about the same questions, one after another. The newest serves
 * the visits. When two records of a patient are merged, calls for both may be under way (G1).
 */
import { outcomeOf } from '../../domain/outcome.ts';
import { firstAnswerAt } from '../answers/answers.ts';
import type { Db, Tx } from '../engine/database.ts';
import { prepared } from '../engine/prepared.ts';
import { type InquiryRow, inquiriesById, inquiryById, moveInquiries } from './inquiries.ts';
import { planAgain } from './plan-due.ts';

type Need = Pick<InquiryRow, 'need_base' | 'benefit_year'>;

/**
 * Returns those of the unsent inquiries whose need another inquiry serves: a newer attempt, or a
 * call for another record of the patient that has brought an answer meanwhile or may bring one. The
 * latter becomes the newest.
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
    const others = attempts.filter(({ id }) => id !== row.id);
    // What the office has ordered is asked although there is an answer.
    const answered = row.is_ordered === 1 ? undefined : await answeredMeanwhile(tx, row, others);
    const other = underWay(others) ?? answered;
    if (is_newest && other === undefined) continue;
    if (is_newest && other !== undefined) await putLast(tx, attempts, other, now);
    await planAgain(tx, [row.id]);
    served.push(row.id);
  }
  return served;
}

/** Withdraws unsent inquiries that serve no open appointment. Returns them. */
export async function withdrawNeedless(
  tx: Tx,
  ids: readonly number[],
  from: 'planned' | 'rejected',
  now: number,
): Promise<readonly number[]> {
  const needless = await withoutAppointment(tx, ids);
  const reason = 'No appointment needs it any longer.';
  await moveInquiries(tx, needless, { from, to: 'withdrawn', reason }, now);
  return needless;
}

/** Returns the inquiries that serve no open appointment. */
async function withoutAppointment(tx: Tx, inquiries: readonly number[]): Promise<number[]> {
  const needed = await tx
    .selectFrom('inquiry_appointments')
    .innerJoin('appointments', 'appointments.id', 'inquiry_appointments.appointment')
    .select('inquiry_appointments.inquiry')
    .where('inquiry_appointments.inquiry', 'in', inquiries)
    .where('appointments.closed_reason', 'is', null)
    .execute();
  const ids = new Set(needed.map(({ inquiry }) => inquiry));
  return inquiries.filter((id) => !ids.has(id));
}

/**
 * The first answer of a call counts, not when the service revised it; by the service's clock, too,
 * because this machine's may have been ahead.
 */
async function answeredMeanwhile(
  tx: Tx,
  { state, created_at, answered_at }: InquiryRow,
  others: readonly InquiryRow[],
): Promise<InquiryRow | undefined> {
  // Of a lost call whose answer was taken back, planning knows only while it is the newest.
  if (state === 'undecidable' && answered_at !== null) return undefined;
  for (const each of others.toReversed()) {
    if (each.state !== 'answered' || outcomeOf(each.service_status) !== 'successful') continue;
    const at = Math.min((await firstAnswerAt(tx, each.id)) ?? 0, each.answered_service_at ?? 0);
    if (at > created_at) return each;
  }
  return undefined;
}

/**
 * Returns the call for the need that may bring an answer; null: there is none. `except`: another
 * one. `is_accepted`: one that the service has, or says that it has.
 */
export async function callUnderWayFor(
  db: Db | Tx,
  need: Need,
  { except = null, is_accepted = false }: { except?: number | null; is_accepted?: boolean } = {},
): Promise<InquiryRow | null> {
  const attempts = (await attemptsFor(db, need)).filter(({ id }) => id !== except);
  return underWay(attempts, is_accepted) ?? null;
}

/**
 * Returns the call for another record of the patient whose answer the service has taken back, so
 * that it works on it again, and which is newer than the newest attempt: made or answered after
 * that one was answered, or, if it failed, after it was made. Null: none.
 */
export async function takenBackAfter(db: Db | Tx, newest: InquiryRow): Promise<InquiryRow | null> {
  const is_success = outcomeOf(newest.service_status) === 'successful';
  const since = is_success ? answeredAt(newest) : sentAt(newest);
  const isIt = (each: InquiryRow) =>
    each.state === 'open' && Math.max(sentAt(each), answeredAt(each)) > since;
  return (await othersThan(db, newest)).findLast(isIt) ?? null;
}

/**
 * Returns the newest call for the same need that was made after the answer of this inquiry, that
 * the office withdrew, and that the service may have nevertheless; null: none.
 */
export async function withdrawnAfter(tx: Tx, answered: InquiryRow): Promise<InquiryRow | null> {
  const isIt = (each: InquiryRow) =>
    each.state === 'withdrawn' && each.sent_at !== null && sentAt(each) > answeredAt(answered);
  return (await attemptsFor(tx, answered)).findLast(isIt) ?? null;
}

const othersThan = async (db: Db | Tx, row: InquiryRow) =>
  (await attemptsFor(db, row)).filter(({ id }) => id !== row.id);

/** Makes a call the newest attempt for its need. Returns it with its new number. */
export async function makeNewest(
  tx: Tx,
  call: InquiryRow,
  now: number,
): Promise<InquiryRow | null> {
  await putLast(tx, await attemptsFor(tx, call), call, now);
  return await inquiryById(tx, call.id);
}

/**
 * Has planning let another call take the place of the newest attempt, which was unsuccessful, so
 * that no further attempt is made (G1): one that was answered while this one was out, because it
 * was for another record of the patient or because the service revised its answer, or else an
 * accepted one for another record. Null: no other call.
 */
export async function giveWay(
  tx: Tx,
  row: InquiryRow,
  now: number,
): Promise<'answered' | 'awaited' | null> {
  const attempts = await attemptsFor(tx, row);
  if (attempts.at(-1)?.id !== row.id) return null;
  const answered = attempts.findLast((each) => isAnsweredDuring(row, each));
  if (answered !== undefined) await putLast(tx, attempts, answered, now);
  else if (underWay(attempts, true) === undefined && (await takenBackAfter(tx, row)) === null)
    return null;
  await planAgain(tx, [row.id]);
  return answered === undefined ? 'awaited' : 'answered';
}

/**
 * Returns the call that was made or first answered after the newest attempt was answered, because
 * it was for another record of the patient; null: none. `are_answered`: only calls with an answer.
 */
export async function laterAttempt(
  tx: Tx,
  newest: InquiryRow,
  { are_answered }: { are_answered: boolean },
): Promise<InquiryRow | null> {
  // By the service's clock, because this machine's may have been wrong.
  const answered_at = newest.answered_service_at ?? newest.answered_at;
  if (newest.state !== 'answered' || answered_at === null) return null;
  for (const each of (await othersThan(tx, newest)).toReversed()) {
    if (['planned', 'rejected', 'withdrawn'].includes(each.state)) continue;
    if (are_answered && outcomeOf(each.service_status) !== 'successful') continue;
    if (sentAt(each) > answered_at) return each;
    // The service's clock tells of the last answer; of the first one, unless it was revised.
    const first_at = (await firstAnswerAt(tx, each.id)) ?? 0;
    const last_at = each.answered_service_at ?? first_at;
    const at = first_at === each.answered_at ? last_at : Math.min(first_at, last_at);
    if (at > answered_at) return each;
  }
  return null;
}

/** Returns when the request left, by the service's clock if eligd knew it. */
export function sentAt({ sent_service_at, sent_at, created_at }: InquiryRow): number {
  return sent_service_at ?? sent_at ?? created_at;
}

/** Returns when the answer arrived, by the service's clock if eligd knew it; 0: never. */
function answeredAt({ answered_service_at, answered_at }: InquiryRow): number {
  return answered_service_at ?? answered_at ?? 0;
}

/** An answer from before the call was too old, or left out codes, so it does not count. */
function isAnsweredDuring(call: InquiryRow, other: InquiryRow): boolean {
  if (other.state !== 'answered' || outcomeOf(other.service_status) !== 'successful') return false;
  return answeredAt(other) > sentAt(call);
}

/** Numbers the attempt, with those that it followed, after all others. */
async function putLast(
  tx: Tx,
  attempts: readonly InquiryRow[],
  { attempt: last, retry }: InquiryRow,
  now: number,
): Promise<void> {
  const isIts = ({ attempt }: InquiryRow) => attempt >= last - retry && attempt <= last;
  const others = attempts.filter((each) => !isIts(each));
  await orderAttempts(tx, [...others, ...attempts.filter(isIts)], {}, now);
}

/**
 * Returns the newest call that waits for its answer, or else one that the service may have. An
 * answer that the service has taken back may already be replaced.
 */
function underWay(attempts: readonly InquiryRow[], is_accepted = false): InquiryRow | undefined {
  const waiting = attempts.filter(({ answered_at }) => answered_at === null);
  const states = is_accepted ? ['open'] : ['sending', 'uncertain', 'open'];
  return (
    waiting.findLast(({ state }) => states.includes(state)) ??
    waiting.findLast(({ state }) => state === 'undecidable')
  );
}

/** Returns whether the call was answered, but not successfully. */
export const hasFailed = ({ state, service_status }: InquiryRow): boolean =>
  state === 'answered' && outcomeOf(service_status) !== 'successful';

/** Returns all attempts for the need, the newest last. */
export async function attemptsFor(
  db: Db | Tx,
  { need_base, benefit_year }: Need,
): Promise<InquiryRow[]> {
  return await ATTEMPTS(db, { need_base, benefit_year });
}

const ATTEMPTS = prepared<Need>()((db, place) =>
  db
    .selectFrom('inquiries_with_call')
    .selectAll()
    .where('need_base', '=', place('need_base'))
    .where('benefit_year', '=', place('benefit_year'))
    .orderBy('attempt'),
);

/**
 * Returns the attempt before this one, without withdrawn and rejected ones, if it is answered;
 * null: no.
 */
export async function answerBefore(db: Db | Tx, row: InquiryRow): Promise<InquiryRow | null> {
  const before = (await attemptsFor(db, row)).findLast(
    ({ attempt, state }) => attempt < row.attempt && state !== 'withdrawn' && state !== 'rejected',
  );
  return before?.state === 'answered' ? before : null;
}

/** Returns the unsuccessful attempts for the need that immediately precede this one. */
export async function attemptsBefore(tx: Tx, row: InquiryRow): Promise<number[]> {
  if (row.retry === 0) return [];
  const first = row.attempt - row.retry;
  const before = ({ attempt }: InquiryRow) => attempt >= first && attempt < row.attempt;
  return (await attemptsFor(tx, row)).filter(before).map(({ id }) => id);
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
