/**
 * The operations part of the composition root: supervision, monitoring, backups, and the log's
 * summaries.
 */
import { join } from 'node:path';
import { budgetPeriods } from '../domain/call-budget.ts';
import type { Clock, Env, FieldsOf } from '../domain/env.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import type { Metrics } from '../http/metrics.ts';
import { monitoringRoute } from '../http/monitoring.ts';
import type { HttpService } from '../http/server.ts';
import type { Config } from '../ops/config.ts';
import { budgetRules } from '../ops/prices.ts';
import type { Progress } from '../ops/progress.ts';
import { statusWords, supervise } from '../ops/supervision.ts';
import { createNotifier } from '../ops/systemd.ts';
import { headText, readHeads } from '../store/bookkeeping/chain-check.ts';
import { setIncidents } from '../store/bookkeeping/incidents.ts';
import { explainDatabase, isUnexplained } from '../store/bookkeeping/new-database.ts';
import { readBudget, spentBetween } from '../store/calls/budget.ts';
import { currentHalts } from '../store/calls/halts.ts';
import { backupName, lastBackup, rotateBackups } from '../store/engine/backup.ts';
import { writeBackupAside } from '../store/engine/backup-thread.ts';
import { DamagedDatabase } from '../store/engine/damage.ts';
import { type FileIdentity, tracesOfDatabase } from '../store/engine/identity.ts';
import { readDatabase } from '../store/engine/read-only.ts';
import type { Store } from '../store/engine/store.ts';
import { allCounts, readStatus } from '../store/views/overview.ts';
import { liveHealth } from './heartbeat.ts';
import type { Parts, RunningConnector } from './parts.ts';
import { addressOf } from './webhook.ts';

/** A step may be silent for as long as this many unanswered requests take. */
const REQUESTS_UNHEARD = 4;

type Watched = Pick<Parts, 'options' | 'store' | 'progress' | 'situations'>;

/** Returns how long a step may be silent before it counts as hanging. */
export function patienceMs({ service }: Config): number {
  return REQUESTS_UNHEARD * service.timeout_seconds * 1000;
}

/** Returns `env` with a log that also counts the events. */
export function countEvents(env: Env, metrics: Metrics | null): Env {
  if (metrics === null) return env;
  return {
    ...env,
    log: (event, fields) => {
      metrics.noteLine(event);
      env.log(event, fields);
    },
  };
}

/** Returns the health and metrics service if the configuration has a section `monitoring`. */
export function monitoringServices(parts: Parts): HttpService[] {
  const { options, store, metrics, situations, webhook_counts, hangingStages } = parts;
  const { config, env, version } = options;
  if (config.monitoring === null || metrics === null) return [];
  const route = monitoringRoute({
    store,
    env,
    version,
    metrics,
    situations,
    webhook_counts,
    hangingStages,
    health: () => liveHealth(parts, store.db),
    newestBackupAt: () => lastBackup(config.backup.folder).newest_at,
  });
  return [{ address: addressOf(config.monitoring.listen), route }];
}

/** Notifies systemd's watchdog. Without systemd, the log still reports stages that hang. */
export function superviseDaemon(
  { options, store, progress, situations }: Watched,
  signal: AbortSignal,
): Promise<void> {
  const { env, config, notifier = createNotifier({}), ...rest } = options;
  const statusLine = async () => {
    const halted =
      (await currentHalts(store.db)).length > 0
        ? 'Calls are stopped (eligd status says why); '
        : '';
    const { groups } = await situations.read(store.db, env.clock.now());
    return halted + statusWords(allCounts(groups));
  };
  return supervise({
    env,
    progress,
    notifier,
    patience_ms: patienceMs(config),
    idle_ms: rest.idle_ms,
    statusLine,
    signal,
  });
}

type WatchedBy = {
  progress: Progress;
  identity: FileIdentity;
  clock: Clock;
  metrics: Metrics | null;
};

/**
 * Counts commits as progress; a commit blocked on the disk does not count. Refuses to write to a
 * file that was deleted or replaced: without the commit of its intent, no call is sent (G1).
 */
export function watchedStore(
  store: Store,
  { progress, identity, clock, metrics }: WatchedBy,
): Store {
  return {
    ...store,
    write: async (work) => {
      progress.mark();
      identity.check();
      const begun_ms = clock.elapsed();
      const value = await store.write(work);
      metrics?.noteCommit(clock.elapsed() - begun_ms);
      progress.mark();
      return value;
    },
  };
}

