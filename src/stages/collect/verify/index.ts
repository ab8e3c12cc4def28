import type { Attention } from '../../../domain/attention.ts';
import { inquiryId } from '../../../domain/ids.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import type { Check, Verification } from '../../../records/parts.ts';
import { latestChecks } from '../../../records/verification.ts';
import { latestAnswer, latestRecord, storeVerifications } from '../../../store/answers/answers.ts';
import { raiseAttention, resolveAttention } from '../../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../store/bookkeeping/audit.ts';
import { dueForVerification } from '../../../store/calls/due-inquiries.ts';
import { type InquiryRow, inquiryById, updateInquiry } from '../../../store/calls/inquiries.ts';
import { appointmentsOf } from '../../../store/calls/links.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';
import { all, isGivenBack, withPatience } from '../poll/ask.ts';
import { ALL_DUE, putOff, verificationsDue } from './put-off.ts';
import { learnDelay, nextVerifyAt } from './times.ts';

/**
 * So many are asked about, then what the answers say becomes records; the rest has its turn after
 * that.
 */
const ASKED_PER_TURN = 20;
const ASKED_AT_ONCE = 4;
/** Where there is time for it: hours at the usual rate limit. */
const ASKED_AT_LENGTH = 10_000;
/** When the service is away, this waits; answers do not. */
const AWAY_MS = 15 * MINUTE_MS;
/** Nor do answers wait for longer until others leave a place within the rate limit. */
const PATIENCE_MS = 5_000;
const NO_PLACE_MS = MINUTE_MS;

/**
 * Asks for some of the transcript verifications that are due: once they are usually there, which is
 * with the answer where the service is quick, so that its first record has them; and again for a
 * while, since they may come later. Each is a request of its own under the rate limit, and many
 * answers that come together do not wait for all of them: what is still due is put off, and is a
 * revision later.
 */
export async function verifyDue(deps: CollectDeps): Promise<void> {
  await withPatience(deps.env, PATIENCE_MS, async (signal) => {
    const due = await dueForVerification(deps.store.db, verificationsDue(deps), ASKED_PER_TURN);
    const put_off_ms = await askFew(deps, due, signal);
    if (put_off_ms > 0 || due.length === ASKED_PER_TURN) putOff(deps, put_off_ms || NO_PLACE_MS);
  });
}

/**
 * Asks for all that are due, those too that were put off for want of a place, for as long as the
 * rate limit makes that take: `once` may not run again before tomorrow. Ends early when the service
 * is away or `signal` is aborted. Returns how many were due.
 */
export async function verifyAll(deps: CollectDeps, signal: AbortSignal): Promise<number> {
  const times = { after: ALL_DUE, until: deps.env.clock.now() };
  const due = await dueForVerification(deps.store.db, times, ASKED_AT_LENGTH);
  await askFew(deps, due, signal);
  return due.length;
}

/**
 * A few at once. Returns for how long what is still due has to be put off: 0 when nobody has to
 * wait.
 */
async function askFew(
  deps: CollectDeps,
  due: readonly InquiryRow[],
  signal: AbortSignal,
): Promise<number> {
  for (let first = 0; first < due.length; first += ASKED_AT_ONCE) {
    const few = due.slice(first, first + ASKED_AT_ONCE);
    const put_off_ms = Math.max(...(await all(few.map((row) => ask(deps, row, signal)))));
    if (put_off_ms > 0) return put_off_ms;
  }
  return 0;
}

/**
 * Asks for those of one inquiry. Returns for how long all that is due has to be put off: 0 when the
 * service is there.
 */
