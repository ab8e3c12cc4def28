/**
 * The composition root: makes everything out of the configuration, starts it in order and stops it in reverse. `run` is the
 * daemon; `once` takes every stage once.
 */
import cron from 'node-cron';
import PQueue from 'p-queue';
import type { Dispatcher } from 'undici';
import type { Connector } from '../connectors/contract.ts';
import {
  backUp,
  countEvents,
  logSummary,
  monitoringServices,
  purgeOld,
  startFields,
  superviseDaemon,
  watchedStore,
} from './daemon-operations.ts';
import { beginReports, subscriptionDeps, webhookService, webhookWatch } from './daemon-webhook.ts';
import { ClockWatch, type SeenServiceDate } from './domain/clock-watch.ts';
import type { Env } from './domain/env.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './domain/time.ts';
import { type HttpService, startHttpServers } from './http/server.ts';
import { newWebhookCounts, type WebhookCounts } from './http/webhook.ts';
import type { Config } from './ops/config.ts';
import { type ConnectorMeans, createConnectors } from './ops/connectors.ts';
import { loadPayers, NO_PAYERS } from './ops/payers.ts';
import { clinicProfile, configNotes, policyOf } from './ops/profile.ts';
import { Progress } from './ops/progress.ts';
import { revealCredentials, type SecretSource, type ServiceCredentials } from './ops/secrets.ts';
import type { Notifier } from './ops/systemd.ts';
import type { ServiceClient } from './service/api.ts';
import { createServiceClient } from './service/client.ts';
import { askAboutAll, type CollectDeps, collectStep } from './stages/collect.ts';
import { inboxStep } from './stages/collect-inbox.ts';
import { type DeliverMemory, deliverStep, newDeliverMemory } from './stages/deliver.ts';
import { type LoopOptions, logStageFailure, runLoop, Waker } from './stages/loop.ts';
import { closeOldVisits, planStep } from './stages/plan.ts';
import type { PlanDeps } from './stages/plan-deps.ts';
import { listenStep, pullStep } from './stages/pull.ts';
import { demandSweeps, ensureSwept, newSweepMemory, type SubmitDeps, submitStep } from './stages/submit/index.ts';
import { subscriptionStep } from './stages/subscription.ts';
import { raiseAttention, resolveAttention, resolveMapped } from './store/attention.ts';
import { type InstanceLock, lockInstance } from './store/database.ts';
import { connectorJournal } from './store/journal.ts';
import { logKey } from './store/log-key.ts';
import { createRateLimiter, endAbandonedSlots } from './store/rate-limit.ts';
import { openStore, type Store } from './store/store.ts';

export type DaemonOptions = {
  config: Config;
  credentials: ServiceCredentials;
  /** For what connectors log in with, and the keys of the webhook's signature. */
  secrets: SecretSource;
  env: Env;
  version: string;
  /** Who is told that the daemon is up and gets on; nobody when left out. */
  notifier?: Notifier;
  /** How long a stage without work or a due time rests before it looks again; half a minute when left out. */
  idle_ms?: number;
  /** The way to the service; left out: connections of the client's own. */
  dispatcher?: Dispatcher;
};

export type Daemon = {
  /** Runs until `signal` is aborted; each stage then finishes the step in hand. */
  run: (signal: AbortSignal) => Promise<void>;
  /** Every stage until it has nothing due; asks about every open inquiry whatever its schedule. Never sleeps for a look. */
  once: (signal: AbortSignal) => Promise<OnceResult>;
  /** Lets go of everything, in reverse order of the start. May be repeated. */
  close: () => Promise<void>;
  /** For the demo's progress. */
  store: Store;
};

/** `is_service_away`: the service's list could not be read, so nothing was sent; everything due is kept. */
export type OnceResult = { is_service_away: boolean; failed_stages: string[] };

type RunningConnector = { id: string; connector: Connector; pull: Waker; deliver: Waker; memory: DeliverMemory };

