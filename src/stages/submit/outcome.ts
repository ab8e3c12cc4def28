import { backoffMs } from '../../domain/backoff.ts';
import type { InquiryDraft } from '../../domain/inquiry.ts';
import { nextPollAt } from '../../domain/polling.ts';
import { REFUSED_NEIGHBOR, refusalWords } from '../../domain/refusal.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import { payerKey, type Turnaround } from '../../domain/turnaround.ts';
import type {
  BulkItem,
  InquiryRequest,
  ServiceFailure,
  ValidationItem,
} from '../../service/api.ts';
import { isWebhookDriven } from '../../store/answers/webhook-watch.ts';
import { servedByOthers, withdrawNeedless } from '../../store/calls/attempts.ts';
import { acceptCalls, callsOf, ownersOf, settleCalls } from '../../store/calls/calls.ts';
import { endHalt, halt } from '../../store/calls/halts.ts';
import { type InquiryRow, moveEach, moveInquiries } from '../../store/calls/inquiries.ts';
import { raiseForInquiry } from '../../store/calls/inquiry-attention.ts';
import { replanAppointmentsOf } from '../../store/calls/plan-due.ts';
import { turnaround } from '../../store/calls/turnarounds.ts';
import { learnNeeds } from './account-needs.ts';
import { attributeDuplicates } from './attribute.ts';
import type { SubmitContext, SubmitDeps } from './deps.ts';

/** How soon eligd reads an ID that was assigned only by its position in the reply. */
const VERIFY_MS = MINUTE_MS;
/**
 * How far apart the first polls of one commit are, as a part of the range over which polls spread:
 * some seconds. At random times, each would change another page of the index.
 */
const POLLS_APART = 1 / 1_000;
const AWAY_LIMITS = { first_ms: 30_000, max_ms: 15 * MINUTE_MS };
/** How often eligd retries a stopped submission (docs/design.md "Stopped"). */
export const STOPPED_RETRY_MS = 15 * MINUTE_MS;

/** A claimed inquiry with its draft and the exact body that is committed as its intent. */
export type Intent = { row: InquiryRow; draft: InquiryDraft; request: InquiryRequest };

/**
 * `reply_group`: null: eligd has read the form. `is_sample`: among the IDs that were assigned by
 * position, one that eligd reads at once to check the positions.
 */
type Accepted = {
  intent: Intent;
  inquiry_id: string;
  reply_group: string | null;
  is_sample: boolean;
};

/**
 * Binds rows to the IDs under which the service accepted them. eligd trusts an ID once it has read
 * a matching form under it. If another inquiry already holds an ID, the ID is useless and its row
 * needs a lookup.
 */
export async function bindAccepted(
  context: SubmitContext,
  replies: readonly Accepted[],
): Promise<void> {
  if (replies.length === 0) return;
  const { tx, deps, now } = context;
  const owners = await ownersOf(
    tx,
    replies.map(({ inquiry_id }) => inquiry_id),
  );
  const accepted: Accepted[] = [];
  const useless: number[] = [];
  for (const reply of replies) {
    const { id } = reply.intent.row;
    if ((owners.get(reply.inquiry_id) ?? id) === id) accepted.push(reply);
    else useless.push(id);
    owners.set(reply.inquiry_id, id);
  }
  const reason = 'The service accepted the inquiry under an ID that another inquiry has.';
  await makeUncertain(context, useless, { reason, was_accepted: true });
  const firstPoll = await firstPolls(context, accepted);
  await moveEach(
    tx,
    accepted.map(({ intent, is_sample }) => {
      const planned_at = firstPoll(intent);
      const poll_at = is_sample ? Math.min(planned_at, now + VERIFY_MS) : planned_at;
      // A merge of two records may have put it on hold while its request was under way.
      const set = { is_unannounced: 1, poll_at, empty_polls: 0, hold_reason: null };
      return { id: intent.row.id, ...set };
    }),
    { from: 'sending', to: 'open', reason: 'The service accepted the inquiry.' },
    now,
  );
  await assignCalls(context, accepted);
  await resumeSubmission(context);
  tx.after(() => deps.onOpen());
}

/** Returns a function that returns when eligd polls an accepted inquiry for the first time. */
async function firstPolls(
  { tx, deps, now }: SubmitContext,
  accepted: readonly Accepted[],
): Promise<(intent: Intent) => number> {
  const { settings, env } = deps;
  const has_webhook = await isWebhookDriven(tx);
  const turnarounds = new Map<string | null, Turnaround | null>();
  for (const payer of new Set(accepted.map(({ intent }) => payerKey(intent.draft))))
    turnarounds.set(payer, await turnaround(tx, payer));
  const first = env.random();
  let polls = 0;
  return ({ row, draft }) => {
    const random = (first + polls * POLLS_APART) % 1;
    polls += 1;
    return nextPollAt({
      now,
      desired_completion_date: draft.desired_completion_date,
      visit_at: row.visit_at,
      interval_ms: settings.poll_interval_ms,
      urgent_interval_ms: settings.urgent_poll_interval_ms,
      time_zone: settings.time_zone,
      has_webhook,
      sent_at: row.sent_at ?? now,
      turnaround: turnarounds.get(payerKey(draft)) ?? null,
      random,
    });
  };
}

