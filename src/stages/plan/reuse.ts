/** Decides whether an existing inquiry serves a visit, so that no call is made (G1). */

import { externalId } from '../../domain/needs.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import { outcomeOf } from '../../domain/outcome.ts';
import type { PlannedCoverage } from '../../domain/planning.ts';
import { DAY_MS } from '../../domain/time.ts';
import { firstAnswerAt, latestRecord } from '../../store/answers/answers.ts';
import { resolveAttention } from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import {
  answerBefore,
  attemptsFor,
  callUnderWayFor,
  hasFailed,
  makeNewest,
  takenBackAfter,
  withdrawnAfter,
} from '../../store/calls/attempts.ts';
import { type InquiryRow, latestForNeed } from '../../store/calls/inquiries.ts';
import {
  type AppointmentRow,
  appointmentsOf,
  inquiriesOf,
  inquiriesOfSource,
} from '../../store/calls/links.ts';
import { planAgain } from '../../store/calls/plan-due.ts';
import type { Tx } from '../../store/engine/database.ts';
import type { PlanContext } from './deps.ts';
import { isSameContent, mayBeTakenBack, skipNeedlessRetry } from './keep.ts';
import { asksMore, notAsked } from './new-codes.ts';

/** An existing inquiry serves the visit, is planned again for it, or does not serve it. */
type Reuse = 'serve' | 'revive' | 'new';
type Coverage = { coverage: PlannedCoverage; is_too_late: boolean };

const FAILED = ['unsuccessful', 'cancelled_by_service'] as const;

type Newest = {
  newest: InquiryRow | null;
  latest: InquiryRow | null;
  reuse: Reuse;
  /** The unsuccessful call after which a new one is the next attempt; null: it is the first. */
  failed: InquiryRow | null;
};

/** Returns the newest attempt for the need of a coverage and what it means for the appointment. */
export async function newestFor(
  context: PlanContext,
  appointment: AppointmentRow,
  about: Coverage,
): Promise<Newest> {
  const { tx } = context;
  const failed = null;
  const { need_base, benefit_year } = about.coverage;
  const last = await latestForNeed(tx, need_base, benefit_year);
  const newest = last === null ? null : await plannedInstead(context, last);
  if (newest === null) return { newest, latest: null, reuse: 'new', failed };
  const latest = await latestFor(context, newest, appointment, about);
  const reuse = await reuseOf(context, latest, appointment, about);
  if (reuse === 'serve') {
    const own = await ownAnswer(tx, appointment, about.coverage, latest);
    if (own !== null) return { newest, latest: own, reuse, failed };
  }
  const call =
    (await callInstead(context, latest, about, reuse)) ??
    (reuse === 'new' ? await laterCall(context, latest, appointment, about) : null);
  if (call !== null && !isAttemptLeft(call, context))
    return { newest: call, latest: call, reuse: 'serve', failed };
  const withdrawn = reuse === 'new' ? await withdrawnInstead(context, latest, about) : null;
  if (withdrawn === null) return { newest, latest, reuse, failed: call };
  if (call !== null) await leaveFailed(context.tx, call, context.facts.now);
  return { newest: withdrawn, latest: withdrawn, reuse: 'revive', failed };
}

/**
 * Returns the call that is planned for the need anyway, and makes it the newest, instead of one
 * that was withdrawn: both would be made (G1). Two lost calls may both be absent after a merge.
 */
async function plannedInstead(
  { tx, facts: { now } }: PlanContext,
  newest: InquiryRow,
): Promise<InquiryRow | null> {
  if (newest.state !== 'withdrawn') return newest;
  const planned = (await attemptsFor(tx, newest)).findLast(({ state }) => state === 'planned');
  return planned === undefined ? newest : await makeNewest(tx, planned, now);
}

/**
 * Returns the attempt to use for the visit. A further call is not made while the answer before it
 * serves (G1): it was withdrawn with its visit or by the office, or the visit no longer has the
 * codes that it was planned for. By a clock that may be wrong, no visit joins a call because its
 * answer seems too old.
 */
async function latestFor(
  context: PlanContext,
  newest: InquiryRow,
  appointment: AppointmentRow,
  about: Coverage,
): Promise<InquiryRow> {
  const { tx, facts } = context;
  const latest = await skipNeedlessRetry(tx, newest);
  if (isOrderedFor(context, appointment, latest)) return latest;
  if (!mayBeTakenBack(latest) && !(await isHeldForOthers(context, latest, appointment)))
    return latest;
  const before = await answerBefore(tx, latest);
  if (before === null || isAttemptLeft(before, context)) return latest;
  const after = { ...about, before };
  // Another visit needs the call, and its answer is better than none.
  if (hasFailed(before) && (await isNeededByOthers(context, latest, appointment, after)))
    return latest;
  const serves = (await reuseOf(context, before, appointment, about)) === 'serve';
  if (latest.state === 'withdrawn') {
    if (serves || !facts.is_clock_trusted) return before;
    // The answer for a record that was merged into this one may be newer.
    const later = await laterCall(context, latest, appointment, about);
    // The next attempt follows the failed call: the answer before it is too old, too.
    if (later !== null && isAttemptLeft(later, context)) return before;
    return later ?? latest;
  }
  if (facts.is_clock_trusted) {
    const is_best = about.is_too_late || (await isFresh(context, before, about));
    return serves && is_best ? before : latest;
  }
  const is_linked = (await inquiriesOf(tx, appointment.id)).some(({ id }) => id === latest.id);
  const is_new = await areNew(context, about.coverage.codes, after);
  return is_new || (is_linked && !serves) ? latest : before;
}

