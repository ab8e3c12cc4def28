/** The daemon's parts: the client, the wakers, and the dependencies of each stage. */
import type { Dispatcher } from 'undici';
import type { Connector } from '../../connectors/contract.ts';
import type { Alert } from '../domain/alerts/book.ts';
import type { ClockWatch, SeenServiceDate } from '../domain/clock-watch.ts';
import { CLOCK_WAITS } from '../domain/due-times.ts';
import type { Clock, Env } from '../domain/env.ts';
import { hoursOf } from '../domain/payer-hours.ts';
import { callBefore } from '../domain/planning.ts';
import type { Policy } from '../domain/policy.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import type { Metrics } from '../http/metrics.ts';
import { newWebhookCounts, type WebhookCounts } from '../http/webhook.ts';
import type { Config } from '../ops/config.ts';
import { serviceWay } from '../ops/network.ts';
import { PayerFile } from '../ops/payer-file.ts';
import { budgetRules } from '../ops/prices.ts';
import { clinicProfile, policyOf } from '../ops/profile.ts';
import type { Progress } from '../ops/progress.ts';
import { revealCredentials, type SecretSource, type ServiceCredentials } from '../ops/secrets.ts';
import type { Notifier } from '../ops/systemd.ts';
import type { ServiceClient } from '../service/api.ts';
import { createServiceClient } from '../service/client.ts';
import type { CollectDeps } from '../stages/collect/deps.ts';
import { newCollectMemory } from '../stages/collect/poll/ask.ts';
import type { ConnectorState } from '../stages/connector-state.ts';
import type { DeliverMemory } from '../stages/deliver/index.ts';
import { logStageFailure, Waker } from '../stages/loop.ts';
import type { PlanDeps } from '../stages/plan/deps.ts';
import { afterReading, type Messages } from '../stages/pull/index.ts';
import { newSubmitMemory, type SubmitDeps } from '../stages/submit/index.ts';
import { raiseAttention, resolveAttention } from '../store/bookkeeping/attention.ts';
import { logKey } from '../store/bookkeeping/log-key.ts';
import { planWaitingAgain } from '../store/calls/plan-due.ts';
import { createRateLimiter, endAbandonedSlots } from '../store/calls/rate-limit.ts';
import type { FileIdentity } from '../store/engine/identity.ts';
import type { SendCount } from '../store/engine/instance-lock.ts';
import type { Store } from '../store/engine/store.ts';
import type { SituationWatch } from '../store/views/situation-watch.ts';
import type { ContactWatch } from './contact.ts';
import { adoptPayers } from './payers.ts';
import { webhookWatch } from './webhook.ts';

export type DaemonOptions = {
  config: Config;
  credentials: ServiceCredentials;
  /** The connectors' credentials and the keys of the webhook signature. */
  secrets: SecretSource;
  env: Env;
  version: string;
  /** Receives the daemon's start and its progress; nobody when left out. */
  notifier?: Notifier;
  /**
   * How long a stage without work or a due time pauses before it checks again; default: half a
   * minute.
   */
  idle_ms?: number;
  /** When this computer was started (epoch milliseconds); left out: unknown. */
  booted_at?: number;
  /**
   * The clock of this machine and of people, if that of `env` runs faster, as in a demo: for how
   * long a step may take, and when logins expire. Default: that of `env`.
   */
  machine_clock?: Clock;
  /** The network path to the service; left out: the client's own connections. */
  dispatcher?: Dispatcher;
};

/** A connector with what its loops need. */
export type RunningConnector = {
  id: string;
  connector: Connector;
  pull: Waker;
  deliver: Waker;
  memory: DeliverMemory;
  state: ConnectorState;
  /** Null if the connector has no messages that are read after their answer. */
  messages: Messages | null;
};

type Wakers = { plan: Waker; submit: Waker; collect: Waker; inbox: Waker; subscription: Waker };

export function newWakers(): Wakers {
  return {
    plan: new Waker(),
    submit: new Waker(),
    collect: new Waker(),
    inbox: new Waker(),
    subscription: new Waker(),
  };
}

