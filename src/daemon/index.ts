/**
 * The composition root: makes everything out of the configuration, starts it in order and stops it
 * in reverse. `run` is the daemon; `once` takes every stage once.
 */
import { ClockWatch } from '../domain/clock-watch.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import { Metrics } from '../http/metrics.ts';
import type { HttpService } from '../http/server.ts';
import { type ConnectorMeans, createConnectors } from '../ops/connectors.ts';
import { FeeFile } from '../ops/fees.ts';
import { configNotes } from '../ops/profile.ts';
import { Progress } from '../ops/progress.ts';
import { inboxStep } from '../stages/collect/inbox/index.ts';
import { askAboutAll, askForAllChecks, collectStep } from '../stages/collect/poll/index.ts';
import { newConnectorState } from '../stages/connector-state.ts';
import { deliverStep, newDeliverMemory } from '../stages/deliver/index.ts';
import {
  type LoopOptions,
  logStageFailure,
  runLoop,
  type StepResult,
  Waker,
} from '../stages/loop.ts';
import { closeOldVisits, planStep } from '../stages/plan/index.ts';
import { listenStep, pullStep } from '../stages/pull/index.ts';
import { demandReconciliation, ensureReconciled, submitStep } from '../stages/submit/index.ts';
import { connectorJournal } from '../store/bookkeeping/journal.ts';
import { FileIdentity, rescueDatabase } from '../store/engine/identity.ts';
import { type InstanceLock, lockInstance } from '../store/engine/instance-lock.ts';
import { openStore, type Store } from '../store/engine/store.ts';
import { answerAccessChecks } from './access-check.ts';
import { keepAlerts, sendAlertsOnce } from './alerts.ts';
import { watchContact } from './contact.ts';
import { watchExports } from './export-watch.ts';
import { followFees } from './fees.ts';
import { keepPulse, restartOf } from './heartbeat.ts';
import { Jobs } from './jobs.ts';
import { serveHttp } from './listening.ts';
import { noteMode } from './observing.ts';
import { officeServices } from './office.ts';
import {
  countEvents,
  monitoringServices,
  noteNewDatabase,
  patienceMs,
  startFields,
  superviseDaemon,
  watchedStore,
} from './operations.ts';
import {
  assemble,
  type DaemonOptions,
  makeClient,
  type Parts,
  type Pulse,
  type RunningConnector,
} from './parts.ts';
import { followPayers } from './payers.ts';
import { keepReport, writeReportOnce } from './report.ts';
import { subscriptionStep } from './subscription.ts';
import { beginReports, subscriptionDeps, webhookService } from './webhook.ts';

export type Daemon = {
  /** Runs until `signal` is aborted; each stage then finishes the step in hand. */
  run: (signal: AbortSignal) => Promise<void>;
  /**
   * Every stage until it has nothing due; asks about every open inquiry whatever its schedule. What
   * is learned of the checks of many calls is written after their answers. Never sleeps for a look.
   */
  once: (signal: AbortSignal) => Promise<OnceResult>;
  /** Lets go of everything, in reverse order of the start. May be repeated. */
  close: () => Promise<void>;
  /** For the demo's progress. */
  store: Store;
};

/**
 * `is_service_away`: the service's list could not be read, so nothing was sent; everything due is
 * kept. `connectors_away`: the ids of those that could not read or write all of it.
 */
export type OnceResult = {
  is_service_away: boolean;
  connectors_away: string[];
  failed_stages: string[];
};

/**
 * A clock that jumps by more than this has the service's list compared again (docs/design.md
 * "Reconciliation").
 */
const CLOCK_JUMP_MS = 5 * MINUTE_MS;
const CLOCK_CHECK_MS = MINUTE_MS;
const IDLE_MS = 30_000;
const FILE_CHECK_MS = 1_000;
/** How long a reply is waited for after a stop was asked for. */
const STOP_GRACE_MS = 5_000;
/**
 * Steps of one stage in `once`: far above what any installation has due, and still an end (every
 * loop has a bound).
 */