/** Assigns the service's IDs to the calls that were made for these inquiries. */
async function assignCalls(context: SubmitContext, accepted: readonly Accepted[]): Promise<void> {
  const { tx } = context;
  const ids = accepted.map(({ intent }) => intent.row.id);
  const calls = Map.groupBy(await callsOf(tx, ids), ({ inquiry }) => inquiry);
  const given = accepted.map(({ intent, inquiry_id, reply_group }) => {
    const made = calls.get(intent.row.id)?.find(({ fate }) => fate === 'out');
    if (made === undefined) throw new Error('The reply is about no request that is out (G1).');
    return {
      id: made.id,
      service_id: inquiry_id,
      service_status: 'SCHEDULED',
      role: 'serves' as const,
      reply_group,
    };
  });
  await acceptCalls(tx, given);
  for (const { intent } of accepted)
    if (calls.get(intent.row.id)?.some(({ fate }) => fate === 'absent'))
      await attributeDuplicates(context, intent.row);
}

/**
 * Settles rows in `sending` whose request failed as a whole (docs/design.md "Failures are
 * classified where they happen").
 */
export async function settleFailure(
  context: SubmitContext,
  intents: readonly Intent[],
  failure: ServiceFailure,
): Promise<void> {
  const { deps, now } = context;
  const ids = intents.map(({ row }) => row.id);
  if (failure.class === 'ambiguous') {
    await makeUncertain(context, ids, {
      reason: `The reply was lost or unusable (${failure.cause}${statusText(failure.status)}).`,
      was_accepted: failure.accepted,
    });
  } else if (failure.class === 'refused') {
    for (const intent of intents) await refuse(context, intent, failure);
  } else if (failure.class === 'stopped') {
    const reason = `The service rejected the request (${failure.status}); no inquiry was created.`;
    await backToPlanned(context, ids, { reason, due_at: now + STOPPED_RETRY_MS });
    await stopSubmission(context, failure.status);
  } else {
    const reason = `Proven unsent (${failure.cause}${statusText(failure.status)}).`;
    await backToPlanned(context, ids, { reason, due_at: now + waitOf(failure, deps.env) });
    if (failure.cause === 'unauthorized') await stopSubmission(context, failure.status ?? 401);
  }
}

type Unsent = Extract<ServiceFailure, { class: 'unsent' }>;

/** Returns how long to wait after a request that provably did not arrive, in milliseconds. */
function waitOf(failure: Unsent, env: SubmitDeps['env']): number {
  const { cause, retry_after_ms } = failure;
  if (isFormRefused(failure)) return 0;
  if (retry_after_ms !== null) return retry_after_ms;
  return cause === 'aborted' || cause === 'closed' ? 0 : backoffMs(1, AWAY_LIMITS, env.random());
}

/** Returns whether the form was refused, not the content. The next request has another form. */
export function isFormRefused(failure: ServiceFailure): boolean {
  return failure.class === 'unsent' && failure.cause.startsWith('bulk_');
}

/**
 * Moves rows to `planned`: the service provably did not take the request, or two lookups have shown
 * that it has no such call. Planning could not withdraw them before, so rows that no longer serve a
 * visit (canceled or past) are withdrawn here. Planning withdraws a row whose need another inquiry
 * serves, such as that of another record of the patient which was merged meanwhile (G1); nothing is
 * sent for a visit that waits for planning.
 */
export async function backToPlanned(
  { tx, now }: SubmitContext,
  ids: readonly number[],
  {
    reason,
    due_at,
    from = 'sending',
  }: { reason: string; due_at: number; from?: 'sending' | 'uncertain' },
): Promise<void> {
  if (ids.length === 0) return;
  await moveInquiries(
    tx,
    ids,
    { from, to: 'planned', reason, set: { lookup_at: null, due_at } },
    now,
  );
  await settleCalls(tx, ids, from === 'sending' ? 'unsent' : 'absent');
  await servedByOthers(tx, ids, now);
  await withdrawNeedless(tx, ids, 'planned', now);
  await replanAppointmentsOf(tx, ids);
}

/** Returns inquiries to `planned` that were claimed and not sent, because sending ended. */
export async function giveBack(context: SubmitContext, intents: readonly Intent[]): Promise<void> {
  await backToPlanned(
    context,
    intents.map(({ row }) => row.id),
    { reason: 'Not sent: eligd stopped sending before its turn.', due_at: context.now },
  );
}

