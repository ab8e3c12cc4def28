/**
 * The routes for monitoring: `/healthz` (does the process make progress?), `/readyz` (can it
 * work?), and `/metrics` for Prometheus. Labels are words of the program and configured IDs; none
 * of the three contains patient data (G6).
 */
import { ALERT_NAMES } from '../domain/alerts/catalog.ts';
import type { Env } from '../domain/env.ts';
import { errorCode } from '../domain/errors.ts';
import {
  answersThatAre,
  type Health,
  type HealthAnswer,
  type HealthQuestion,
} from '../domain/health.ts';
import type { Store } from '../store/engine/store.ts';
import type { HealthReport } from '../store/views/health.ts';
import { readStatus } from '../store/views/overview.ts';
import type { SituationWatch } from '../store/views/situation-watch.ts';
import type { Metrics } from './metrics.ts';
import type { HttpRoute } from './server.ts';
import type { WebhookCounts } from './webhook.ts';

type MonitoringOptions = {
  store: Store;
  env: Env;
  version: string;
  /** Returns the stages that currently make no progress. */
  hangingStages: () => string[];
  /** Judges whether eligd works. */
  health: () => Promise<HealthReport>;
  metrics: Metrics;
  situations: SituationWatch;
  webhook_counts: Readonly<WebhookCounts>;
  /** Returns when the newest backup was written (epoch milliseconds); null: never. */
  newestBackupAt: () => number | null;
};

export function monitoringRoute(options: MonitoringOptions): HttpRoute {
  const { hangingStages, health } = options;
  const { registry } = options.metrics;
  const refresh = gauges(options);
  return (app) => {
    app.get('/healthz', async (_request, reply) => {
      const hanging = hangingStages();
      return reply
        .code(hanging.length === 0 ? 200 : 503)
        .send({ ok: hanging.length === 0, hanging });
    });
    app.get('/readyz', async (_request, reply) => {
      try {
        const { health: answers, alerts } = await health();
        const ok = isReady(answers);
        return reply
          .code(ok ? 200 : 503)
          .send({ ok, as_of: isoNow(options), ...readyAnswers(answers), alerts: names(alerts) });
      } catch (error) {
        return reply.code(503).send({ ok: false, database: errorCode(error) ?? 'failed' });
      }
    });
    app.get('/metrics', async (_request, reply) => {
      await refresh();
      return reply.type(registry.contentType).send(await registry.metrics());
    });
  };
}

/**
 * Requires that nothing is wrong and that calls and answers are known to work: unknown is not
 * ready.
 */
function isReady(health: Health): boolean {
  const is_known = health.calls.is === 'yes' && health.answers.is === 'yes';
  return is_known && answersThatAre(health, 'no').length === 0;
}

const names = (alerts: HealthReport['alerts']) => [...new Set(alerts.map(({ name }) => name))];

const isoNow = ({ env }: MonitoringOptions) => new Date(env.clock.now()).toISOString();

/** Leaves out the sentences: a port without login reveals only what it must. */
function readyAnswers(health: Health) {
  const answers = Object.entries(health) as [HealthQuestion, HealthAnswer][];
  return {
    answers: Object.fromEntries(answers.map(([question, { is }]) => [question, is])),
    since: Object.fromEntries(
      answersThatAre(health, 'no').map(({ question, since }) => [
        question,
        since === null ? null : new Date(since).toISOString(),
      ]),
    ),
  };
}

