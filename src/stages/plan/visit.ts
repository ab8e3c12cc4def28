/** Applies a planning decision to a visit. */

import type { CoverageInput } from '../../domain/appointment.ts';
import { notAskedAbout } from '../../domain/ask-again.ts';
import { LOST_REASONS, PLANNING_REASONS } from '../../domain/attention.ts';
import { CLOCK_RETRY_MS } from '../../domain/due-times.ts';
import { draftMatchKey, mergeDrafts } from '../../domain/inquiry.ts';
import { externalId, isNeedOf } from '../../domain/needs.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import { WAITS_FOR_PAYER } from '../../domain/payer-silence.ts';
import type { PlannedCoverage, PlanningDecision } from '../../domain/planning.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/time.ts';
import { latestRecord } from '../../store/answers/answers.ts';
import {
  isOnList,
  nameNextVisit,
  raiseAgain,
  replaceAttention,
  resolveAttention,
} from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { listForMapping } from '../../store/bookkeeping/unmapped-payers.ts';
import { makeNewest } from '../../store/calls/attempts.ts';
import {
  addPlanned,
  type InquiryRow,
  inquiriesById,
  inquiryById,
  unsettledTwin,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import {
  type AppointmentRow,
  closeAppointment,
  inquiriesOf,
  link,
  setCoverageRank,
  unlink,
} from '../../store/calls/links.ts';
import { setPlanDue } from '../../store/calls/plan-due.ts';
import type { Tx } from '../../store/engine/database.ts';
import { deliverAtRank, deliverRecord, followCoverages } from './answers.ts';
import { type PlanContext, RETRY_MS } from './deps.ts';
import { firstHold, leave, leaveUnsent, revise, reviseAll, revive, subjectOf } from './keep.ts';
import { newCodes, notAsked } from './new-codes.ts';
import { leaveFailed, mayBeReplaced, newestFor } from './reuse.ts';

/**
 * How often planning returns to a visit whose new codes wait for the end of a call, that a call may
 * serve if the service has it, or about which it decided while the clock was in doubt.
 */
const LOOK_AGAIN_MS = 15 * MINUTE_MS;

/**
 * Closes an appointment or postpones it. Unsent inquiries for it are withdrawn; inquiries that were
 * sent continue.
 */
export async function doNotAsk(
  context: PlanContext,
  appointment: AppointmentRow,
  decision: Exclude<PlanningDecision, { kind: 'ask' }>,
): Promise<void> {
  const { tx } = context;
  const { now, is_clock_trusted } = context.facts;
  const about = subjectOf(appointment);
  if (decision.kind === 'wait') {
    await setPlanDue(tx, appointment.id, decision.until, decision.reason);
    // The visit only seems to be over by a clock that may be wrong, so the office must still see
    // its attention items (G2).
    if (decision.reason !== 'clock_unproven') {
      const found = { reasons: PLANNING_REASONS, entries: decision.attention };
      await replaceAttention(tx, about, found, now);
      await nameNextVisit(tx, 'appointment', appointment.id, now);
    }
    await leaveUnsent(context, appointment);
    await followCoverages(context, appointment);
    return;
  }
  const sent = await leaveUnsent(context, appointment);
  await followCoverages(context, appointment);
  await setPlanDue(tx, appointment.id, null, null);
  if (decision.reason === 'past' && sent > 0) {
    // The visit is over, but a call is in progress or answered. The answer is still written back
    // (G2), even if it arrived while the visit was canceled.
    const inquiries: InquiryRow[] = [];
    for (const { id, coverage_rank } of await inquiriesOf(tx, appointment.id)) {
      const inquiry = await inquiryById(tx, id);
      if (inquiry === null) continue;
      inquiries.push(inquiry);
      if (inquiry.state === 'answered')
        await deliverRecord(context, inquiry, appointment, coverage_rank);
    }
    await resolveAttention(tx, about.subject, now);
    await nameNextVisit(tx, 'appointment', appointment.id, now);
    // The daily job closes a visit with its last attention item. A change after that opens the
    // visit again, and no item is left to close it with.
    if (is_clock_trusted && isLongOver(appointment, context) && (await isGivenUp(tx, inquiries)))
      await closeAppointment(tx, appointment.id, 'past', now);
    return;
  }
  await closeAppointment(tx, appointment.id, decision.reason, now);
  await reviseAll(context, appointment);
}

function isLongOver({ starts_at }: AppointmentRow, { facts }: PlanContext): boolean {
  return starts_at < facts.now - facts.policy.give_up_after_days * DAY_MS;
}

/** Returns whether one of the inquiries has no answer, and nothing will happen to any of those. */
async function isGivenUp(tx: Tx, inquiries: readonly InquiryRow[]): Promise<boolean> {
  const unanswered = inquiries.filter(({ state }) => state !== 'answered');
  for (const { id, state, poll_at } of unanswered) {
    const is_over = state === 'undecidable' || (state === 'open' && poll_at === null);
    if (!is_over || (await isOnList(tx, inquirySubject(id)))) return false;
  }
  return unanswered.length > 0;
}

/** Links the appointment to an existing or new inquiry for each of its coverages. */
export async function ask(
  context: PlanContext,
  appointment: AppointmentRow,
  decision: Extract<PlanningDecision, { kind: 'ask' }>,
): Promise<void> {
  const { tx } = context;
  const { now, policy, is_clock_trusted } = context.facts;
  const attention = [...decision.attention];
  const late: PlannedCoverage[] = [];
  const serving = new Set<number>();
  let wait: string | null = null;
  let plan_again_at = Number.POSITIVE_INFINITY;
  const rank_of = new Map(decision.coverages.map((coverage) => [needOf(coverage), coverage.rank]));
  const linked = await inquiriesOf(tx, appointment.id);
  const former = await inquiriesById(
    tx,
    linked.map(({ id }) => id),
  );
  const held = ranksOnHold(appointment, former);
  // The service could not tell a planned call for a former need from one for today's.
  for (const inquiry of former)
    if (inquiry.state === 'planned' && !rank_of.has(needOf(inquiry)))
      await leave(context, appointment, inquiry.id);
  for (const coverage of decision.coverages) {
    const inquiry = await inquiryFor(context, appointment, { coverage, held });
    if (inquiry === 'too_late') late.push(coverage);
    else if (inquiry === 'too_late_again') late.push({ ...coverage, late: coverage.late_again });
    else if (inquiry === 'other_first') wait = 'other_inquiry_first';
    else if (inquiry === 'clock_first') wait = 'answer_age_unproven';
    else {
      serving.add(inquiry.id);
      if (!is_clock_trusted || (await mayBeReplaced(tx, inquiry, coverage)))
        plan_again_at = now + LOOK_AGAIN_MS;
      const codes = await newCodes(tx, inquiry, coverage);
      if (codes.length > 0) {
        const item = notAskedAbout(codes, appointment.source_id);
        if (!attention.some(({ what }) => what === item.what)) attention.push(item);
        // Another call waits until the current one ends.
        if (policy.new_codes === 'call' && inquiry.state !== 'answered')
          plan_again_at = now + LOOK_AGAIN_MS;
      }
    }
  }
  for (const { id, coverage_rank: before } of await inquiriesOf(tx, appointment.id)) {
    if (serving.has(id)) continue;
    const inquiry = await inquiryById(tx, id);
    const coverage_rank = inquiry?.state === 'answered' ? rank_of.get(needOf(inquiry)) : undefined;
    if (inquiry !== null && isEnteredFor(inquiry, appointment)) {
      // The office has entered the answer, so the items about what keeps eligd from calling are
      // obsolete.
      if (decision.coverages.length === 0) attention.length = 0;
    } else if (inquiry === null || coverage_rank === undefined)
      await leave(context, appointment, id);
    else if (coverage_rank !== before) {
      // An earlier attempt: the service may revise its answer, which is then written to the
      // coverage's current rank.
      await setCoverageRank(tx, { inquiry: id, appointment: appointment.id, coverage_rank });
      await deliverRecord(context, inquiry, appointment, coverage_rank);
    }
  }
  attention.push(...late.map((coverage) => coverage.late));
  const findings = { reasons: PLANNING_REASONS, entries: attention };
  await replaceAttention(tx, subjectOf(appointment), findings, now);
  await listForMapping(tx, decision.unmapped, now);
  const changes = [
    appointment.starts_at,
    ...decision.coverages.map(({ call_by }) => call_by),
    ...late.map(({ late_changes_at }) => late_changes_at),
  ].filter((at) => at >= now);
  // An inquiry that returns unsent later is planned again before it is sent.
  const is_past = decision.coverages.some(({ call_by }) => call_by < now);
  const retry_ms = wait === 'answer_age_unproven' ? CLOCK_RETRY_MS : RETRY_MS;
  const next = wait !== null ? now + retry_ms : Math.min(Math.min(...changes) + 1, plan_again_at);
  await setPlanDue(tx, appointment.id, next, wait ?? (is_past ? 'call_time_over' : null));
}

/**
 * Returns the ranks of the coverages whose calls the operator holds. If such a coverage is gone, it
 * was corrected: the visit's new coverages are on hold, wherever they are now. The birth date may
 * have been corrected, too.
 */
function ranksOnHold({ input }: AppointmentRow, former: readonly InquiryRow[]): Set<number> {
  const isAsked = ({ need_base, patient_key }: InquiryRow, coverage: CoverageInput) =>
    isNeedOf(need_base, patient_key, [coverage]);
  const added = input.coverages.flatMap((coverage, index) =>
    former.some((each) => isAsked(each, coverage)) ? [] : [index + 1],
  );
  const held = former.filter(({ hold_reason }) => hold_reason === OPERATOR_HOLD);
  return new Set(
    held.flatMap((each) => {
      const rank = 1 + input.coverages.findIndex((coverage) => isAsked(each, coverage));
      return rank === 0 ? added : [rank];
    }),
  );
}

/** Returns whether the office entered the answer for a coverage that the appointment still has. */
function isEnteredFor(
  { entered_by, need_base }: InquiryRow,
  { patient_key, input }: AppointmentRow,
): boolean {
  return entered_by !== null && isNeedOf(need_base, patient_key, input.coverages);
}

function needOf({ need_base, benefit_year }: { need_base: string; benefit_year: number }): string {
  return `${need_base} ${benefit_year}`;
}

/** Returns the inquiry that serves a coverage: an existing one (G1), or a new one. */
async function inquiryFor(
  context: PlanContext,
  appointment: AppointmentRow,
  { coverage, held }: { coverage: PlannedCoverage; held: ReadonlySet<number> },
): Promise<InquiryRow | 'too_late' | 'too_late_again' | 'other_first' | 'clock_first'> {
  const { tx, external_id_template } = context;
  const { now, is_clock_trusted } = context.facts;
  const { newest, latest, reuse, failed } = await newestFor(context, appointment, {
    coverage,
    is_too_late: coverage.call_by < now,
  });
  const callable_at = failed === null ? callableAt(now, latest) : await afterPause(context, failed);
  const is_too_late = coverage.call_by < callable_at;
  if (is_too_late && (reuse !== 'serve' || latest?.state === 'planned')) {
    if (latest?.state === 'planned')
      await unlink(tx, latest.id, appointment.id, now).then(() => revise(context, latest.id));
    const is_next_attempt =
      failed !== null || (latest !== null && latest.retry > 0 && latest.state !== 'answered');
    return is_next_attempt ? 'too_late_again' : 'too_late';
  }
  // Replacing an answer that seems too old costs a paid call, and the clock may be wrong (G1).
  if (reuse === 'new' && latest !== null && !is_clock_trusted) return 'clock_first';
  const label = externalId(external_id_template, appointment.connector, appointment.source_id);
  // A visit that was away for a moment keeps its hold.
  const hold =
    latest?.state === 'withdrawn' &&
    latest.hold_reason === OPERATOR_HOLD &&
    latest.external_id === label
      ? OPERATOR_HOLD
      : firstHold(appointment, coverage.rank, held);
  if (latest !== null && reuse === 'revive' && (await unsettledTwin(tx, latest)) !== undefined) {
    // One that was never sent can go out under the label of this visit instead.
    const is_unsent = latest.state === 'withdrawn' && latest.sent_at === null;
    const renamed = { ...latest, external_id: label };
    if (!is_unsent || (await unsettledTwin(tx, renamed)) !== undefined) return 'other_first';
    await updateInquiry(tx, latest.id, { external_id: label }, now);
  }
  if (latest !== null && reuse !== 'new')
    return await joinInquiry(context, appointment, coverage, { inquiry: latest, reuse, hold });
  const before = failed === null ? newest : await makeNewest(tx, failed, now);
  const added = await addPlanned(
    tx,
    {
      connector: appointment.connector,
      need_base: coverage.need_base,
      benefit_year: coverage.benefit_year,
      attempt: (before?.attempt ?? 0) + 1,
      retry: failed === null ? 0 : failed.retry + 1,
      patient_key: appointment.patient_key,
      specialty: coverage.draft.specialty,
      external_id: label,
      match_key: draftMatchKey(coverage.draft),
      due_at: failed === null ? now : callable_at,
      visit_at: appointment.starts_at,
      hold_reason: hold,
      draft: mergeDrafts([coverage.draft]),
    },
    await reasonToCall(context, latest, coverage),
    now,
  );
  if (added === null) {
    const latest_again = newest === null ? null : await inquiryById(tx, newest.id);
    if (failed !== null && latest_again !== null) await makeNewest(tx, latest_again, now);
    return 'other_first';
  }
  if (failed !== null) await leaveFailed(tx, failed, now);
  await linkVisit(context, appointment, coverage, added.id);
  return added;
}

async function linkVisit(
  { tx, facts }: PlanContext,
  appointment: AppointmentRow,
  { rank, draft }: PlannedCoverage,
  inquiry: number,
): Promise<void> {
  const join = { inquiry, appointment: appointment.id, coverage_rank: rank, draft };
  await link(tx, join, facts.now);
}

/** Has an existing inquiry serve the visit, too, as it is or planned again. Returns it. */
async function joinInquiry(
  context: PlanContext,
  appointment: AppointmentRow,
  coverage: PlannedCoverage,
  { inquiry, reuse, hold }: { inquiry: InquiryRow; reuse: 'serve' | 'revive'; hold: string | null },
): Promise<InquiryRow> {
  const { tx, facts } = context;
  const { now } = facts;
  const { id, state } = inquiry;
  await linkVisit(context, appointment, coverage, id);
  await nameNextVisit(tx, 'inquiry', id, now);
  if (reuse === 'revive') await revive(tx, inquiry, now, hold);
  await revise(context, id);
  // eligd may have given up the inquiry after its earlier visits, or poll it as rarely as they
  // allow. This visit needs the answer, too (G2).
  const is_sooner = appointment.starts_at > now && appointment.starts_at < inquiry.visit_at;
  if (state === 'open' && (inquiry.poll_at === null || is_sooner)) {
    await updateInquiry(tx, id, { poll_at: now, visit_at: appointment.starts_at }, now);
    await resolveAttention(tx, inquirySubject(id), now, ['no_answer']);
  }
  // Raise the attention item for this visit, too: the visit that the inquiry was sent for may be
  // over.
  const about = { ...subjectOf(appointment), inquiry: id, subject: inquirySubject(id) };
  if (reuse === 'serve' && state === 'rejected') await raiseAgain(tx, about, ['refused'], now);
  if (state === 'undecidable') await raiseAgain(tx, about, LOST_REASONS, now);
  await deliverAtRank(context, inquiry, appointment, coverage.rank);
  return (reuse === 'revive' ? await inquiryById(tx, id) : null) ?? inquiry;
}

/**
 * Returns when a call for the need can be made: now, or after the pause before the next attempt.
 * The office hears at once if that is too late. A call that waits for its payer may be made sooner.
 */
function callableAt(now: number, latest: InquiryRow | null): number {
  if (latest === null || latest.reason === WAITS_FOR_PAYER) return now;
  const is_waiting =
    latest.state === 'planned' || (latest.state === 'withdrawn' && latest.retry > 0);
  return is_waiting ? Math.max(now, latest.due_at) : now;
}

/** Returns when the next attempt after a failed call can be made. */
async function afterPause(
  { tx, facts: { now, policy } }: PlanContext,
  failed: InquiryRow,
): Promise<number> {
  const failed_at = (await latestRecord(tx, failed.id))?.created_at ?? 0;
  return Math.max(now, failed_at + policy.attempt_pause_hours * HOUR_MS);
}

async function reasonToCall(
  { tx, facts }: PlanContext,
  latest: InquiryRow | null,
  coverage: PlannedCoverage,
): Promise<string> {
  if (latest === null) return 'The visit is within the look-ahead window.';
  const codes = facts.policy.new_codes === 'call' ? await notAsked(tx, coverage, latest) : [];
  return codes.length > 0
    ? `No call has asked about ${codes.join(', ')} yet (policy.new_codes).`
    : 'The last answer is too old for this visit.';
}
