/** Applies a planning decision to a visit. */

import type { CoverageInput } from '../../domain/appointment.ts';
import { notAskedAbout } from '../../domain/ask-again.ts';
import { PLANNING_REASONS } from '../../domain/attention.ts';
import { CLOCK_RETRY_MS } from '../../domain/due-times.ts';
import { readDraft } from '../../domain/inquiry.ts';
import { isNeedOf } from '../../domain/needs.ts';
import type { PlannedCoverage, PlanningDecision } from '../../domain/planning.ts';
import { DAY_MS, MINUTE_MS } from '../../domain/time.ts';
import {
  isOnList,
  nameNextVisit,
  replaceAttention,
  resolveAttention,
} from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import { listForMapping } from '../../store/bookkeeping/unmapped-payers.ts';
import { type InquiryRow, inquiriesById, inquiryById } from '../../store/calls/inquiries.ts';
import {
  endHolds,
  isFree,
  isHeld,
  isMade,
  keepHoldFor,
  keptHolds,
  stillKept,
} from '../../store/calls/kept-holds.ts';
import {
  type AppointmentRow,
  closeAppointment,
  inquiriesOf,
  setCoverageRank,
} from '../../store/calls/links.ts';
import { planAgain, setPlanDue } from '../../store/calls/plan-due.ts';
import type { Tx } from '../../store/engine/database.ts';
import { deliverRecord, followCoverages } from './answers.ts';
import { inquiryFor } from './coverage.ts';
import { type PlanContext, RETRY_MS } from './deps.ts';
import { leave, leaveUnsent, revise, reviseAll, subjectOf } from './keep.ts';
import { newCodes, notAsked } from './new-codes.ts';
import { mayBeReplaced } from './reuse.ts';

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
  // The visit that replaces this one takes its holds.
  const kept = await keptHolds(tx, appointment.id);
  if (kept.length > 0)
    await planAgain(
      tx,
      kept.map(({ id }) => id),
    );
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
  const held = await ranksOnHold(tx, appointment, former);
  const served = new Map<number, Served>();
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
      if (codes.length === 0 || policy.new_codes !== 'call')
        served.set(coverage.rank, { inquiry, coverage });
    }
  }
  const is_entered = await leaveOthers(context, appointment, { serving, rank_of });
  // The office has entered the answer, so the items about what keeps eligd from calling are
  // obsolete.
  if (is_entered && decision.coverages.length === 0) attention.length = 0;
  if (held.size > 0) await endHoldsOn(context, appointment, { former, served });
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
 * Unlinks what no longer serves the appointment. An answer of an earlier attempt stays: the service
 * may revise it. Returns whether the office has entered an answer.
 */
async function leaveOthers(
  context: PlanContext,
  appointment: AppointmentRow,
  { serving, rank_of }: { serving: ReadonlySet<number>; rank_of: ReadonlyMap<string, number> },
): Promise<boolean> {
  const { tx } = context;
  let is_entered = false;
  for (const { id, coverage_rank: before } of await inquiriesOf(tx, appointment.id)) {
    if (serving.has(id)) continue;
    const inquiry = await inquiryById(tx, id);
    const coverage_rank = inquiry?.state === 'answered' ? rank_of.get(needOf(inquiry)) : undefined;
    if (inquiry !== null && isEnteredFor(inquiry, appointment)) is_entered = true;
    else if (inquiry === null || coverage_rank === undefined) await leave(context, appointment, id);
    else if (coverage_rank !== before) {
      await setCoverageRank(tx, { inquiry: id, appointment: appointment.id, coverage_rank });
      await deliverRecord(context, inquiry, appointment, coverage_rank);
    }
  }
  return is_entered;
}

/**
 * Returns the ranks of the coverages whose calls the office holds, or held until planning took them
 * back.
 */
async function ranksOnHold(
  tx: Tx,
  { id, input }: AppointmentRow,
  former: readonly InquiryRow[],
): Promise<Set<number>> {
  const kept = await stillKept(tx, id);
  const held = [...former.filter(isHeld), ...kept];
  const before = [...former, ...kept];
  return new Set(held.flatMap((each) => ranksOf(each, before, input.coverages)));
}

/**
 * Ends the holds that the visit keeps for coverages which an inquiry serves now, if no other call
 * follows it. If that one is not on hold, because another visit needs it, and may still be made,
 * the visit keeps the hold for it: the other visit may leave it.
 */
async function endHoldsOn(
  context: PlanContext,
  { id, input }: AppointmentRow,
  { former, served }: { former: readonly InquiryRow[]; served: ReadonlyMap<number, Served> },
): Promise<void> {
  const { tx } = context;
  const kept = await keptHolds(tx, id);
  const before = [...former, ...kept];
  const ended = kept.filter((each) => {
    const ranks = ranksOf(each, before, input.coverages);
    return ranks.length > 0 && ranks.every((rank) => served.has(rank));
  });
  const stay = new Set<number>();
  for (const rank of ended.flatMap((each) => ranksOf(each, before, input.coverages))) {
    const serving = await inquiryById(tx, served.get(rank)?.inquiry.id ?? 0);
    if (serving !== null && isFree(serving)) stay.add(serving.id);
  }
  for (const inquiry of stay) {
    await keepHoldFor(tx, { inquiry, appointment: id });
    // Its other visits may have vanished.
    await revise(context, inquiry);
  }
  const ids: number[] = [];
  for (const call of ended.filter((each) => !stay.has(each.id)))
    if (!(await wasForMore(context, call, [...served.values()]))) ids.push(call.id);
  await endHolds(tx, id, ids);
}

/** The inquiry that serves a coverage. */
type Served = { coverage: PlannedCoverage; inquiry: InquiryRow };

/**
 * Returns whether the held call is for codes that no call has asked about, and an answer serves the
 * visit without them. They may be away for a moment only.
 */
async function wasForMore(
  { tx, facts }: PlanContext,
  held: InquiryRow,
  served: readonly Served[],
): Promise<boolean> {
  const serving = served.find(({ coverage }) => needOf(coverage) === needOf(held));
  if (serving === undefined || !isMade(serving.inquiry)) return false;
  if (facts.policy.new_codes !== 'call') return false;
  const codes = readDraft(held.draft)?.benefits_codes ?? [];
  return (await notAsked(tx, { ...serving.coverage, codes }, serving.inquiry)).length > 0;
}

/**
 * Returns the ranks of the coverage that the call is for. If that is gone, it was corrected: the
 * visit's new coverages, wherever they are now. The birth date may have been corrected, too.
 * `before`: the calls for the visit's former coverages.
 */
function ranksOf(
  call: InquiryRow,
  before: readonly InquiryRow[],
  coverages: readonly CoverageInput[],
): number[] {
  const isAsked = ({ need_base, patient_key }: InquiryRow, coverage: CoverageInput) =>
    isNeedOf(need_base, patient_key, [coverage]);
  const rank = 1 + coverages.findIndex((coverage) => isAsked(call, coverage));
  if (rank > 0) return [rank];
  return coverages.flatMap((coverage, index) =>
    before.some((each) => isAsked(each, coverage)) ? [] : [index + 1],
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
