import { nextBusinessDay } from '../../domain/business-days.ts';
import { DAMAGED_HOLD, type InquiryDraft, readDraft } from '../../domain/inquiry.ts';
import { givenName } from '../../domain/matching.ts';
import type { StoredPrice } from '../../domain/price.ts';
import { REFUSED_NEIGHBOR } from '../../domain/refusal.ts';
import type { Specialty } from '../../domain/specialty.ts';
import { DAY_MS, type LocalDate, localDate } from '../../domain/time.ts';
import { inquiryRequest } from '../../service/request.ts';
import { isWatchingForOlderCalls } from '../../store/bookkeeping/new-database.ts';
import { leftToSpend } from '../../store/calls/budget.ts';
import { intendCalls, withCalls } from '../../store/calls/calls.ts';
import { waitingToSend } from '../../store/calls/due-inquiries.ts';
import { currentHalts, releaseCount } from '../../store/calls/halts.ts';
import {
  type InquiryRow,
  inquiryById,
  moveInquiries,
  updateInquiry,
} from '../../store/calls/inquiries.ts';
import { raiseForInquiry } from '../../store/calls/inquiry-attention.ts';
import type { Tx } from '../../store/engine/database.ts';
import { accountNeeds } from './account-needs.ts';
import { checkBeforeCall } from './attribute.ts';
import { type BulkPlan, learnFromBulk, planBulk } from './bulk.ts';
import { priceNow, type SubmitContext, type SubmitDeps } from './deps.ts';
import { countSend } from './earlier-comparison.ts';
import { type CheckedLabels, checkLabels, needLabelCheck } from './label-check.ts';
import { dueInTurn } from './label-failures.ts';
import { noticeClock } from './notice-clock.ts';
import {
  giveBack,
  type Intent,
  isFormRefused,
  makeUncertain,
  settleFailure,
  settleItems,
} from './outcome.ts';
import { payerTurns } from './payer-turn.ts';
import { reconciliationsDemanded } from './reconcile.ts';
import { type Sent, sendSingly } from './send-singly.ts';

/** What one step sends, at most: another specialty, or a lookup, may become due meanwhile. */
const BATCHES_PER_STEP = 20;

type SendOptions = {
  specialty: Specialty;
  limit: number;
  external_id_template: string;
  signal: AbortSignal;
};

/**
 * Claims due inquiries and sends them, in bulks where the service takes them, until none is due, a
 * reply is not plain success, or lookups get their turn. `sending` and the exact body are committed
 * before the request leaves (G1). Returns how many inquiries made progress, including those that
 * needed no call.
 */
export async function sendDue(deps: SubmitDeps, options: SendOptions): Promise<number> {
  const bulk = await planBulk(deps, options.specialty);
  const limited = { ...options, limit: Math.min(options.limit, bulk.claim_size) };
  let claimed: Claimed = await claimAfterReading(deps, limited, null);
  let did = 0;
  if (claimed.to_check.length > 0) {
    const checked = await checkLabels(deps, claimed.to_check, options);
    if (checked === null) return did;
    // Calls that were put off make room for others, which the next step claims.
    did += claimed.to_check.length - checked.size;
    claimed = await claimAfterReading(deps, limited, checked);
    // These got a label during the queries. The next step begins at once, and queries it.
    did += claimed.to_check.filter(({ id }) => checked.has(id)).length;
  }
  for (let batches = 1; claimed.intents.length > 0; batches += 1) {
    const may_follow = batches < BATCHES_PER_STEP && options.limit >= bulk.claim_size;
    const { sent, next } = await sendClaimed(deps, limited, { claimed, bulk, may_follow });
    did += claimed.adopted + sent.settled;
    claimed = next;
  }
  return did + claimed.adopted + claimed.moved;
}

/**
 * Sends claimed inquiries. After plain success of all, claims the next ones in the commit that
 * settles the last reply: half of the commits are saved. A crash after it leaves as many rows in
 * `sending` as one after a separate claim.
 */
async function sendClaimed(
  deps: SubmitDeps,
  options: SendOptions,
  { claimed, bulk, may_follow }: { claimed: Claimed; bulk: BulkPlan; may_follow: boolean },
): Promise<{ sent: Sent; next: Claimed }> {
  const { specialty, signal } = options;
  const { intents } = claimed;
  let following: Promise<Claimed> | null = null;
  const onSuccess = () => {
    if (!may_follow) return;
    following = claimAfterReading(deps, options, 'next');
    // Its error is thrown below, once the replies are settled.
    following.catch(() => {});
  };
  // The first bulk of an installation carries one item, to limit the risk until eligd has
  // understood a reply.
  const is_bulk =
    bulk.kind !== 'single' &&
    (intents.length > 1 || !bulk.is_proven || deps.settings.mode === 'bulk');
  const [sending] = await Promise.allSettled([
    is_bulk
      ? sendBulk(deps, specialty, { intents, bulk, onSuccess })
      : sendSingly(deps, intents, { signal, onSuccess }),
  ]);
  const [next] = await Promise.allSettled([following ?? NOTHING]);
  if (sending.status === 'rejected') {
    const now = deps.env.clock.now();
    if (next.status === 'fulfilled')
      await deps.store.write((tx) => giveBack({ tx, deps, now }, next.value.intents));
    throw sending.reason;
  }
  if (next.status === 'rejected') throw next.reason;
  const sent = sending.value;
  deps.env.log('inquiries_sent', {
    specialty,
    inquiries: intents.length,
    accepted: sent.accepted,
    shape: is_bulk ? bulk.kind : 'single',
  });
  return { sent, next: next.value };
}

