/**
 * Decides whether a webhook event is itself taken as the answer, so that eligd need not poll. The
 * wire carries no time of change; the service splits long messages and sends them late, twice and
 * in any order (docs/service.md "Webhook order"). So eligd takes an event only as the first answer
 * to an open inquiry, and only when
 *
 * - it is a SUCCESS that answers the whole question, so it is not a fragment
 *   (`records/reported.ts`);
 * - the last call that it names ended recently, so it is not an old message;
 * - no other statement about the inquiry arrives at the same time, neither in the same message nor
 *   in a reply that is in flight;
 * - the service is known to send the same answer in events and in replies. The first such event
 *   only causes a poll, and so does one every few hours. If the reply differs from the event, eligd
 *   trusts no event for some days.
 *
 * Any other event only causes a poll, and the reply decides.
 */
import { CLOCKS_DIFFER_MS } from '../../../domain/clock-watch.ts';
import { readDraft } from '../../../domain/inquiry.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/time.ts';
import { isWholeByItself, lastCallEndedAt } from '../../../records/reported.ts';
import type { Inquiry } from '../../../service/api.ts';
import { answerHash, newestAnswerHash } from '../../../store/answers/answers.ts';
import { eventContent, noteEventContent } from '../../../store/answers/webhook-watch.ts';
import type { InquiryRow } from '../../../store/calls/inquiries.ts';
import { isOwn } from '../conclude/take-answer.ts';
import type { CollectContext } from '../deps.ts';

/** Another call may have followed a call that ended longer ago, and its event may be lost. */
const FRESH_MS = HOUR_MS;
/** How often an event that could be taken is compared with the reply anyway. */
const COMPARE_MS = 6 * HOUR_MS;
const CONTRADICTED_FOR_MS = 7 * DAY_MS;

/** Returns whether `forms`, everything that one message says about the inquiry, are its answer. */
export async function isAnswer(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  forms: readonly Inquiry[],
): Promise<boolean> {
  const { webhook, memory } = deps;
  const [form, ...others] = forms;
  if (
    webhook === null ||
    form === undefined ||
    others.length > 0 ||
    row.state !== 'open' ||
    memory.asking.has(row.id)
  )
    return false;
  if (!isOwn(row, form) || (await newestAnswerHash(tx, row.id)) !== null) return false;
  const content_hash = hashOfWhole(row, form, now);
  if (content_hash === null) return false;
  if ((await eventContent(tx, now - CONTRADICTED_FOR_MS)) === 'agree') {
    if (now < webhook.compare_at) return true;
    // Set before the commit, so that another message of the same commit sees that one is compared.
    webhook.compare_at = now + COMPARE_MS;
  }
  tx.after(() => memory.reported.set(row.id, content_hash));
  return false;
}

/**
 * Returns the hash for comparing the answer in the form; null when the form shows no complete and
 * recent answer.
 */
function hashOfWhole(row: InquiryRow, form: Inquiry, now: number): string | null {
  if (finalOutcome(form.status) !== 'successful' || form.results === null) return null;
  const draft = readDraft(row.draft);
  if (draft === null || draft.claim !== undefined) return null;
  try {
    const age_ms = now - (lastCallEndedAt(form.results) ?? 0);
    if (age_ms < -CLOCKS_DIFFER_MS || age_ms > FRESH_MS) return null;
    const inquiry = { ...form, creation_ts: form.creation_ts ?? '' };
    if (!isWholeByItself({ inquiry, specialty: draft.specialty, asked: draft })) return null;
    // Throws when the form cannot be serialized: then it cannot be stored either.
    JSON.stringify(form.raw);
    return answerHash(form);
  } catch {
    return null;
  }
}

/**
 * Compares the reply to a poll with the event that caused it, to learn whether the service sends
 * the same answer in both.
 */
export async function compareWithReport(
  { tx, deps, now }: CollectContext,
  row: InquiryRow,
  content_hash: string,
): Promise<void> {
  const { memory, webhook, env } = deps;
  const reported = memory.reported.get(row.id);
  if (reported === undefined || webhook === null) return;
  tx.after(() => memory.reported.delete(row.id));
  const before = await eventContent(tx, now - CONTRADICTED_FOR_MS);
  if (reported !== content_hash) {
    await noteEventContent(tx, 'differ', now);
    if (before !== 'differ') tx.after(() => env.log('webhook_contradicted', { inquiry: row.id }));
  } else if (before !== 'differ') {
    await noteEventContent(tx, 'agree', now);
    tx.after(() => {
      webhook.compare_at = now + COMPARE_MS;
      if (before !== 'agree') env.log('webhook_believed');
    });
  }
}
