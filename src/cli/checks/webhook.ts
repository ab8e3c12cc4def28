import { randomUUID } from 'node:crypto';
import { errorCode } from '../../domain/errors.ts';
import { createHttpAgent } from '../../network/http.ts';
import type { Way } from '../../network/way.ts';
import type { Config } from '../../ops/config.ts';
import { environmentWay } from '../../ops/network.ts';
import { type SecretSource, webhookSecrets } from '../../ops/secrets.ts';
import type { ServiceClient } from '../../service/api.ts';
import { isSameUrl, shownUrl } from '../../service/callback-url.ts';
import { sign } from '../../service/signature.ts';
import { isInInbox } from '../../store/answers/inbox.ts';
import { webhookState } from '../../store/answers/webhook-watch.ts';
import { isInstanceRunning } from '../../store/engine/instance-lock.ts';
import { readDatabase } from '../../store/engine/read-only.ts';
import { bad, type CheckedLine, checked, fine, skipped } from './line.ts';

type WebhookConfig = NonNullable<Config['webhook']>;

const TIMEOUT_MS = 15_000;
/** Longer than the default limit of common proxies (nginx: 1 MB). */
const LONG_BYTES = 1_500_000;
const PART = 'webhook';

/**
 * Tests the whole path of a webhook event from outside: one with a valid signature must arrive in
 * the inbox, and one with a forged signature must not.
 */
export async function checkWebhook(config: Config, secrets: SecretSource): Promise<CheckedLine[]> {
  const { webhook, state } = config;
  if (webhook === null) return [];
  return await checked(PART, async () => {
    const [secret] = webhookSecrets(secrets);
    if (secret === undefined || !isInstanceRunning(state.path)) {
      return [
        skipped(PART, 'Not checked, because the daemon is not running. Start it and check again.'),
      ];
    }
    const tried = await tryOut(webhook, secret.reveal(), state.path, environmentWay(secrets));
    return [tried, ...(await checkReports(state.path))];
  });
}

async function tryOut(
  webhook: WebhookConfig,
  secret: string,
  path: string,
  way: Way,
): Promise<CheckedLine> {
  const forged = await send(webhook, way, selfTest(webhook).body, `not ${secret}`);
  if (typeof forged === 'string') return unreachable(webhook, forged);
  if (forged >= 200 && forged < 300) {
    const what =
      `${webhook.public_url} accepted a webhook event with a wrong signature, so another ` +
      'program answers there, not eligd.';
    return bad(
      PART,
      'failed',
      what,
      'Set the proxy to forward this path to webhook.listen, without a login page in between.',
    );
  }
  const { message_hash, body } = selfTest(webhook);
  const status = await send(webhook, way, body, secret);
  if (typeof status === 'string') return unreachable(webhook, status);
  if (status !== 200) return refused(webhook, status);
  if (!(await readDatabase(path, (db) => isInInbox(db, message_hash)))) {
    const what =
      `${webhook.public_url} accepted a webhook event that is not in this database, so another ` +
      'eligd answers there.';
    return bad(
      PART,
      'failed',
      what,
      'Compare webhook.public_url and the proxy with webhook.listen of this configuration.',
    );
  }
  return fine(
    PART,
    `A test event arrived through ${webhook.public_url}, and a forged one was rejected.`,
  );
}

/** Builds a message without content, as long as a webhook event about many calls may be. */
function selfTest({ max_body_megabytes }: WebhookConfig): { message_hash: string; body: Buffer } {
  const message_hash = `eligd-check-${randomUUID()}`;
  const padding = ' '.repeat(Math.min(LONG_BYTES, max_body_megabytes * 900_000));
  return {
    message_hash,
    body: Buffer.from(
      JSON.stringify({ subscription_id: 'eligd-check', inquiries: [], message_hash, padding }),
    ),
  };
}

