/** The next attempt after an unsuccessful call. */
import { parseDraft } from '../../../domain/inquiry.ts';
import { externalId } from '../../../domain/needs.ts';
import { outcomeOf } from '../../../domain/outcome.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { payerKey } from '../../../domain/turnaround.ts';
import { firstAnswerAt } from '../../../store/answers/answers.ts';
import { attemptsFor, sentAt } from '../../../store/calls/attempts.ts';
import { hasForgottenCall } from '../../../store/calls/calls.ts';
import {
  addPlanned,
  type InquiryRow,
  latestForNeed,
  moveInquiries,
} from '../../../store/calls/inquiries.ts';
import {
  appointmentsOf,
  coveragesOf,
  type LinkedAppointment,
  link,
  unlink,
} from '../../../store/calls/links.ts';
import { planAgain, planVisitAgain } from '../../../store/calls/plan-due.ts';
import { openTurnaround } from '../../../store/calls/turnarounds.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';

/** Deadline for another attempt about a claim, which has no visit. */
const CLAIM_GRACE_MS = 7 * DAY_MS;

/**
 * Plans another attempt after an UNSUCCESSFUL call, if attempts and time before the visit are left.
 * Each attempt is a new need. None follows while the service may still make a call that it has
 * forgotten (G1). Returns the visits and claims for which it comes in time; null: none follows.
 */
export async function planAttempt(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  needing: readonly LinkedAppointment[],
): Promise<ReadonlySet<number> | null> {
  const { attempts, attempt_pause_ms } = deps.settings;
  if (row.retry + 1 >= attempts) return null;
  const next = await latestForNeed(tx, row.need_base, row.benefit_year);
  // The first version of this answer has led to another attempt, or another call is the newest.
  if (next !== null && next.attempt > row.attempt && next.state !== 'withdrawn') {
    if (next.retry > 0) return idsOf(await appointmentsOf(tx, next.id));
    // Its answer is for the visits of this one, too, which may not be linked to it yet.
    await planAgain(tx, [row.id]);
    return new Set();
  }
  if (await wasLastMeanwhile(tx, row, attempts)) return null;
  const due_at = now + attempt_pause_ms;
  const in_time: LinkedAppointment[] = [];
  for (const each of needing) if ((await callByOf(tx, deps, each)) > due_at) in_time.push(each);
  if (in_time.length === 0 || (await hasForgottenCall(tx, row.id))) return null;
  const draft = parseDraft(row.draft);
  if (draft.claim !== undefined && row.attempt >= deps.settings.max_claim_calls) return null;
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
  if (added === null) return null;
  for (const { id, coverage_rank, draft: asked } of needing)
    await link(
      tx,
      { inquiry: added.id, appointment: id, coverage_rank, draft: asked ?? draft },
      now,
    );
  const served = idsOf(in_time);
  // Planning takes the others off the attempt and tells the office.
  for (const { id } of needing) if (!served.has(id)) await planVisitAgain(tx, id);
  tx.after(() => deps.onPlanned());
  return served;
}

const idsOf = (visits: readonly LinkedAppointment[]): ReadonlySet<number> =>
  new Set(visits.map(({ id }) => id));

/**
 * Returns whether the last attempt that is allowed failed after this call was made, as one for
 * another record of the patient may. Its first answer counts, not when the service revised it.
 */
async function wasLastMeanwhile(tx: Tx, row: InquiryRow, attempts: number): Promise<boolean> {
  for (const each of await attemptsFor(tx, row)) {
    if (each.retry + 1 < attempts || outcomeOf(each.service_status) !== 'unsuccessful') continue;
    if (((await firstAnswerAt(tx, each.id)) ?? 0) > sentAt(row)) return true;
  }
  return false;
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
  await planAgain(tx, [next.id]);
  for (const { id } of await appointmentsOf(tx, next.id)) await unlink(tx, next.id, id, now);
  const reason = 'The earlier call was answered after all.';
  await moveInquiries(tx, [next.id], { from: 'planned', to: 'withdrawn', reason }, now);
}
