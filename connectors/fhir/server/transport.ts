/**
 * One HTTP request over undici, and its whole answer. Nothing here repeats, follows or logs
 * anything: addresses name patients.
 */
import type { Dispatcher } from 'undici';
import { ConnectionError, errorCode } from '../../../src/domain/errors.ts';
import type { ConnectorNetwork } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import { FhirError } from './failure.ts';

export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** For messages: `a search of Appointment`. Names no patient. */
  doing: string;
};

export type HttpReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
  is_json: boolean;
};

export type Transport = {
  send: (request: HttpRequest, signal: AbortSignal) => Promise<HttpReply>;
  close: () => Promise<void>;
};

/** Errors before anything of a request was written. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** The server was there and broke off. */
const BROKEN_OFF = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const REPLY_BYTES_MAX = 128 * 1024 * 1024;

export function createTransport(config: FhirConfig, network: ConnectorNetwork): Transport {
  const dispatcher = network.http(config, {
    connections: config.parallel_requests,
    timeout_ms: config.timeout_seconds * 1000,
    reply_bytes_max: REPLY_BYTES_MAX,
  });
  return {
    send: (one, signal) => send(dispatcher, one, signal),
    close: () => dispatcher.destroy(),
  };
}

async function send(
  dispatcher: Dispatcher,
  { method, url, headers, body, doing }: HttpRequest,
  signal: AbortSignal,
): Promise<HttpReply> {
  signal.throwIfAborted();
  try {
    const { origin, pathname, search } = new URL(url);
    const reply = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    });
    return { status: reply.statusCode, headers: reply.headers, ...parse(await reply.body.text()) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ConnectionError)
      throw new FhirError('unreachable', { what: error.message, next: error.next, cause: error });
    const code = errorCode(error) ?? 'no code';
    throw new FhirError(BROKEN_OFF.has(code) ? 'broken' : 'unreachable', {
      what: `The FHIR server gave no answer to ${doing} (${code}).`,
      may_be_done: !UNSENT.has(code),
      cause: error,
    });
  }
}

function parse(text: string): { body: unknown; is_json: boolean } {
  try {
    return { body: JSON.parse(text), is_json: true };
  } catch {
    return { body: null, is_json: false };
  }
}