/** Returns the status of the answer, or the code of the network error. */
async function send(
  { public_url, signature_header }: WebhookConfig,
  way: Way,
  body: Buffer,
  secret: string,
): Promise<number | string> {
  const agent = createHttpAgent(() => way, { connections: 1, timeout_ms: TIMEOUT_MS });
  const { origin, pathname, search } = new URL(public_url);
  try {
    const response = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json', [signature_header]: sign(body, secret) },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body.dump();
    return response.statusCode;
  } catch (error) {
    return errorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
  } finally {
    await agent.destroy();
  }
}

function unreachable({ public_url, listen }: WebhookConfig, code: string): CheckedLine {
  const what = `${public_url} could not be reached from here (${code}).`;
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code)) {
    return bad(
      PART,
      'failed',
      what,
      'Give the proxy a certificate that is valid for this name, with the full certificate chain.',
    );
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return bad(
      PART,
      'failed',
      what,
      'Point the host name in webhook.public_url to the clinic’s address, or correct it.',
    );
  }
  const next =
    'Set the router to forward the port to the proxy, and the proxy to forward the path to ' +
    `${listen}. Some routers cannot be reached by their public name from inside; in that case, ` +
    'test it from outside.';
  return bad(PART, 'failed', what, next);
}

function refused({ public_url, listen }: WebhookConfig, status: number): CheckedLine {
  const next: Record<number, string> = {
    400: 'Set the proxy to forward the body unchanged.',
    401:
      'Set the proxy to forward the signature header, and the body unchanged. If ' +
      'ELIGD_WEBHOOK_SECRET has changed, restart the daemon.',
    404:
      'Set the proxy to forward exactly this path, or set webhook.path to the path that it ' +
      'forwards.',
    413:
      'Raise the proxy’s limit (nginx: client_max_body_size), and webhook.max_body_megabytes ' +
      'if necessary.',
    503: 'Check the disk: the daemon could not store the event.',
  };
  const proxy =
    status >= 500
      ? `Set the proxy to forward the path to ${listen}.`
      : 'Check what the proxy does with this path.';
  return bad(
    PART,
    'failed',
    `${public_url} answered a test event with ${status}.`,
    next[status] ?? proxy,
  );
}

/** Reports whether the service's own webhook events arrive and agree with its answers. */
async function checkReports(path: string): Promise<CheckedLine[]> {
  const { state } = await readDatabase(path, webhookState);
  if (state === 'heard')
    return [fine('reports', 'Webhook events arrive and agree with the service’s answers.')];
  if (state === 'unproven')
    return [skipped('reports', 'No webhook event has arrived for our inquiries yet.')];
  const next =
    'If the line above is ok, run "eligd subscription show" and ask the calling service.';
  return [
    bad(
      'reports',
      'failed',
      'eligd found answers that no webhook event had reported; it polls for answers instead.',
      next,
    ),
  ];
}

/** Checks which address the service's subscription names. */
export async function checkSubscription(
  client: ServiceClient,
  webhook: WebhookConfig | null,
): Promise<CheckedLine[]> {
  if (webhook === null) return [];
  const part = 'subscription';
  const found = await client.getSubscription({ priority: 'urgent' });
  if (!found.ok)
    return [bad(part, 'temporary', 'The subscription could not be read.', 'Try again later.')];
  if (found.value === null) {
    return [
      fine(
        part,
        'There is no subscription. The daemon creates one when it starts, and checks it every ' +
          'six hours.',
      ),
    ];
  }
  const { callback_url } = found.value;
  if (isSameUrl(callback_url, webhook.public_url))
    return [fine(part, `The service sends webhook events to ${webhook.public_url}.`)];
  const next =
    'If no other system needs that address, set webhook.take_over: true and restart the daemon.';
  return [
    bad(
      part,
      'failed',
      `The service sends webhook events to ${shownUrl(callback_url)}, not to ` +
        `${webhook.public_url}.`,
      next,
    ),
  ];
}
