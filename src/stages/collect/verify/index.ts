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
 * How many inquiries one turn covers. Then records are made of the answers; the rest waits for the
 * next turn.
 */
const REQUESTS_PER_TURN = 20;
const REQUESTS_AT_ONCE = 4;
/** The limit when there is time: this takes hours at the usual rate limit. */
const REQUESTS_MAX = 10_000;
/** How long verifications wait when the service is unavailable. Answers do not wait. */
const AWAY_MS = 15 * MINUTE_MS;
/** How long verification may wait for a rate-limit slot before answers go first. */
const PATIENCE_MS = 5_000;
const NO_SLOT_MS = MINUTE_MS;

/**
 * Requests some of the due transcript verifications. A fast service has them together with the
 * answer, so that the first record includes them. eligd repeats the request for a while, since they
 * may come later. Each request counts against the rate limit, and a large batch of answers must not
 * wait for all of them: verifications that are still due are postponed and arrive as a revision.
 */
export async function verifyDue(deps: CollectDeps): Promise<void> {
  await withPatience(deps.env, PATIENCE_MS, async (signal) => {
    const due = await dueForVerification(deps.store.db, verificationsDue(deps), REQUESTS_PER_TURN);
    const put_off_ms = await askFew(deps, due, signal);
    if (put_off_ms > 0 || due.length === REQUESTS_PER_TURN) putOff(deps, put_off_ms || NO_SLOT_MS);
  });
}

/**
 * Requests all due verifications, including postponed ones, however long the rate limit makes that
 * take: `once` may not run again before tomorrow. Ends early when the service is unavailable or
 * `signal` is aborted. Returns how many were due.
 */
export async function verifyAll(deps: CollectDeps, signal: AbortSignal): Promise<number> {
  const times = { after: ALL_DUE, until: deps.env.clock.now() };
  const due = await dueForVerification(deps.store.db, times, REQUESTS_MAX);
  await askFew(deps, due, signal);
  return due.length;
}

/** Requests a few at a time. Returns how long to postpone the remaining ones; 0: no delay. */
async function askFew(
  deps: CollectDeps,
  due: readonly InquiryRow[],
  signal: AbortSignal,
): Promise<number> {
  for (let first = 0; first < due.length; first += REQUESTS_AT_ONCE) {
    const few = due.slice(first, first + REQUESTS_AT_ONCE);
    const put_off_ms = Math.max(...(await all(few.map((row) => ask(deps, row, signal)))));
    if (put_off_ms > 0) return put_off_ms;
  }
  return 0;
}

/**
 * Requests the verifications of one inquiry. Returns how long to postpone all due ones; 0: the
 * service answered.
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
  if (isGivenBack(result)) return NO_SLOT_MS;
  deps.env.log('verification_not_read', { inquiry: row.id, failure: result.failure.class });
  if (result.failure.class !== 'refused') return AWAY_MS;
  // The refusal concerns this inquiry only, so the others are still requested (G7).
  await deps.store.write((tx) =>
    updateInquiry(tx, row.id, { verify_at: nextVerifyAt(row, now) }, now),
  );
  return 0;
}

/** Stores the checks of an inquiry's calls, and decides whether to request them again. */
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
  // This was the last request, and no further record will be made that could raise missing checks.
  const record = (await latestRecord(tx, id))?.record;
  await raiseVerification(context, { ...row, verify_at }, record?.verification ?? null);
}

function resultsOf(raw: unknown): unknown {
  return (raw as { results?: unknown } | null | undefined)?.results;
}

/** Returns how many calls the answer names; at least one was made. */
function callCount(results: unknown): number {
  const calls = (results as { call_details?: unknown } | null | undefined)?.call_details;
  return Array.isArray(calls) ? Math.max(1, calls.length) : 1;
}

/**
 * Raises or resolves the attention item for the checks in `verification.require`: checks that
 * failed and, after the last request, checks that never arrived.
 */
export async function raiseVerification(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  verification: Verification | null,
): Promise<void> {
  const { verification_required } = deps.settings;
  const [appointment] = await appointmentsOf(tx, row.id);
  if (verification_required.length === 0 || appointment === undefined) return;
  const subject = inquirySubject(row.id);
  // A call without an answer has nothing to verify, and it is already on the attention list.
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
    words: `Call checks: ${faults.join('; ')}.`,
    next:
      'Read the record and its checks. If the answer matters, call the insurance company ' +
      'yourself.',
  };
  await raiseAttention(
    tx,
    { connector: row.connector, appointment: appointment.id, inquiry: row.id, subject },
    entry,
    now,
  );
}

/**
 * Returns a phrase for each required check that was not met, or that is missing although no further
 * request follows (`is_final`).
 */
function faultsOf(
  required: readonly string[],
  verification: Verification | null,
  is_final: boolean,
): string[] {
  const latest = verification === null ? [] : latestChecks(verification);
  return required.flatMap((name) => {
    const checks = latest.filter((each) => each.name === name);
    if (checks.length === 0)
      return is_final ? [`${name} was never checked${otherNames(latest)}`] : [];
    return checks
      .filter(({ is_met }) => !is_met)
      .map(({ status }) => `${name} is ${status ?? 'without a status'}`);
  });
}

/**
 * Returns a phrase with the checks that the service does use, so that a wrong name in the
 * configuration can be corrected.
 */
function otherNames(checks: readonly Check[]): string {
  const names = [...new Set(checks.flatMap(({ name }) => name ?? []))];
  return names.length === 0
    ? ''
    : ` (the service checks ${names.join(', ')}; verification.require must use these names)`;
}
