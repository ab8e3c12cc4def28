/** Applies the reply to a poll of one inquiry. */

import { LOST_REASONS } from '../../../domain/attention.ts';
import { backoffMs } from '../../../domain/backoff.ts';
import { readDraft } from '../../../domain/inquiry.ts';
import { finalOutcome } from '../../../domain/outcome.ts';
import { nextAskForAnnounced, nextPollAt } from '../../../domain/polling.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/time.ts';
import type { Inquiry, Result } from '../../../service/api.ts';
import { answerHash } from '../../../store/answers/answers.ts';
import { isWebhookDriven } from '../../../store/answers/webhook-watch.ts';
import { resolveAttention } from '../../../store/bookkeeping/attention.ts';
import { inquirySubject } from '../../../store/bookkeeping/audit.ts';
import {
  forgetLearned,
  readLearned,
  writeLearned,
} from '../../../store/bookkeeping/learned-settings.ts';
import { servedByOthers } from '../../../store/calls/attempts.ts';
import { releaseIds, setCharge, verifyId } from '../../../store/calls/calls.ts';
import {
  type InquiryRow,
  inquiryById,
  moveInquiries,
  sameReply,
  updateInquiry,
} from '../../../store/calls/inquiries.ts';
import { raiseForInquiry, raiseForVisits } from '../../../store/calls/inquiry-attention.ts';
import { logStageFailure } from '../../loop.ts';
import { isOwn, takeAnswer } from '../conclude/take-answer.ts';
import type { CollectContext, CollectDeps } from '../deps.ts';
import { compareWithReport } from '../inbox/event-answer.ts';
import { UNUSABLE_LIMIT } from './ask.ts';
import { isUnusable, noteAnswered, noteUnanswered } from './away.ts';
import { forNextVisit, overdueSince, raiseOverdue } from './overdue.ts';
import { noteHeard, pollingFacts } from './webhook-watch.ts';

const FAILURE_LIMITS = { first_ms: MINUTE_MS, max_ms: 30 * MINUTE_MS };
/**
 * The service does not know an ID that it gave us: eligd reads it this many times before it goes on
 * the attention list (docs/service.md "Unknown ID").
 */
const UNKNOWN_REPLIES_MAX = 3;
/**
 * A SUCCESS may lack its results shortly after completion. eligd accepts it as empty after this.
 */
const EMPTY_BELIEVED_MS = 2 * HOUR_MS;
/** For an answered inquiry, eligd repeats a failed poll for this long past the normal deadline. */
const NEWS_PATIENCE_MS = 2 * DAY_MS;

/**
 * Commits the reply about one inquiry. If that fails, the inquiry is postponed; neither the stage
 * nor the other inquiries stop (G7).
 */
export async function settle(
  deps: CollectDeps,
  row: InquiryRow,
  result: Result<Inquiry | null>,
): Promise<void> {
  try {
    await settleResult(deps, row, result);
  } catch (error) {
    const { max_ms } = FAILURE_LIMITS;
    logStageFailure(deps.env, 'collect', error, max_ms);
    const now = deps.env.clock.now();
    await deps.store.write(async (tx) => {
      const context = { tx, deps, now };
      if (await countUnusable(context, row)) await setAside(context, row);
      else await askAgain(context, row, now + max_ms);
    });
  }
}

async function settleResult(
  deps: CollectDeps,
  row: InquiryRow,
  result: Result<Inquiry | null>,
): Promise<void> {
  const now = deps.env.clock.now();
  await deps.store.write(async (tx) => {
    const context = { tx, deps, now };
    // Another step may have unbound the ID meanwhile, because another ID of the same reply did not
    // match.
    const current = await inquiryById(tx, row.id);
    if (current === null || current.service_id !== row.service_id) return;
    if (!result.ok) {
      await noteUnanswered(context, { inquiry: row.id, failure: result.failure });
      if (isUnusable(result.failure) && (await countUnusable(context, current))) {
        await setAside(context, current);
        return;
      }
      const wait_ms =
        ('retry_after_ms' in result.failure ? result.failure.retry_after_ms : null) ??
        backoffMs(1, FAILURE_LIMITS, deps.env.random());
      await askAgain(context, current, now + wait_ms);
      return;
    }
    await noteAnswered(context);
    if (result.value === null) {
      await countUnknown(context, current);
    } else {
      await take(context, current, result.value);
    }
  });
}