/** Returns whether the office holds the call for other visits: this one may not need it. */
async function isHeldForOthers(
  { tx }: PlanContext,
  latest: InquiryRow,
  { id }: AppointmentRow,
): Promise<boolean> {
  if (latest.hold_reason !== OPERATOR_HOLD || !mayBeTakenBack({ ...latest, hold_reason: null }))
    return false;
  return !(await inquiriesOf(tx, id)).some((each) => each.id === latest.id);
}

/** A visit that is away for a moment keeps the call that the office has ordered for it. */
function isOrderedFor(
  { external_id_template }: PlanContext,
  { connector, source_id, input }: AppointmentRow,
  { state, is_ordered, external_id }: InquiryRow,
): boolean {
  const labels = [source_id, input.replaces ?? source_id].map((id) =>
    externalId(external_id_template, connector, id),
  );
  return is_ordered === 1 && (state !== 'withdrawn' || labels.includes(external_id));
}

/** `before`: the answer before the call. */
type After = Coverage & { before: InquiryRow };

/** Returns whether a call is made for the codes, because no call has asked about one of them. */
async function areNew(
  { tx, facts }: PlanContext,
  codes: readonly string[],
  { coverage, before }: After,
): Promise<boolean> {
  if (facts.policy.new_codes !== 'call') return false;
  return (await notAsked(tx, { ...coverage, codes }, before)).length > 0;
}

/** Returns whether another visit of the call has new codes. */
async function isNeededByOthers(
  context: PlanContext,
  call: InquiryRow,
  visit: AppointmentRow,
  after: After,
): Promise<boolean> {
  const others = (await appointmentsOf(context.tx, call.id)).filter(({ id }) => id !== visit.id);
  const codes = others.flatMap(({ draft }) => draft?.benefits_codes ?? []);
  return await areNew(context, codes, after);
}

/**
 * Returns the answer that the visit already has if the newest one leaves out codes of the visit, as
 * it may after a merge of two records; null: it does not.
 */
async function ownAnswer(
  tx: Tx,
  appointment: AppointmentRow,
  coverage: PlannedCoverage,
  latest: InquiryRow,
): Promise<InquiryRow | null> {
  // A call that is under way serves, too.
  if (latest.state !== 'answered') return null;
  const linked = new Set((await inquiriesOf(tx, appointment.id)).map(({ id }) => id));
  for (const row of await attemptsFor(tx, coverage)) {
    if (!linked.has(row.id) || outcomeOf(row.service_status) !== 'successful') continue;
    if (await asksMore(tx, row, coverage, latest)) return row;
  }
  return null;
}

/**
 * Returns the call that serves instead of the newest attempt, and makes it the newest; null if no
 * call does. A call for a record that was merged into this one may be under way (G1).
 */
async function callInstead(
  { tx, facts: { now } }: PlanContext,
  latest: InquiryRow,
  { coverage }: Coverage,
  reuse: Reuse,
): Promise<InquiryRow | null> {
  // If the service does not have the call after all, none is due.
  const is_accepted = reuse === 'serve';
  const has_failed = hasFailed(latest);
  const call =
    (await callUnderWayFor(tx, coverage, { except: latest.id, is_accepted })) ??
    (reuse === 'new' || has_failed ? await takenBackAfter(tx, latest) : null);
  if (call === null) return null;
  const serves = reuse === 'serve' && !has_failed;
  if (serves && !(await asksMore(tx, call, coverage, latest))) return null;
  const newest = await makeNewest(tx, call, now);
  if (has_failed) await leaveFailed(tx, latest, now);
  else if (!serves) await planAgain(tx, [latest.id]);
  return newest;
}

/**
 * Returns the withdrawn call for a merged record that the service may have, and makes it the
 * newest: eligd must look it up before it calls again (G1). Null: none that would serve, or no call
 * is due.
 */
async function withdrawnInstead(
  context: PlanContext,
  latest: InquiryRow,
  about: Coverage,
): Promise<InquiryRow | null> {
  const { tx, facts } = context;
  const { now, is_clock_trusted } = facts;
  if (about.is_too_late || !is_clock_trusted) return null;
  const call = await withdrawnAfter(tx, latest);
  if (call === null) return null;
  const is_too_old = !(await isFresh(context, latest, about));
  const serves = is_too_old || (await asksMore(tx, call, about.coverage, latest));
  return serves ? await makeNewest(tx, call, now) : null;
}

