/**
 * Classifies each failure where it occurs (docs/design.md "Failures are classified where they
 * happen"). Each kind of call has its own table, because the same status means different things: a
 * 404 to a single create means a wrong path, on the bulk path it means that there is no bulk
 * endpoint.
 */
import type { AmbiguousCause, ServiceFailure, UnsentCause, ValidationItem } from './api.ts';
import type { Exchange, HttpReply } from './transport.ts';
import { parseValidationItems } from './wire.ts';

/** Returns a failed result. */
export function fail(failure: ServiceFailure): { ok: false; failure: ServiceFailure } {
  return { ok: false, failure };
}

/** Returns a failure after which the request can safely be sent again. */
export function unsent(
  cause: UnsentCause,
  status: number | null = null,
  retry_after_ms: number | null = null,
): ServiceFailure {
  return { class: 'unsent', cause, status, retry_after_ms };
}

/** Returns a failure after which a lookup must precede any resend. */
export function ambiguous(
  cause: AmbiguousCause,
  details: { status?: number | null; retry_after_ms?: number | null; accepted?: boolean } = {},
): ServiceFailure {
  const { status = null, retry_after_ms = null, accepted = false } = details;
  return { class: 'ambiguous', cause, status, retry_after_ms, accepted };
}

/** The outcome of a call before its status is interpreted. */
export type Answered =
  | {
      outcome: 'reply';
      reply: HttpReply;
      /** As read from the reply. */
      retry_after_ms: number | null;
    }
  | { outcome: 'none'; failure: ServiceFailure };

/**
 * A 2xx with its reply, or the failure that the status means for every call except a bulk create.
 */
export type Settled = { ok: true; reply: HttpReply } | { ok: false; failure: ServiceFailure };

/** Returns the reply of a successful call; otherwise its failure. */
export function settle(answered: Answered): Settled {
  if (answered.outcome === 'none') return fail(answered.failure);
  const failure = failureOfStatus(answered.reply, answered.retry_after_ms);
  return failure === null ? { ok: true, reply: answered.reply } : fail(failure);
}

/** Returns the failure of a request that got no status. */
export function failureOfExchange(exchange: Exclude<Exchange, HttpReply>): ServiceFailure {
  return exchange.outcome === 'unsent' ? unsent(exchange.cause) : ambiguous(exchange.cause);
}

/** Returns the failure that the status means; null for a 2xx. */
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

/** Returns the failure for a status that the tables do not name: ambiguous; null for a 2xx. */
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

/** Returns the validation errors in the body; empty when it contains none. */
export function errorsOf(reply: HttpReply): ValidationItem[] {
  return reply.body.form === 'json' ? parseValidationItems(reply.body.value) : [];
}

/** Returns whether the status alone says that the service accepted the request. */
export function saysAccepted(status: number): boolean {
  return status === 201 || status === 202;
}

/**
 * Returns the failure for a reply with an unusable body. A 2xx other than 200 without a body still
 * means that the service accepted the request. So does a 201 or 202 whose body is unreadable, for
 * one inquiry: of several (`count`), the service may have refused some.
 */
export function uselessBody(reply: HttpReply, count = 1): ServiceFailure {
  const { status, body } = reply;
  const accepted = saysAccepted(status) && count === 1;
  if (body.form === 'broken') return ambiguous(body.cause, { status, accepted });
  if (body.form === 'empty' && status !== 200)
    return ambiguous('no_usable_id', { status, accepted: true });
  return ambiguous('unreadable_reply', { status, accepted });
}

/**
 * Returns the failure as `uselessBody` does, but for a read, which creates nothing and so is never
 * `accepted`.
 */
export function uselessRead(reply: HttpReply): ServiceFailure {
  const { status, body } = reply;
  return ambiguous(body.form === 'broken' ? body.cause : 'unreadable_reply', { status });
}
