/**
 * Makes one HTTP request to the service's own origin with undici, and reports its outcome. Never
 * repeats a request and never follows a redirect.
 *
 * G1 depends on one question: *was any byte of the request written?* The answer is not guessed from
 * error codes. undici calls a handler's `onRequestStart` right before it writes a request to a
 * connected (and, with TLS, authenticated) socket, and never earlier. An attempt that was not
 * started is unsent, whatever the error; one that was started counts as unsent only if the reply
 * says so, or if its error can only come from connecting. This applies only to our own agent. Any
 * other dispatcher (a mock, a simulation) may have passed the request on without calling the
 * handler. For those, only errors that a failed connection alone can cause prove that nothing was
 * sent.
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
  const dispatcher = options.dispatcher ?? own;
  const wire = { dispatcher, origin, timeout_ms, reports_start, onListGrows };
  return {
    exchange: (request, signal) => exchange(wire, request, signal),
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

type StopCause = 'timeout' | 'aborted';

/** Makes the request and returns its outcome. */
async function exchange(wire: Wire, request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
  if (signal.aborted) return { outcome: 'unsent', cause: 'aborted' };
  const attempt = new Attempt(wire, request.newReader);
  const onAbort = () => attempt.stop('aborted');
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const { method, path, headers, body } = request;
    wire.dispatcher.dispatch({ origin: wire.origin, method, path, headers, body }, attempt);
  } catch (error) {
    attempt.onResponseError(null, error);
  }
  try {
    return await attempt.ended;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * One attempt, as undici's handler: the streams and signals of `Dispatcher.request` cost a tenth of
 * a millisecond per reply. The first outcome counts; whatever undici reports later is ignored.
 *
 * The deadline is a timer of the machine and not of `Env`: it limits a socket, which runs in real
 * time even where a simulation controls the clock. undici's own timeouts restart with every chunk
 * and are too coarse for a deadline.
 */
class Attempt implements Dispatcher.DispatchHandler {
  /** Resolves with the outcome; never rejects. */
  readonly ended: Promise<Exchange>;
  readonly #resolve: (exchange: Exchange) => void;
  /** Never goes back. `unproven`: not started as far as the dispatcher has reported. */
  #state: 'waiting' | 'unproven' | 'written' | 'cancelled';
  #is_over = false;
  #controller: Dispatcher.DispatchController | null = null;
  #head: Pick<HttpReply, 'status' | 'headers'> | null = null;
  readonly #newReader: HttpRequest['newReader'];
  #reader: BodyReader | null = null;
  readonly #chunks: Buffer[] = [];
  #size_bytes = 0;
  readonly #onListGrows: (() => void) | undefined;
  readonly #deadline: NodeJS.Timeout;
  #late_timer: NodeJS.Timeout | undefined;
  #is_late = false;

  constructor(
    { reports_start, timeout_ms, onListGrows }: Wire,
    newReader: HttpRequest['newReader'],
  ) {
    const { promise, resolve } = Promise.withResolvers<Exchange>();
    this.ended = promise;
    this.#resolve = resolve;
    this.#state = reports_start ? 'waiting' : 'unproven';
    this.#newReader = newReader;
    this.#onListGrows = onListGrows;
    this.#deadline = setTimeout(() => this.stop('timeout'), timeout_ms);
  }

  /** Ends the attempt. undici reports no abort before it has a connection, so it is not asked. */
  stop(cause: StopCause): void {
    if (this.#is_over) return;
    const before = this.#state;
    if (before !== 'written') this.#state = 'cancelled';
    if (this.#head !== null) this.#reply({ form: 'broken', cause });
    else
      this.#end(before === 'waiting' ? { outcome: 'unsent', cause } : { outcome: 'lost', cause });
    this.#controller?.abort(new Error('The request was stopped.'));
  }

  /**
   * Records the moment before writing, and refuses to write an attempt that was canceled or already
   * written: with pipelining, undici would queue the requests of a broken connection and write them
   * again.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#state === 'written' || this.#state === 'cancelled') {
      controller.abort(new Error('The request was canceled or has been written before.'));
      return;
    }
    this.#controller = controller;
    this.#state = 'written';
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    // 1xx: the reply is still to come.
    if (status < 200) return;
    this.#head = { status, headers };
    if (status < 300) this.#reader = this.#newReader?.() ?? null;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#is_over) return;
    const body = this.#reader === null ? this.#keep(chunk) : this.#push(this.#reader, chunk);
    if (body === null) return;
    this.#reply(body);
    controller.abort(new Error('The rest of the reply is not wanted.'));
  }

  onResponseEnd(): void {
    if (this.#is_over) return;
    const type = String(this.#head?.headers['content-type'] ?? '');
    this.#reply(this.#reader?.end() ?? parseBody(wholeOf(this.#chunks), type));
  }

  onResponseError(_: unknown, error: unknown): void {
    const codes = errorCodes(error);
    const cause = codes.some((code) => TIMEOUT_CODES.has(code)) ? 'timeout' : null;
    if (this.#head !== null) this.#reply({ form: 'broken', cause: cause ?? 'truncated' });
    else if (this.#isUnsent(codes)) this.#end({ outcome: 'unsent', cause: connectCause(codes) });
    else this.#end({ outcome: 'lost', cause: cause ?? 'socket' });
  }

  /** Returns whether an error before any status proves that nothing was written. */
  #isUnsent(codes: readonly string[]): boolean {
    return (
      this.#state === 'waiting' ||
      codes.some((code) => CONNECT_ONLY_CODES.has(code)) ||
      (this.#state === 'unproven' &&
        codes.some((code) => UNREACHABLE_CODES.has(code) || TLS_CODE.test(code)))
    );
  }

  /** Keeps a part of the body. Returns the body when it is too long. */
  #keep(chunk: Buffer): ReplyBody | null {
    this.#size_bytes += chunk.length;
    if (this.#size_bytes > ANSWER_BYTES_MAX) return { form: 'broken', cause: 'too_large' };
    this.#chunks.push(chunk);
    return null;
  }

  /** Reads a part of a body that may be long: the deadline moves while parts arrive. */
  #push(reader: BodyReader, chunk: Buffer): ReplyBody | null {
    this.#late_timer ??= setTimeout(() => {
      this.#is_late = true;
    }, LIST_MS_MAX);
    this.#onListGrows?.();
    if (!this.#is_late) this.#deadline.refresh();
    return reader.push(chunk);
  }

  #reply(body: ReplyBody): void {
    if (this.#head !== null) this.#end({ outcome: 'reply', ...this.#head, body });
  }

  #end(exchange: Exchange): void {
    this.#is_over = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#late_timer);
    this.#resolve(exchange);
  }
}

function wholeOf(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function parseBody(bytes: Buffer, content_type: string): ReplyBody {
  const text = bytes.toString().trim(); // drops a byte order mark
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