async function ask(deps: CollectDeps, row: InquiryRow, signal: AbortSignal): Promise<number> {
  const result = await deps.client.verifications(inquiryId(row.service_id ?? ''), {
    priority: 'routine',
    signal,
  });
  const now = deps.env.clock.now();
  if (result.ok) {
    await deps.store.write((tx) => keep({ tx, deps, now }, row.id, result.value));
    return 0;
  }
  if (isGivenBack(result)) return NO_PLACE_MS;
  deps.env.log('verification_not_read', { inquiry: row.id, failure: result.failure.class });
  if (result.failure.class !== 'refused') return AWAY_MS;
  // It is about this inquiry alone; its neighbors are asked about (G7).
  await deps.store.write((tx) =>
    updateInquiry(tx, row.id, { verify_at: nextVerifyAt(row, now) }, now),
  );
  return 0;
}

async function keep(
  context: CollectContext,
  id: number,
  verifications: readonly unknown[],
): Promise<void> {
  const { tx, deps, now } = context;
  const row = await inquiryById(tx, id);
  if (row === null) return;
  const is_new = await storeVerifications(tx, id, verifications, now);
  const answer = await latestAnswer(tx, id);
  if (is_new) await learnDelay(tx, row, { verifications, results: resultsOf(answer?.raw) }, now);
  if (is_new)
    tx.after(() =>
      deps.env.log('verification_received', { inquiry: id, verified_calls: verifications.length }),
    );
  const calls = callCount(resultsOf(answer?.raw));
  const verify_at = verifications.length >= calls ? null : nextVerifyAt(row, now);
  await updateInquiry(tx, id, { verify_at }, now);
  if (verify_at !== null || is_new) return;
  // Nothing more is asked, and no record will follow that could tell what is missing.
  const record = (await latestRecord(tx, id))?.record;
  await attendVerification(context, { ...row, verify_at }, record?.verification ?? null);
}

function resultsOf(raw: unknown): unknown {
  return (raw as { results?: unknown } | null | undefined)?.results;
}

/** How many calls the answer names; at least one was made. */
function callCount(results: unknown): number {
  const calls = (results as { call_details?: unknown } | null | undefined)?.call_details;
  return Array.isArray(calls) ? Math.max(1, calls.length) : 1;
}

/**
 * Has what `verification.require` names on the attention list: checks that are not met, and, at the
 * end, those that never came.
 */
export async function attendVerification(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  verification: Verification | null,
): Promise<void> {
  const { verification_required } = deps.settings;
  const [appointment] = await appointmentsOf(tx, row.id);
  if (verification_required.length === 0 || appointment === undefined) return;
  const subject = inquirySubject(row.id);
  // Of a call that brought no answer there is nothing to bear out; that it did not is on the list
  // already.
  const is_answered = finalOutcome(row.service_status) === 'successful';
  const faults = is_answered
    ? faultsOf(verification_required, verification, row.verify_at === null)
    : [];
  if (faults.length === 0) {
    await resolveAttention(tx, subject, now, ['verification_failed']);
    return;
  }
  const entry: Attention = {
    reason: 'verification_failed',
    what: 'There is an answer, but the call transcript does not support it.',
    words: `It says: ${faults.join('; ')}.`,
    next: 'Read the record and its checks. If the answer matters, call the payer yourself.',
  };
  await raiseAttention(
    tx,
    { connector: row.connector, appointment: appointment.id, inquiry: row.id, subject },
    entry,
    now,
  );
}

function faultsOf(
  required: readonly string[],
  verification: Verification | null,
  is_over: boolean,
): string[] {
  const latest = verification === null ? [] : latestChecks(verification);
  return required.flatMap((name) => {
    const checks = latest.filter((each) => each.name === name);
    if (checks.length === 0)
      return is_over ? [`${name} was never checked${otherNames(latest)}`] : [];
    return checks
      .filter(({ is_met }) => !is_met)
      .map(({ status }) => `${name} is ${status ?? 'without a status'}`);
  });
}

/** A name that the service does not use is found by those that it does. */
function otherNames(checks: readonly Check[]): string {
  const names = [...new Set(checks.flatMap(({ name }) => name ?? []))];
  return names.length === 0
    ? ''
    : ` (the service checks ${names.join(', ')}; verification.require goes by these names)`;
}
