import { appointmentHash } from '../domain/appointment-hash.ts';
import { PLANNING_REASONS, unanswered } from '../domain/attention.ts';
import type { Env } from '../domain/env.ts';
import { errorCode } from '../domain/errors.ts';
import { draftMatchKey, mergeDrafts } from '../domain/inquiry.ts';
import { externalId, isNeedOf } from '../domain/needs.ts';
import { deliveryNotes } from '../domain/notes.ts';
import {
  type PlannedCoverage,
  type PlanningDecision,
  type PlanningFacts,
  planAppointment,
  tooLateToCall,
} from '../domain/planning.ts';
import { finalStatus } from '../domain/states.ts';
import { DAY_MS, HOUR_MS } from '../domain/time.ts';
import { latestRecord } from '../store/answers.ts';
import { expireAttention, listForMapping, raiseAttention, replaceAttention, resolveAttention } from '../store/attention.ts';
import { appointmentSubject, inquirySubject } from '../store/audit.ts';
import { joinCoverages } from '../store/coverages.ts';
import type { Tx } from '../store/database.ts';
import { parkDeliveriesOf, planDelivery } from '../store/deliveries.ts';
import {
  addPlanned,
  attemptOfNeed,
  type InquiryRow,
  inquiryById,
  latestForNeed,
  moveInquiries,
  updateInquiry,
} from '../store/inquiries.ts';
import {
  type AppointmentRow,
  appointmentDueForPlanning,
  appointmentsOf,
  closeAppointment,
  dueForPlanning,
  inquiriesOf,
  inquiriesOfSource,
  inquiriesUnder,
  link,
  nextPlanDue,
  setPlanDue,
  stillOpen,
  unlink,
} from '../store/links.ts';
import { OPERATOR_HOLD } from '../store/operator.ts';
import type { Store } from '../store/store.ts';
import { logStageFailure, type StepResult } from './loop.ts';
import { planClaimRow } from './plan-claims.ts';

export type PlanDeps = {
  store: Store;
  env: Env;
  /** Everything planning knows but the time. */
  facts: () => Omit<PlanningFacts, 'now'>;
  external_id_template: string;
  /** Of the hashes by which appointments appear in the log. */
  log_key: string;
  onPlanned: () => void;
};

const APPOINTMENTS_PER_STEP = 200;
/** When planning comes back to an appointment that could not be planned: another inquiry goes first, or an error. */
const RETRY_MS = 60_000;

/**
 * Decides what becomes of appointments that are new, changed, or due: closes them, lets them wait, puts them on the attention
 * list, or makes them stand on an inquiry. Pure rules are in `domain/planning.ts`; here they meet what is there already.
 */
export async function planStep(deps: PlanDeps): Promise<StepResult> {
  const { store, env } = deps;
  const now = env.clock.now();
  const due = await dueForPlanning(store.db, now, APPOINTMENTS_PER_STEP);
  // Written together, each in its own savepoint: one commit, and a bad appointment takes nobody with it (G7).
  const results = await Promise.allSettled(due.map((id) => store.write((tx) => planOne(tx, deps, id, now))));
  for (const [index, result] of results.entries()) {
    if (result.status === 'fulfilled') continue;
    const id = due[index];
    const is_collision = errorCode(result.reason)?.startsWith('SQLITE_CONSTRAINT') === true;
    if (!is_collision) logStageFailure(env, 'plan', result.reason, RETRY_MS);
    if (id === undefined) continue;
    await store.write(async (tx) => {
      await setPlanDue(tx, id, now + RETRY_MS, is_collision ? 'other_inquiry_first' : 'planning_failed');
      if (!is_collision) await attendUnplannable(tx, id, now);
    });
  }
  const planned = due.filter((_, index) => results[index]?.status === 'fulfilled');
  if (planned.length > 0) {
    deps.onPlanned();
    await logStanding(deps, planned);
  }
  return { did: due.length, next_at: await nextPlanDue(store.db) };
}

/** One line for each appointment and the inquiry it stands on: from here on the log speaks of inquiries. */
async function logStanding({ store, env, log_key }: PlanDeps, appointments: readonly number[]): Promise<void> {
  for (const { connector, source_id, inquiry } of await inquiriesUnder(store.db, appointments)) {
    env.log('appointment_planned', { connector, appointment: appointmentHash(log_key, connector, source_id), inquiry });
  }
}

/** A fault of eligd's own, or of a connector: a person knows of it while eligd tries again (G2). */
async function attendUnplannable(tx: Tx, id: number, now: number): Promise<void> {
  const appointment = await appointmentDueForPlanning(tx, id);
  if (appointment === null) return;
  await raiseAttention(
    tx,
    subjectOf(appointment),
    {
      reason: 'planning_failed',
      what: 'eligd could not decide what this appointment or claim needs, because of an error of its own; the log has it (stage_failed). It tries again every minute.',
      next: 'Call the payer yourself if the visit is near, and report the line of the log to whoever installed eligd.',
    },
    now,
  );
}

