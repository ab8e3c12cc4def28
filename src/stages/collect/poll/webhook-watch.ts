/**
 * Decides whether eligd can poll less often because webhook events arrive. It can while events
 * arrive and agree with the replies to polls. If a poll finds an answer and its event does not
 * arrive within the allowed time, events get lost: then eligd polls at the normal rate and raises
 * one attention item.
 *
 *     unproven ─▶ heard           an event about one of our inquiries has arrived; every open
 *                                 inquiry is rescheduled
 *     unproven, heard ─▶ silent   polling found an answer that no event announced; every open
 *                                 inquiry is rescheduled
 *     silent ─▶ unproven          the port or the subscription works again (daemon/webhook.ts)
 *     silent ─▶ heard             an event came before we polled, an hour or more after the last
 *                                 one was missed
 */
import { completionDate } from '../../../domain/inquiry.ts';
import { isAnswerDue, nextPollAt, type PollingFacts } from '../../../domain/polling.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import { payerKeyOf } from '../../../domain/turnaround.ts';
import {
  firstUnannounced,
  isWebhookDriven,
  noteWebhook,
  takeMissed,
  WEBHOOK_SUBJECT,
  webhookState,
} from '../../../store/answers/webhook-watch.ts';
import { raiseAttention, resolveAttention } from '../../../store/bookkeeping/attention.ts';
import { nextOpenToAsk } from '../../../store/calls/due-inquiries.ts';
import { type InquiryRow, openAfter, updateInquiry } from '../../../store/calls/inquiries.ts';
import { turnaround } from '../../../store/calls/turnarounds.ts';
import type { Tx } from '../../../store/engine/database.ts';
import type { CollectDeps } from '../deps.ts';

/**
 * While webhook events arrive, eligd still polls one inquiry this often, to check whether its event
 * arrived.
 */
const SAMPLE_MS = HOUR_MS;
const HEARD_AGAIN_MS = HOUR_MS;
const OPEN_PER_WRITE = 200;
const ABOUT = { connector: null, appointment: null, inquiry: null, subject: WEBHOOK_SUBJECT };

/**
 * Records that an event about one of our inquiries has arrived. `was_news`: it announced an end
 * that polling had not found yet.
 */
export async function noteHeard(
  tx: Tx,
  deps: CollectDeps,
  was_news: boolean,
  now: number,
): Promise<void> {
  const { state, since } = await webhookState(tx);
  if (state === 'heard' || (state === 'silent' && (!was_news || now < since + HEARD_AGAIN_MS)))
    return;
  await noteWebhook(tx, 'heard', now);
  await resolveAttention(tx, ABOUT.subject, now, ['webhook_silent']);
  tx.after(() => deps.env.log('webhook_heard'));
}

/**
 * Switches to polling when events get lost. Returns when to check again; null: no answer lacks its
 * event.
 */
export async function checkForLostEvents(deps: CollectDeps): Promise<number | null> {
  const { store, env, webhook } = deps;
  if (webhook === null) return null;
  const first = await firstUnannounced(store.db);
  if (first === null) return null;
  const now = env.clock.now();
  if (now < first + webhook.grace_ms) return first + webhook.grace_ms;
  const is_new = await store.write(async (tx) => {
    const missed = await takeMissed(tx, now - webhook.grace_ms);
    const { state } = await webhookState(tx);
    if (missed === 0) return false;
    await noteWebhook(tx, 'silent', now);
    if (state === 'silent') return false;
    tx.after(() => env.log('webhook_silent', { missed_answers: missed }));
    await raiseAttention(
      tx,
      ABOUT,
      {
        reason: 'webhook_silent',
        what:
          'The calling service has stopped sending webhook events. Nothing is lost: eligd ' +
          'polls for answers instead.',
        next:
          'Run "eligd check": it shows whether the service can reach this computer, and what ' +
          'to fix.',
      },
      now,
    );
    return true;
  });
  if (is_new) {
    await reschedulePolls(deps, false);
    webhook.onSilent();
  }
  return await checkForLostEvents(deps);
}

/**
 * Recalculates the poll times of all open inquiries: later with webhook events, sooner without.
 * Keeps the times of inquiries that an event has marked for a poll, and of those that no reply has
 * shown to be open since.
 */
export async function reschedulePolls(
  { store, env, settings }: CollectDeps,
  has_webhook: boolean,
): Promise<void> {
  const now = env.clock.now();
  for (let after = 0; ; ) {
    const rows = await openAfter(store.db, after, OPEN_PER_WRITE);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
    await store.write(async (tx) => {
      for (const row of rows) {
        if (row.poll_at === null || row.poll_at <= now) continue;
        const poll_at = nextPollAt(
          await pollingFacts(tx, row, { now, random: env.random(), has_webhook, settings }),
        );
        if (
          has_webhook ? row.is_unannounced === 1 && poll_at > row.poll_at : poll_at < row.poll_at
        ) {
          await updateInquiry(tx, row.id, { poll_at }, now);
        }
      }
    });
  }
}

/** Returns the inquiry to poll as a sample, once an hour while answers are due; null: none now. */
export async function sampleToAsk(deps: CollectDeps): Promise<InquiryRow | null> {
  const { store, env, webhook, settings } = deps;
  const now = env.clock.now();
  if (webhook === null || now < webhook.sample_at || !(await isWebhookDriven(store.db)))
    return null;
  const row = await nextOpenToAsk(store.db);
  if (row === null || row.poll_at === null || row.poll_at <= now) return null;
  const wanted_by = completionDate(row, settings.time_zone);
  if (!isAnswerDue(now, wanted_by, settings.time_zone)) return null;
  webhook.sample_at = now + SAMPLE_MS;
  return row;
}

/** Returns the facts that decide when a row is polled next. */
export async function pollingFacts(
  tx: Tx,
  row: InquiryRow,
  {
    now,
    random,
    has_webhook,
    settings,
  }: { now: number; random: number; has_webhook: boolean; settings: CollectDeps['settings'] },
): Promise<PollingFacts> {
  return {
    now,
    random,
    // A late answer is polled for whether or not events arrive.
    has_webhook: has_webhook && row.overdue_since === null,
    desired_completion_date: completionDate(row, settings.time_zone),
    visit_at: row.visit_at,
    sent_at: row.sent_at ?? row.created_at,
    turnaround: await turnaround(tx, payerKeyOf(row)),
    interval_ms: settings.poll_interval_ms,
    urgent_interval_ms: settings.urgent_poll_interval_ms,
    time_zone: settings.time_zone,
  };
}
