/**
 * Whether asking may be rare because webhook events come. It may while reports come and
 * agree with what asking finds. An answer that was found by asking and that no report has told of
 * within the time allowed proves that reports are lost: then asking takes over, and a person is
 * told once.
 *
 *     unproven ─▶ heard           a webhook event about one of our inquiries has come; every open
 *                                 inquiry is scheduled again
 *     unproven, heard ─▶ silent   polling found an answer that no event announced; every open
 *                                 inquiry is scheduled again
 *     silent ─▶ unproven          the port or the subscription is right again (daemon/webhook.ts)
 *     silent ─▶ heard             an event came before we polled, an hour or more after the last
 *                                 one was missed
 */
import { completionDate } from '../../../domain/inquiry.ts';
import { isAnswerDue, nextPollAt, type PollingFacts } from '../../../domain/polling.ts';
import { HOUR_MS } from '../../../domain/time.ts';
import { payerKeyOf } from '../../../domain/turnaround.ts';
import {
  firstUnannounced,
  isTold,
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
 * While webhook events come, one inquiry is asked about so often all the same, to see
 * whether it has told.
 */
const SAMPLE_MS = HOUR_MS;
const HEARD_AGAIN_MS = HOUR_MS;
const OPEN_PER_WRITE = 200;
const ABOUT = { connector: null, appointment: null, inquiry: null, subject: WEBHOOK_SUBJECT };

/**
 * A report of one of our inquiries has come. `was_news`: it told of an end that we had not found by
 * asking.
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
 * Takes over from reports that are lost. Returns when it has to be judged again; null: when
 * something is found.
 */
export async function judgeReports(deps: CollectDeps): Promise<number | null> {
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
    await scheduleAnew(deps, false);
    webhook.onSilent();
  }
  return await judgeReports(deps);
}

/**
 * Schedules every open inquiry as it is with reports (`is_told`: later) or without them (sooner).
 * What a report has hastened, and what nobody knows to have been open since, is left as it is.
 */
export async function scheduleAnew(
  { store, env, settings }: CollectDeps,
  is_told: boolean,
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
          await pollingFacts(tx, row, { now, random: env.random(), is_told, settings }),
        );
        if (is_told ? row.is_unannounced === 1 && poll_at > row.poll_at : poll_at < row.poll_at) {
          await updateInquiry(tx, row.id, { poll_at }, now);
        }
      }
    });
  }
}

/**
 * The inquiry to ask about although webhook events come, once an hour while answers are
 * due; null: none now.
 */
export async function sampleToAsk(deps: CollectDeps): Promise<InquiryRow | null> {
  const { store, env, webhook, settings } = deps;
  const now = env.clock.now();
  if (webhook === null || now < webhook.sample_at || !(await isTold(store.db))) return null;
  const row = await nextOpenToAsk(store.db);
  if (row === null || row.poll_at === null || row.poll_at <= now) return null;
  const wanted_by = completionDate(row, settings.time_zone);
  if (!isAnswerDue(now, wanted_by, settings.time_zone)) return null;
  webhook.sample_at = now + SAMPLE_MS;
  return row;
}

/** What decides when a row is asked about next. */
export async function pollingFacts(
  tx: Tx,
  row: InquiryRow,
  {
    now,
    random,
    is_told,
    settings,
  }: { now: number; random: number; is_told: boolean; settings: CollectDeps['settings'] },
): Promise<PollingFacts> {
  return {
    now,
    random,
    // A late answer is asked for whatever the service tells.
    is_told: is_told && row.overdue_since === null,
    desired_completion_date: completionDate(row, settings.time_zone),
    visit_at: row.visit_at,
    sent_at: row.sent_at ?? row.created_at,
    turnaround: await turnaround(tx, payerKeyOf(row)),
    interval_ms: settings.poll_interval_ms,
    urgent_interval_ms: settings.urgent_poll_interval_ms,
    time_zone: settings.time_zone,
  };
}