/** Takes the inquiry that was read, if it belongs to the row. */
async function take(context: CollectContext, row: InquiryRow, inquiry: Inquiry): Promise<void> {
  const { tx, deps, now } = context;
  if (!isOwn(row, inquiry)) {
    await doubtIds(context, row);
    return;
  }
  await verifyId(tx, row);
  const final = finalOutcome(inquiry.status);
  if (final === null) {
    await stillOpen(context, row, inquiry);
    return;
  }
  if (
    final === 'successful' &&
    inquiry.results === null &&
    (row.empty_since === null || now - row.empty_since < EMPTY_BELIEVED_MS)
  ) {
    await updateInquiry(
      tx,
      row.id,
      {
        service_status: inquiry.status,
        empty_since: row.empty_since ?? now,
        poll_at: now + deps.settings.urgent_poll_interval_ms,
      },
      now,
    );
    return;
  }
  // An event counts as proof that webhooks are reliable once a poll confirms what it announced.
  if (row.announced_asks !== null) await noteHeard(tx, deps, true, now);
  await compareWithReport(context, row, answerHash(inquiry));
  await takeAnswer(context, row, inquiry);
}

/** Schedules the next poll of an inquiry without an answer. A withdrawn answer reopens it. */
async function stillOpen(
  context: CollectContext,
  known: InquiryRow,
  inquiry: Inquiry,
): Promise<void> {
  const { tx, deps, now } = context;
  const { settings, env } = deps;
  const row = await forNextVisit(tx, known, now);
  const is_given_up = isGivenUp(deps, row, now);
  const overdue_since = overdueSince(row, now, settings.time_zone);
  const facts = { now, random: env.random(), has_webhook: await isWebhookDriven(tx), settings };
  const regular_at = nextPollAt(await pollingFacts(tx, { ...row, overdue_since }, facts));
  const announced_at =
    row.announced_asks === null ? null : nextAskForAnnounced(row.announced_asks, now);
  const changes = {
    service_status: inquiry.status,
    empty_polls: 0,
    empty_since: null,
    is_unannounced: 1,
    announced_asks: announced_at === null ? null : (row.announced_asks ?? 0) + 1,
    visit_at: row.visit_at,
    overdue_since,
    poll_at: is_given_up ? null : Math.min(regular_at, announced_at ?? regular_at),
  };
  if (row.state === 'answered') {
    await moveInquiries(
      tx,
      [row.id],
      {
        from: 'answered',
        to: 'open',
        reason: 'The service withdrew its answer and is working on it again.',
        set: changes,
      },
      now,
    );
    await setCharge(tx, row.id, null);
  } else {
    await updateInquiry(tx, row.id, changes, now);
  }
  await raiseOverdue(tx, deps, { ...row, overdue_since }, now);
  if (is_given_up) await raiseNoAnswer(context, row);
}

const unusableSetting = ({ id }: InquiryRow) => `unusable_answer:${id}`;

/**
 * Counts another failure to use the answer. The count is stored, because each `eligd once` is a
 * process of its own. Returns whether to set the answer aside.
 */
async function countUnusable({ tx, now }: CollectContext, row: InquiryRow): Promise<boolean> {
  const known = await readLearned(tx, unusableSetting(row));
  const count = Number(known?.value ?? 0) + 1;
  await writeLearned(tx, unusableSetting(row), String(count), now);
  return count >= UNUSABLE_LIMIT;
}

/** Stops polling the inquiry and puts it on the attention list. */
async function setAside({ tx, now }: CollectContext, row: InquiryRow): Promise<void> {
  await forgetLearned(tx, unusableSetting(row));
  await updateInquiry(tx, row.id, { poll_at: null }, now);
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'answer_unusable',
      what:
        'The calling service sent an answer that eligd cannot use: it is too large, nested too ' +
        'deeply, or fails in another way. eligd tried three times and set it aside.',
      next:
        'Ask the calling service to correct its answer, then run "eligd retry" with the ID of ' +
        'the appointment. If the visit is close, call the insurance company yourself.',
    },
    now,
  );
}