type Parts = {
  options: DaemonOptions;
  store: Store;
  client: ServiceClient;
  clock_watch: ClockWatch;
  connectors: RunningConnector[];
  progress: Progress;
  event_counts: ReadonlyMap<string, number>;
  submit: SubmitDeps;
  collect: CollectDeps;
  plan: PlanDeps;
  wakers: { plan: Waker; submit: Waker; collect: Waker; inbox: Waker; subscription: Waker };
  webhook_counts: WebhookCounts;
};

/** A clock that jumps by more than this has the service's list swept again (design, "Sweep"). */
const CLOCK_JUMP_MS = 5 * MINUTE_MS;
const CLOCK_CHECK_MS = MINUTE_MS;
const IDLE_MS = 30_000;
/** How long a reply is waited for after a stop was asked for. */
const STOP_GRACE_MS = 5_000;
/** Steps of one stage in `once`: far above what any installation has due, and still an end (every loop has a bound). */
const ONCE_STEPS_MAX = 10_000;

/**
 * Opens what the daemon needs: the lock against a second instance, the database, the client, the connectors. Throws an
 * EligdError when one of them cannot be had, after letting go of the others.
 */
export async function createDaemon(given: DaemonOptions): Promise<Daemon> {
  const progress = new Progress(given.env.clock);
  const event_counts = new Map<string, number>();
  const options = { ...given, env: progress.watch(countEvents(given.env, event_counts)) };
  const { config, env } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const lock: InstanceLock = lockInstance(config.state.path);
    closers.push(() => lock.release());
    const store = watchedStore(await openStore(config.state.path), progress);
    closers.push(() => store.close());
    await endAbandonedSlots(store, env.clock.now());
    const clock_watch = new ClockWatch(env.clock);
    const client = makeClient(options, store, clock_watch);
    closers.push(() => client.close());
    const means: ConnectorMeans = { secrets: options.secrets, journal: (id) => connectorJournal(store, id, env.clock) };
    const connectors = (await createConnectors(config, env, means)).map(({ id, connector }) => {
      closers.push(() => connector.close?.());
      return { id, connector, pull: new Waker(), deliver: new Waker(), memory: newDeliverMemory() };
    });
    const parts = await assemble(options, store, client, clock_watch, connectors, { progress, event_counts });
    return { run: (signal) => run(parts, signal), once: (signal) => once(parts, signal), close, store };
  } catch (error) {
    await close();
    throw error;
  }
}

