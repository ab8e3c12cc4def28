/**
 * The composition root: creates everything from the configuration, starts it in order, and stops it
 * in reverse order. `run` is the daemon; `once` runs every stage once.
 */
import { dirname } from 'node:path';
import { ClockWatch } from '../domain/clock-watch.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import type { Metrics } from '../http/metrics.ts';
import type { HttpService } from '../http/server.ts';
import { type ConnectorMeans, createConnectors } from '../ops/open-connectors.ts';
import { configNotes } from '../ops/profile.ts';
import { Progress } from '../ops/progress.ts';
import { newConnectorState } from '../stages/connector-state.ts';
import { newDeliverMemory } from '../stages/deliver/index.ts';
import { type LoopOptions, logStageFailure, runLoop, Waker } from '../stages/loop.ts';
import { messagesOf } from '../stages/pull/index.ts';
import { readHeartbeat } from '../store/bookkeeping/heartbeat.ts';
import { connectorJournal } from '../store/bookkeeping/journal.ts';
import { FileIdentity } from '../store/engine/identity.ts';
import { type InstanceLock, lockInstance } from '../store/engine/instance-lock.ts';
import { clearRecodings } from '../store/engine/recode.ts';
import { openStore, type Store } from '../store/engine/store.ts';
import { SituationWatch } from '../store/views/situation-watch.ts';
import { answerAccessChecks } from './access-check.ts';
import { keepAlerts } from './alerts.ts';
import { watchContact } from './contact.ts';
import { keepPulse, restartOf } from './heartbeat.ts';
import { serveHttp } from './listening.ts';
import { noteMode } from './observing.ts';
import { type OnceResult, once } from './once.ts';
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
  newWakers,
  type Parts,
  type Pulse,
} from './parts.ts';
import { keepReport } from './report.ts';
import { contactService, stages } from './steps.ts';
import { subscriptionStep } from './subscription.ts';
import { runJobs, watchClock, watchDatabase } from './watches.ts';
import { beginReports, subscriptionDeps, webhookService } from './webhook.ts';

export type Daemon = {
  /** Runs until `signal` is aborted; each stage then finishes its current step. */
  run: (signal: AbortSignal) => Promise<void>;
  /**
   * Runs every stage until nothing is due, and polls every open inquiry regardless of its schedule.
   * Checks of many calls are requested after the answers and delivered after them. Never sleeps to
   * wait for a lookup.
   */
  once: (signal: AbortSignal) => Promise<OnceResult>;
  /** Closes everything in reverse order of the start. May be called again. */
  close: () => Promise<void>;
  /** For the demo's progress display. */
  store: Store;
};

const IDLE_MS = 30_000;
/** How long a stop waits for replies of the service. */
const STOP_GRACE_MS = 5_000;

/**
 * Opens what the daemon needs: the lock against a second instance, the database, the client, and
 * the connectors. If one of them fails, closes the others and throws an EligdError.
 */
