/**
 * Sends one HTTP request over undici and returns its whole answer. It never repeats, redirects, or
 * logs: addresses identify patients.
 */
import type { Dispatcher } from 'undici';
import { ConnectionError, errorCode } from '../../../src/domain/errors.ts';
import { hasTooManyValues, isTooDeep } from '../../../src/domain/json-limits.ts';
import type { ConnectorNetwork } from '../../contract.ts';
import type { FhirConfig } from '../config.ts';
import { FhirError } from './failure.ts';

export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** For messages: `a search of Appointment`. Contains no patient data. */
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

/** Errors before any part of a request was written. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** The server was reachable and broke the connection. */
const BROKEN_OFF = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
/** A page of 100 appointments with all their resources takes less than 2 MB. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024;
/** Far more than such a page has; this many use about 100 MB of memory. */
const REPLY_VALUES_MAX = 1_000_000;

export function createTransport(config: FhirConfig, network: ConnectorNetwork): Transport {
  const dispatcher = network.http(config, {
    connections: config.parallel_requests,
    timeout_ms: config.timeout_seconds * 1000,
    // Above this reader's own limit, which has the better error message.
    reply_bytes_max: 2 * REPLY_BYTES_MAX,
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
    const text = await readText(reply.body);
    if (text === null) throw tooMuch(method, doing, 'with more than 16 MB or a million values');
    const read = parse(text);
    if (isTooDeep(read.body))
      throw tooMuch(method, doing, 'with JSON nested too deeply to be read');
    return { status: reply.statusCode, headers: reply.headers, ...read };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof FhirError) throw error;
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

/** Returns null if the body is too long, or would use too much memory once parsed. */
async function readText(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  for await (const chunk of body) {
    size_bytes += chunk.length;
    if (size_bytes > REPLY_BYTES_MAX) return null; // leaving the loop destroys the body
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (hasTooManyValues(bytes, REPLY_VALUES_MAX)) return null;
  return new TextDecoder().decode(bytes); // drops a byte order mark
}

/**
 * Builds the error for a reply that is too large. Repeating a read would not help; a lookup shows
 * whether a write worked.
 */
function tooMuch(method: HttpRequest['method'], doing: string, how: string): FhirError {
  const what = `The FHIR server answered ${doing} ${how}, so nothing of the answer was taken.`;
  return new FhirError(method === 'GET' ? 'too_large' : 'broken', { what, may_be_done: true });
}

function parse(text: string): { body: unknown; is_json: boolean } {
  try {
    return { body: JSON.parse(text), is_json: true };
  } catch {
    return { body: null, is_json: false };
  }
}
