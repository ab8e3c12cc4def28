/**
 * When a report of the service is itself taken for the answer, so that nobody has to ask. The wire
 * carries no time of change, long reports are split, and they come late, twice and in any order
 * (docs/service.md "Webhook order"). So it is taken only for the first answer to an inquiry that is
 * open, and only when
 *
 * - it is a SUCCESS that answers everything that was asked, so that it is no half
 *   (`records/reported.ts`);
 * - the last call that it names ended a short while ago, so that it is nothing old;
 * - nothing else is said about the inquiry at the same time: by the same message, or by a reply
 *   that is on its way;
 * - the service is known to report answers as it tells them when it is asked: the first such report
 *   is only a reason to ask, and so is one now and then; when the reply says otherwise than the
 *   report, all of them are for a while.
 *
 * Everything else that a report says only causes a question, and the reply decides.
 */
import { CLOCKS_DIFFER_MS } from '../../../domain/clock-watch.ts';
import { readDraft } from '../../../domain/inquiry.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/time.ts';
import { isWholeByItself, lastCallEndedAt } from '../../../records/reported.ts';
import type { Inquiry } from '../../../service/api.ts';
import { answerHash, newestAnswerHash } from '../../../store/answers/answers.ts';
import { noteReports, reportsKnown } from '../../../store/answers/webhook-watch.ts';
import type { InquiryRow } from '../../../store/calls/inquiries.ts';
import { isOwn } from '../conclude/take-answer.ts';
import type { CollectContext } from '../deps.ts';

/**
 * A call that ended longer ago may have been followed by another one, of which the report was lost.
 */
const FRESH_MS = HOUR_MS;
/** So often a report that could be taken is compared with the reply all the same. */
const COMPARE_MS = 6 * HOUR_MS;
const CONTRADICTED_FOR_MS = 7 * DAY_MS;

/** Whether `forms`, all that one message says about the inquiry, are its answer. */
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
  if ((await reportsKnown(tx, now - CONTRADICTED_FOR_MS)) === 'agree') {
    if (now < webhook.compare_at) return true;
    // At once: another message of the same commit is to see that one is compared.
    webhook.compare_at = now + COMPARE_MS;
  }
  tx.after(() => memory.reported.set(row.id, content_hash));
  return false;
}

/**
 * What the answer that the form holds is compared by; null when the form shows no whole and recent
 * one.
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
    // What cannot be written out cannot be stored.
    JSON.stringify(form.raw);
    return answerHash(form);
  } catch {
    return null;
  }
}

/**
 * A reply has come to a question that a report led to: whether the service reports what it tells.
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
  const before = await reportsKnown(tx, now - CONTRADICTED_FOR_MS);
  if (reported !== content_hash) {
    await noteReports(tx, 'differ', now);
    if (before !== 'differ') tx.after(() => env.log('webhook_contradicted', { inquiry: row.id }));
  } else if (before !== 'differ') {
    await noteReports(tx, 'agree', now);
    tx.after(() => {
      webhook.compare_at = now + COMPARE_MS;
      if (before !== 'agree') env.log('webhook_believed');
    });
  }
}
