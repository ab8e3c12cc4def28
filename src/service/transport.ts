/**
 * Makes one HTTP request to the service's own origin with undici, and reports its outcome. Never
 * repeats a request and never follows a redirect.
 *
 * G1 depends on one question: *was any byte of the request written?* The answer is not guessed from
 * error codes. undici calls a handler's `onRequestStart` right before it writes a request to a
 * connected (and, with TLS, authenticated) socket, and never earlier. An attempt that was not
 * started is unsent, whatever the error; one that was started counts as unsent only if a reply says
 * so. This applies only to our own agent. Any other dispatcher (a mock, a simulation) may have
 * passed the request on without calling the handler. For those, only errors that a failed
 * connection alone can cause prove that nothing was sent.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { hasTooManyValues } from '../domain/json-limits.ts';
import { createHttpAgent } from '../network/http.ts';
import { DIRECT, type Way } from '../network/way.ts';
import type { AmbiguousCause, ListedInquiry, UnsentCause } from './api.ts';

export type HttpRequest = {
  method: 'GET' | 'POST' | 'DELETE';
  /** From the origin on, with the query; never logged. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
  /**
   * Reads the body of a 2xx of any length while it arrives. Omitted: the body is kept in full, up
   * to `ANSWER_BYTES_MAX`.
   */
  newReader?: () => BodyReader;
};

/** `push` returns the body when no more data is wanted, and null until then. */
export type BodyReader = { push(piece: Buffer): ReplyBody | null; end(): ReplyBody };

export type HttpReply = {
  outcome: 'reply';
  status: number;
  headers: IncomingHttpHeaders;
  body: ReplyBody;
};

/** `key`: identical for the same inquiry, also for an unreadable one (`inquiry` is null). */
export type ListElement = { key: string; inquiry: ListedInquiry | null };

/** A page of a list: its elements, and the other fields, which refer to the next page. */
export type ListBody = { elements: ListElement[]; fields: Record<string, unknown> };

export type ReplyBody =
  | { form: 'json'; value: unknown }
  /** The result of a list's reader; null when it is JSON of another form. */
  | { form: 'list'; list: ListBody | null }
  | { form: 'empty' }
  /** Probably an error page of a proxy. */
  | { form: 'html' }
  | { form: 'other' }
  /** The status is known, but not the body. */
  | { form: 'broken'; cause: AmbiguousCause };

export type Exchange =
  | HttpReply
  | { outcome: 'unsent'; cause: UnsentCause }
  /** Written at least in part, and no status arrived. */
  | { outcome: 'lost'; cause: AmbiguousCause };

/** A limit far above an answer with the transcripts of its calls, which takes about 20 kB. */
export const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/**
 * The limit for a list whose parts keep arriving: enough for a gigabyte over a small clinic's line.
 */
const LIST_MS_MAX = 20 * 60_000;

export type Transport = {
  exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange>;
  close(): Promise<void>;
};

/**
 * Creates the transport. `dispatcher` omitted: uses its own agent with at most `concurrency`
 * connections kept open, by `way` (omitted: directly).
 */
export function createTransport(options: {
  origin: string;
  timeout_ms: number;
  concurrency: number;
  dispatcher: Dispatcher | undefined;
  way: Way | undefined;
  /** Called repeatedly while a long list arrives. */
  onListGrows?: (() => void) | undefined;
}): Transport {
  const { origin, timeout_ms, onListGrows, way = DIRECT, concurrency: connections } = options;
  const own = createHttpAgent(() => way, { timeout_ms, connections });
  const reports_start = options.dispatcher === undefined;
  // undici queues the requests of a broken connection and writes them again; `watchStart` refuses.
  const dispatcher = (options.dispatcher ?? own).compose(watchStart);
  return {
    exchange: (request, signal) =>
      exchange({ dispatcher, origin, timeout_ms, reports_start, onListGrows }, request, signal),
    // Callers wait for the exchanges first, so only idle connections are left.
    close: () => own.destroy(),
  };
}