const ONCE_STEPS_MAX = 10_000;

/**
 * Opens what the daemon needs: the lock against a second instance, the database, the client, the
 * connectors. Throws an EligdError when one of them cannot be had, after letting go of the others.
 */
export async function createDaemon(given: DaemonOptions): Promise<Daemon> {
  const progress = new Progress(given.env.clock);
  const metrics = given.config.monitoring === null ? null : new Metrics();
  const options = { ...given, env: progress.watch(countEvents(given.env, metrics)) };
  const { config, env } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const lock: InstanceLock = lockInstance(config.state.path);
    closers.push(() => lock.release());
    const opened = await openStore(config.state.path);
    closers.push(() => opened.close());
    const identity = new FileIdentity(config.state.path);
    const store = watchedStore(opened, { progress, identity, clock: env.clock, metrics });
    await metrics?.follow(store);
    const clock_watch = new ClockWatch(env.clock);
    const pulse: Pulse = {
      started_at: env.clock.now(),
      waker: new Waker(),
      write_error: null,
      restarted: await restartOf(options, store),
      publishing: new Set(),
    };
    const onChange = () => pulse.waker.wake();
    const made = await makeClient(options, store, clock_watch);
    closers.push(() => made.close());
    const { client, contact } = watchContact(made, { clock: env.clock, onChange, metrics });
    const means: ConnectorMeans = {
      secrets: options.secrets,
      journal: (id) => connectorJournal(store, id, env.clock),
    };
    const connectors = (await createConnectors(config, env, means)).map(({ id, connector }) => {
      closers.push(() => connector.close?.());
      const state = newConnectorState(onChange);
      const memory = newDeliverMemory();
      return { id, connector, pull: new Waker(), deliver: new Waker(), memory, state };
    });
    await noteNewDatabase(options, store, connectors);
    await noteMode(store, config.mode, env.clock.now());
    const parts = await assemble({
      options,
      store,
      client,
      clock_watch,
      connectors,
      progress,
      metrics,
      contact,
      pulse,
      identity,
      hangingStages: () => progress.stuck(patienceMs(config)).map(({ stage }) => stage),
    });
    return {
      run: (signal) => run(parts, signal),
      once: (signal) => once(parts, signal),
      close,
      store,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * At every start, before anything is planned or sent: the service's list is compared, and with it
 * the clock.
 */
async function firstReconciliation({ options, submit }: Parts): Promise<boolean> {
  return await ensureReconciled(submit, options.config.clinic.specialty);
}

function stages(parts: Parts, signal: AbortSignal) {
  const { options, store, wakers } = parts;
  const { env, config } = options;
  const external_id_template = config.service.external_id;
  const { time_zone } = config.clinic;
  const fees = new FeeFile(config);
  const { attention } = config.policy;
  const intake = ({ id, connector, state }: RunningConnector) => ({
    store,
    env,
    connector_id: id,
    connector,
    state,
    onAccepted: () => wakers.plan.wake(),
  });
  return {
    pull: (each: RunningConnector) => pullStep(intake(each), signal),
    listen: (each: RunningConnector) => listenStep(intake(each), signal),
    plan: async () => {
      await followPayers(parts.plan, parts.payers);
      return await planStep(parts.plan);
    },
    submit: async () => {
      const result = await submitStep(parts.submit, { external_id_template, signal });
      // What was refused is on the attention list now, which goes to the practice with the
      // deliveries.
      if (result.did > 0) for (const { deliver } of parts.connectors) deliver.wake();
      return result;
    },
    collect: () => collectStep(parts.collect),
    inbox: () => inboxStep(parts.collect),
    deliver: async ({ id, connector, memory, state }: RunningConnector) => {
      await followFees({ store, env }, fees);
      return await deliverStep(
        { store, env, connector_id: id, connector, time_zone, fees, attention, memory, state },
        signal,
      );
    },
  };
}

/** What the local HTTP server offers; services with the same address share one. */
function httpServices(parts: Parts): HttpService[] {
  const { options, store, wakers, webhook_counts } = parts;
  const { config, secrets, env } = options;
  const { webhook } = config;
  const services = [...monitoringServices(parts), ...officeServices(parts)];
  if (webhook !== null) {
    const onStored = () => wakers.inbox.wake();
    services.push(
      webhookService(webhook, secrets, { store, env, onStored, counts: webhook_counts }),
    );
  }
  return services;
}

async function run(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env } = parts.options;
  env.log('daemon_started', startFields(parts.options));
  if (parts.options.config.mode === 'live')
    await beginReports(parts.store, parts.options.config.webhook);
  const lost = new AbortController();
  try {
    const end = AbortSignal.any([signal, lost.signal]);
    await Promise.all([
      runStages(parts, end),
      serveHttp(parts, httpServices(parts), end),
      watchDatabase(parts, lost, end),
    ]);
  } finally {
    lost.abort();
  }
  env.log('daemon_stopped');
  // Ends with an error, so that the service manager starts eligd again on whatever file is there.
  if (!signal.aborted) parts.identity.check();
}

/** Runs one of the daemon's loops, and lets its progress be watched. */
type RunLoop = (
  of: Pick<LoopOptions, 'name' | 'step' | 'waker'> & { interval_ms?: number },
) => Promise<void>;

async function runStages(parts: Parts, signal: AbortSignal): Promise<void> {
  const { options, wakers, connectors } = parts;
  const { env, config } = options;
  for (const note of configNotes(config)) env.log(note.event);
  const hurry = hurryOnStop(parts, signal);
  const step = stages(parts, signal);
  const supervision = superviseDaemon(parts, signal);
  const common = { env, interval_ms: options.idle_ms ?? IDLE_MS, signal };
  const loop: RunLoop = (of) =>
    runLoop({
      ...common,
      ...of,
      step: (stop) => parts.progress.step(of.name, () => of.step(stop)),
    });
  const pull_ms = config.schedule.pull_seconds * 1000;
  // At once: senders do not wait until the service has answered. To listen is to wait, so nobody
  // watches its progress.
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
  const reconciled = parts.progress.step('submit', () => firstReconciliation(parts));
  await reconciled.catch((error: unknown) => logStageFailure(env, 'submit', error, 0));
  const loops = [
    ...listening,
    loop({ name: 'plan', step: step.plan, waker: wakers.plan }),
    loop({ name: 'submit', step: step.submit, waker: wakers.submit }),
    loop({ name: 'collect', step: step.collect, waker: wakers.collect }),
    loop({ name: 'inbox', step: step.inbox, waker: wakers.inbox }),
    ...keepSubscription(parts, loop),
    watchClock(parts, signal),
    keepPulse(parts, signal),
    keepReport(parts, signal),
    answerAccessChecks(parts, signal),
    keepAlerts(parts, signal),
    runJobs(parts, signal),
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
  }
}

/**
 * A stop is over within ten seconds: what waits for its turn at the service goes back at once, and
 * what is on the wire has a few seconds for its reply. What is cut off then is looked for after the
 * next start (G1).
 */
function hurryOnStop(
  { client, options: { env } }: Parts,
  signal: AbortSignal,
): { end: () => void } {
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
  const { options, wakers, store, client, collect } = parts;
  const { webhook, mode } = options.config;
  // A change of the subscription is something that is sent.
  if (webhook === null || mode === 'observe') return [];
  const deps = subscriptionDeps(webhook, {
    store,
    client,
    env: options.env,
    watch: collect.webhook,
  });
  const step = () => subscriptionStep(deps);
  return [loop({ name: 'subscription', step, waker: wakers.subscription, interval_ms: DAY_MS })];
}

/**
 * What falls due by the clinic's clock. Asked often, because a timer does not count the time that a
 * computer sleeps.
 */
async function runJobs(parts: Parts, signal: AbortSignal): Promise<void> {
  const { env } = parts.options;
  const jobs = new Jobs(parts);
  const rest_ms = parts.options.idle_ms ?? CLOCK_CHECK_MS;
  while (!signal.aborted) {
    let wait_ms = rest_ms;
    try {
      const next_at = await parts.progress.step('jobs', () => jobs.runDue(signal));
      await watchExports(parts);
      wait_ms = Math.min(rest_ms, Math.max(1_000, next_at - env.clock.now()));
    } catch (error) {
      logStageFailure(env, 'jobs', error, wait_ms);
    }
    await env.clock.sleep(wait_ms, signal).catch(() => {});
  }
}

/**
 * Ends the daemon when the database's file was deleted or replaced, and saves what the open file
 * still holds.
 */
async function watchDatabase(
  { options, store, identity }: Parts,
  lost: AbortController,
  signal: AbortSignal,
): Promise<void> {
  const { env, config } = options;
  while (!signal.aborted) {
    await env.clock.sleep(Math.max(FILE_CHECK_MS, options.idle_ms ?? 0), signal).catch(() => {});
    try {
      identity.check();
    } catch {
      env.log('database_gone', { path: config.state.path });
      await rescueDatabase(store.db, config.state.path).catch(() => {});
      lost.abort();
    }
  }
}

/**
 * A clock that was set, or a machine that slept: the service's list is compared before the next
 * send.
 */
async function watchClock({ options, submit }: Parts, signal: AbortSignal): Promise<void> {
  const { clock } = options.env;
  let wall = clock.now();
  let monotonic = clock.elapsed();
  while (!signal.aborted) {
    await clock.sleep(Math.max(CLOCK_CHECK_MS, options.idle_ms ?? 0), signal).catch(() => {});
    const jumped = clock.now() - wall - (clock.elapsed() - monotonic);
    if (Math.abs(jumped) > CLOCK_JUMP_MS) demandReconciliation(submit);
    wall = clock.now();
    monotonic = clock.elapsed();
  }
}

async function once(parts: Parts, signal: AbortSignal): Promise<OnceResult> {
  const { env } = parts.options;
  const step = stages(parts, signal);
  const away = new Set<string>();
  const result: OnceResult = { is_service_away: false, connectors_away: [], failed_stages: [] };
  const guarded = async (name: string, work: () => Promise<unknown>) => {
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      result.failed_stages.push(name);
      logStageFailure(env, name, error, 0);
    }
  };
  const untilIdle = async (work: () => Promise<StepResult>) => {
    for (let steps = 0; steps < ONCE_STEPS_MAX && !signal.aborted; steps += 1)
      if ((await work()).did === 0) return;
  };
  const noted = async (id: string, work: Promise<StepResult>) => {
    const done = await work;
    if (done.is_away === true) away.add(id);
    return done;
  };
  for (const each of parts.connectors)
    await guarded(`pull ${each.id}`, () => noted(each.id, step.pull(each)));
  await guarded('submit', async () => {
    result.is_service_away = !(await firstReconciliation(parts));
  });
  // What was sent a moment ago has no answer yet, so it is asked about the next time.
  await guarded('inbox', () => untilIdle(step.inbox));
  await guarded('collect', () => askAboutAll(parts.collect, signal));
  await guarded('plan', () => untilIdle(step.plan));
  await guarded('plan', () =>
    closeOldVisits(parts.plan, parts.options.config.policy.give_up_after_days),
  );
  await guarded('submit', () => untilIdle(step.submit));
  const deliverAll = async () => {
    for (const each of parts.connectors)
      await guarded(`deliver ${each.id}`, () =>
        untilIdle(() => noted(each.id, step.deliver(each))),
      );
  };
  await deliverAll();
  let checked = 0;
  await guarded('collect', async () => {
    checked = await askForAllChecks(parts.collect, signal);
  });
  if (checked > 0) await deliverAll();
  await guarded('alerts', () => sendAlertsOnce(parts));
  await guarded('report', () => writeReportOnce(parts, signal));
  return { ...result, connectors_away: [...away] };
}