/**
 * `intents`: what may be sent now. `adopted`: how many need no call, because the service already
 * holds them. `moved`: how many wait for their payer or for the office. `to_check`: the labels of
 * these must be queried first; until the first queries, nothing is claimed.
 */
type Claimed = {
  intents: Intent[];
  adopted: number;
  moved: number;
  to_check: readonly InquiryRow[];
};

const NOTHING: Claimed = { intents: [], adopted: 0, moved: 0, to_check: [] };

/**
 * Claims inquiries after the acknowledged messages are read: they may cancel visits. Visits whose
 * messages cannot be read wait; the others do not (G7). `next`: only if nothing else is to be done
 * before.
 */
async function claimAfterReading(
  deps: SubmitDeps,
  options: SendOptions,
  checked: CheckedLabels | 'next' | null,
): Promise<Claimed> {
  const work = async (tx: Tx) => {
    const compared = deps.memory.reconciled.get(options.specialty);
    // Submission was resumed during this step: the next one compares the list first (G1).
    if (compared?.releases !== (await releaseCount(tx))) return NOTHING;
    if (checked !== 'next') return await claim(tx, deps, options, checked);
    const context = { tx, deps, now: deps.env.clock.now() };
    return (await mayClaimNext(context, options)) ? await claim(tx, deps, options, null) : NOTHING;
  };
  return await deps.afterReading(() => deps.store.write(work), options.signal);
}

/**
 * Returns whether the next inquiries of the specialty may be claimed in this transaction, without
 * the checks between two steps: there is nothing for these to do. Rows in `sending` mean that the
 * replies to the last ones could not be settled.
 */
async function mayClaimNext(
  { tx, deps, now }: SubmitContext,
  { specialty, signal }: SendOptions,
): Promise<boolean> {
  const compared_at = deps.memory.reconciled.get(specialty)?.at ?? null;
  if (signal.aborted || compared_at === null || compared_at <= now - DAY_MS) return false;
  if (reconciliationsDemanded(deps).length > 0) return false;
  if ((await currentHalts(tx)).length > 0 || (await isWatchingForOlderCalls(tx))) return false;
  const waiting = await waitingToSend(tx, now);
  return waiting.every((each) => each.state === 'planned' && each.specialty === specialty);
}

/**
 * Claims inquiries in one transaction: nearest visit first, within the budget, one specialty at a
 * time because each has its own path. `checked`: the labels that were queried; null: none yet.
 */
async function claim(
  tx: Tx,
  deps: SubmitDeps,
  options: SendOptions,
  checked: CheckedLabels | null,
): Promise<Claimed> {
  const now = deps.env.clock.now();
  const { settings } = deps;
  const context = { tx, deps, now };
  let budget = await leftToSpend(tx, settings.budget, now);
  const due = await dueInTurn(tx, deps.memory, {
    now,
    limit: Math.min(options.limit, budget.left ?? options.limit),
    specialty: options.specialty,
  });
  const to_check = await needLabelCheck(context, due, options, checked ?? new Map());
  const claimed: Claimed = { ...NOTHING, to_check };
  if (checked === null && to_check.length > 0) return claimed;
  const waiting = new Set(to_check);
  const sending: Priced[] = [];
  let spent_cents = 0;
  const today = localDate(now, settings.time_zone);
  const known = await withCalls(tx, due);
  const turns = await payerTurns(context);
  for (const row of due) {
    if (waiting.has(row)) continue;
    const draft = readDraft(row.draft);
    if (draft === null) {
      await setAsideDamaged(tx, row, now);
      continue;
    }
    // The intents of this claim also add calls, but those have no ID yet and cannot serve any
    // inquiry.
    const may_be_served = row.retry > 0 || known.has(row.id);
    const check = may_be_served
      ? await checkBeforeCall(context, row, options.external_id_template)
      : 'call';
    // What the check has found counts, too.
    if (may_be_served) budget = await leftToSpend(tx, settings.budget, now);
    if (check !== 'call') {
      claimed[check === 'served' ? 'adopted' : 'moved'] += 1;
      continue;
    }
    const current = withoutPastDate(draft, today, settings.days_off);
    if (await turns.waits(row, draft)) {
      claimed.moved += 1;
      continue;
    }
    const price = priceNow(deps, current, now);
    // The nearest visit goes first: a cheaper call for a later visit must not use up its budget.
    const cents = spent_cents + (price.price_cents ?? 0);
    if (budget.left !== null && sending.length >= budget.left) break;
    if (budget.left_cents !== null && cents > budget.left_cents) break;
    spent_cents = cents;
    await turns.take(row, draft);
    // A draft is long, so only a changed one is written.
    const stored = current === draft ? row.draft : JSON.stringify(current);
    if (current !== draft) await updateInquiry(tx, row.id, { draft: stored }, now);
    sending.push({ row: { ...row, draft: stored }, draft: current, price });
  }
  await turns.end();
  if (sending.length > 0) {
    claimed.intents = await commitIntents(context, sending);
    const count = await countSend(tx, now);
    tx.after(() => deps.sends.write(count));
  }
  return claimed;
}