/**
 * Once a day: visits that are over for longer than an answer is waited for leave the attention list and are closed. Not while
 * the clock is in doubt.
 */
export async function closeOldVisits({ store, env, facts }: PlanDeps, after_days: number): Promise<void> {
  if (!facts().is_clock_trusted) return;
  const now = env.clock.now();
  await store.write(async (tx) => {
    const expired = await expireAttention(tx, now - after_days * DAY_MS, now);
    for (const id of await stillOpen(tx, expired)) await closeAppointment(tx, id, 'past', now);
  });
}

async function planOne(tx: Tx, deps: PlanDeps, id: number, now: number): Promise<void> {
  const appointment = await appointmentDueForPlanning(tx, id);
  if (appointment === null) return;
  const facts = { ...deps.facts(), now };
  if (appointment.kind === 'claim') {
    await planClaimRow(tx, appointment, facts, deps.external_id_template);
    return;
  }
  if (appointment.closed_reason === 'replaced') {
    await setPlanDue(tx, id, null, null);
    await resolveAttention(tx, appointmentSubject(id), now);
    await leaveUnsent(tx, deps, appointment, now);
    return;
  }
  const decision = planAppointment(appointment.patient_key, appointment.input, facts);
  if (decision.kind === 'ask') await ask(tx, deps, appointment, decision, facts);
  else await doNotAsk(tx, deps, appointment, decision, now);
}

/** Closes an appointment or lets it wait; what was not sent yet for it is withdrawn, what was sent goes on. */
async function doNotAsk(
  tx: Tx,
  deps: PlanDeps,
  appointment: AppointmentRow,
  decision: Exclude<PlanningDecision, { kind: 'ask' }>,
  now: number,
): Promise<void> {
  const about = subjectOf(appointment);
  if (decision.kind === 'wait') {
    await setPlanDue(tx, appointment.id, decision.until, decision.reason);
    await replaceAttention(tx, about, PLANNING_REASONS, decision.attention, now);
    await leaveUnsent(tx, deps, appointment, now);
    return;
  }
  const sent = await leaveUnsent(tx, deps, appointment, now);
  if (decision.reason === 'past' && sent > 0) {
    // The visit is over and a call is under way or answered: the answer is still written back (G2).
    await setPlanDue(tx, appointment.id, null, null);
    await resolveAttention(tx, about.subject, now);
    return;
  }
  await closeAppointment(tx, appointment.id, decision.reason, now);
  await reviseAll(tx, deps, appointment, now);
}

async function ask(
  tx: Tx,
  deps: PlanDeps,
  appointment: AppointmentRow,
  decision: Extract<PlanningDecision, { kind: 'ask' }>,
  facts: PlanningFacts,
): Promise<void> {
  const { now, policy } = facts;
  const attention = [...decision.attention];
  const serving = new Set<number>();
  let wait: string | null = null;
  for (const coverage of decision.coverages) {
    const inquiry = await inquiryFor(tx, deps, appointment, coverage, { now, is_too_late: decision.is_too_late });
    if (inquiry === 'too_late') attention.push(tooLateToCall(policy));
    else if (inquiry === 'other_first') wait = 'other_inquiry_first';
    else serving.add(inquiry.id);
  }
  const needs = new Set(decision.coverages.map(needOf));
  for (const { id } of await inquiriesOf(tx, appointment.id)) {
    if (serving.has(id) || (await isEarlierAttempt(tx, id, needs))) continue;
    await leave(tx, deps, appointment, id, now);
  }
  await replaceAttention(tx, subjectOf(appointment), PLANNING_REASONS, attention, now);
  for (const payer of decision.unmapped) await listForMapping(tx, appointment.connector, payer, now);
  const too_late_at = appointment.starts_at - policy.min_lead_hours * HOUR_MS;
  const next = wait !== null ? now + RETRY_MS : too_late_at > now ? too_late_at : appointment.starts_at + 1;
  await setPlanDue(tx, appointment.id, next, wait);
}

function needOf({ need_base, benefit_year }: { need_base: string; benefit_year: number }): string {
  return `${need_base} ${benefit_year}`;
}

/** An attempt that was called for, of a need that is still there: the service may revise its answer, which is written back then. */
async function isEarlierAttempt(tx: Tx, id: number, needs: ReadonlySet<string>): Promise<boolean> {
  const inquiry = await inquiryById(tx, id);
  return inquiry?.state === 'answered' && needs.has(needOf(inquiry));
}