/** Schedules another poll at `poll_at`, or stops polling when the visit is too long ago. */
async function askAgain(
  context: CollectContext,
  known: InquiryRow,
  poll_at: number,
): Promise<void> {
  const { tx, deps, now } = context;
  const row = await forNextVisit(tx, known, now);
  // eligd polls an answered inquiry this late only because an event announced news, so one lost
  // reply must not end it.
  const is_given_up = isGivenUp(deps, row, row.state === 'answered' ? now - NEWS_PATIENCE_MS : now);
  const overdue_since =
    row.state === 'open' ? overdueSince(row, now, deps.settings.time_zone) : null;
  await updateInquiry(
    tx,
    row.id,
    { poll_at: is_given_up ? null : poll_at, visit_at: row.visit_at, overdue_since },
    now,
  );
  await raiseOverdue(tx, deps, { ...row, overdue_since }, now);
  if (is_given_up && row.state === 'open') await raiseNoAnswer(context, row);
}

function isGivenUp({ settings }: CollectDeps, row: InquiryRow, now: number): boolean {
  return now > row.visit_at + settings.give_up_after_days * DAY_MS;
}

async function raiseNoAnswer({ tx, deps, now }: CollectContext, row: InquiryRow): Promise<void> {
  const claim = readDraft(row.draft)?.claim;
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'no_answer',
      what:
        (claim === undefined
          ? 'The visit was '
          : 'The answer about the claim should have arrived ') +
        `more than ${deps.settings.give_up_after_days} days ago and the service has not ` +
        'answered. eligd has stopped polling for it.',
      next: 'Ask the calling service about this inquiry if the answer still matters.',
    },
    now,
  );
}

/**
 * Unbinds an ID that belongs to a different inquiry. Nothing of the reply is stored. Every ID from
 * the same reply is in doubt, so eligd looks up these inquiries by their content: one patient's
 * answer must never reach another patient's chart.
 */
async function doubtIds(context: CollectContext, row: InquiryRow): Promise<void> {
  const { tx, deps, now } = context;
  tx.after(() => deps.env.log('reply_mismatch', { inquiry: row.id, service_id: row.service_id }));
  if (row.reply_group === null || row.state !== 'open') {
    // This ID was already verified as ours, so the service is at fault; ignore the answer.
    await askAgain(context, row, now + FAILURE_LIMITS.max_ms);
    return;
  }
  const doubted = await sameReply(tx, row.reply_group);
  await releaseIds(
    tx,
    doubted.map(({ id }) => id),
    'lost',
  );
  const reason =
    'The IDs in the reply belong to other inquiries; eligd looks this one up by its content.';
  const set = {
    poll_at: null,
    lookup_at: now,
    absence_at: now + deps.settings.settle_ms,
    empty_lookups: 0,
  };
  for (const { id, state: from } of doubted) {
    await moveInquiries(tx, [id], { from, to: 'uncertain', reason, set }, now);
    await resolveAttention(tx, inquirySubject(id), now, LOST_REASONS);
  }
  tx.after(() => deps.onPlanned());
}

/** Counts a reply that does not know the ID; after the third one, the operator must decide. */
async function countUnknown({ tx, deps, now }: CollectContext, row: InquiryRow): Promise<void> {
  tx.after(() =>
    deps.env.log('inquiry_unknown_at_service', {
      inquiry: row.id,
      service_id: row.service_id,
      unknown_replies: row.empty_polls + 1,
    }),
  );
  const empty_polls = row.empty_polls + 1;
  if (empty_polls < UNKNOWN_REPLIES_MAX || row.state !== 'open') {
    await updateInquiry(
      tx,
      row.id,
      {
        empty_polls,
        poll_at: row.state === 'open' ? now + Math.max(deps.settings.settle_ms, MINUTE_MS) : null,
      },
      now,
    );
    return;
  }
  await moveInquiries(
    tx,
    [row.id],
    {
      from: 'open',
      to: 'undecidable',
      reason: 'The service no longer knows the inquiry that it had accepted.',
      set: { empty_polls, poll_at: null },
    },
    now,
  );
  await raiseForVisits(
    tx,
    row,
    {
      reason: 'lost_at_service',
      what:
        `The service accepted the inquiry under the ID ${row.service_id}, but no longer knows ` +
        'it. eligd does not send it again, because that could be a second paid call.',
      next: 'Ask the calling service about it, or call the insurance company yourself.',
    },
    now,
  );
  // The call for a record that was merged meanwhile may bring the answer.
  await servedByOthers(tx, [row.id], now);
}
