/**
 * The class of a failure, decided where it happens (docs/design.md "The two legs of an inquiry").
 * One table for each kind of call, because the same status means different things: a 404 on a
 * single create says that the path is wrong, on the bulk path that there is no bulk.
 */
import type { AmbiguousCause, ServiceFailure, UnsentCause, ValidationItem } from './api.ts';
import type { Exchange, HttpReply } from './transport.ts';
import { parseValidationItems } from './wire.ts';

export function fail(failure: ServiceFailure): { ok: false; failure: ServiceFailure } {
  return { ok: false, failure };
}

export function unsent(
  cause: UnsentCause,
  status: number | null = null,
  retry_after_ms: number | null = null,
): ServiceFailure {
  return { class: 'unsent', cause, status, retry_after_ms };
}

export function ambiguous(
  cause: AmbiguousCause,
  told: { status?: number | null; retry_after_ms?: number | null; accepted?: boolean } = {},
): ServiceFailure {
  const { status = null, retry_after_ms = null, accepted = false } = told;
  return { class: 'ambiguous', cause, status, retry_after_ms, accepted };
}

/** What became of a call before anybody asked what its status means. */
export type Answered =
  | {
      outcome: 'reply';
      reply: HttpReply /** As read from the reply. */;
      retry_after_ms: number | null;
    }
  | { outcome: 'none'; failure: ServiceFailure };

/** A 2xx with its reply, or the failure that the status means for every call but a bulk create. */
export type Settled = { ok: true; reply: HttpReply } | { ok: false; failure: ServiceFailure };

export function settle(answered: Answered): Settled {
  if (answered.outcome === 'none') return fail(answered.failure);
  const failure = failureOfStatus(answered.reply, answered.retry_after_ms);
  return failure === null ? { ok: true, reply: answered.reply } : fail(failure);
}

export function failureOfExchange(exchange: Exclude<Exchange, HttpReply>): ServiceFailure {
  return exchange.outcome === 'unsent' ? unsent(exchange.cause) : ambiguous(exchange.cause);
}

/** Null for a 2xx. */
export function failureOfStatus(
  reply: HttpReply,
  retry_after_ms: number | null,
): ServiceFailure | null {
  const { status } = reply;
  switch (status) {
    case 401:
      return unsent('unauthorized', status, retry_after_ms);
    case 429:
      return unsent('rate_limited', status, retry_after_ms);
    case 400:
    case 422:
      return { class: 'refused', status, errors: errorsOf(reply) };
    case 402:
    case 403:
    case 404:
    case 405:
    case 407:
      return { class: 'stopped', status, retry_after_ms };
    default:
      return otherStatus(reply, retry_after_ms);
  }
}

/** 2xx is no failure of the status; all that the tables do not name is ambiguous. */
export function otherStatus(
  reply: HttpReply,
  retry_after_ms: number | null,
): ServiceFailure | null {
  const { status } = reply;
  if (status >= 200 && status < 300) return null;
  return ambiguous(status >= 300 && status < 400 ? 'redirect' : 'http_status', {
    status,
    retry_after_ms,
  });
}

export function errorsOf(reply: HttpReply): ValidationItem[] {
  return reply.body.form === 'json' ? parseValidationItems(reply.body.value) : [];
}

/**
 * A reply whose body is of no use. A 201, 202 or 204 without a body still is the service's own word
 * that it took the request.
 */
export function uselessBody(reply: HttpReply): ServiceFailure {
  const { status, body } = reply;
  if (body.form === 'broken') return ambiguous(body.cause, { status });
  if (body.form === 'empty' && status !== 200)
    return ambiguous('no_usable_id', { status, accepted: true });
  return ambiguous('unreadable_reply', { status });
}

/** The same for a read, which creates nothing and so is never `accepted`. */
export function uselessRead(reply: HttpReply): ServiceFailure {
  const { status, body } = reply;
  return ambiguous(body.form === 'broken' ? body.cause : 'unreadable_reply', { status });
}
