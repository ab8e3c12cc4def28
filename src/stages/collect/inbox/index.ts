/**
 * Drains the inbox of webhook messages. The wire carries no time of change, and messages may come
 * late, twice and in any order. An event may bring the first answer to an open inquiry
 * (`inbox/event-answer.ts`), in the same commit that drops the message. Any other event makes eligd
 * poll the inquiry soon, and the reply decides.
 */

import { shallow } from '../../../domain/json-limits.ts';
import { finalOutcome, isScheduled } from '../../../domain/outcome.ts';
import { MINUTE_MS } from '../../../domain/time.ts';
import type { Inquiry } from '../../../service/api.ts';
import { parseInquiry, webhookMessageSchema } from '../../../service/wire.ts';
import { answerHash, newestAnswerHash } from '../../../store/answers/answers.ts';
import {
  dropBody,
  forgetUnknown,
  hasUnknown,
  keepUnknown,
  messagesToDrain,
  takeKnown,
} from '../../../store/answers/inbox.ts';
import { isWebhookDriven } from '../../../store/answers/webhook-watch.ts';
import { verifyId } from '../../../store/calls/calls.ts';
import {
  byServiceIds,
  type InquiryRow,
  inquiryById,
  updateInquiry,
} from '../../../store/calls/inquiries.ts';
import type { Tx } from '../../../store/engine/database.ts';
import { logStageFailure, type StepResult } from '../../loop.ts';
import { takeAnswer } from '../conclude/take-answer.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';
import { all } from '../poll/ask.ts';
import { ask, finish } from '../poll/index.ts';
import { noteHeard, reschedulePolls } from '../poll/webhook-watch.ts';
import { isAnswer } from './event-answer.ts';

const MESSAGES_PER_STEP = 50;
/**
 * How far the regular poll is postponed while eligd polls the inquiry at once. After a crash, the
 * poll is delayed by this long.
 */
const ASKED_AT_ONCE_MS = 2 * MINUTE_MS;

/** Rows to poll because of a message, and the number of answers that it brought. */
type Drained = { hastened: number[]; answers: number };

/**
 * Drains the inbox, then polls the inquiries that have news but no answer in a message, nearest
 * visit first. Returns the number of messages that it drained.
 */
export async function inboxStep(deps: CollectDeps): Promise<StepResult> {
  const { store, env } = deps;
  let was_driven: boolean | null = null;
  const hastened = new Set<number>();
  let drained = 0;
  let answers = 0;
  for (let after = 0; ; ) {
    const messages = await messagesToDrain(store.db, after, MESSAGES_PER_STEP);
    const last = messages.at(-1);
    if (last === undefined) break;
    after = last.id;
    was_driven ??= await isWebhookDriven(store.db);
    // A message that fails waits for the next step and blocks no other (G7).
    const outcomes = await Promise.allSettled(
      messages.map(({ id, body }) =>
        store.write((tx) => drain({ tx, deps, now: env.clock.now() }, id, body)),
      ),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') logStageFailure(env, 'inbox', outcome.reason, 0);
      else {
        drained += 1;
        answers += outcome.value.answers;
        for (const inquiry of outcome.value.hastened) hastened.add(inquiry);
      }
    }
  }
  for (const inquiry of await settleUnknown(deps)) hastened.add(inquiry);
  // Answers that have arrived do not wait for the polls.
  await all([
    ...(answers > 0 ? [finish(deps)] : []),
    ...(hastened.size > 0 ? [askAtOnce(deps, [...hastened])] : []),
  ]);
  if (was_driven === false && (await isWebhookDriven(store.db))) await reschedulePolls(deps, true);
  return { did: drained, next_at: null };
}

