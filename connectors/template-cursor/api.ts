/** Sends one request to the PMS and interprets the reply. It never repeats or logs a request. */
import type { Dispatcher } from 'undici';
import { errorCode } from '../../src/domain/errors.ts';
import { ConnectorError, type ConnectorNetwork, type ConnectorSecret } from '../contract.ts';

const TIMEOUT_MS = 30_000;
const REPLY_BYTES_MAX = 16 * 1024 * 1024;

export type Reply = { status: number; text: string };

export class Api {
  readonly #base_url: string;
  readonly #token: ConnectorSecret;
  readonly #dispatcher: Dispatcher;

  constructor(base_url: string, token: ConnectorSecret, network: ConnectorNetwork) {
    this.#base_url = base_url.replace(/\/+$/, '');
    this.#token = token;
    this.#dispatcher = network.http(
      {},
      { connections: 4, timeout_ms: TIMEOUT_MS, reply_bytes_max: REPLY_BYTES_MAX },
    );
  }

  get(path: string, signal: AbortSignal): Promise<Reply> {
    return this.#send('GET', path, { signal });
  }

  /** PUT replaces the content, so repeating it changes nothing (G4). */
  put(path: string, value: unknown, signal: AbortSignal): Promise<Reply> {
    return this.#send('PUT', path, { signal, body: JSON.stringify(value) });
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  /** Throws a ConnectorError for failures of the whole PMS; its text contains no address (G6). */
  async #send(
    method: 'GET' | 'PUT',
    path: string,
    { signal, body }: { signal: AbortSignal; body?: string },
  ): Promise<Reply> {
    signal.throwIfAborted();
    const { origin, pathname, search } = new URL(`${this.#base_url}${path}`);
    let reply: Reply & { retry_after: unknown };
    try {
      const {
        statusCode,
        headers,
        body: stream,
      } = await this.#dispatcher.request({
        origin,
        path: `${pathname}${search}`,
        method,
        signal,
        headers: {
          authorization: `Bearer ${this.#token.value ?? ''}`,
          'content-type': 'application/json',
        },
        ...(body === undefined ? {} : { body }),
      });
      const retry_after = headers['retry-after'];
      reply = { status: statusCode, retry_after, text: await stream.text() };
    } catch (error) {
      signal.throwIfAborted();
      throw new ConnectorError('transient', {
        what: `The PMS did not answer (${errorCode(error) ?? 'no code'}).`,
        next: 'Check that it runs, and check "base_url:".',
        cause: error,
      });
    }
    const { status } = reply;
    if (status === 401 || status === 403) {
      throw new ConnectorError('permanent', {
        what: `The PMS does not accept the token (status ${status}).`,
        next: `Ask for a token and store it as the secret ${this.#token.name}.`,
      });
    }
    if (status === 408 || status === 429 || status >= 500) {
      const seconds = Number(reply.retry_after);
      throw new ConnectorError('transient', {
        what: `The PMS is not available (status ${status}).`,
        next: 'Wait. If it persists, ask whoever runs the PMS.',
        ...(seconds > 0 ? { retry_after_ms: seconds * 1000 } : {}),
      });
    }
    return reply;
  }
}