/** The state that the heartbeat keeps between two beats. */
export type Pulse = {
  /** When this process started the daemon. */
  started_at: number;
  /** When the process before did; null: there was none. */
  previous_started_at: number | null;
  waker: Waker;
  /** Set when the previous daemon hung or crashed; null: it or the computer was stopped. */
  restarted: { at: number; why: string } | null;
  /** Why the last heartbeat could not be stored; null: it was stored. */
  write_error: string | null;
  /** Connectors whose heartbeat file is being written: a share that hangs is not tried twice. */
  publishing: Set<string>;
  /** Returns the open alerts, even if they cannot be stored; null: not judged yet. */
  alerts: (() => Alert[]) | null;
};

/** All parts of a daemon. */
export type Parts = {
  options: DaemonOptions;
  store: Store;
  client: ServiceClient;
  clock_watch: ClockWatch;
  connectors: RunningConnector[];
  progress: Progress;
  /** Null when the configuration has no section `monitoring`. */
  metrics: Metrics | null;
  contact: ContactWatch;
  pulse: Pulse;
  identity: FileIdentity;
  /** The count of sends in the lock file. */
  sends: SendCount;
  situations: SituationWatch;
  /** Returns the stages that currently make no progress. */
  hangingStages: () => string[];
  submit: SubmitDeps;
  collect: CollectDeps;
  plan: PlanDeps;
  payers: PayerFile;
  wakers: Wakers;
  webhook_counts: WebhookCounts;
};

/** Creates the rate-limited client of the service. `clock_watch` receives the service's times. */
export async function makeClient(
  { config, credentials, secrets, env, version, dispatcher }: DaemonOptions,
  store: Store,
  clock_watch: ClockWatch,
  progress: Progress,
): Promise<ServiceClient> {
  const { service } = config;
  const found = await endAbandonedSlots(store, env.clock.now());
  return createServiceClient({
    base_url: service.base_url,
    credentials: revealCredentials(credentials),
    timeout_ms: service.timeout_seconds * 1000,
    concurrency: service.submission.concurrency,
    way: serviceWay(config, secrets),
    gate: createRateLimiter(store, env.clock, service.submission.max_per_minute, found),
    env,
    onServiceDate: (seen) => {
      const was_heard = clock_watch.skewMs() !== null;
      const was_trusted = clock_watch.isTrusted();
      if (clock_watch.observe(seen)) judgeClock(store, env, clock_watch, { ...seen, was_heard });
      if (!was_trusted && clock_watch.isTrusted()) planClockWaits(store, env);
    },
    onListGrows: () => progress.mark(),
    user_agent: `eligd/${version}`,
    ...(dispatcher === undefined ? {} : { dispatcher }),
  });
}

/** Logs once that the clock is wrong, or right again, and sets the attention item. */
function judgeClock(
  store: Store,
  env: Env,
  clock_watch: ClockWatch,
  seen: SeenServiceDate & { was_heard: boolean },
): void {
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
            what:
              'The clock of this computer differs from the service’s by ' +
              `${Math.round(Math.abs(skew_ms) / MINUTE_MS)} minutes. eligd treats no visit as ` +
              'past until they agree.',
            next: 'Set the clock of this computer (timedatectl set-ntp true).',
          },
          seen.received_ms,
        );
    })
    .catch((error: unknown) => logStageFailure(env, 'clock', error, 0));
}

/** Makes what waits for the right clock due for planning. */
function planClockWaits(store: Store, env: Env): void {
  const now = env.clock.now();
  store
    .write((tx) => planWaitingAgain(tx, { waits: CLOCK_WAITS, after: now, due_at: now }))
    .catch((error: unknown) => logStageFailure(env, 'clock', error, 0));
}

/** Returns all parts of a daemon. `made`: the parts that are created first. */
export async function assemble(
  made: Omit<Parts, 'submit' | 'collect' | 'plan' | 'payers' | 'webhook_counts'>,
): Promise<Parts> {
  const { options, store, client, clock_watch, connectors, sends, wakers } = made;
  const policy = policyOf(options.config);
  const payers = new PayerFile(options.config);
  const means: Means = { options, policy, payers, store, client, connectors, wakers, sends };
  return {
    ...made,
    payers,
    webhook_counts: newWebhookCounts(),
    plan: await planDeps(means, clock_watch),
    submit: submitDeps(means, clock_watch),
    collect: collectDeps(means, clock_watch),
  };
}

