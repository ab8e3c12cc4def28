/** What follows an unsuccessful call: another attempt, or another call that is under way. */

import { parseDraft } from '../../../domain/inquiry.ts';
import { externalId } from '../../../domain/needs.ts';
import { type FinalOutcome, outcomeOf } from '../../../domain/outcome.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { payerKey } from '../../../domain/turnaround.ts';
import { makeNewest, otherUnderWay } from '../../../store/calls/attempts.ts';
import {
  addPlanned,
  type InquiryRow,
  latestForNeed,
  moveInquiries,
  updateInquiry,
} from '../../../store/calls/inquiries.ts';
import {
  appointmentsOf,
  coveragesOf,
  type LinkedAppointment,
  link,
  planAgain,
  unlink,
} from '../../../store/calls/links.ts';
import { openTurnaround } from '../../../store/calls/turnarounds.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';

/** Deadline for another attempt about a claim, which has no visit. */
const CLAIM_GRACE_MS = 7 * DAY_MS;

/**
 * Plans another attempt after an UNSUCCESSFUL call, if attempts and time before the visit are left.
 * Each attempt is a new need. Returns whether another attempt exists.
 */
export async function planAttempt(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  needing: readonly LinkedAppointment[],
): Promise<boolean> {
  const { attempts, attempt_pause_ms } = deps.settings;
  const due_at = now + attempt_pause_ms;
  const in_time: LinkedAppointment[] = [];
  for (const each of needing) if ((await callByOf(tx, deps, each)) > due_at) in_time.push(each);
  if (row.retry + 1 >= attempts) return false;
  const next = await latestForNeed(tx, row.need_base, row.benefit_year);
  // This answer is a revision: the first version has already led to another attempt.
  if (next !== null && next.attempt > row.attempt && next.state !== 'withdrawn') return true;
  if (in_time.length === 0) return false;
  const draft = parseDraft(row.draft);
  if (draft.claim !== undefined && row.attempt >= deps.settings.max_claim_calls) return false;
  // The inquiry may no longer serve the visit that it was sent for.
  const labels = needing.map(({ connector, source_id }) =>
    externalId(deps.settings.external_id_template, connector, source_id),
  );
  const external_id = labels.includes(row.external_id)
    ? row.external_id
    : (labels[0] ?? row.external_id);
  const added = await addPlanned(
    tx,
    {
      connector: row.connector,
      need_base: row.need_base,
      benefit_year: row.benefit_year,
      attempt: row.attempt + 1,
      retry: row.retry + 1,
      patient_key: row.patient_key,
      specialty: row.specialty,
      external_id,
      match_key: row.match_key,
      due_at,
      visit_at:
        draft.claim === undefined
          ? Math.min(...in_time.map(({ starts_at }) => starts_at))
          : due_at + CLAIM_GRACE_MS,
      draft,
    },
    `The call was unsuccessful; this is attempt ${row.retry + 2} of ${attempts}.`,
    now,
  );
  if (added === null) return false;
  for (const { id, coverage_rank, draft: asked } of needing)
    await link(
      tx,
      { inquiry: added.id, appointment: id, coverage_rank, draft: asked ?? draft },
      now,
    );
  tx.after(() => deps.onPlanned());
  return true;
}

/** Returns the latest time at which eligd makes another call for the visit. */
async function callByOf(
  tx: Tx,
  { settings }: CollectDeps,
  { id, coverage_rank, starts_at, draft }: LinkedAppointment,
): Promise<number> {
  const coverage = (await coveragesOf(tx, id))[coverage_rank - 1];
  if (coverage === undefined) return starts_at;
  const learned = draft === null ? null : await openTurnaround(tx, payerKey(draft));
  return settings.callBy(coverage, { starts_at, turnaround: learned });
}

/**
 * Withdraws the next attempt, if it has not been sent, because the service revised this call from
 * unsuccessful to successful.
 */
export async function withdrawAttempt(tx: Tx, row: InquiryRow, now: number): Promise<void> {
  const next = await latestForNeed(tx, row.need_base, row.benefit_year);
  // A later inquiry that is not a retry was planned for another reason: the answer was too old, or
  // it did not settle the claim.
  if (next === null || next.attempt <= row.attempt || next.retry === 0 || next.state !== 'planned')
    return;
  // This call now also serves any visit that was linked to the other attempt meanwhile (G2).
  await planAgain(tx, next.id, now);
  for (const { id } of await appointmentsOf(tx, next.id)) await unlink(tx, next.id, id, now);
  const reason = 'The earlier call was answered after all.';
  await moveInquiries(tx, [next.id], { from: 'planned', to: 'withdrawn', reason }, now);
}

type Answer = { status: FinalOutcome | null; is_first: boolean };

/**
 * Decides which of the two calls serves the visits from now on: the one that brings an answer. If
 * one is unsuccessful, the other one counts as the next attempt. Returns whether that other call,
 * which is under way, takes the place of this unsuccessful one.
 */
export async function followMerged(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  { status, is_first }: Answer,
): Promise<boolean> {
  const newest = await latestForNeed(tx, row.need_base, row.benefit_year);
  if (newest === null) return false;
  const { attempts } = deps.settings;
  const countAsNext = async ({ id, retry }: InquiryRow) => {
    const next = Math.max(retry, Math.min(row.retry + 1, attempts - 1));
    if (next !== retry) await updateInquiry(tx, id, { retry: next }, now);
  };
  if (newest.id === row.id) {
    const other = status === 'unsuccessful' ? await otherUnderWay(tx, row) : null;
    if (other === null) return false;
    await makeNewest(tx, other, now);
    await countAsNext(other);
    return true;
  }
  // A revision of an older answer changes nothing here: a newer call was planned because of it.
  if (!is_first) return false;
  const is_lost = newest.state === 'sending' || newest.state === 'uncertain';
  if (status === 'successful') {
    const has_answer =
      newest.state === 'answered' && outcomeOf(newest.service_status) === 'successful';
    if (!has_answer) await makeNewest(tx, row, now);
  } else if (status === 'unsuccessful' && is_lost) {
    // If the other call proves absent, it is made only if an attempt is left.
    if (row.retry + 1 >= attempts) await makeNewest(tx, row, now);
    else await countAsNext(newest);
  }
  return false;
}