/** Drops the message and commits its content in one transaction (G2). */
async function drain(context: CollectContext, id: number, body: Buffer): Promise<Drained> {
  const { tx, deps, now } = context;
  await dropBody(tx, id);
  const drained: Drained = { hastened: [], answers: 0 };
  const parsed: unknown = JSON.parse(body.toString('utf8'));
  const message = webhookMessageSchema.safeParse(parsed);
  if (!message.success) {
    tx.after(() => deps.env.log('webhook_unreadable', { messages: 1 }));
    return drained;
  }
  // Results that are nested too deeply are removed; the inquiry is then polled.
  const inquiries = message.data.inquiries.map((each) => parseInquiry(shallow(each)));
  const unreadable = inquiries.filter((inquiry) => inquiry === null).length;
  if (unreadable > 0) tx.after(() => deps.env.log('webhook_unreadable', { messages: unreadable }));
  const readable = inquiries.filter((inquiry) => inquiry !== null);
  const reported: Map<string, Inquiry[]> = Map.groupBy(readable, (inquiry) => inquiry.id);
  const rows = await byServiceIds(tx, [...reported.keys()]);
  let was_news = false;
  let is_proof = false;
  for (const row of rows) {
    const forms = reported.get(row.service_id ?? '') ?? [];
    const last = forms.at(-1);
    if (last === undefined) continue;
    reported.delete(last.id);
    if (row.state === 'open' && finalOutcome(last.status) !== null) was_news = true;
    if (await isAnswer(context, row, forms)) {
      await verifyId(tx, row);
      await takeAnswer(context, row, last, true);
      drained.answers += 1;
      is_proof = true;
    } else if (await isWorthAsking(tx, row, last, now)) {
      drained.hastened.push(row.id);
      is_proof ||= row.state !== 'open';
    } else is_proof = true;
  }
  // An end that is not confirmed yet proves nothing about the webhook: the reply confirms it
  // (`poll/reply.ts`).
  if (is_proof) await noteHeard(tx, deps, was_news, now);
  const unknown = [...reported.values()].flatMap((forms) => forms.slice(-1));
  await keepUnknown(
    tx,
    unknown.map(({ id: service_id, status }) => ({
      service_id,
      has_ended: finalOutcome(status) !== null,
    })),
    now,
  );
  await hasten(tx, drained.hastened, now);
  return drained;
}

/**
 * Returns whether eligd should poll because of the event. Saves that the event announced an end, or
 * that a call is in progress.
 */
async function isWorthAsking(
  tx: Tx,
  row: InquiryRow,
  inquiry: Inquiry,
  now: number,
): Promise<boolean> {
  if (finalOutcome(inquiry.status) === null) {
    const is_forward =
      row.state === 'open' && (row.service_status === null || isScheduled(row.service_status));
    if (is_forward && !isScheduled(inquiry.status))
      await updateInquiry(tx, row.id, { service_status: inquiry.status }, now);
    return row.state === 'answered';
  }
  const is_open = row.state === 'open';
  const announced = is_open ? { announced_asks: 0 } : {};
  await updateInquiry(tx, row.id, { is_unannounced: 0, ...announced }, now);
  if (is_open) return true;
  return row.state === 'answered' && (await newestAnswerHash(tx, row.id)) !== hashOf(inquiry);
}

/**
 * Returns the hash of the answer; null when it is nested too deeply to serialize. Such an answer
 * cannot have been stored before.
 */
function hashOf(inquiry: Inquiry): string | null {
  try {
    return answerHash(inquiry);
  } catch {
    return null;
  }
}

/** Makes the inquiries due for a poll, after the one that the caller makes at once. */
async function hasten(tx: Tx, inquiries: readonly number[], now: number): Promise<void> {
  for (const inquiry of inquiries)
    await updateInquiry(tx, inquiry, { poll_at: now + ASKED_AT_ONCE_MS }, now);
}

/**
 * Handles events that arrived before the reply that brought their ID, and returns the inquiries to
 * poll. Once no reply is outstanding,
 * it drops events that belong to none of our inquiries.
 */
async function settleUnknown({ store, env }: CollectDeps): Promise<number[]> {
  if (!(await hasUnknown(store.db))) return [];
  const now = env.clock.now();
  const { known, forgotten } = await store.write(async (tx) => {
    const ended = await takeKnown(tx);
    for (const inquiry of ended)
      await updateInquiry(tx, inquiry, { is_unannounced: 0, announced_asks: 0 }, now);
    await hasten(tx, ended, now);
    return { known: ended, forgotten: await forgetUnknown(tx) };
  });
  if (forgotten > 0) env.log('webhook_strangers', { unknown_inquiries: forgotten });
  return known;
}

async function askAtOnce(deps: CollectDeps, inquiries: readonly number[]): Promise<void> {
  const rows = await Promise.all(inquiries.map((inquiry) => inquiryById(deps.store.db, inquiry)));
  const known = rows.filter((row) => row !== null).sort((a, b) => a.visit_at - b.visit_at);
  await ask(deps, known, { priority: 'urgent' });
}
