/** Stores an answer of the service. */

import { completionDate } from '../../../domain/inquiry.ts';
import { canonicalExternalId, matchKeyOfEcho } from '../../../domain/matching.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import { usualHours } from '../../../domain/payer-hours.ts';
import { chargeOf } from '../../../domain/price.ts';
import { addDays, DAY_MS, HOUR_MS, startOfDay } from '../../../domain/time.ts';
import { hoursTaken, payerKeyOf } from '../../../domain/turnaround.ts';
import type { Inquiry } from '../../../service/api.ts';
import { answerHash, storeAnswer } from '../../../store/answers/answers.ts';
import { resolveAttention } from '../../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../store/bookkeeping/audit.ts';
import { setCharge } from '../../../store/calls/calls.ts';
import { type InquiryRow, moveInquiries, updateInquiry } from '../../../store/calls/inquiries.ts';
import { appointmentsOf, coveragesOf } from '../../../store/calls/links.ts';
import { planAgain } from '../../../store/calls/plan-due.ts';
import { keepTurnaround } from '../../../store/calls/turnarounds.ts';
import type { CollectContext } from '../deps.ts';
import { callEndedAt, firstVerify } from '../verify/times.ts';

/** Services sometimes revise answers, so eligd polls once more, a day before the visit. */
export const RECHECK_BEFORE_VISIT_MS = DAY_MS;

/** Returns whether the read form belongs to the inquiry of the row. */
export function isOwn(row: InquiryRow, { request }: Inquiry): boolean {
  return (
    matchKeyOfEcho(request) === row.match_key &&
    canonicalExternalId(request.external_id) === canonicalExternalId(row.external_id)
  );
}

/**
 * Stores an answer exactly as received: from a reply or, with `is_reported`, from a webhook event.
 */
export async function takeAnswer(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  inquiry: Inquiry,
  is_reported = false,
): Promise<void> {
  if (row.state !== 'open' && row.state !== 'answered') return;
  const content_hash = answerHash(inquiry);
  const revision = await storeAnswer(
    tx,
    { inquiry: row.id, service_status: inquiry.status, raw: inquiry.raw, content_hash },
    now,
  );
  const recheck_at = row.visit_at - RECHECK_BEFORE_VISIT_MS;
  const changes = {
    service_status: inquiry.status,
    empty_since: null,
    announced_asks: null,
    overdue_since: null,
    empty_polls: 0,
    ...(is_reported ? { is_unannounced: 0 } : {}),
    poll_at: recheck_at > now + RECHECK_BEFORE_VISIT_MS ? recheck_at : null,
  };
  await setCharge(tx, row.id, chargeOf(row, inquiry.status));
  if (revision === null && row.state === 'answered') {
    await updateInquiry(tx, row.id, changes, now);
    return;
  }
  const reason =
    revision === null || revision === 1
      ? `The service ${is_reported ? 'reported' : 'ended'} the inquiry: ` +
        `${finalOutcome(inquiry.status)}.`
      : 'The service revised its answer.';
  const has_calls = finalOutcome(inquiry.status) !== 'cancelled' && deps.settings.verify_for_ms > 0;
  const verify = has_calls ? await firstVerify(tx, deps, inquiry.results, now) : {};
  const answered_service_at = now - (deps.clockSkew() ?? 0);
  const set = { ...changes, ...verify, answered_at: now, answered_service_at };
  await moveInquiries(tx, [row.id], { from: row.state, to: 'answered', reason, set }, now);
  if (revision === 1) await learnTurnaround({ tx, deps, now }, row, inquiry);
  // The service withdrew its answer and gave the same one again. A visit that was linked to the
  // inquiry meanwhile has not received it.
  if (revision === null) await planAgain(tx, [row.id]);
  await resolveAttention(tx, inquirySubject(row.id), now, [
    'no_answer',
    'answer_late',
    'answer_missing',
    'lost_at_service',
  ]);
  tx.after(() =>
    deps.env.log('answer_received', {
      inquiry: row.id,
      service_id: row.service_id,
      status: finalOutcome(inquiry.status),
    }),
  );
}

/**
 * Saves how long the service took. Uses the end of the call if the answer states it, because eligd
 * often reads an answer long after that.
 */
async function learnTurnaround(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  inquiry: Inquiry,
): Promise<void> {
  const payer = payerKeyOf(row);
  const { sent_at } = row;
  if (payer === null || sent_at === null || finalOutcome(inquiry.status) === 'cancelled') return;
  const ended_at = callEndedAt(inquiry.results, now) ?? now;
  if (ended_at <= sent_at) return;
  const [visit] = await appointmentsOf(tx, row.id);
  const coverages = visit === undefined ? [] : await coveragesOf(tx, visit.id);
  const coverage = coverages[(visit?.coverage_rank ?? 1) - 1] ?? null;
  const hours = deps.settings.payerHours(coverage);
  const { time_zone, turnaround_days } = deps.settings;
  const wanted_until = startOfDay(addDays(completionDate(row, time_zone), 1), time_zone);
  const call = { sent_at, ended_at, wanted_until };
  const open_hours = hoursTaken(call, hours, usualHours(turnaround_days, hours));
  const open_ms = Math.round(open_hours * HOUR_MS);
  await keepTurnaround(tx, payer, { took_ms: ended_at - sent_at, open_ms }, now);
}