/** The inquiry that serves a coverage: one that is there (G1), or a new one. */
async function inquiryFor(
  tx: Tx,
  deps: PlanDeps,
  appointment: AppointmentRow,
  coverage: PlannedCoverage,
  { now, is_too_late }: { now: number; is_too_late: boolean },
): Promise<InquiryRow | 'too_late' | 'other_first'> {
  const newest = await latestForNeed(tx, coverage.need_base, coverage.benefit_year);
  const latest = newest === null ? null : await answeredBefore(tx, newest);
  const reuse = latest === null ? 'new' : await reuseOf(tx, latest, appointment, coverage, now);
  if (is_too_late && (reuse !== 'serve' || latest?.state === 'planned')) {
    if (latest?.state === 'planned') await unlink(tx, latest.id, appointment.id).then(() => revise(tx, deps, latest.id, now));
    return 'too_late';
  }
  const join = { appointment: appointment.id, coverage_rank: coverage.rank, draft: coverage.draft };
  if (latest !== null && reuse !== 'new') {
    await link(tx, { inquiry: latest.id, ...join }, now);
    if (reuse === 'revive') await revive(tx, latest, now);
    await revise(tx, deps, latest.id, now);
    if (latest.state === 'answered') await deliverAnswered(tx, latest, appointment, coverage.rank, deps, now);
    return latest;
  }
  const added = await addPlanned(
    tx,
    {
      connector: appointment.connector,
      need_base: coverage.need_base,
      benefit_year: coverage.benefit_year,
      attempt: (newest?.attempt ?? 0) + 1,
      retry: 0,
      patient_key: appointment.patient_key,
      specialty: coverage.draft.specialty,
      external_id: externalId(deps.external_id_template, appointment.connector, appointment.source_id),
      match_key: draftMatchKey(coverage.draft),
      due_at: now,
      visit_at: appointment.starts_at,
      draft: coverage.draft,
    },
    latest === null ? 'The visit is within the look-ahead window.' : 'The last answer is too old for this visit.',
    now,
  );
  if (added === null) return 'other_first';
  await link(tx, { inquiry: added.id, ...join }, now);
  await revise(tx, deps, added.id, now);
  return added;
}

/** Another attempt that was withdrawn because the call before it was answered after all is not the one that serves. */
async function answeredBefore(tx: Tx, newest: InquiryRow): Promise<InquiryRow> {
  if (newest.state !== 'withdrawn' || newest.retry === 0) return newest;
  const before = await attemptOfNeed(tx, newest.need_base, newest.benefit_year, newest.attempt - 1);
  return before?.state === 'answered' && before.service_status === 'SUCCESS' ? before : newest;
}

/** Whether the newest inquiry for the need serves this appointment, comes back to life for it, or is too old. */
async function reuseOf(
  tx: Tx,
  latest: InquiryRow,
  appointment: AppointmentRow,
  coverage: PlannedCoverage,
  now: number,
): Promise<'serve' | 'revive' | 'new'> {
  if (latest.state === 'withdrawn') return 'revive';
  if (latest.state === 'rejected') {
    const is_same_content =
      latest.draft === JSON.stringify({ ...coverage.draft, desired_completion_date: draftOf(latest).desired_completion_date });
    return is_same_content ? 'serve' : 'revive';
  }
  if (latest.state !== 'answered' || (latest.answered_at ?? 0) > now - coverage.reverify_after_days * DAY_MS) return 'serve';
  // A rescheduled appointment keeps its inquiry, however old, also when rescheduling made a new appointment.
  const { replaces } = appointment.input;
  const linked = await inquiriesOf(tx, appointment.id);
  if (replaces !== undefined) linked.push(...(await inquiriesOfSource(tx, appointment.connector, replaces)));
  return linked.some(({ id }) => id === latest.id) ? 'serve' : 'new';
}

async function revive(tx: Tx, inquiry: InquiryRow, now: number): Promise<void> {
  if (inquiry.state !== 'withdrawn' && inquiry.state !== 'rejected') return;
  await moveInquiries(
    tx,
    [inquiry.id],
    {
      from: inquiry.state,
      to: 'planned',
      reason: inquiry.state === 'rejected' ? 'The refused content was corrected.' : 'It is needed again.',
    },
    { due_at: now, body: null, hold_reason: null },
    now,
  );
  await resolveAttention(tx, inquirySubject(inquiry.id), now, ['refused']);
}

/**
 * Brings a planned inquiry up to date with the appointments that stand on it: content, label, hold; withdrawn when none is
 * left. An inquiry that was sent stays as it is.
 */