/** Stops submission when the database is new although there are traces of an earlier one. */
export async function noteNewDatabase(
  { config, env }: { config: Config; env: Env },
  store: Store,
  connectors: readonly RunningConnector[],
): Promise<void> {
  if (!(await isUnexplained(store.db))) return;
  const traces = tracesOfDatabase(config.state.path, config.backup.folder);
  for (const { id, connector } of connectors)
    if ((await connector.wasUsedBefore?.()) === true)
      traces.push(`eligd has read or written files of the connector ${id}`);
  await explainDatabase(store, traces, env.clock.now());
  if (traces.length > 0) env.log('submission_stopped', { reason: 'new_database' });
}

const DAMAGED = { reason: 'database_damaged' as const, connector: null };

/** Writes a copy of the database and deletes the oldest copies. Throws on failure. */
export async function backUp(
  { config, env }: { config: Config; env: Env },
  store: Store,
): Promise<void> {
  const { folder, keep } = config.backup;
  try {
    const now = env.clock.now();
    const content = await writeBackupAside(config.state.path, join(folder, backupName(now)), now);
    // A new database that nobody has confirmed must not cause good copies to be deleted.
    const gone = (await isInDoubt(config.state.path)) ? 0 : rotateBackups(folder, keep);
    await setIncidents(store, [{ ...DAMAGED, entry: null }], now);
    env.log('backup_written', { appointments: content.appointments, deleted_copies: gone });
  } catch (error) {
    if (error instanceof DamagedDatabase)
      await setIncidents(
        store,
        [{ ...DAMAGED, entry: { what: error.what, next: error.next } }],
        env.clock.now(),
      );
    env.log('backup_failed', {
      error_name: error instanceof Error ? error.name : typeof error,
      error_code: errorCode(error),
      ...(error instanceof EligdError ? { reason: error.why } : {}),
    });
    throw error;
  }
}

async function isInDoubt(path: string): Promise<boolean> {
  const halts = await readDatabase(path, currentHalts);
  return halts.some(({ reason }) => reason === 'new_database');
}

/** Logs one line with the counts of everything, and one with the ends of the hash chains. */
export async function logSummary({ options, store, payers, situations }: Parts): Promise<void> {
  const { config, env } = options;
  const { audit, access_log } = await readHeads(store.db);
  env.log('audit_head', {
    audit_head: audit && headText(audit),
    access_head: access_log && headText(access_log),
  });
  const { groups, oldest_at: oldest } = await situations.read(store.db, env.clock.now());
  const { counts, inquiries, deliveries } = await readStatus(store.db, env.clock.now(), groups);
  const { closed, total, ...open } = counts;
  const now = env.clock.now();
  const budget = await readBudget(store.db, budgetRules(config, payers), now);
  const before = budgetPeriods(config.clinic.time_zone, budget.day.from - 1)[1];
  const yesterday = await spentBetween(store.db, before.from, before.until);
  env.log('daily_summary', {
    ...open,
    appointments: total,
    closed: Object.values(closed).reduce((sum, count) => sum + count, 0),
    uncertain: inquiries.uncertain,
    overdue: inquiries.overdue,
    parked: deliveries.parked,
    calls_yesterday: yesterday.calls,
    cents_yesterday: yesterday.cents,
    calls_this_month: budget.month.calls,
    cents_this_month: budget.month.cents,
    unpriced_this_month: budget.month.unpriced,
    calls_left: budget.left,
    cents_left: budget.left_cents,
    oldest_since: oldest === null ? null : new Date(oldest).toISOString(),
  });
}

/**
 * Returns the effective settings that decide when eligd asks what and what costs money, for the log
 * line at start.
 */
export function startFields({
  config,
  version,
}: {
  config: Config;
  version: string;
}): FieldsOf<'daemon_started'> {
  const { service, policy } = config;
  return {
    version,
    node: process.version,
    pid: process.pid,
    host: new URL(service.base_url).host,
    path: config.state.path,
    connectors: config.connectors.map(({ id }) => id).join(', '),
    webhook: config.webhook !== null,
    mode: service.submission.mode,
    size: service.submission.batch_size,
    limit: service.submission.max_per_minute,
    settle_seconds: service.settle_seconds,
    timeout_seconds: service.timeout_seconds,
    look_ahead_days: policy.look_ahead_days,
    reverify_after_days: policy.reverify_after_days,
    attempts: policy.attempts,
    calls_per_day: policy.calls_per_day,
    calls_per_month: policy.calls_per_month,
    dollars_per_day: policy.dollars_per_day,
    dollars_per_month: policy.dollars_per_month,
    poll_minutes: config.polling.interval_minutes,
  };
}