/** The values from which the stages' dependencies are created. */
type Means = Pick<Parts, 'options' | 'store' | 'client' | 'connectors' | 'wakers' | 'sends'> & {
  policy: Policy;
  payers: PayerFile;
};

async function planDeps(
  { options, policy, payers, store, connectors, wakers }: Means,
  clock_watch: ClockWatch,
): Promise<PlanDeps> {
  const { config, env } = options;
  const clinic = clinicProfile(config);
  await adoptPayers(store, payers, clinic, env.clock.now());
  return {
    store,
    env,
    facts: () => ({ is_clock_trusted: clock_watch.isTrusted(), clinic, policy, payers }),
    external_id_template: config.service.external_id,
    log_key: await logKey(store, env.clock.now()),
    onPlanned: () => {
      wakers.submit.wake();
      for (const { deliver } of connectors) deliver.wake();
    },
  };
}

function submitDeps(
  { options, policy, payers, store, client, connectors, wakers, sends }: Means,
  clock_watch: ClockWatch,
): SubmitDeps {
  const { config, env } = options;
  return {
    store,
    env,
    client,
    memory: newSubmitMemory(),
    onOpen: () => {
      wakers.collect.wake();
      wakers.inbox.wake();
    },
    afterReading: (claim, signal) =>
      afterReading(
        connectors.flatMap(({ messages }) => messages ?? []),
        claim,
        signal,
      ),
    clockSkew: () => clock_watch.skewMs(),
    sends,
    settings: {
      ...pollingOf(config),
      is_observing: config.mode === 'observe',
      mode: config.service.submission.mode,
      batch_size: config.service.submission.batch_size,
      bulk_shape: config.service.submission.bulk_shape,
      send_npi: config.service.send_npi,
      timeout_ms: config.service.timeout_seconds * 1000,
      is_shared_account: config.service.shared_account,
      budget: budgetRules(config, payers),
      days_off: new Set([...config.clinic.closed, ...policy.payer_hours.holidays]),
      reverify_after_days: policy.reverify_after_days,
    },
  };
}

function collectDeps(
  { options, policy, payers, store, client, connectors, wakers }: Means,
  clock_watch: ClockWatch,
): CollectDeps {
  const { config, env } = options;
  return {
    store,
    env,
    client,
    onRecord: () => {
      for (const { deliver } of connectors) deliver.wake();
    },
    clockSkew: () => clock_watch.skewMs(),
    onPlanned: () => wakers.submit.wake(),
    memory: newCollectMemory(),
    webhook:
      config.webhook === null
        ? null
        : webhookWatch(config.webhook, () => wakers.subscription.wake()),
    settings: {
      ...pollingOf(config),
      give_up_after_days: policy.give_up_after_days,
      attempts: policy.attempts,
      max_claim_calls: policy.claims.max_calls,
      claim_words: config.claim_words,
      attempt_pause_ms: policy.attempt_pause_hours * HOUR_MS,
      external_id_template: config.service.external_id,
      callBy: (coverage, visit) => callBefore(coverage, visit, { payers, policy }),
      payerHours: (coverage) =>
        hoursOf(
          policy.payer_hours,
          coverage === null ? null : payers.find(coverage.payor_id, coverage.carrier),
        ),
      turnaround_days: policy.turnaround_days,
      benefits_days: policy.benefits_days,
      verify_for_ms: config.verification.ask_for_hours * HOUR_MS,
      verification_required: config.verification.require,
    },
  };
}

/** Returns the settings that both submit and collect use. */
function pollingOf({ polling, service, clinic }: Config) {
  return {
    poll_interval_ms: polling.interval_minutes * MINUTE_MS,
    urgent_poll_interval_ms: polling.urgent_interval_minutes * MINUTE_MS,
    settle_ms: service.settle_seconds * 1000,
    concurrency: service.submission.concurrency,
    time_zone: clinic.time_zone,
  };
}
