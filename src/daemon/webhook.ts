/**
 * The webhook's part of the composition root: what the daemon creates if the configuration has a
 * section `webhook`.
 */
import type { Env } from '../domain/env.ts';
import { MINUTE_MS } from '../domain/time.ts';
import type { HttpService } from '../http/server.ts';
import { type WebhookCounts, webhookRoute } from '../http/webhook.ts';
import type { Config } from '../ops/config.ts';
import { parseAddress } from '../ops/config-values.ts';
import { type SecretSource, webhookSecrets } from '../ops/secrets.ts';
import type { ServiceClient } from '../service/api.ts';
import type { CollectDeps, WebhookWatch } from '../stages/collect/deps.ts';
import { reschedulePolls } from '../stages/collect/poll/webhook-watch.ts';
import { openInbox } from '../store/answers/inbox.ts';
import {
  beginListening,
  forgetState,
  forgetWebhook,
  WEBHOOK_SUBJECT,
  webhookState,
} from '../store/answers/webhook-watch.ts';
import { resolveAttention } from '../store/bookkeeping/attention.ts';
import type { Store } from '../store/engine/store.ts';
import type { SubscriptionDeps } from './subscription.ts';

type WebhookConfig = NonNullable<Config['webhook']>;

/** Creates the route for the service's webhook events. Throws without a secret to verify them. */
export function webhookService(
  webhook: WebhookConfig,
  secrets: SecretSource,
  parts: { store: Store; env: Env; onStored: () => void; counts: WebhookCounts },
): HttpService {
  const { store, ...rest } = parts;
  const route = webhookRoute({
    ...rest,
    path: webhook.path ?? new URL(webhook.public_url).pathname,
    signature_header: webhook.signature_header,
    secrets: webhookSecrets(secrets).map((secret) => secret.reveal()),
    body_bytes_max: webhook.max_body_megabytes * 1_000_000,
    inbox: openInbox(store, rest.env.clock),
  });
  return { address: addressOf(webhook.listen), route };
}

/** Parses an address that validation has already accepted. */
export function addressOf(listen: string): { host: string; port: number } {
  const address = parseAddress(listen);
  if (address === null) throw new Error('The validated configuration contains an invalid address.');
  return address;
}

export function webhookWatch(webhook: WebhookConfig, onSilent: () => void): WebhookWatch {
  return {
    grace_ms: graceMs(webhook.update_frequency_minutes),
    sample_at: 0,
    compare_at: 0,
    onSilent,
  };
}

/** An event may arrive one interval late; allow the same time again. */
function graceMs(update_frequency_minutes: number): number {
  return (2 * update_frequency_minutes + 2) * MINUTE_MS;
}

export function subscriptionDeps(
  webhook: WebhookConfig,
  parts: { store: Store; env: Env; client: ServiceClient; watch: WebhookWatch | null },
): SubscriptionDeps {
  const { public_url, update_frequency_minutes, take_over } = webhook;
  const { watch, ...rest } = parts;
  const wanted = { callback_url: public_url, update_frequency_min: update_frequency_minutes };
  // The service may send events less often than requested.
  const onKept = (minutes: number) => {
    if (watch !== null) watch.grace_ms = graceMs(minutes);
  };
  const onRight = () => listenAgain(rest.store, rest.env.clock.now());
  return { ...rest, wanted, take_over, onKept, onRight, is_elsewhere: false, failures: 0 };
}

/** Starts over after webhook events were blocked: events missing until now prove nothing. */
export async function listenAgain(store: Store, now: number): Promise<void> {
  await store.write(async (tx) => {
    await beginListening(tx);
    if ((await webhookState(tx)).state === 'silent') await forgetState(tx);
    await resolveAttention(tx, WEBHOOK_SUBJECT, now, ['webhook_silent']);
  });
}

/**
 * Resets what the daemon knows about webhook events at its start, and forgets it if no webhook is
 * configured. Events may have been lost while it did not run, so each open inquiry is polled once
 * as if no events arrived.
 */
export async function beginReports(collect: CollectDeps): Promise<void> {
  const has_webhook = collect.webhook !== null;
  await collect.store.write((tx) => (has_webhook ? beginListening(tx) : forgetWebhook(tx)));
  if (has_webhook) await reschedulePolls(collect, false);
}