type Wire = {
  dispatcher: Dispatcher;
  origin: string;
  timeout_ms: number;
  reports_start: boolean;
  onListGrows: (() => void) | undefined;
};

/**
 * The progress of an attempt; it never goes back. `unproven`: not started as far as the dispatcher
 * has reported.
 */
class Attempt {
  state: 'waiting' | 'unproven' | 'written' | 'cancelled';

  constructor(reports_start: boolean) {
    this.state = reports_start ? 'waiting' : 'unproven';
  }
}

/**
 * Records the moment before writing, and refuses to write an attempt that was canceled or already
 * written.
 */
const watchStart: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { opaque } = options as { opaque?: unknown };
  if (!(opaque instanceof Attempt)) return dispatch(options, handler);
  return dispatch(options, {
    onRequestStart(controller, context) {
      if (opaque.state === 'written' || opaque.state === 'cancelled') {
        controller.abort(new Error('The request was canceled or has been written before.'));
        return;
      }
      handler.onRequestStart?.(controller, context);
      if (!controller.aborted) opaque.state = 'written';
    },
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  });
};

/**
 * Makes the request and returns its outcome. The deadline is a timer of the machine and not of
 * `Env`: it limits a socket, which runs in real time even where a simulation controls the clock.
 * undici's own timeouts restart with every chunk and are too coarse for a deadline.
 */
async function exchange(wire: Wire, request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
  if (signal.aborted) return { outcome: 'unsent', cause: 'aborted' };
  const attempt = new Attempt(wire.reports_start);
  const stop = new AbortController();
  const early = Promise.withResolvers<Exchange>();
  const halt = (cause: StopCause) => {
    if (stop.signal.aborted) return;
    // undici reports no abort before it has a connection, so it is handled here.
    if (attempt.state === 'waiting') early.resolve({ outcome: 'unsent', cause });
    if (attempt.state === 'unproven') early.resolve({ outcome: 'lost', cause });
    if (attempt.state !== 'written') attempt.state = 'cancelled';
    stop.abort(cause);
  };
  const onAbort = () => halt('aborted');
  const deadline = setTimeout(() => halt('timeout'), wire.timeout_ms);
  let is_late = false;
  let late_timer: NodeJS.Timeout | undefined;
  const onPiece = () => {
    late_timer ??= setTimeout(() => {
      is_late = true;
    }, LIST_MS_MAX);
    wire.onListGrows?.();
    if (!is_late) deadline.refresh();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([
      early.promise,
      perform(wire, request, { attempt, stop: stop.signal, onPiece }),
    ]);
  } finally {
    clearTimeout(deadline);
    clearTimeout(late_timer);
    signal.removeEventListener('abort', onAbort);
  }
}

type StopCause = 'timeout' | 'aborted';

/** `onPiece`: called with each part of a body that may be long. */
type UnderWay = { attempt: Attempt; stop: AbortSignal; onPiece: () => void };

async function perform(
  wire: Wire,
  request: HttpRequest,
  { attempt, stop, onPiece }: UnderWay,
): Promise<Exchange> {
  let response: Dispatcher.ResponseData<Attempt>;
  const { newReader, ...sent } = request;
  try {
    response = await wire.dispatcher.request({
      ...sent,
      origin: wire.origin,
      signal: stop,
      opaque: attempt,
    });
  } catch (error) {
    // Ignored if `early` has already settled.
    if (stop.aborted) return { outcome: 'lost', cause: stopCause(stop) };
    const codes = errorCodes(error);
    const is_unsent =
      attempt.state === 'waiting' ||
      codes.some((code) => CONNECT_ONLY_CODES.has(code)) ||
      (attempt.state === 'unproven' &&
        codes.some((code) => UNREACHABLE_CODES.has(code) || TLS_CODE.test(code)));
    if (is_unsent) return { outcome: 'unsent', cause: connectCause(codes) };
    return {
      outcome: 'lost',
      cause: codes.some((code) => TIMEOUT_CODES.has(code)) ? 'timeout' : 'socket',
    };
  }
  const { statusCode: status, headers } = response;
  const is_success = status >= 200 && status < 300;
  const body =
    newReader !== undefined && is_success
      ? await readInPieces(response, newReader(), { stop, onPiece })
      : await readBody(response, stop);
  return { outcome: 'reply', status, headers, body };
}

