/**
 * The route for the calling service's webhook events (docs/service.md "Events"). An event is stored
 * in the inbox in one commit and then acknowledged (G3); the collect stage interprets it later. No
 * part of a body is ever logged (G6).
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Env } from '../domain/env.ts';
import { errorCode } from '../domain/errors.ts';
import { hasTooManyValues } from '../domain/json-limits.ts';
import { verifySignature } from '../service/signature.ts';
import type { Inbox } from '../store/answers/inbox.ts';
import { BodyReader, BodyRefused } from './body.ts';
import { refuse } from './refusal.ts';
import type { HttpRoute } from './server.ts';

export type WebhookOptions = {
  /** The path of the route, such as `/webhooks/inquiries`. */
  path: string;
  signature_header: string;
  /** The current secret, and the previous one while a secret is being replaced. */
  secrets: readonly string[];
  body_bytes_max: number;
  inbox: Inbox;
  env: Env;
  /** Called when the inbox has a new message. */
  onStored: () => void;
  counts: WebhookCounts;
};

/** The number of events since the start, by outcome. */
export type WebhookCounts = Record<WebhookOutcome, number>;

type WebhookOutcome = 'stored' | 'duplicate' | WebhookRefusal;
type WebhookRefusal = 'bad_signature' | 'no_json' | 'too_large' | 'broken_off' | 'no_commit';

export function newWebhookCounts(): WebhookCounts {
  return {
    stored: 0,
    duplicate: 0,
    bad_signature: 0,
    no_json: 0,
    too_large: 0,
    broken_off: 0,
    no_commit: 0,
  };
}

const REFUSAL_STATUS: Readonly<Record<WebhookRefusal, number>> = {
  bad_signature: 401,
  no_json: 400,
  broken_off: 400,
  too_large: 413,
  no_commit: 503,
};
const RETRY_AFTER_SECONDS = 30;
/** The maximum number of values in one message; a thousand full answers have fewer. */
const MESSAGE_VALUES_MAX = 1_000_000;
/** How many bodies of maximum length fit in memory: enough for any genuine load. */
const BODIES_IN_MEMORY = 6;
/** Many refused requests must not fill the disk with log lines. */
const LOG_PAUSE_MS = 60_000;

export function webhookRoute(options: WebhookOptions): HttpRoute {
  const reader = new BodyReader({
    body_bytes_max: options.body_bytes_max,
    total_bytes_max: options.body_bytes_max * BODIES_IN_MEMORY,
  });
  const header = options.signature_header.toLowerCase();
  const secrets = [...options.secrets];
  const sayRefused = refusalLog(options.env);
  const refuseAs = (
    reply: FastifyReply,
    refusal: WebhookRefusal,
    error_code: string | null = null,
  ) => {
    options.counts[refusal] += 1;
    sayRefused(refusal, options.counts[refusal], error_code);
    if (refusal === 'no_commit') reply.header('retry-after', RETRY_AFTER_SECONDS);
    return refuse(reply, REFUSAL_STATUS[refusal]);
  };

  const receive = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const signature = request.headers[header];
    // The body of a request without a well-formed signature is not read into memory.
    if (typeof signature !== 'string' || !/^[0-9a-f]{64}$/.test(signature))
      return refuseAs(reply, 'bad_signature');
    let read: Awaited<ReturnType<BodyReader['read']>>;
    try {
      read = await reader.read(request.raw, contentLength(request));
    } catch (error) {
      if (!(error instanceof BodyRefused)) throw error;
      return refuseAs(
        reply,
        error.status === 413 ? 'too_large' : error.status === 503 ? 'no_commit' : 'broken_off',
      );
    }
    const { body, release } = read;
    try {
      if (!verifySignature({ body, signature, secrets })) return refuseAs(reply, 'bad_signature');
      if (hasTooManyValues(body, MESSAGE_VALUES_MAX)) return refuseAs(reply, 'too_large');
      const message_hash = messageHash(body);
      if (message_hash === null) return refuseAs(reply, 'no_json');
      let outcome: 'stored' | 'duplicate';
      try {
        outcome = await options.inbox.accept({
          message_hash,
          body,
          received_at: options.env.clock.now(),
        });
      } catch (error) {
        return refuseAs(reply, 'no_commit', errorCode(error));
      }
      options.counts[outcome] += 1;
      if (outcome === 'stored') options.onStored();
      return reply.code(200).send();
    } finally {
      release();
    }
  };

  return (app) => void app.post(options.path, receive);
}

function contentLength(request: FastifyRequest): number | null {
  const text = request.headers['content-length'];
  return text === undefined ? null : Number(text);
}

/** Returns the message's `message_hash`, or else a hash of the body. Null: it is not JSON. */
function messageHash(body: Buffer): string | null {
  let message: unknown;
  try {
    message = JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof message === 'object' && message !== null && 'message_hash' in message) {
    const { message_hash } = message;
    // Text that is not well-formed Unicode would come back from the database changed.
    const is_text = typeof message_hash === 'string' && message_hash.isWellFormed();
    if (is_text && message_hash !== '' && message_hash.length <= 500) return message_hash;
  }
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

/**
 * Logs the first refusal of a kind at once, and later ones at most once a minute, each with the
 * count since the start.
 */
function refusalLog(
  env: Env,
): (refusal: WebhookRefusal, count: number, error_code: string | null) => void {
  const said_at = new Map<WebhookRefusal, number>();
  return (refusal, count, error_code) => {
    const now = env.clock.elapsed();
    const before = said_at.get(refusal);
    if (before !== undefined && now - before < LOG_PAUSE_MS) return;
    said_at.set(refusal, now);
    env.log('webhook_refused', {
      reason: refusal,
      http_status: REFUSAL_STATUS[refusal],
      refusals: count,
      error_code,
    });
  };
}
