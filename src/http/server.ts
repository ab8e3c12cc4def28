/**
 * The local HTTP server. Routes are passed in, so this file knows none of them; routes with the
 * same address share a server. It serves plain HTTP or, if a certificate is configured, HTTPS, and
 * expects a reverse proxy in front of everything that is reached from outside.
 *
 * A slow or hostile client can block at most one connection: heads, bodies, and idle connections
 * have timeouts (`HttpLimits`), a refused request ends its connection, and when connections run
 * out, the longest idle one is closed (`connections.ts`).
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import type { Env } from '../domain/env.ts';
import { EligdError, errorCode } from '../domain/errors.ts';
import { ConnectionLimit } from './connections.ts';
import { refuse } from './refusal.ts';

/**
 * Adds routes to the server; called once, before it listens. Use `app.register` to add hooks and
 * parsers.
 */
export type HttpRoute = (app: FastifyInstance) => void;

/**
 * `socket`: the path of a Unix socket to use in place of host and port. `tls`: the server's
 * certificate with its chain, and its key, as PEM.
 */
export type HttpAddress = {
  host: string;
  port: number;
  socket?: string;
  tls?: { cert: Buffer; key: Buffer };
};

export type HttpLimits = {
  connections_max: number;
  /** From the connection, or the end of the previous request, to the last byte of the head. */
  head_timeout_ms: number;
  /** From the first byte of a request to its last byte. */
  request_timeout_ms: number;
  /** Between two requests on one connection. */
  idle_timeout_ms: number;
  requests_per_connection_max: number;
  /** How long the rest of a refused request is read and discarded before the answer is sent. */
  refusal_patience_ms: number;
};

export const HTTP_LIMITS: HttpLimits = {
  connections_max: 1_000,
  head_timeout_ms: 10_000,
  request_timeout_ms: 30_000,
  idle_timeout_ms: 15_000,
  requests_per_connection_max: 10_000,
  refusal_patience_ms: 2_000,
};

const CHECKS_PER_TIMEOUT = 10;

export type HttpServer = { address: HttpAddress; close: () => Promise<void> };

export type HttpService = { address: HttpAddress; route: HttpRoute };

/**
 * Starts a server for each address in `services`. If eligd cannot listen on one, closes the servers
 * already started and throws an EligdError.
 */
export async function startHttpServers(
  services: readonly HttpService[],
  env: Env,
  limits?: HttpLimits,
): Promise<HttpServer[]> {
  const by_address = Map.groupBy(services, ({ address }) => addressText(address));
  const started: HttpServer[] = [];
  try {
    for (const same of by_address.values()) {
      const [{ address }] = same as [HttpService];
      started.push(
        await startHttpServer(
          address,
          same.map(({ route }) => route),
          env,
          limits,
        ),
      );
    }
    return started;
  } catch (error) {
    await Promise.all(started.map((server) => server.close()));
    throw error;
  }
}

/** Starts one server. `port` 0 chooses a free port, which `address` of the result contains. */
export async function startHttpServer(
  address: HttpAddress,
  routes: readonly HttpRoute[],
  env: Env,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<HttpServer> {
  const app = createApp(address, limits);
  new ConnectionLimit(app.server, limits.connections_max);
  // No route needs a parsed body, and a wrong path must return 404 whatever the body.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.addHook('onSend', async (request, reply) => {
    if (reply.statusCode >= 400) await discardRest(request.raw, env, limits.refusal_patience_ms);
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404));
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500)
      env.log('http_failed', {
        error_name: error.name,
        error_code: errorCode(error),
        http_status: status,
      });
    return refuse(reply, status);
  });
  for (const route of routes) route(app);
  try {
    await listen(app, address);
  } catch (error) {
    await app.close();
    throw cannotListen(address, error);
  }
  const bound = app.server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  env.log('http_listening', { host: address.socket ?? address.host, port });
  let closed: Promise<void> | undefined;
  return {
    address: { ...address, port },
    close: () => {
      closed ??= app.close().then(() => {});
      return closed;
    },
  };
}

function createApp({ tls }: HttpAddress, limits: HttpLimits): FastifyInstance {
  const options = {
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    keepAliveTimeout: limits.idle_timeout_ms,
    requestTimeout: limits.request_timeout_ms,
    // Limits clients that do not read their answer.
    connectionTimeout: limits.request_timeout_ms * 2,
    maxRequestsPerSocket: limits.requests_per_connection_max,
  };
  const server = {
    headersTimeout: limits.head_timeout_ms,
    connectionsCheckingInterval: Math.max(20, limits.head_timeout_ms / CHECKS_PER_TIMEOUT),
  };
  if (tls === undefined) return Fastify({ ...options, http: server });
  // The type of a TLS server differs, but routes use it like any other.
  return Fastify({
    ...options,
    https: { ...server, ...tls, minVersion: 'TLSv1.2' },
  }) as unknown as FastifyInstance;
}

async function listen(app: FastifyInstance, { host, port, socket }: HttpAddress): Promise<void> {
  if (socket === undefined) {
    await app.listen({ host, port });
    return;
  }
  await removeAbandoned(socket);
  await app.listen({ path: socket });
  // The proxy gets access through the folder's group.
  chmodSync(socket, 0o660);
}

/** Removes the socket of a process that was killed; nobody answers there. */
async function removeAbandoned(socket: string): Promise<void> {
  if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const is_answered = await new Promise<boolean>((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
  if (!is_answered) unlinkSync(socket);
}

/** Formats an address for people: `127.0.0.1:8686`, or the path of the socket. */
export function addressText({ host, port, socket }: HttpAddress): string {
  return socket ?? (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
}

/**
 * Reads and discards the rest of a request before the answer is sent. A sender that is cut off
 * while writing does not read the answer, and a proxy in between reports 502 and hides the reason.
 * The wait is limited to the time that a genuine sender needs.
 */
async function discardRest(request: IncomingMessage, env: Env, patience_ms: number): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const enough = new AbortController();
  const onEnd = () => enough.abort();
  request.once('end', onEnd).once('close', onEnd).once('error', onEnd).resume();
  await env.clock.sleep(patience_ms, enough.signal).catch(() => {});
  request.off('end', onEnd).off('close', onEnd).off('error', onEnd);
}

function cannotListen(address: HttpAddress, error: unknown): EligdError {
  const code = errorCode(error);
  const told: Record<string, { why: string; next: string }> = {
    EADDRINUSE: {
      why: 'Another program is using this port, perhaps a second eligd.',
      next: 'Stop that program, or set another port in the configuration.',
    },
    EACCES: {
      why: 'This user may not listen on that port.',
      next: 'Set a port above 1023 in the configuration.',
    },
    EADDRNOTAVAIL: {
      why: 'That is not an address of this machine.',
      next: 'Use 127.0.0.1 with a reverse proxy in front, or an address of this machine.',
    },
  };
  return new EligdError('configuration', {
    what: `eligd cannot listen on ${addressText(address)}.`,
    ...(told[code ?? ''] ?? {
      why: `The system reported ${code ?? 'an unknown error'}.`,
      next: 'Check "listen" in the configuration.',
    }),
    cause: error,
  });
}