/** Creates the gauges. The returned function reads their values and counts recent events. */
function gauges(options: MonitoringOptions): () => Promise<void> {
  const { store, env, version, metrics, situations, webhook_counts, newestBackupAt } = options;
  const gauge = metrics.gauge.bind(metrics);
  gauge('info', 'The running version.', 'version').set({ version }, 1);
  const appointments = gauge('appointments', 'Appointments by situation.', 'situation');
  const inquiries = gauge('inquiries', 'Unfinished inquiries, by state.', 'state');
  const overdue = gauge('inquiries_overdue', 'Open inquiries whose answer is late.');
  const deliveries = gauge('deliveries', 'Records not written back yet, by state.', 'state');
  const attention = gauge('attention_entries', 'Attention items, by reason.', 'reason');
  const started = gauge('calls_started', 'Calls started in the day or month.', 'period');
  const spent = gauge(
    'spent_dollars',
    'Cost of the calls of known price in the day or month.',
    'period',
  );
  const unpriced = gauge('calls_unpriced', 'Calls of unknown price in the day or month.', 'period');
  const calls_left = gauge(
    'budget_left_calls',
    'Calls left in the budget; absent without a limit.',
    'period',
  );
  const dollars_left = gauge(
    'budget_left_dollars',
    'US dollars left in the budget; absent without a limit.',
    'period',
  );
  const stopped = gauge('calls_stopped', 'Whether submission is stopped: 1 or 0.');
  const answered = gauge(
    'health',
    'Answers to the questions of "eligd status": 1 yes, 0 no, -1 unknown.',
    'question',
  );
  const alerting = gauge('alert', 'Open alerts, by name.', 'name');
  const oldest = gauge(
    'oldest_waiting_timestamp_seconds',
    'When the appointment that has waited longest for its answer began to wait.',
  );
  const reads = gauge(
    'last_read_timestamp_seconds',
    'When a connector last read a source to its end.',
    'connector',
  );
  const unread = gauge(
    'unread_messages',
    'Messages that are received and not read yet, by connector.',
    'connector',
  );
  const unread_since = gauge(
    'oldest_unread_message_timestamp_seconds',
    'When the oldest message that is not read yet was received; absent when all are read.',
    'connector',
  );
  const backup = gauge('last_backup_timestamp_seconds', 'When the newest backup was written.');
  return async () => {
    await metrics.follow(store);
    metrics.followWebhook(webhook_counts);
    const { groups, oldest_at } = await situations.read(store.db, env.clock.now());
    const status = await readStatus(store.db, env.clock.now(), groups);
    const { closed, total: _, ...open } = status.counts;
    appointments.reset();
    for (const [situation, count] of Object.entries(open)) appointments.set({ situation }, count);
    appointments.set(
      { situation: 'closed' },
      Object.values(closed).reduce((sum, count) => sum + count, 0),
    );
    const { planned, sending, uncertain, open: with_service } = status.inquiries;
    for (const [state, count] of Object.entries({
      planned,
      sending,
      uncertain,
      open: with_service,
    }))
      inquiries.set({ state }, count);
    overdue.set(status.inquiries.overdue);
    const { pending, failed, parked } = status.deliveries;
    for (const [state, count] of Object.entries({ pending, failed, parked }))
      deliveries.set({ state }, count);
    attention.reset();
    for (const { reason, count } of status.attention) attention.set({ reason }, count);
    const { health: answers, alerts, budget } = await options.health();
    for (const { period, calls, cents, ...rest } of [budget.day, budget.month]) {
      started.set({ period }, calls);
      spent.set({ period }, cents / 100);
      unpriced.set({ period }, rest.unpriced);
      if (rest.calls_left !== null) calls_left.set({ period }, rest.calls_left);
      if (rest.cents_left !== null) dollars_left.set({ period }, rest.cents_left / 100);
    }
    alerting.reset();
    for (const name of ALERT_NAMES)
      alerting.set({ name }, alerts.filter((each) => each.name === name).length);
    for (const [question, { is }] of Object.entries(answers))
      answered.set({ question }, { yes: 1, no: 0, unknown: -1 }[is]);
    stopped.set(answers.calls.is === 'no' ? 1 : 0);
    oldest.set((oldest_at ?? Number.NaN) / 1000);
    for (const { connector, at } of status.last_reads) reads.set({ connector }, at / 1000);
    for (const each of [unread, unread_since]) each.reset();
    for (const { connector, count, since } of status.unread_messages) {
      unread.set({ connector }, count);
      unread_since.set({ connector }, since / 1000);
    }
    backup.set((newestBackupAt() ?? Number.NaN) / 1000);
  };
}