function makeClient(
  { config, credentials, env, version, dispatcher }: DaemonOptions,
  store: Store,
  clock_watch: ClockWatch,
): ServiceClient {
  const { service } = config;
  return createServiceClient({
    base_url: service.base_url,
    credentials: revealCredentials(credentials),
    timeout_ms: service.timeout_seconds * 1000,
    concurrency: service.submission.concurrency,
    proxy: service.proxy ?? undefined,
    gate: createRateLimiter(store, env.clock, service.submission.max_per_minute),
    env,
    onServiceDate: (seen) => {
      const was_heard = clock_watch.skewMs() !== null;
      if (clock_watch.observe(seen)) judgeClock(store, env, clock_watch, { ...seen, was_heard });
    },
    user_agent: `eligd/${version}`,
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
}

/** Says once that the clock is wrong, or right again. */
function judgeClock(store: Store, env: Env, clock_watch: ClockWatch, seen: SeenServiceDate & { was_heard: boolean }): void {
  const skew_ms = clock_watch.skewMs() ?? 0;
  const is_trusted = clock_watch.isTrusted();
  if (!is_trusted) env.log('clock_wrong', { skew_ms });
  else if (seen.was_heard) env.log('clock_right', { skew_ms });
  store
    .write(async (tx) => {
      const about = { connector: null, appointment: null, inquiry: null, subject: 'clock' };
      if (is_trusted) await resolveAttention(tx, 'clock', seen.received_ms, ['clock_wrong']);
      else
        await raiseAttention(
          tx,
          about,
          {
            reason: 'clock_wrong',
            what: `The clock of this computer differs by ${Math.round(Math.abs(skew_ms) / MINUTE_MS)} minutes from the inquiry service's. No visit is taken for past until they agree.`,
            next: 'Set the clock of this computer (timedatectl set-ntp true).',
          },
          seen.received_ms,
        );
    })
    .catch((error: unknown) => logStageFailure(env, 'clock', error, 0));
}

async function assemble(
  options: DaemonOptions,
  store: Store,
  client: ServiceClient,
  clock_watch: ClockWatch,
  connectors: RunningConnector[],
  watched: Pick<Parts, 'progress' | 'event_counts'>,
): Promise<Parts> {
  const { config, env } = options;
  const policy = policyOf(config);
  const clinic = clinicProfile(config);
  const payers = config.policy.payers === null ? NO_PAYERS : await loadPayers(config.policy.payers);
  await store.write((tx) => resolveMapped(tx, (id, name) => (payers.find(id, name)?.carrier ?? '') !== '', env.clock.now()));
  const wakers = {
    plan: new Waker(),
    submit: new Waker(),
    collect: new Waker(),
    inbox: new Waker(),
    subscription: new Waker(),
  };
  const polling = {
    poll_interval_ms: config.polling.interval_minutes * MINUTE_MS,
    urgent_poll_interval_ms: config.polling.urgent_interval_minutes * MINUTE_MS,
    settle_ms: config.service.settle_seconds * 1000,
    concurrency: config.service.submission.concurrency,
    time_zone: clinic.time_zone,
  };
  return {
    options,
    store,
    client,
    clock_watch,
    connectors,
    ...watched,
    wakers,
    webhook_counts: newWebhookCounts(),
    plan: {
      store,
      env,
      facts: () => ({ is_clock_trusted: clock_watch.isTrusted(), clinic, policy, payers }),
      external_id_template: config.service.external_id,
      log_key: await logKey(store, env.clock.now()),
      onPlanned: () => {
        wakers.submit.wake();
        for (const { deliver } of connectors) deliver.wake();
      },
    },
    submit: {
      store,
      env,
      client,
      sweeps: newSweepMemory(),
      onOpen: () => {
        wakers.collect.wake();
        wakers.inbox.wake();
      },
      settings: {
        ...polling,
        mode: config.service.submission.mode,
        batch_size: config.service.submission.batch_size,
        bulk_shape: config.service.submission.bulk_shape,
        timeout_ms: config.service.timeout_seconds * 1000,
        is_shared_account: config.service.shared_account,
        calls_per_day: policy.calls_per_day,
        calls_per_month: policy.calls_per_month,
        reverify_after_days: policy.reverify_after_days,
      },
    },
    collect: {
      store,
      env,
      client,
      onRecord: () => {
        for (const { deliver } of connectors) deliver.wake();
      },
      onPlanned: () => wakers.submit.wake(),
      memory: { turns: new PQueue({ concurrency: 1 }), asking: new Map() },
      webhook: config.webhook === null ? null : webhookWatch(config.webhook, () => wakers.subscription.wake()),
      settings: {
        ...polling,
        give_up_after_days: policy.give_up_after_days,
        attempts: policy.attempts,
        max_claim_calls: policy.claims.max_calls,
        attempt_pause_ms: policy.attempt_pause_hours * HOUR_MS,
        min_lead_ms: policy.min_lead_hours * HOUR_MS,
        verify_for_ms: config.verification.ask_for_hours * HOUR_MS,
        verification_required: config.verification.require,
      },
    },
  };
}

/** At every start, before anything is planned or sent: the service's list is compared, and with it the clock. */
async function firstSweep({ options, submit }: Parts): Promise<boolean> {
  return await ensureSwept(submit, options.config.clinic.specialty);
}

function stages(parts: Parts, signal: AbortSignal) {
  const { options, store, wakers } = parts;
  const { env, config } = options;
  const external_id_template = config.service.external_id;
  const { time_zone } = config.clinic;
  const intake = ({ id, connector }: RunningConnector) => ({
    store,
    env,
    connector_id: id,
    connector,
    onAccepted: () => wakers.plan.wake(),
  });
  return {
    pull: (each: RunningConnector) => pullStep(intake(each), signal),
    listen: (each: RunningConnector) => listenStep(intake(each), signal),
    plan: () => planStep(parts.plan),
    submit: () => submitStep(parts.submit, { external_id_template, signal }),
    collect: () => collectStep(parts.collect),
    inbox: () => inboxStep(parts.collect),
    deliver: ({ id, connector, memory }: RunningConnector) =>
      deliverStep({ store, env, connector_id: id, connector, time_zone, memory }, signal),
  };
}

/** What the local HTTP server offers; services with the same address share one. */
function httpServices(parts: Parts): HttpService[] {
  const { options, store, wakers, webhook_counts } = parts;
  const { config, secrets, env } = options;
  const { webhook } = config;
  const services = monitoringServices(parts);
  if (webhook !== null) {
    const onStored = () => wakers.inbox.wake();
    services.push(webhookService(webhook, secrets, { store, env, onStored, counts: webhook_counts }));
  }
  return services;
}

async function run(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env } = parts.options;
  env.log('daemon_started', startFields(parts.options));
  await beginReports(parts.store, parts.options.config.webhook);
  const servers = await startHttpServers(httpServices(parts), env);
  try {
    await runStages(parts, signal);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
  env.log('daemon_stopped');
}

/** Runs one of the daemon's loops, and lets its progress be watched. */
type RunLoop = (of: Pick<LoopOptions, 'name' | 'step' | 'waker'> & { interval_ms?: number }) => Promise<void>;

async function runStages(parts: Parts, signal: AbortSignal): Promise<void> {
  const { options, wakers, connectors } = parts;
  const { env, config } = options;
  for (const note of configNotes(config)) env.log(note.event);
  const hurry = hurryOnStop(parts, signal);
  const step = stages(parts, signal);
  const supervision = superviseDaemon(parts, signal);
  const common = { env, interval_ms: options.idle_ms ?? IDLE_MS, signal };
  const loop: RunLoop = (of) => runLoop({ ...common, ...of, step: (stop) => parts.progress.step(of.name, () => of.step(stop)) });
  const pull_ms = config.schedule.pull_seconds * 1000;
  // At once: senders do not wait until the service has answered. To listen is to wait, so nobody watches its progress.
  const listening = connectors
    .filter(({ connector }) => connector.listen !== undefined)
    .map((each) =>
      runLoop({
        ...common,
        name: `listen ${each.id}`,
        step: () => step.listen(each),
        waker: new Waker(),
        interval_ms: pull_ms,
      }),
    );
  const swept = parts.progress.step('submit', () => firstSweep(parts));
  await swept.catch((error: unknown) => logStageFailure(env, 'submit', error, 0));
  const daily = cron.schedule(config.schedule.sweep_cron, () => void beginDay(parts), {
    timezone: config.clinic.time_zone,
    noOverlap: true,
  });
  const nightly =
    config.backup.cron === null
      ? null
      : cron.schedule(config.backup.cron, () => void backUp(options), { timezone: config.clinic.time_zone, noOverlap: true });
  const loops = [
    ...listening,
    loop({ name: 'plan', step: step.plan, waker: wakers.plan }),
    loop({ name: 'submit', step: step.submit, waker: wakers.submit }),
    loop({ name: 'collect', step: step.collect, waker: wakers.collect }),
    loop({ name: 'inbox', step: step.inbox, waker: wakers.inbox }),
    ...keepSubscription(parts, loop),
    watchClock(parts, signal),
    supervision,
    ...connectors.flatMap((each) => [
      loop({
        name: `pull ${each.id}`,
        step: () => step.pull(each),
        waker: each.pull,
        interval_ms: pull_ms,
      }),
      loop({ name: `deliver ${each.id}`, step: () => step.deliver(each), waker: each.deliver }),
    ]),
  ];
  signal.addEventListener('abort', () => env.log('daemon_stopping'), { once: true });
  try {
    await Promise.all(loops);
  } finally {
    hurry.end();
    await daily.destroy();
    await nightly?.destroy();
  }
}

/**
 * A stop is over within ten seconds: what waits for its turn at the service goes back at once, and what is on the wire has a few
 * seconds for its reply. What is cut off then is looked for after the next start (G1).
 */
function hurryOnStop({ client, options: { env } }: Parts, signal: AbortSignal): { end: () => void } {
  const over = new AbortController();
  const onAbort = () => {
    void client.close();
    env.clock.sleep(STOP_GRACE_MS, over.signal).then(
      () => client.cut(),
      () => {},
    );
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return { end: () => over.abort() };
}

/** Where the service reports to, as long as the daemon runs; it stays so afterwards. */
function keepSubscription(parts: Parts, loop: RunLoop): Promise<void>[] {
  const { options, wakers } = parts;
  const { webhook } = options.config;
  if (webhook === null) return [];
  const deps = subscriptionDeps(webhook, { ...parts, env: options.env });
  const step = () => subscriptionStep(deps);
  return [loop({ name: 'subscription', step, waker: wakers.subscription, interval_ms: DAY_MS })];
}

/** Once a day, by the clinic's clock: the sweep falls due, and one line says where everything is. */
async function beginDay({ submit, plan, store, options, wakers }: Parts): Promise<void> {
  demandSweeps(submit);
  wakers.submit.wake();
  try {
    await closeOldVisits(plan, options.config.policy.give_up_after_days);
    await purgeOld(options, store);
    await logSummary(store, options.env);
  } catch (error) {
    logStageFailure(options.env, 'daily', error, DAY_MS);
  }
}

/** A clock that was set, or a machine that slept: the service's list is swept before the next send. */
async function watchClock({ options, submit }: Parts, signal: AbortSignal): Promise<void> {
  const { clock } = options.env;
  let wall = clock.now();
  let monotonic = clock.elapsed();
  while (!signal.aborted) {
    await clock.sleep(Math.max(CLOCK_CHECK_MS, options.idle_ms ?? 0), signal).catch(() => {});
    const jumped = clock.now() - wall - (clock.elapsed() - monotonic);
    if (Math.abs(jumped) > CLOCK_JUMP_MS) demandSweeps(submit);
    wall = clock.now();
    monotonic = clock.elapsed();
  }
}

async function once(parts: Parts, signal: AbortSignal): Promise<OnceResult> {
  const { env } = parts.options;
  const step = stages(parts, signal);
  const result: OnceResult = { is_service_away: false, failed_stages: [] };
  const guarded = async (name: string, work: () => Promise<unknown>) => {
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      result.failed_stages.push(name);
      logStageFailure(env, name, error, 0);
    }
  };
  const untilIdle = async (work: () => Promise<{ did: number }>) => {
    for (let steps = 0; steps < ONCE_STEPS_MAX && !signal.aborted; steps += 1) if ((await work()).did === 0) return;
  };
  for (const each of parts.connectors) await guarded(`pull ${each.id}`, () => step.pull(each));
  await guarded('submit', async () => {
    result.is_service_away = !(await firstSweep(parts));
  });
  // What was sent a moment ago has no answer yet, so it is asked about the next time.
  await guarded('inbox', () => untilIdle(step.inbox));
  await guarded('collect', () => askAboutAll(parts.collect, signal));
  await guarded('plan', () => untilIdle(step.plan));
  await guarded('plan', () => closeOldVisits(parts.plan, parts.options.config.policy.give_up_after_days));
  await guarded('submit', () => untilIdle(step.submit));
  for (const each of parts.connectors) await guarded(`deliver ${each.id}`, () => untilIdle(() => step.deliver(each)));
  return result;
}