function stopCause(stop: AbortSignal): StopCause {
  return stop.reason === 'timeout' ? 'timeout' : 'aborted';
}

async function readBody(
  response: Dispatcher.ResponseData<Attempt>,
  stop: AbortSignal,
): Promise<ReplyBody> {
  const chunks: Buffer[] = [];
  let size_bytes = 0;
  try {
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size_bytes += chunk.length;
      // Leaving the loop destroys the body.
      if (size_bytes > ANSWER_BYTES_MAX) return { form: 'broken', cause: 'too_large' };
      chunks.push(chunk);
    }
  } catch (error) {
    return brokenBody(error, stop);
  }
  return parseBody(Buffer.concat(chunks), String(response.headers['content-type'] ?? ''));
}

async function readInPieces(
  response: Dispatcher.ResponseData<Attempt>,
  reader: BodyReader,
  { stop, onPiece }: Pick<UnderWay, 'stop' | 'onPiece'>,
): Promise<ReplyBody> {
  try {
    for await (const piece of response.body as AsyncIterable<Buffer>) {
      onPiece();
      const body = reader.push(piece);
      if (body !== null) return body;
    }
  } catch (error) {
    return brokenBody(error, stop);
  }
  return reader.end();
}

function brokenBody(error: unknown, stop: AbortSignal): ReplyBody {
  if (stop.aborted) return { form: 'broken', cause: stopCause(stop) };
  const is_timeout = errorCodes(error).some((code) => TIMEOUT_CODES.has(code));
  return { form: 'broken', cause: is_timeout ? 'timeout' : 'truncated' };
}

function parseBody(bytes: Buffer, content_type: string): ReplyBody {
  const text = new TextDecoder().decode(bytes).trim(); // drops a byte order mark
  if (text === '') return { form: 'empty' };
  if (hasTooManyValues(bytes)) return { form: 'broken', cause: 'too_large' };
  try {
    return { form: 'json', value: JSON.parse(text) as unknown };
  } catch {
    return { form: text.startsWith('<') || /html/i.test(content_type) ? 'html' : 'other' };
  }
}

const CONNECT_ONLY_CODES = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
]);
/** Rare, but also possible on an established connection. */
const UNREACHABLE_CODES = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
]);
const DNS_CODE = /^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/;
const TLS_CODE = new RegExp(
  '^(ERR_TLS|ERR_SSL|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH' +
    '|INVALID_CA)',
);
const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** Returns what prevented a request from being written. */
function connectCause(codes: string[]): UnsentCause {
  if (codes.includes('ERR_PROXY_LOGIN')) return 'proxy_login';
  if (codes.some((code) => code.startsWith('ERR_PROXY_'))) return 'proxy';
  if (codes.some((code) => DNS_CODE.test(code))) return 'dns';
  if (codes.some((code) => TLS_CODE.test(code))) return 'tls';
  return codes.includes('UND_ERR_CLOSED') || codes.includes('UND_ERR_DESTROYED')
    ? 'closed'
    : 'connect';
}

/**
 * Returns the codes of an error, of its cause, and of the errors in an `AggregateError` (one for
 * each address).
 */
function errorCodes(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > 4) return [];
  const codes = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const inner = [
    ...('cause' in error ? [error.cause] : []),
    ...('errors' in error && Array.isArray(error.errors) ? error.errors : []),
  ];
  return [...codes, ...inner.flatMap((one) => errorCodes(one, depth + 1))];
}
