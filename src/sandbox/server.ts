import { randomUUID } from 'node:crypto';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { issueToken } from './auth.ts';
import { type Behaviors, defaultBehaviors } from './behaviors.ts';
import { ScaledClock } from './clock.ts';
import { adminRoutes } from './endpoints/admin.ts';
import { inquiryRoutes } from './endpoints/inquiries.ts';
import { subscriptionRoutes } from './endpoints/subscription.ts';
import { verificationRoutes } from './endpoints/verifications.ts';
import { invalidAt } from './exchange.ts';
import { Faults } from './faults.ts';
import { type Access, mount, send, shownNow } from './pipeline.ts';
import type { Credentials, Reports, State } from './state.ts';
import { Store } from './store.ts';
import { Traffic } from './traffic.ts';
import { Webhooks } from './webhooks.ts';

export { BEHAVIORS, type BehaviorName, type Behaviors, parseBehavior } from './behaviors.ts';
export { CLAIM_SCENARIOS, SCENARIOS, type Scenario } from './scenarios.ts';
export type { Credentials } from './state.ts';

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

const WELCOME = `This is the eligd sandbox: it simulates the insurance inquiry service on one
machine, with made-up answers. It makes no calls.

Service    /api/v0/{dental,medical,mental_health}/inquiries, batch_inquiries; /api/v0/verification;
           /api/v0/subscription/
Log in     POST /api/v0/auth/token, or HTTP Basic with project ID and API key
Behind     GET /_sandbox/ledger, requests, webhooks, clock, behaviors, faults;
           POST /_sandbox/advance, faults, behaviors, revoke_tokens, reset

src/sandbox/README.md describes all of it.
`;

export type SandboxOptions = {
  host?: string;
  /** 0: any free port. */
  port: number;
  /** The path of the SQLite file, or ":memory:". */
  db: string;
  seed: number;
  /**
   * The factor by which the clock is faster than the machine's; 3600 turns a second into an hour.
   */
  speed: number;
  /**
   * The machine time at which scaled time and machine time are equal. Default: the database's
   * anchor, or now.
   */
  anchor_ms?: number;
  behaviors?: Partial<Behaviors>;
  credentials?: Partial<Credentials>;
  /** Returns the machine's time. */
  now?: () => number;
  /** Generates IDs of inquiries and subscriptions. */
  new_id?: () => string;
};

export type Sandbox = {
  readonly url: string;
  readonly port: number;
  readonly anchor_ms: number;
  /** Closes all connections and the database. May be called again. */
  close(): Promise<void>;
};

const DEFAULT_CREDENTIALS: Credentials = {
  username: 'clinic',
  password: 'sandbox',
  project_id: 'sandbox',
  api_key: 'sandbox',
  webhook_secret: 'sandbox',
};

/**
 * Starts the insurance inquiry service of specification 0.1.0 on this machine.
 * @throws Error when the database cannot be opened or the port is taken; everything is closed then.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (!Number.isFinite(options.speed) || options.speed <= 0)
    throw new Error('The speed of the sandbox is a number over 0.');
  const host = options.host ?? '127.0.0.1';
  const store = new Store(options.db);
  const closing = new AbortController();
  let app: FastifyInstance | undefined;
  const credentials = { ...DEFAULT_CREDENTIALS, ...options.credentials };
  const webhooks = new Webhooks(credentials.webhook_secret);
  const shutDown = async (): Promise<void> => {
    closing.abort();
    await webhooks.close();
    await app?.close();
    store.close();
  };
  try {
    const state = stateOf(options, store, credentials, webhooks);
    app = buildApp(state, closing.signal);
    await app.listen({ host, port: options.port });
    webhooks.start(state);
    const port = portOf(app);
    let closed: Promise<void> | undefined;
    return {
      url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
      port,
      anchor_ms: state.clock.anchor_ms,
      close: () => {
        closed ??= shutDown();
        return closed;
      },
    };
  } catch (error) {
    await shutDown();
    throw error;
  }
}

function stateOf(
  options: SandboxOptions,
  store: Store,
  credentials: Credentials,
  reports: Reports,
): State {
  const behaviors = { ...defaultBehaviors(), ...options.behaviors };
  return {
    seed: options.seed,
    clock: openClock(options, store),
    store,
    faults: new Faults(),
    traffic: new Traffic(),
    credentials,
    reports,
    initial_behaviors: behaviors,
    behaviors,
    newId: options.new_id ?? randomUUID,
  };
}

/** Continues where the database left off; a given anchor takes precedence. */
function openClock(options: SandboxOptions, store: Store): ScaledClock {
  const machineNow = options.now ?? Date.now;
  const clock = new ScaledClock({
    anchor_ms: options.anchor_ms ?? Number(store.setting('anchor_ms') ?? machineNow()),
    speed: options.speed,
    advanced_ms: Number(store.setting('advanced_ms') ?? 0),
    machineNow,
  });
  // A new anchor or speed may set the clock back, but no inquiry may be in the future.
  clock.advanced_ms += Math.max(0, (store.newestCreation() ?? 0) - clock.callNow());
  store.saveSetting('anchor_ms', String(clock.anchor_ms));
  store.saveSetting('advanced_ms', String(clock.advanced_ms));
  return clock;
}

function buildApp(state: State, closing: AbortSignal): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true },
  });
  // Endpoints receive bodies as text, because they create the specification's 422 for a malformed
  // body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('date', new Date(shownNow(state)).toUTCString());
  });
  app.setNotFoundHandler((_request, reply) =>
    send(reply, { status: 404, body: { detail: 'Not Found' } }),
  );
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status === 400)
      return send(reply, invalidAt(['body'], 'The body could not be read', 'body'));
    return send(reply, {
      status,
      body: { detail: status < 500 ? error.message : 'Internal Server Error' },
    });
  });
  app.get('/', (_request, reply) =>
    send(reply, { status: 200, body: WELCOME, headers: { 'content-type': 'text/plain' } }),
  );
  const withAccess = (access: Access) => (route: ReturnType<typeof adminRoutes>[number]) => ({
    route,
    access,
  });
  mount(
    app,
    state,
    [
      {
        route: { method: 'POST', path: '/api/v0/auth/token', endpoint: issueToken },
        access: 'anyone',
      },
      ...[...inquiryRoutes(), ...verificationRoutes(), ...subscriptionRoutes()].map(
        withAccess('callers'),
      ),
      ...adminRoutes().map(withAccess('admin')),
    ],
    closing,
  );
  return app;
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The sandbox listens on no port.');
  return address.port;
}
