/**
 * Sends a call: credentials, the rate limit's gate, the queue (bounded concurrency), one exchange,
 * and its repetition with a new token after a 401, or after a 403 to a token that had worked. The
 * caller interprets the reply.
 *
 *     token ─▶ gate ─▶ queue ─▶ exchange ─▶ 401, 403? new token ─▶ gate ─▶ queue ─▶ exchange
 *
 * The token comes before the gate, so that a request that waits for a token holds no slot. The
 * queue comes after the gate, so that requests without a slot do not fill it. The waiting happens
 * at the gate, which serves `send` and `urgent` first.
 */
import PQueue from 'p-queue';
import type { GatePass, RequestPriority, ServiceClientOptions } from './api.ts';
import { parseHttpDate, parseRetryAfter } from './dates.ts';
import { type Answered, failureOfExchange, unsent } from './failures.ts';
import { type LoginOutcome, type TokenOutcome, TokenSource } from './token.ts';
import {
  createTransport,
  type Exchange,
  type HttpReply,
  type HttpRequest,
  type Transport,
} from './transport.ts';
import { tokenReplySchema } from './wire.ts';

/** Pause of all calls after a 429 without Retry-After, doubled each time that it was too short. */
const DEFAULT_PAUSE = { first_ms: 5_000, max_ms: 60_000 };

const QUEUE_PRIORITY: Record<RequestPriority, number> = { send: 2, urgent: 1, routine: 0 };

export type Call = {
  method: HttpRequest['method'];
  /** From the origin on, with the query. */
  path: string;
  json?: string;
  newReader?: HttpRequest['newReader'];
  priority: RequestPriority;
  signal: AbortSignal | undefined;
};

type Sent = {
  exchange: Exchange;
  sent_ms: number;
  received_ms: number;
  retry_after_ms: number | null;
};

export class Session {
  /** The origin of the calls, without the base URL's path. */
  readonly origin: string;
  /** The base URL's path, without a trailing slash. */
  readonly prefix: string;
  readonly #options: ServiceClientOptions;
  readonly #transport: Transport;
  readonly #queue: PQueue;
  readonly #tokens: TokenSource;
  readonly #closing = new AbortController();
  readonly #cutting = new AbortController();
  readonly #under_way = new Set<Promise<Answered>>();
  /** The number of times that the service has requested a pause. */
  #pauses = 0;
  /** Pauses of unknown length since the last successful request. */
  #default_pauses = 0;
  #default_until_elapsed = 0;
  #closed: Promise<void> | null = null;