export async function createDaemon(given: DaemonOptions): Promise<Daemon> {
  const progress = new Progress(given.machine_clock ?? given.env.clock);
  const metrics = given.config.monitoring === null ? null : await newMetrics();
  const options = { ...given, env: progress.watch(countEvents(given.env, metrics)) };
  const { config, env } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    const lock: InstanceLock = lockInstance(config.state.path);
    closers.push(() => lock.release());
    clearRecodings(dirname(config.state.path));
    const opened = await openStore(config.state.path, { env, sends: lock.sends });
    closers.push(() => opened.close());
    const identity = new FileIdentity(config.state.path);
    const store = watchedStore(opened, { progress, identity, clock: env.clock, metrics });
    await metrics?.follow(store);
    const clock_watch = new ClockWatch(env.clock);
    const pulse: Pulse = {
      started_at: env.clock.now(),
      previous_started_at: (await readHeartbeat(store.db))?.started_at ?? null,
      waker: new Waker(),
      write_error: null,
      restarted: await restartOf(options, store),
      publishing: new Set(),
      alerts: null,
    };
    const onChange = () => pulse.waker.wake();
    const made = await makeClient(options, store, clock_watch, progress);
    closers.push(() => made.close());
    const { client, contact } = watchContact(made, { clock: env.clock, onChange, metrics });
    const wakers = newWakers();
    store.onPlanDue(() => wakers.plan.wake());
    const means: ConnectorMeans = {
      secrets: options.secrets,
      journal: (id) => connectorJournal(store, id, env.clock),
    };
    const connectors = (await createConnectors(config, env, means)).map(({ id, connector }) => {
      closers.push(() => connector.close?.());
      const state = newConnectorState(onChange);
      const memory = newDeliverMemory();
      const onAccepted = () => wakers.plan.wake();
      const messages = messagesOf({ store, env, connector_id: id, connector, onAccepted });
      return { id, connector, pull: new Waker(), deliver: new Waker(), memory, state, messages };
    });
    await noteNewDatabase(options, store, connectors);
    await noteMode(store, config.mode, env.clock.now());
    const parts = await assemble({
      options,
      store,
      client,
      clock_watch,
      connectors,
      wakers,
      progress,
      metrics,
      contact,
      pulse,
      identity,
      sends: lock.sends,
      situations: new SituationWatch(),
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

/** Returns the metrics. Loads their library, so it is called only if monitoring is configured. */
async function newMetrics(): Promise<Metrics> {
  const { Metrics } = await import('../http/metrics.ts');
  return new Metrics();
}

/**
 * Returns the services of the local HTTP server; services with the same address share a server.
 * Parts that are not configured are not loaded: the office page alone takes 15 MB.
 */
async function httpServices(parts: Parts): Promise<HttpService[]> {
  const { options, store, wakers, webhook_counts } = parts;
  const { config, secrets, env } = options;
  const { webhook, office } = config;
  const services = monitoringServices(parts);
  if (office !== null) {
    const { officeService } = await import('./office.ts');
    services.push(await officeService(parts, office));
  }
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
  if (parts.options.config.mode === 'live') await beginReports(parts.collect);
  const lost = new AbortController();
  try {
    const end = AbortSignal.any([signal, lost.signal]);
    await Promise.all([
      runStages(parts, end),
      httpServices(parts).then((services) => serveHttp(parts, services, end)),
      watchDatabase(parts, lost, end),
    ]);
  } finally {
    lost.abort();
  }
  env.log('daemon_stopped');
  // Exits with an error, so that the service manager restarts eligd with the file that is there
  // now.
  if (!signal.aborted) parts.identity.check();
}

/** Runs one of the daemon's loops and watches its progress. */
type RunLoop = (
  of: Pick<LoopOptions, 'name' | 'step' | 'waker' | 'retry_ms_max'> & { interval_ms?: number },
) => Promise<void>;

async function runStages(parts: Parts, signal: AbortSignal): Promise<void> {
  const { options, wakers, connectors } = parts;
  const { env, config } = options;
  for (const note of configNotes(config)) env.log(note.event);
  const stop_limit = limitStop(parts, signal);
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
  // Listening starts before the first reconciliation, because senders do not wait for the service.
  // It has no progress to watch, because listening is waiting.
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
  const reading = readMessages(parts, loop, signal);
  const reconciled = parts.progress.step('submit', () => contactService(parts));
  await reconciled.catch((error: unknown) => logStageFailure(env, 'submit', error, 0));
  const pulling = connectors.map((each) =>
    loop({
      name: `pull ${each.id}`,
      step: () => step.pull(each),
      waker: each.pull,
      interval_ms: pull_ms,
    }),
  );
  const received = Promise.all([...listening, ...pulling]);
  const loops = [
    received.then(() => readRest(parts, stop_limit.over)),
    ...reading,
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
    ...connectors.map((each) =>
      loop({ name: `deliver ${each.id}`, step: () => step.deliver(each), waker: each.deliver }),
    ),
  ];
  signal.addEventListener('abort', () => env.log('daemon_stopping'), { once: true });
  try {
    await Promise.all(loops);
  } finally {
    stop_limit.end();
  }
}

/** Reads messages after they were acknowledged; each wakes its loop. */
function readMessages({ connectors }: Parts, loop: RunLoop, signal: AbortSignal): Promise<void>[] {
  return connectors.flatMap(({ id, messages }) => {
    if (messages === null) return [];
    const step = () => messages.step(signal);
    const times = { interval_ms: DAY_MS, retry_ms_max: MINUTE_MS };
    return loop({ name: `read ${id}`, step, waker: messages.arrived, ...times });
  });
}

/** Reads what was acknowledged before the stop, so that a long stop leaves nothing to be read. */
async function readRest({ connectors }: Parts, over: AbortSignal): Promise<void> {
  for (const { messages } of connectors) await messages?.readAll(over);
}

/**
 * Makes a stop end within ten seconds; `end` cancels that. Requests that wait for their turn at the
 * service fail at once; requests already sent get a few seconds for their replies. After the next
 * start, eligd looks up those that were cut off (G1). `over`: aborted when the time is up.
 */
function limitStop(
  { client, options: { env } }: Parts,
  signal: AbortSignal,
): { end: () => void; over: AbortSignal } {
  const ended = new AbortController();
  const over = new AbortController();
  const onAbort = () => {
    void client.close();
    env.clock.sleep(STOP_GRACE_MS, ended.signal).then(
      () => {
        over.abort();
        client.cut();
      },
      () => {},
    );
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return { end: () => ended.abort(), over: over.signal };
}

/** Keeps the webhook subscription correct while the daemon runs. It remains after a stop. */
function keepSubscription(parts: Parts, loop: RunLoop): Promise<void>[] {
  const { options, wakers, store, client, collect } = parts;
  const { webhook, mode } = options.config;
  // Setting the subscription is a request that sends data, so `observe` does not do it.
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
