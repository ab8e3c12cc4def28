/**
 * The only place where eligd makes HTTP connections. It loads a quarter of undici, which saves each
 * start 50 ms and 15 MB: eligd needs no fetch, cache, WebSocket, or mock.
 */
import { setFlagsFromString } from 'node:v8';
import type { buildConnector as Connect } from 'undici';
import methods from 'undici/lib/api/index.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import { openTunnel } from './socket.ts';
import { authorityOf, secureContextOf, type Way } from './way.ts';

export type HttpLimits = {
  /** The maximum number of connections kept open to each server. */
  connections: number;
  /**
   * The limit for connecting (10 s at most), for the headers, and between two parts of the body.
   */
  timeout_ms: number;
  /** A longer reply is aborted; omitted: the reader has its own limit. */
  reply_bytes_max?: number;
};

const CONNECT_MS_MAX = 10_000;

// As the main file of undici does.
Object.assign(Dispatcher.prototype, methods);

/**
 * Creates an agent that connects by `way`. `way` is called for the first connection, so that a
 * missing certificate fails the request and not the startup.
 *
 * `pipelining: 1` and no HTTP/2: with either, undici requeues the requests behind one that a broken
 * connection interrupted, and writes them again. A proxy only relays bytes (CONNECT), also for
 * http://, so that undici reports when it starts to write each request.
 */
export function createHttpAgent(way: () => Way, limits: HttpLimits): Agent {
  const { connections, timeout_ms, reply_bytes_max } = limits;
  return new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeout_ms,
    bodyTimeout: timeout_ms,
    ...(reply_bytes_max === undefined ? {} : { maxResponseSize: reply_bytes_max }),
    connect: connector(way, Math.min(timeout_ms, CONNECT_MS_MAX)),
  });
}

function connector(wayOf: () => Way, timeout: number): Connect.connector {
  let made: { way: Way; direct: Connect.connector } | null = null;
  const prepared = () => {
    if (made !== null) return made;
    keepParserSmall();
    const way = wayOf();
    const { certificates } = way;
    const tls = certificates === null ? {} : { secureContext: secureContextOf(certificates) };
    made = { way, direct: buildConnector({ timeout, allowH2: false, ...tls }) };
    return made;
  };
  return (options, callback) => {
    try {
      const { way, direct } = prepared();
      const { protocol, hostname } = options;
      const port = Number(options.port) || (protocol === 'https:' ? 443 : 80);
      const host = hostname.replaceAll(/^\[|\]$/g, '');
      const proxy = way.proxyFor(new URL(`${protocol}//${authorityOf(host, port)}`));
      if (proxy === null) {
        direct(options, callback);
        return;
      }
      openTunnel(proxy, authorityOf(host, port), timeout).then(
        (socket) => {
          if (protocol === 'https:') direct({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        },
        (error) => callback(error, null),
      );
    } catch (error) {
      callback(
        error instanceof Error ? error : new Error('Connecting failed without an error.'),
        null,
      );
    }
  };
}

/**
 * Keeps V8 from optimizing undici's HTTP parser, which is WebAssembly with one function of 100 KB:
 * that takes 20 MB of memory, and no request gets faster. Must run before the first bytes are
 * parsed, and not sooner than needed: V8 rejects code that was compiled ahead with other settings
 * (src/main.ts).
 */
function keepParserSmall(): void {
  for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}