/**
 * Holds an inquiry whose draft can no longer be read and puts it on the attention list. The others
 * are sent (G7).
 */
async function setAsideDamaged(tx: Tx, row: InquiryRow, now: number): Promise<void> {
  // The check for another call may have found this one's.
  if ((await inquiryById(tx, row.id))?.state !== 'planned') return;
  await updateInquiry(tx, row.id, { hold_reason: DAMAGED_HOLD }, now);
  await raiseForInquiry(
    tx,
    row,
    {
      reason: 'inquiry_unreadable',
      what: 'eligd’s stored data about this call is damaged. eligd does not make the call.',
      next:
        'Run "eligd retry" with the ID of the appointment: eligd prepares the call again. If ' +
        'this happens again, call the insurance company yourself and have the disk checked.',
    },
    now,
  );
}

/** A due inquiry that is sent now. */
type Priced = { row: InquiryRow; draft: InquiryDraft; price: StoredPrice };

const SENDING = {
  from: 'planned',
  to: 'sending',
  reason: 'It is being sent to the service.',
} as const;

/** Commits the intents of inquiries that are sent now: their state, and their exact requests. */
async function commitIntents(
  { tx, deps, now }: SubmitContext,
  sending: readonly Priced[],
): Promise<Intent[]> {
  const needs = await accountNeeds(tx, deps);
  const skew_ms = deps.clockSkew();
  const sent_service_at = skew_ms === null ? null : now - skew_ms;
  const intents = sending.map(({ row, draft, price }) => {
    const out = { ...row, ...price, sent_at: now, sent_service_at, state: 'sending' as const };
    return { row: out, draft, request: inquiryRequest(draft, row.external_id, needs) };
  });
  const ids = intents.map(({ row }) => row.id);
  const moved = await moveInquiries(tx, ids, SENDING, now);
  // Nothing may leave for a row that is not in `sending` (G1).
  if (moved.length !== ids.length) throw new Error('A row to be sent is no longer planned.');
  await intendCalls(
    tx,
    intents.map(({ row, draft, request }) => ({
      row,
      given_name: givenName(draft.patient_name),
      body: JSON.stringify(request),
    })),
  );
  return intents;
}

/**
 * Returns the draft; a completion date that has passed becomes the next business day: the inquiry
 * may have waited past the day that planning chose, and the service is never given a past date or a
 * day off.
 */
function withoutPastDate(
  draft: InquiryDraft,
  today: LocalDate,
  days_off: ReadonlySet<LocalDate>,
): InquiryDraft {
  return draft.desired_completion_date < today
    ? { ...draft, desired_completion_date: nextBusinessDay(today, days_off) }
    : draft;
}

/** `onSuccess`: called after the work that settles plain success has been given to the store. */
type SentBulk = { intents: readonly Intent[]; bulk: BulkPlan; onSuccess: () => void };

async function sendBulk(
  deps: SubmitDeps,
  specialty: Specialty,
  { intents, bulk, onSuccess }: SentBulk,
): Promise<Sent> {
  const shape = bulk.kind === 'object' ? 'object' : 'array';
  const result = await deps.client.createBulk(
    specialty,
    intents.map(({ request }) => request),
    shape,
    { priority: 'send' },
  );
  await noticeClock(deps);
  const now = deps.env.clock.now();
  const ids = intents.map(({ row }) => row.id);
  const settling = deps.store.write(async (tx) => {
    const context = { tx, deps, now };
    await learnFromBulk(context, { specialty, result, size: intents.length, bulk });
    if (!result.ok) {
      const { failure } = result;
      // A refusal names no item, so each may be refused or accepted: look each one up, then send it
      // singly.
      const why = { reason: REFUSED_NEIGHBOR, was_accepted: false };
      if (failure.class === 'refused') await makeUncertain(context, ids, why);
      else await settleFailure(context, intents, failure);
      const is_waiting =
        failure.class === 'stopped' || (failure.class === 'unsent' && !isFormRefused(failure));
      return { accepted: 0, settled: is_waiting ? 0 : ids.length };
    }
    await settleItems(context, intents, result.items, `bulk:${ids[0] ?? 0}:${now}`);
    const accepted = result.items.filter(({ outcome }) => outcome === 'created').length;
    return { accepted, settled: ids.length };
  });
  const is_plain = result.ok && result.items.every(({ outcome }) => outcome === 'created');
  if (is_plain && bulk.is_proven) onSuccess();
  return await settling;
}