/** Has planning let another call serve the visits of an unsuccessful one. */
export async function leaveFailed(tx: Tx, failed: InquiryRow, now: number): Promise<void> {
  await resolveAttention(tx, inquirySubject(failed.id), now, FAILED);
  await planAgain(tx, [failed.id]);
}

/**
 * Returns whether a call for a merged record may serve the visit instead once eligd knows whether
 * the service has it.
 */
export async function mayBeReplaced(
  tx: Tx,
  inquiry: InquiryRow,
  coverage: PlannedCoverage,
): Promise<boolean> {
  if (inquiry.state === 'planned') return false;
  const call = await callUnderWayFor(tx, coverage, { except: inquiry.id });
  if (call?.state !== 'sending' && call?.state !== 'uncertain') return false;
  return hasFailed(inquiry) || (await asksMore(tx, call, coverage, inquiry));
}

/** Returns whether another attempt may follow the call; none does if the service canceled it. */
const isAttemptLeft = ({ state, service_status, retry }: InquiryRow, { facts }: PlanContext) =>
  state === 'answered' &&
  outcomeOf(service_status) === 'unsuccessful' &&
  retry + 1 < facts.policy.attempts;

/**
 * Returns the call that was made or answered after the newest attempt, for a record that was merged
 * into this one: a successful one, or else one that failed, which counts as an attempt (G1),
 * preferably the last one that was allowed. Null: no such call, or one that is too old, too.
 */
async function laterCall(
  context: PlanContext,
  latest: InquiryRow,
  appointment: AppointmentRow,
  about: Coverage,
): Promise<InquiryRow | null> {
  let failed: InquiryRow | null = null;
  for (const row of await attemptsFor(context.tx, about.coverage)) {
    if (row.id === latest.id || row.state !== 'answered') continue;
    if (row.id < latest.id && !(await isAnsweredAfter(context.tx, row, latest))) continue;
    if ((await reuseOf(context, row, appointment, about)) !== 'serve') continue;
    if (!hasFailed(row)) return row;
    if (failed === null || isAttemptLeft(failed, context)) failed = row;
  }
  return failed;
}

/**
 * The first answer of a call counts, not when the service revised it. This machine's clock may have
 * been ahead when the other answer arrived.
 */
async function isAnsweredAfter(
  tx: Tx,
  row: InquiryRow,
  { answered_at, answered_service_at }: InquiryRow,
): Promise<boolean> {
  const since = Math.min(answered_at ?? 0, answered_service_at ?? answered_at ?? 0);
  return ((await firstAnswerAt(tx, row.id)) ?? 0) > since;
}

/**
 * Returns whether the newest inquiry for the need serves this appointment, must be planned again
 * for it, or is too old.
 */
async function reuseOf(
  context: PlanContext,
  latest: InquiryRow,
  appointment: AppointmentRow,
  about: Coverage,
): Promise<Reuse> {
  const { tx, facts } = context;
  const { policy, is_clock_trusted } = facts;
  const { coverage, is_too_late } = about;
  if (latest.state === 'withdrawn') return 'revive';
  const may_buy = policy.new_codes === 'call' && is_clock_trusted && !is_too_late;
  if (may_buy && latest.state === 'answered' && (await notAsked(tx, coverage, latest)).length > 0)
    return 'new';
  if (latest.state === 'rejected')
    return isSameContent(latest, coverage.draft) ? 'serve' : 'revive';
  if (latest.state !== 'answered' || (await isFresh(context, latest, about))) return 'serve';
  // A rescheduled appointment keeps its inquiry however old it is, even if rescheduling created a
  // new appointment.
  const { replaces } = appointment.input;
  const linked = await inquiriesOf(tx, appointment.id);
  if (replaces !== undefined)
    linked.push(...(await inquiriesOfSource(tx, appointment.connector, replaces)));
  return linked.some(({ id }) => id === latest.id) ? 'serve' : 'new';
}

/** Returns whether the answer is new enough for a visit that has not had it before. */
async function isFresh(
  { tx, facts: { now } }: PlanContext,
  answered: InquiryRow,
  { coverage }: Coverage,
): Promise<boolean> {
  return (await answeredAt(tx, answered, now)) > now - coverage.reverify_after_days * DAY_MS;
}

/**
 * Returns when the answer arrived. This machine's clock may have been wrong then, and an answer
 * that seems too old leads to a second paid call (G1). So the call times that the service states
 * also count, and no answer is older than its inquiry.
 */
async function answeredAt(tx: Tx, inquiry: InquiryRow, now: number): Promise<number> {
  const record = (await latestRecord(tx, inquiry.id))?.record;
  const said = [
    record?.inquiry_created_at,
    ...(record?.calls ?? []).map(({ ended_at }) => ended_at),
  ]
    .map((time) => (time == null ? 0 : Date.parse(time)))
    .filter((time) => time <= now);
  const { answered_at, answered_service_at, sent_at, sent_service_at } = inquiry;
  return Math.max(
    answered_service_at ?? answered_at ?? 0,
    sent_service_at ?? sent_at ?? 0,
    ...said,
  );
}