async function revise(tx: Tx, deps: PlanDeps, id: number, now: number): Promise<void> {
  const inquiry = await inquiryById(tx, id);
  if (inquiry?.state === 'rejected') await dropRefused(tx, inquiry, now);
  if (inquiry?.state !== 'planned') return;
  const standing = (await appointmentsOf(tx, id)).filter(({ closed_reason }) => closed_reason === null);
  const [first, ...rest] = standing;
  if (first === undefined) {
    await moveInquiries(tx, [id], { from: 'planned', to: 'withdrawn', reason: 'No appointment needs it any more.' }, {}, now);
    return;
  }
  const draft = mergeDrafts([first.draft, ...rest.map((each) => each.draft)]);
  const labels = standing.map(({ connector, source_id }) => externalId(deps.external_id_template, connector, source_id));
  await updateInquiry(
    tx,
    id,
    {
      draft: JSON.stringify(draft),
      external_id: labels.includes(inquiry.external_id) ? inquiry.external_id : (labels[0] ?? inquiry.external_id),
      visit_at: Math.min(...standing.map(({ starts_at }) => starts_at)),
      hold_reason: holdReason(inquiry, standing),
    },
    now,
  );
}

/** What a person holds back stays so until they release it. */
function holdReason({ hold_reason }: InquiryRow, standing: readonly { missing_since: number | null }[]): string | null {
  if (hold_reason === OPERATOR_HOLD) return hold_reason;
  return standing.every(({ missing_since }) => missing_since !== null) ? 'vanished' : null;
}

/** A refused inquiry that no appointment stands on any more: its content was corrected into another need. */
async function dropRefused(tx: Tx, inquiry: InquiryRow, now: number): Promise<void> {
  if ((await appointmentsOf(tx, inquiry.id)).some(({ closed_reason }) => closed_reason === null)) return;
  await moveInquiries(
    tx,
    [inquiry.id],
    { from: 'rejected', to: 'withdrawn', reason: 'No appointment needs it any more.' },
    {},
    now,
  );
  await resolveAttention(tx, inquirySubject(inquiry.id), now, ['refused']);
}

async function reviseAll(tx: Tx, deps: PlanDeps, appointment: AppointmentRow, now: number): Promise<void> {
  for (const { id } of await inquiriesOf(tx, appointment.id)) await revise(tx, deps, id, now);
}

/** A need that is the appointment's no more: another member id, payer, birth date or tax id. Its answer is not written there. */
async function leave(tx: Tx, deps: PlanDeps, appointment: AppointmentRow, id: number, now: number): Promise<void> {
  await unlink(tx, id, appointment.id);
  const reason = 'The answer is about what the appointment does not say any more: another coverage, birth date or tax id.';
  await parkDeliveriesOf(tx, { appointment: appointment.id, inquiry: id }, reason, now);
  await revise(tx, deps, id, now);
}

/** Takes the appointment off every inquiry that was not sent, or is not about it any more. Returns how many it still stands on. */
async function leaveUnsent(tx: Tx, deps: PlanDeps, appointment: AppointmentRow, now: number): Promise<number> {
  let sent = 0;
  for (const { id } of await inquiriesOf(tx, appointment.id)) {
    const inquiry = await inquiryById(tx, id);
    if (inquiry === null || ['planned', 'withdrawn', 'rejected'].includes(inquiry.state)) {
      await unlink(tx, id, appointment.id);
      await revise(tx, deps, id, now);
    } else if (!isNeedOf(inquiry.need_base, appointment.patient_key, appointment.input.coverages)) {
      await leave(tx, deps, appointment, id, now);
    } else {
      sent += 1;
    }
  }
  return sent;
}

/** An answer that is there already serves the new appointment with no call. */
async function deliverAnswered(
  tx: Tx,
  inquiry: InquiryRow,
  appointment: AppointmentRow,
  coverage_rank: number,
  deps: PlanDeps,
  now: number,
): Promise<void> {
  const record = await latestRecord(tx, inquiry.id);
  if (record === null) return;
  if (inquiry.service_status !== 'SUCCESS') {
    // The list has it for this visit too, although the one it was called for may be over.
    const about = { ...subjectOf(appointment), inquiry: inquiry.id, subject: inquirySubject(inquiry.id) };
    await raiseAttention(tx, about, unanswered(finalStatus(inquiry.service_status ?? ''), inquiry.retry + 1), now);
  }
  const coordination = await joinCoverages(tx, appointment.id, now);
  const notes = deliveryNotes(inquiry, deps.facts().clinic.time_zone);
  await planDelivery(
    tx,
    {
      connector: appointment.connector,
      appointment: appointment.id,
      inquiry: inquiry.id,
      record: record.id,
      coverage_rank,
      notes: [...notes, ...(coordination?.conflict == null ? [] : [coordination.conflict])],
      coordination,
    },
    now,
  );
}

function draftOf(inquiry: InquiryRow): PlannedCoverage['draft'] {
  return JSON.parse(inquiry.draft) as PlannedCoverage['draft'];
}

function subjectOf(appointment: Pick<AppointmentRow, 'id' | 'connector'>) {
  return {
    connector: appointment.connector,
    appointment: appointment.id,
    inquiry: null,
    subject: appointmentSubject(appointment.id),
  };
}
