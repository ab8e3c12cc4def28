import type { Env } from '../domain/env.ts';
import { EligdError } from '../domain/errors.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { Config } from '../ops/config.ts';
import { describedEvent } from '../ops/event-catalog.ts';
import { serviceWay } from '../ops/network.ts';
import {
  namesFor,
  revealCredentials,
  type SecretSource,
  serviceCredentials,
} from '../ops/secrets.ts';
import type { RequestGate, Result, ServiceClient, ServiceClientOptions } from '../service/api.ts';
import { createServiceClient } from '../service/client.ts';
import { createRateLimiter } from '../store/calls/rate-limit.ts';
import { openStore, type Store } from '../store/engine/store.ts';
import type { CliContext } from './context.ts';
import { serviceError } from './service-error.ts';

/** The user of a command waits for a rate limit that frees up within a minute, but not longer. */
const PATIENCE_MS = 1.5 * MINUTE_MS;

type OpenService = {
  config: Config;
  store: Store;
  client: ServiceClient;
  env: Env;
  /** May be called more than once. */
  close: () => Promise<void>;
};

/**
 * Opens the service for one command. Every request counts against the rate limit in the database,
 * which the daemon shares (G5); a missing database is created.
 */
async function openService(context: CliContext): Promise<OpenService> {
  const config = await context.config();
  const secrets = await context.secrets();
  const env = await commandEnv(context);
  const store = await openStore(config.state.path);
  try {
    const client = createCommandClient({
      config,
      secrets,
      env,
      gate: createCommandGate(store, config, env),
    });
    const close = async () => {
      await client.close();
      await store.close();
    };
    return { config, store, client, env, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens the service, passes it to `work`, and closes everything, so that the process ends at once.
 */
export async function withService<Value>(
  context: CliContext,
  work: (service: OpenService) => Promise<Value>,
): Promise<Value> {
  const service = await openService(context);
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

/** Returns the value of a result; throws a failure in plain words. `attempt` says what failed. */
export function unwrap<Value>(
  result: Result<Value>,
  attempt: { what: string; is_change?: boolean; may_show_words?: boolean },
  config: Config,
): Value {
  if (result.ok) return result.value;
  throw serviceError(result.failure, {
    ...attempt,
    base_url: config.service.base_url,
    secret_names: namesFor(config.service.auth),
  });
}

/** Creates a client that connects on its first request; `eligd check` supplies its own gate. */
export function createCommandClient(parts: {
  config: Config;
  secrets: SecretSource;
  env: Env;
  gate: RequestGate;
  onServiceDate?: ServiceClientOptions['onServiceDate'];
}): ServiceClient {
  const { config, secrets, env, gate, onServiceDate } = parts;
  const { service } = config;
  const credentials = revealCredentials(serviceCredentials(secrets, service.auth));
  return createServiceClient({
    base_url: service.base_url,
    credentials,
    timeout_ms: service.timeout_seconds * 1000,
    concurrency: service.submission.concurrency,
    way: serviceWay(config, secrets),
    gate,
    env,
    ...(onServiceDate === undefined ? {} : { onServiceDate }),
  });
}

/**
 * Returns the rate limit of the database with a maximum wait: the service may ask for a pause of a
 * day.
 */
export function createCommandGate(store: Store, config: Config, env: Env): RequestGate {
  const limiter = createRateLimiter(store, env.clock, config.service.submission.max_per_minute);
  return {
    pause: limiter.pause,
    slowDown: limiter.slowDown,
    enter: async (priority, signal) => {
      const impatience = new AbortController();
      const entered = new AbortController();
      const timer = env.clock.sleep(PATIENCE_MS, entered.signal).then(
        () => impatience.abort(),
        () => {},
      );
      try {
        const signals = signal === undefined ? [impatience.signal] : [impatience.signal, signal];
        return await limiter.enter(priority, AbortSignal.any(signals));
      } catch (error) {
        throw impatience.signal.aborted ? noSlot() : error;
      } finally {
        entered.abort();
        await timer;
      }
    },
  };
}

/**
 * Returns the environment of a command. It logs only problems, because the result goes to standard
 * output; ELIGD_LOG_LEVEL shows the rest.
 */
export async function commandEnv(context: CliContext): Promise<Env> {
  const env = await context.env();
  if (context.environment.ELIGD_LOG_LEVEL) return env;
  return {
    ...env,
    log: (event, fields) => {
      const level = describedEvent(event)?.level;
      if (level === 'warn' || level === 'error') env.log(event, fields);
    },
  };
}

function noSlot(): EligdError {
  return new EligdError('temporary', {
    what: 'eligd did not ask the service.',
    why:
      'The service asked eligd to wait, or the daemon is using the whole rate limit ' +
      '(service.submission.max_per_minute).',
    next: 'Try again in a few minutes.',
  });
}
