/**
 * The local HTTP server. Each route is a file of its own that is handed in, so this file knows none
 * of them; routes with the same address share a server. It speaks plain HTTP and expects a reverse
 * proxy in front of whatever is reached from outside.
 *
 * A slow or hostile client costs a connection at most: heads, bodies and idle connections have an
 * end (`HttpLimits`), a refused request ends its connection, and when connections run out the
 * idlest one makes room (`connections.ts`).
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
 * Puts its routes on the server; called once, before it listens. Use `app.register` for hooks and
 * parsers of your own.
 */
export type HttpRoute = (app: FastifyInstance) => void;

/**
 * `socket`: the path of a Unix socket, which is listened at in place of host and port. `tls`: the
 * server's own certificate with its chain, and its key, as PEM.
 */
export type HttpAddress = {
  host: string;
  port: number;
  socket?: string;
  tls?: { cert: Buffer; key: Buffer };
};

export type HttpLimits = {
  connections_max: number;
  /** From the connection, or the end of the request before, to the last byte of the head. */
  head_timeout_ms: number;
  /** From the first byte of a request to its last. */
  request_timeout_ms: number;
  /** Between two requests on one connection. */
  idle_timeout_ms: number;
  requests_per_connection_max: number;
  /**
   * What still comes of a refused request is read and thrown away for so long, and only then is the
   * answer sent.
   */
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
 * Starts a server for every address that `services` name. Throws an EligdError when an address
 * cannot be had, after closing those that were started before.
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

/** Starts one server. `port` 0 takes any that is free; `address` of the result says which. */
export async function startHttpServer(
  address: HttpAddress,
  routes: readonly HttpRoute[],
  env: Env,
  limits: HttpLimits = HTTP_LIMITS,
): Promise<HttpServer> {
  const app = createApp(address, limits);
  new ConnectionLimit(app.server, limits.connections_max);
  // No route needs a parsed body, and a wrong path must be reported as such with any body.
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
    // A client that does not read its answer.
    connectionTimeout: limits.request_timeout_ms * 2,
    maxRequestsPerSocket: limits.requests_per_connection_max,
  };
  const server = {
    headersTimeout: limits.head_timeout_ms,
    connectionsCheckingInterval: Math.max(20, limits.head_timeout_ms / CHECKS_PER_TIMEOUT),
  };
  if (tls === undefined) return Fastify({ ...options, http: server });
  // To its routes a server with TLS is a server like any other.
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
  // The proxy in front is let in by the group of the folder.
  chmodSync(socket, 0o660);
}

/** A process that was killed leaves its socket behind, and nobody answers at it. */
async function removeAbandoned(socket: string): Promise<void> {
  if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket() !== true) return;
  const is_answered = await new Promise<boolean>((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
  if (!is_answered) unlinkSync(socket);
}

/** For people: `127.0.0.1:8686`, or the path of the socket. */
export function addressText({ host, port, socket }: HttpAddress): string {
  return socket ?? (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
}

/**
 * A sender that is cut off while it still writes does not get to read the answer, and a proxy in
 * between says 502 instead of what was wrong. So the rest is thrown away first, but not for longer
 * than a genuine sender takes.
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
      why: `The system says ${code ?? 'no'}.`,
      next: 'Check "listen" in the configuration.',
    }),
    cause: error,
  });
}