  constructor(options: ServiceClientOptions, base: URL) {
    this.origin = base.origin;
    this.prefix = base.pathname.replace(/\/+$/, '');
    this.#options = options;
    const { timeout_ms, concurrency, dispatcher, way, onListGrows } = options;
    this.#transport = createTransport({
      origin: this.origin,
      timeout_ms,
      concurrency,
      dispatcher,
      way,
      onListGrows,
    });
    this.#queue = new PQueue({ concurrency });
    this.#tokens = new TokenSource(() => this.#login(), options.env.clock);
  }

  /**
   * Performs a call. Never rejects because of the network or the service; rejects when the gate
   * (the store) fails.
   */
  async perform(call: Call): Promise<Answered> {
    const waiting = linkSignals(call.signal, this.#closing.signal);
    const work = this.#authorized(call, waiting.signal);
    this.#under_way.add(work);
    try {
      return await work;
    } finally {
      this.#under_way.delete(work);
      waiting.unlink();
    }
  }

  /** Forgets the token, so that the next call logs in; for checking the credentials. */
  forgetToken(): void {
    this.#tokens.forget();
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#closing.abort();
      await Promise.allSettled(this.#under_way);
      await this.#transport.close();
    })();
    return this.#closed;
  }

  cut(): void {
    this.#closing.abort();
    this.#cutting.abort();
  }

  async #authorized(call: Call, waiting: AbortSignal): Promise<Answered> {
    const { credentials } = this.#options;
    if (credentials.scheme === 'basic') {
      const { project_id, api_key } = credentials;
      const pair = Buffer.from(`${project_id}:${api_key}`, 'utf8').toString('base64');
      return this.#pass(call, `Basic ${pair}`, waiting);
    }
    const first = await unlessAborted(this.#tokens.current(), waiting);
    if (first === null || !first.ok) return this.#withoutToken(first);
    const answered = await this.#pass(call, `Bearer ${first.token}`, waiting);
    if (answered.outcome === 'none') return answered;
    const { status } = answered.reply;
    const kind = this.#kindOf(call);
    if (status >= 200 && status < 300) this.#tokens.noteAccepted(first.token, kind);
    const is_refused =
      status === 401 || (status === 403 && this.#tokens.mayHaveExpired(first.token, kind));
    if (!is_refused) return answered;
    const second = await unlessAborted(this.#tokens.replace(first.token), waiting);
    if (second === null || !second.ok) return this.#withoutToken(second);
    const repeated = await this.#pass(call, `Bearer ${second.token}`, waiting);
    if (repeated.outcome === 'none') return repeated;
    if (repeated.reply.status < 300) this.#tokens.noteAccepted(second.token, kind);
    if (repeated.reply.status === 403) this.#tokens.noteForbidden(second.token, kind);
    return repeated;
  }

  /**
   * Returns the kind of call that an account may or may not be allowed: `GET
   * /api/v0/dental/inquiries`, regardless of the ID.
   */
  #kindOf({ method, path }: Call): string {
    const [place = ''] = path.slice(this.prefix.length).split('?', 1);
    return `${method} ${place.split('/').slice(0, 5).join('/')}`;
  }

  #withoutToken(outcome: (TokenOutcome & { ok: false }) | null): Answered {
    if (outcome === null) return this.#stopped();
    return { outcome: 'none', failure: outcome.failure };
  }

  #pass(call: Call, authorization: string, waiting: AbortSignal): Promise<Answered> {
    const headers: Record<string, string> = {
      authorization,
      accept: 'application/json',
      'user-agent': this.#options.user_agent ?? 'eligd',
    };
    if (call.json !== undefined) headers['content-type'] = 'application/json';
    const { method, path, json: body = null, newReader } = call;
    const request = { method, path, headers, body, ...(newReader && { newReader }) };
    return this.#throughGate(request, call.priority, waiting);
  }

  /** Makes one exchange and reports the service's clock. */
  async #throughGate(
    request: HttpRequest,
    priority: RequestPriority,
    waiting: AbortSignal,
  ): Promise<Answered> {
    const { onServiceDate } = this.#options;
    const sent = await this.#exchange(request, priority, waiting);
    if (sent === null) return this.#stopped();
    const { exchange, sent_ms, received_ms, retry_after_ms } = sent;
    if (exchange.outcome !== 'reply')
      return { outcome: 'none', failure: failureOfExchange(exchange) };
    const service_ms = parseHttpDate(String(exchange.headers.date ?? ''));
    if (service_ms !== null)
      await this.#keepResult('service_date', async () =>
        onServiceDate?.({ service_ms, sent_ms, received_ms }),
      );
    return { outcome: 'reply', reply: exchange, retry_after_ms };
  }

  /**
   * Makes one exchange with a slot of the rate limit, and obeys a Retry-After. Null: stopped before
   * anything was sent.
   */
  async #exchange(
    request: HttpRequest,
    priority: RequestPriority,
    waiting: AbortSignal,
  ): Promise<Sent | null> {
    const { clock } = this.#options.env;
    for (;;) {
      let pass: GatePass;
      try {
        pass = await this.#options.gate.enter(priority, waiting);
      } catch (error) {
        if (waiting.aborted) return null;
        throw error;
      }
      const pauses = this.#pauses;
      try {
        const sent = await this.#inQueue(priority, waiting, async () => {
          // Another request was told to wait while this one was in the queue: back to the gate.
          if (pauses !== this.#pauses) return 'paused';
          const began = { at_ms: clock.now(), elapsed_ms: clock.elapsed() };
          const exchange = await this.#transport.exchange(request, this.#cutting.signal);
          const received_ms = clock.now();
          // If the clock was set back meanwhile, a wrong difference of the clocks would end the
          // wait for the office about a doubtful call too early (G1).
          const duration_ms = Math.round(clock.elapsed() - began.elapsed_ms);
          const sent_ms = Math.min(began.at_ms, received_ms - duration_ms);
          // Before the next request in the queue may start.
          const retry_after_ms =
            exchange.outcome === 'reply' ? await this.#obeyRetryAfter(exchange, received_ms) : null;
          return { exchange, sent_ms, received_ms, retry_after_ms };
        });
        if (sent !== 'paused') return sent;
      } finally {
        // Not awaited: the end of the slot shares a commit with what the caller stores next.
        void this.#keepResult('leave', () => pass.leave());
      }
    }
  }

  /**
   * Runs `work` when the queue has room. A stop removes it from the queue, which returns null, but
   * does not abort a request in flight.
   */
  async #inQueue<Value>(
    priority: RequestPriority,
    waiting: AbortSignal,
    work: () => Promise<Value>,
  ): Promise<Value | null> {
    const queued = { priority: QUEUE_PRIORITY[priority] };
    // With room, the work starts at once, and there is nothing to remove from the queue.
    if (this.#queue.pending < this.#queue.concurrency)
      return waiting.aborted ? null : await this.#queue.add(work, queued);
    const leave = new AbortController();
    let is_running = false;
    const onStop = () => {
      if (!is_running) leave.abort();
    };
    waiting.addEventListener('abort', onStop, { once: true });
    if (waiting.aborted) onStop();
    try {
      const run = () => {
        is_running = true;
        return work();
      };
      return await this.#queue.add(run, { ...queued, signal: leave.signal });
    } catch (error) {
      if (!is_running && leave.signal.aborted) return null;
      throw error;
    } finally {
      waiting.removeEventListener('abort', onStop);
    }
  }

  /** Pauses all calls: after a 429 with or without a Retry-After, after a 5xx only with one. */
  async #obeyRetryAfter(reply: HttpReply, now_ms: number): Promise<number | null> {
    const { status, headers } = reply;
    if (status < 400) this.#default_pauses = 0;
    const retry_after_ms = parseRetryAfter(headers['retry-after'], headers.date, now_ms);
    if (status !== 429 && (status < 500 || retry_after_ms === null)) return retry_after_ms;
    const pause_ms = retry_after_ms ?? this.#defaultPause();
    this.#pauses += 1;
    this.#options.env.log('service_asked_to_wait', {
      http_status: status,
      retry_after_ms: pause_ms,
    });
    await this.#keepResult('pause', () => this.#options.gate.pause(now_ms + pause_ms));
    if (status === 429) await this.#keepResult('slow', () => this.#options.gate.slowDown?.());
    return retry_after_ms;
  }

  /**
   * Returns the length of the pause. Requests in flight together are rejected together, which
   * counts once.
   */
  #defaultPause(): number {
    const elapsed = this.#options.env.clock.elapsed();
    if (elapsed >= this.#default_until_elapsed) this.#default_pauses += 1;
    const { first_ms, max_ms } = DEFAULT_PAUSE;
    const pause_ms = Math.min(first_ms * 2 ** Math.max(0, this.#default_pauses - 1), max_ms);
    this.#default_until_elapsed = Math.max(this.#default_until_elapsed, elapsed + pause_ms);
    return pause_ms;
  }

  /** Runs work next to a request; its failure must not replace the outcome of the request. */
  async #keepResult(reason: string, work: () => Promise<void> | void): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.env.log('service_bookkeeping_failed', {
        reason,
        error_name: error instanceof Error ? error.name : typeof error,
      });
    }
  }

  #stopped(): Answered {
    return { outcome: 'none', failure: unsent(this.#stopCause()) };
  }

  #stopCause(): 'closed' | 'aborted' {
    return this.#closing.signal.aborted ? 'closed' : 'aborted';
  }

  /**
   * Logs in: POST /api/v0/auth/token. With any failure here, the call that needed the token was not
   * sent.
   */
  async #login(): Promise<LoginOutcome> {
    const { credentials, user_agent, env } = this.#options;
    if (credentials.scheme !== 'oauth') return { ok: false, failure: unsent('login_failed') };
    const { username, password } = credentials;
    const request: HttpRequest = {
      method: 'POST',
      path: `${this.prefix}/api/v0/auth/token`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
        'user-agent': user_agent ?? 'eligd',
      },
      body: new URLSearchParams({ username, password }).toString(),
    };
    const answered = await this.#throughGate(request, 'send', this.#closing.signal);
    if (answered.outcome === 'none') {
      return {
        ok: false,
        failure: answered.failure.class === 'unsent' ? answered.failure : unsent('login_failed'),
      };
    }
    const { retry_after_ms } = answered;
    const { status, body } = answered.reply;
    if ([400, 401, 403, 422].includes(status))
      return { ok: false, failure: unsent('unauthorized', status) };
    if (status === 429)
      return { ok: false, failure: unsent('rate_limited', status, retry_after_ms) };
    if (status < 200 || status > 299)
      return { ok: false, failure: unsent('login_failed', status, retry_after_ms) };
    const parsed = tokenReplySchema.safeParse(body.form === 'json' ? body.value : undefined);
    if (!parsed.success) return { ok: false, failure: unsent('login_unreadable', status) };
    env.log('service_logged_in', {});
    const { access_token, expires_in } = parsed.data;
    return {
      ok: true,
      token: access_token,
      lifetime_ms: typeof expires_in === 'number' ? expires_in * 1000 : null,
    };
  }
}

/**
 * Returns the promise's value, or null as soon as the signal is aborted; the promise itself
 * continues for other callers.
 */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const aborted = Promise.withResolvers<null>();
  const onAbort = () => aborted.resolve(null);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Returns a signal that follows both signals until `unlink`. Does not use `AbortSignal.any`: Node
 * keeps memory for each of those as long as its sources exist, and these exist as long as the
 * daemon.
 */
function linkSignals(
  one: AbortSignal | undefined,
  other: AbortSignal,
): { signal: AbortSignal; unlink: () => void } {
  if (one === undefined) return { signal: other, unlink: () => {} };
  const linked = new AbortController();
  const abort = () => linked.abort();
  if (one.aborted || other.aborted) abort();
  one.addEventListener('abort', abort, { once: true });
  other.addEventListener('abort', abort, { once: true });
  const unlink = () => {
    one.removeEventListener('abort', abort);
    other.removeEventListener('abort', abort);
  };
  return { signal: linked.signal, unlink };
}
