import {
  type Attention,
  LOST_REASONS,
  PLANNING_REASONS,
  UNKNOWN_REASONS,
} from '../../domain/attention.ts';
import {
  decidedClaim,
  type PlannedClaim,
  planClaim,
  unsettled,
} from '../../domain/claim-planning.ts';
import { CLOCK_RETRY_MS } from '../../domain/due-times.ts';
import {
  DAMAGED_HOLD,
  draftMatchKey,
  type InquiryDraft,
  parseDraft,
  readDraft,
} from '../../domain/inquiry.ts';
import { lettersAndDigits } from '../../domain/matching.ts';
import { externalId } from '../../domain/needs.ts';
import { OPERATOR_HOLD } from '../../domain/operator.ts';
import { finalOutcome } from '../../domain/outcome.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { ClaimDetails } from '../../records/claim-status.ts';
import { isFinalWord } from '../../records/claim-verdict.ts';
import { latestRecord } from '../../store/answers/answers.ts';
import { planDelivery } from '../../store/answers/deliveries.ts';
import {
  raiseAgain,
  replaceAttention,
  resolveAttention,
} from '../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../store/bookkeeping/audit.ts';
import {
  answerBefore,
  callUnderWayFor,
  laterAttempt,
  makeNewest,
} from '../../store/calls/attempts.ts';
import {
  addPlanned,
  type InquiryRow,
  inquiriesById,
  inquiryById,
  latestForNeed,
  moveInquiries,
  unsettledTwin,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import { aboutInquiry } from '../../store/calls/inquiry-attention.ts';
import { endHoldsOf, isHeld, keptHolds, leaveCall } from '../../store/calls/kept-holds.ts';
import { type ClaimRow, closeAppointment, inquiriesOf, link } from '../../store/calls/links.ts';
import { setPlanDue } from '../../store/calls/plan-due.ts';
import type { Tx } from '../../store/engine/database.ts';
import { callableAt } from './coverage.ts';
import { type PlanContext, RETRY_MS } from './deps.ts';
import { isSameContent, mayBeTakenBack, revive, skipNeedlessRetry, subjectOf } from './keep.ts';

/** Attention reasons that planning raises and resolves each time it plans a claim. */
const CLAIM_REASONS = [
  ...PLANNING_REASONS,
  'claim_unsettled',
  'claim_denied',
  'claim_partly_paid',
  'claim_not_on_file',
  'claim_unclear',
] as const;

/**
 * Plans a claim that is new, changed, answered or due. eligd asks about a claim until it is paid or
 * denied, each time as another attempt of the same need, so the guarantees of an inquiry hold as
 * they do for a visit (G1).
 */
export async function planClaimRow(context: PlanContext, row: ClaimRow): Promise<void> {
  const { tx, facts } = context;
  const { now } = facts;
  const about = subjectOf(row);
  if (row.closed_reason === 'replaced' || row.closed_reason === 'withdrawn') {
    await setPlanDue(tx, row.id, null, null);
    await resolveAttention(tx, about.subject, now);
    await leaveUnsent(tx, row, null, now);
    return;
  }
  const decision = planClaim(row.patient_key, row.input, row.missing_since !== null, facts);
  if (decision.kind === 'ask') {
    const next = await ask(context, row, decision.claim);
    await replaceAttention(
      tx,
      { ...about, inquiry: next.last?.id ?? null },
      { reasons: CLAIM_REASONS, entries: next.entries },
      now,
    );
    await setPlanDue(tx, row.id, next.at, next.wait);
    return;
  }
  await leaveUnsent(tx, row, null, now);
  if (decision.kind === 'close') {
    await setPlanDue(tx, row.id, null, null);
    await closeAppointment(tx, row.id, decision.reason, now);
    return;
  }
  const entries = decision.kind === 'raise' ? decision.attention : [];
  await replaceAttention(tx, about, { reasons: CLAIM_REASONS, entries }, now);
  if (decision.kind === 'wait') await setPlanDue(tx, row.id, decision.until, decision.reason);
  else await setPlanDue(tx, row.id, row.starts_at, null);
}

/** `last`: the inquiry that the attention items in `entries` are about. */
type Next = { at: number; wait: string | null; last: InquiryRow | null; entries: Attention[] };

async function ask(context: PlanContext, row: ClaimRow, planned: PlannedClaim): Promise<Next> {
  const { tx, facts, external_id_template } = context;
  const { now, policy } = facts;
  const { draft } = planned;
  const newest = await newestFor(tx, planned, now);
  const latest = newest === null ? null : await servingAttempt(tx, newest, draft);
  const linked = await inquiriesOf(tx, row.id);
  const former = await inquiriesById(
    tx,
    linked.map(({ id }) => id),
  );
  const is_held = former.some(isHeld) || (await keptHolds(tx, row.id)).length > 0;
  const hold = is_held ? OPERATOR_HOLD : null;
  await leaveUnsent(tx, row, latest?.id ?? null, now);
  const rest: Next = { at: row.starts_at, wait: null, last: null, entries: [] };
  const other_first = { ...rest, at: now + RETRY_MS, wait: 'other_inquiry_first' };
  if (latest !== null) {
    if (!(await serveAgain(context, row, { latest, planned, hold }))) return other_first;
    if (latest.state !== 'answered') return rest;
    await deliverLatest(tx, latest, row, now);
    const said = await claimSaid(tx, latest);
    const decided = said === null ? null : decidedClaim(said, isFinalWord(said.said_status));
    const is_changed = !isSameClaim(latest, draft);
    if (decided !== null && !is_changed) return { ...rest, last: latest, entries: [decided] };
    const again_at = asksAgainAt(latest, said, policy.claims.ask_again_days);
    if (again_at === null) return rest;
    if (latest.attempt >= policy.claims.max_calls)
      return { ...rest, last: latest, entries: [unsettled(latest.attempt)] };
    if (decided === null && again_at > now) return { ...rest, at: again_at };
    // An answer that seems old enough costs another paid call, and the clock may be wrong (G1).
    if (decided === null && !facts.is_clock_trusted)
      return { ...rest, at: now + CLOCK_RETRY_MS, wait: 'answer_age_unproven' };
    // The answer of a call for a record that was merged into the patient's plans the claim again.
    const call = await callUnderWayFor(tx, planned, { except: latest.id });
    if (call !== null && call.state !== 'undecidable') return rest;
  }
  const added = await addPlanned(
    tx,
    {
      connector: row.connector,
      need_base: planned.need_base,
      benefit_year: planned.benefit_year,
      attempt: (newest?.attempt ?? 0) + 1,
      retry: 0,
      patient_key: row.patient_key,
      specialty: draft.specialty,
      external_id: externalId(external_id_template, row.connector, row.source_id),
      match_key: draftMatchKey(draft),
      due_at: now,
      hold_reason: hold,
      visit_at: planned.wanted_by,
      draft,
    },
    latest === null
      ? 'The claim is old enough and not settled.'
      : 'The last answer did not settle the claim.',
    now,
  );
  if (added === null) return other_first;
  await serveFrom(tx, row, { serving: added, draft }, now);
  return rest;
}

type Serving = { latest: InquiryRow; planned: PlannedClaim; hold: string | null };

/**
 * Has the newest attempt serve the claim, as it is or planned again. Returns false if another
 * inquiry comes first, which the service could not tell from it.
 */
async function serveAgain(
  context: PlanContext,
  row: ClaimRow,
  { latest, planned, hold }: Serving,
): Promise<boolean> {
  const { tx } = context;
  const { now } = context.facts;
  const { id, state, sent_at } = latest;
  const { draft } = planned;
  const comes_back =
    state === 'withdrawn' || (state === 'rejected' && !isSameContent(latest, draft));
  // What the service may have keeps its content.
  const was_sent = state === 'withdrawn' && sent_at !== null;
  const match_key = was_sent ? latest.match_key : draftMatchKey(draft);
  if (comes_back || state === 'planned') {
    if ((await unsettledTwin(tx, { ...latest, match_key })) !== undefined) {
      // A planned one is not sent with its former content.
      await leaveUnsent(tx, row, null, now);
      return false;
    }
  }
  await serveFrom(tx, row, { serving: latest, draft }, now);
  if (comes_back) {
    await updateInquiry(tx, id, { match_key }, now);
    await revive(tx, latest, now, { hold, due_at: await callableAt(context, latest, null) });
  }
  await revise(tx, id, planned, now);
  return true;
}

/**
 * Returns the newest attempt. A later call for a record that was merged into the patient's becomes
 * it, so that the payer is not asked again because of the answer before (G1).
 */
async function newestFor(
  tx: Tx,
  { need_base, benefit_year, draft }: PlannedClaim,
  now: number,
): Promise<InquiryRow | null> {
  const newest = await latestForNeed(tx, need_base, benefit_year);
  if (newest === null) return null;
  // Only another answer changes anything about a claim that is decided and still the same.
  const are_answered = isSettledBy(await claimSaid(tx, newest)) && isSameClaim(newest, draft);
  const later = await laterAttempt(tx, newest, { are_answered });
  return later === null ? newest : await makeNewest(tx, later, now);
}

/**
 * Returns the attempt that serves the claim. If a correction is taken back before the service has a
 * call about it, that is the one whose answer has decided the claim as it is again.
 */
async function servingAttempt(
  tx: Tx,
  newest: InquiryRow,
  draft: InquiryDraft,
): Promise<InquiryRow> {
  const latest = await skipNeedlessRetry(tx, newest);
  const before = mayBeTakenBack(latest) ? await answerBefore(tx, latest) : null;
  if (before === null || readDraft(before.draft) === null || !isSameClaim(before, draft))
    return latest;
  return isSettledBy(await claimSaid(tx, before)) ? before : latest;
}

/** Returns whether the payer has paid or denied the claim, or said something else that is final. */
function isSettledBy(said: ClaimDetails | null): boolean {
  if (said === null) return false;
  return said.status === 'paid' || decidedClaim(said, isFinalWord(said.said_status)) !== null;
}

/**
 * Has the claim wait for the answer of this inquiry alone: nobody needs to ask the service for that
 * of another one. If it is unknown whether this one is there, the office must know (G2). The holds
 * that the claim has kept end: they are for the next call.
 */
async function serveFrom(
  tx: Tx,
  { id, input }: ClaimRow,
  { serving, draft }: { serving: InquiryRow; draft: InquiryDraft },
  now: number,
): Promise<void> {
  const { coverage_rank } = input;
  await link(tx, { inquiry: serving.id, appointment: id, coverage_rank, draft }, now);
  if (serving.state !== 'answered') await endHoldsOf(tx, [id]);
  const others = (await inquiriesOf(tx, id)).filter((each) => each.id !== serving.id);
  const subjects = others.map((each) => inquirySubject(each.id));
  await resolveAttention(tx, subjects, now, UNKNOWN_REASONS);
  if (serving.state === 'undecidable')
    await raiseAgain(tx, await aboutInquiry(tx, serving), LOST_REASONS, now);
}

/**
 * Plans the delivery of the latest record. The answer may have arrived while the claim was closed,
 * and then nothing was written (G2).
 */
async function deliverLatest(
  tx: Tx,
  latest: InquiryRow,
  { id, connector, input }: ClaimRow,
  now: number,
): Promise<void> {
  const record = await latestRecord(tx, latest.id);
  if (record === null) return;
  const { coverage_rank } = input;
  await planDelivery(
    tx,
    { connector, appointment: id, inquiry: latest.id, record: record.id, coverage_rank, notes: [] },
    now,
  );
}

/** Returns the payer's statement about the claim; null when the payer made none. */
async function claimSaid(tx: Tx, latest: InquiryRow): Promise<ClaimDetails | null> {
  const record = (await latestRecord(tx, latest.id))?.record;
  const is_answer = finalOutcome(latest.service_status) === 'successful';
  return is_answer && record?.schema === 'eligd.claim/1' ? record.claim : null;
}

/**
 * Returns whether the claim in the PMS is unchanged since the payer was asked. Of a number, only
 * letters and digits count, as in a match key.
 */
function isSameClaim(latest: InquiryRow, draft: InquiryDraft): boolean {
  const asked = ({ claim, benefits_codes, billed_amount, diagnosis_codes }: InquiryDraft) =>
    JSON.stringify([
      { ...claim, claim_number: lettersAndDigits(claim?.claim_number ?? '') },
      benefits_codes,
      billed_amount ?? null,
      diagnosis_codes,
    ]);
  return asked(parseDraft(latest.draft)) === asked(draft);
}

/**
 * Returns when to ask the payer again after an answer; null: not automatically, because the answer
 * is final or the office decides. The time of the answer by the service's clock counts: this
 * machine's may have been behind, and eligd would ask too early (G1).
 */
function asksAgainAt(
  latest: InquiryRow,
  said: ClaimDetails | null,
  ask_again_days: number,
): number | null {
  if (finalOutcome(latest.service_status) === 'cancelled') return null;
  if (said?.status === 'paid') return null;
  const { answered_service_at, answered_at, updated_at } = latest;
  return (answered_service_at ?? answered_at ?? updated_at) + ask_again_days * DAY_MS;
}

/**
 * Updates the content of an inquiry that has not been sent. If its request may be at the service,
 * the content stays as it was sent, because it identifies the call (G1). The external ID stays,
 * because it belongs to the claim.
 */
async function revise(tx: Tx, id: number, planned: PlannedClaim, now: number): Promise<void> {
  const inquiry = await inquiryById(tx, id);
  if (inquiry?.state !== 'planned') return;
  const draft = JSON.stringify(planned.draft);
  const content = { draft, match_key: draftMatchKey(planned.draft), visit_at: planned.wanted_by };
  const is_repaired = inquiry.hold_reason === DAMAGED_HOLD;
  await updateInquiry(tx, id, { ...content, ...(is_repaired ? { hold_reason: null } : {}) }, now);
  if (is_repaired) await resolveAttention(tx, inquirySubject(id), now, ['inquiry_unreadable']);
}

/**
 * Unlinks the claim from every unsent inquiry except `kept` and withdraws those. Inquiries that
 * were sent continue, and their answers are written back.
 */
async function leaveUnsent(tx: Tx, row: ClaimRow, kept: number | null, now: number): Promise<void> {
  for (const { id } of await inquiriesOf(tx, row.id)) {
    const inquiry = id === kept ? null : await inquiryById(tx, id);
    if (inquiry?.state !== 'planned' && inquiry?.state !== 'rejected') continue;
    await leaveCall(tx, { inquiry: id, appointment: row.id }, now);
    const reason = 'The claim no longer needs it.';
    await moveInquiries(tx, [id], { from: inquiry.state, to: 'withdrawn', reason }, now);
  }
}
