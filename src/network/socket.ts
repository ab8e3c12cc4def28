/** The only place where eligd makes connections that are not HTTP or that use a proxy. */
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { ConnectionError, errorCode } from '../domain/errors.ts';
import { authorityOf, type HttpProxy } from './way.ts';

export type Target = {
  host: string;
  port: number;
  /** Null: direct connection. */
  proxy: HttpProxy | null;
  /** Null: not encrypted. */
  tls: ConnectionOptions | null;
};

/**
 * Opens a connection, encrypted if `tls` is set. Rejects with the system's error, with a
 * ConnectionError if the proxy is the cause, or with the reason of `signal`.
 */
export async function openSocket(
  { host, port, proxy, tls }: Target,
  timeout_ms: number,
  signal?: AbortSignal,
): Promise<Socket> {
  signal?.throwIfAborted();
  const tunnel =
    proxy === null ? null : await openTunnel(proxy, authorityOf(host, port), timeout_ms, signal);
  if (tunnel !== null && tls === null) return tunnel;
  const place = tunnel === null ? { host, port } : { socket: tunnel, host };
  const socket = tls === null ? connect({ host, port }) : connectTls({ ...place, ...tls });
  return await opened(socket, tls === null ? 'connect' : 'secureConnect', timeout_ms, signal);
}

async function opened(
  socket: Socket,
  sign: 'connect' | 'secureConnect',
  timeout_ms: number,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = () => socket.destroy();
  let cause: unknown = null;
  const onError = (error: unknown) => {
    cause = error;
  };
  const onClose = () => reject(cause ?? new ConnectionError('ETIMEDOUT', NO_ANSWER));
  // Stays attached after this function: later errors are followed by `close`, which the user of the
  // socket handles.
  socket.on('error', onError);
  socket.once('close', onClose);
  socket.once(sign, () => resolve());
  // A timer of the machine, not of `Env`, as for a request (service/transport.ts).
  const timer = setTimeout(giveUp, timeout_ms);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    await promise;
    socket.off('close', onClose);
    return socket;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

const NO_ANSWER = {
  what: 'The server did not answer in time.',
  next: 'Check that the server runs and that its address is right.',
};

/**
 * Requests a connection to `authority` from a proxy (CONNECT, RFC 9110, section 9.3.6). Sends only
 * this address and the login.
 */
export async function openTunnel(
  proxy: HttpProxy,
  authority: string,
  timeout_ms: number,
  signal?: AbortSignal,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const name = `The proxy ${authorityOf(proxy.host, proxy.port)}`;
  // Loaded for a proxy only: node:http takes 25 ms, because importing it starts Node's own undici.
  const { request } = proxy.is_tls ? await import('node:https') : await import('node:http');
  const asked = request({
    host: proxy.host,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: { host: authority, ...loginHeader(proxy) },
    ...(signal === undefined ? {} : { signal }),
  });
  const timer = setTimeout(() => asked.destroy(new Error('timeout')), timeout_ms);
  asked.once('connect', ({ statusCode = 0 }, socket, head) => {
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head);
      resolve(socket as Socket);
      return;
    }
    socket.destroy();
    reject(refusedBy(proxy, name, statusCode));
  });
  asked.once('error', (error) => {
    const code = errorCode(error) ?? 'no answer in time';
    reject(
      new ConnectionError('ERR_PROXY_AWAY', {
        what: `${name} cannot be reached (${code}).`,
        next: 'Check its address ("proxy:" or HTTPS_PROXY), and check that it is running.',
      }),
    );
  });
  asked.end();
  try {
    return await promise;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function refusedBy(proxy: HttpProxy, name: string, status: number): ConnectionError {
  if (status === 407)
    return new ConnectionError('ERR_PROXY_LOGIN', {
      what: `${name} ${proxy.login === null ? 'requires a' : 'does not accept our'} login (407).`,
      next: proxy.login_remedy,
    });
  return new ConnectionError('ERR_PROXY_REFUSED', {
    what: `${name} refuses the connection to the server (${status}).`,
    next: 'Ask the administrator of the proxy to allow this computer, or try again later.',
  });
}

function loginHeader({ login }: HttpProxy): Record<string, string> {
  if (login === null) return {};
  const both = Buffer.from(`${login.username}:${login.password}`).toString('base64');
  return { 'proxy-authorization': `Basic ${both}` };
}