/**
 * Moves rows from `sending` to `uncertain`. eligd looks them up a settle time after the end of the
 * request (`ended_by`; default: now) and never resends them without a lookup (G1).
 */
export async function makeUncertain(
  { tx, deps, now }: SubmitContext,
  ids: readonly number[],
  why: { reason: string; was_accepted: boolean; ended_by?: number },
): Promise<void> {
  if (ids.length === 0) return;
  const listed_by = (why.ended_by ?? now) + deps.settings.settle_ms;
  const moved = await moveInquiries(
    tx,
    ids,
    {
      from: 'sending',
      to: 'uncertain',
      reason: why.reason,
      set: {
        lookup_at: listed_by,
        absence_at: listed_by,
        empty_lookups: 0,
      },
    },
    now,
  );
  await settleCalls(tx, ids, 'lost', why.was_accepted);
  tx.after(() => {
    for (const { id } of moved) deps.env.log('inquiry_uncertain', { inquiry: id });
  });
}

/** Settles the items of a bulk reply; `intents` are in the same order. */
export async function settleItems(
  context: SubmitContext,
  intents: readonly Intent[],
  items: readonly BulkItem[],
  reply_group: string,
): Promise<void> {
  const accepted: Accepted[] = [];
  for (const [index, intent] of intents.entries()) {
    const item = items[index];
    if (item?.outcome === 'created') {
      const { inquiry_id, evidence } = item;
      // The first and the last item show whether the order is right. Reading the answers reveals
      // any error in between.
      const is_sample = evidence === 'position' && (index === 0 || index === intents.length - 1);
      const group = evidence === 'read_form' ? null : reply_group;
      accepted.push({ intent, inquiry_id, reply_group: group, is_sample });
    } else if (item?.outcome === 'refused') {
      await refuse(context, intent, { errors: item.errors, status: 422 });
    } else if (item !== undefined) {
      const reason = item.accepted
        ? 'The service said that it accepted the batch, but gave no ID for this inquiry.'
        : REFUSED_NEIGHBOR;
      await makeUncertain(context, [intent.row.id], { reason, was_accepted: item.accepted });
    }
  }
  await bindAccepted(context, accepted);
}

/**
 * Marks the inquiry as rejected: the service refused its content, so no inquiry exists there, and
 * the office must fix it. The service's own words stay in the database (G6).
 */
async function refuse(
  context: SubmitContext,
  { row, request: sent }: Intent,
  { errors, status }: { errors: readonly ValidationItem[]; status: number },
): Promise<void> {
  const { tx, deps, now } = context;
  tx.after(() => deps.env.log('inquiry_refused', { inquiry: row.id, http_status: status }));
  if (await learnNeeds(context, errors, sent)) {
    const reason = 'Proven unsent: the service asks for a field that eligd sends from now on.';
    await backToPlanned(context, [row.id], { reason, due_at: now });
    return;
  }
  const words = refusalWords(errors, sent);
  await moveInquiries(
    tx,
    [row.id],
    { from: 'sending', to: 'rejected', reason: `The service refused it (${status}).` },
    now,
  );
  await settleCalls(tx, [row.id], 'unsent');
  // Its visits get the answer of another call, such as one for a record that was merged meanwhile.
  if ((await servedByOthers(tx, [row.id], now)).length > 0) return;
  if ((await withdrawNeedless(tx, [row.id], 'rejected', now)).length > 0) return;
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'refused',
      what: `The service rejected the inquiry (${status}).`,
      words: words === '' ? null : `It said: ${words}.`,
      // A merge of two records may have put it on hold while its request was under way.
      next:
        'Correct it in your practice software. eligd sends it again after the next export, or, ' +
        'if it is on hold, after "eligd release".',
    },
    now,
  );
}

/** Stops submission until the account works again. eligd retries rarely and shows the reason. */
async function stopSubmission({ tx, deps, now }: SubmitContext, status: number): Promise<void> {
  const detail = `The service answered ${status}.`;
  await halt(
    tx,
    { reason: 'account', detail, next_try_at: now + STOPPED_RETRY_MS },
    {
      what:
        `eligd is not sending anything: the service answered ${status}. Everything that is due ` +
        'is kept; eligd tries again every 15 minutes.',
      next:
        status === 401 || status === 403
          ? 'Check the service credentials (ELIGD_SERVICE_…) with "eligd check", or ask the ' +
            'calling service.'
          : 'Check service.base_url with "eligd check", or ask the calling service ' +
            'about the account.',
    },
    now,
  );
  tx.after(() => deps.env.log('submission_stopped', { reason: 'account', http_status: status }));
}

/** Ends the halt after the service accepted a request. */
async function resumeSubmission({ tx, deps, now }: SubmitContext): Promise<void> {
  if (await endHalt(tx, 'account', now)) tx.after(() => deps.env.log('submission_resumed'));
}

function statusText(status: number | null): string {
  return status === null ? '' : `, status ${status}`;
}
