/**
 * Keeps the service's only subscription as configured. This is not one of the five stages: it moves
 * no rows. At the start, the subscription is registered and read back. Later it is compared on a
 * schedule, and corrected when someone has changed it. A subscription with another address belongs
 * to someone else and is replaced only if `take_over` is configured. It remains after a stop.
 */
import type { Attention } from '../domain/attention.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { Env } from '../domain/env.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import type { ServiceClient, ServiceFailure, Subscription } from '../service/api.ts';
import { isSameUrl, shownUrl } from '../service/callback-url.ts';
import type { StepResult } from '../stages/loop.ts';
import { raiseAttention, resolveAttention } from '../store/bookkeeping/attention.ts';
import { readLearned, writeLearned } from '../store/bookkeeping/learned-settings.ts';
import type { Store } from '../store/engine/store.ts';

/** How often a correct subscription is compared. */
const COMPARE_MS = 6 * HOUR_MS;
const FAILURE_LIMITS = { first_ms: MINUTE_MS, max_ms: HOUR_MS };
/**
 * The address registered last. If the configured address has changed, a subscription with this one
 * is still ours.
 */
const OURS = 'subscription_url';
const ABOUT = { connector: null, appointment: null, inquiry: null, subject: 'subscription' };

export type SubscriptionDeps = {
  store: Store;
  env: Env;
  client: ServiceClient;
  wanted: { callback_url: string; update_frequency_min: number };
  take_over: boolean;
  /** Called with the minutes between two webhook events, as the service stores them. */
  onKept: (update_frequency_min: number) => void;
  /** Called when a wrong subscription has become correct. */
  onRight: () => Promise<void>;
  /** At the last comparison, it belonged to someone else. */
  is_elsewhere: boolean;
  /** Failures in a row. */
  failures: number;
};

export async function subscriptionStep(deps: SubscriptionDeps): Promise<StepResult> {
  const { client, env, store, wanted } = deps;
  const found = await client.getSubscription();
  if (!found.ok) return await failed(deps, found.failure);
  const reason = await reasonToSet(deps, found.value);
  if (reason === 'elsewhere') {
    deps.is_elsewhere = true;
    return await leaveElsewhere(deps, found.value?.callback_url ?? '');
  }
  let kept = found.value;
  if (reason !== null) {
    const set = await client.setSubscription(wanted);
    if (!set.ok) return await failed(deps, set.failure);
    if (!isSameUrl(set.value.callback_url, wanted.callback_url)) return await notKept(deps);
    env.log('subscription_set', { reason, host: hostOf(wanted.callback_url) });
    kept = set.value;
  }
  deps.onKept(kept?.update_frequency_min ?? wanted.update_frequency_min);
  deps.failures = 0;
  const now = env.clock.now();
  if (reason !== null || deps.is_elsewhere) await deps.onRight();
  deps.is_elsewhere = false;
  await store.write(async (tx) => {
    await writeLearned(tx, OURS, wanted.callback_url, now);
    await resolveAttention(tx, ABOUT.subject, now);
  });
  return { did: 0, next_at: now + COMPARE_MS };
}

/** Returns why to set it; null: it is correct. `elsewhere`: it belongs to someone else. */
async function reasonToSet(
  { store, wanted, take_over }: SubscriptionDeps,
  found: Subscription | null,
): Promise<'absent' | 'changed' | 'moved' | 'taken_over' | 'elsewhere' | null> {
  if (found === null) return 'absent';
  if (isAsWanted(found, wanted)) return null;
  if (isSameUrl(found.callback_url, wanted.callback_url)) return 'changed';
  const ours = await readLearned(store.db, OURS);
  if (ours !== null && isSameUrl(found.callback_url, ours.value)) return 'moved';
  return take_over ? 'taken_over' : 'elsewhere';
}

function isAsWanted(found: Subscription, wanted: SubscriptionDeps['wanted']): boolean {
  const { callback_url, update_frequency_min } = found;
  const is_as_often =
    update_frequency_min == null || update_frequency_min === wanted.update_frequency_min;
  return isSameUrl(callback_url, wanted.callback_url) && is_as_often;
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'unknown';
}

async function leaveElsewhere(
  { store, env }: SubscriptionDeps,
  callback_url: string,
): Promise<StepResult> {
  const now = env.clock.now();
  env.log('subscription_elsewhere', { host: hostOf(callback_url) });
  await raise(store, now, {
    reason: 'subscription_elsewhere',
    what:
      `The service sends webhook events to ${shownUrl(callback_url)}, and an account has only ` +
      'one such address. eligd left it alone and polls for answers instead.',
    next:
      'Find out whose address that is. If no other system needs it, set webhook.take_over: true ' +
      'in the configuration and restart eligd.',
  });
  return { did: 0, next_at: now + COMPARE_MS };
}

async function notKept({ store, env }: SubscriptionDeps): Promise<StepResult> {
  const now = env.clock.now();
  env.log('subscription_failed', { reason: 'not_kept' });
  await raise(store, now, {
    reason: 'subscription_failed',
    what:
      'The service did not store the address for webhook events. ' +
      'eligd polls for answers instead.',
    next: 'Run "eligd subscription show", and ask the calling service.',
  });
  return { did: 0, next_at: now + COMPARE_MS };
}

/** Puts lasting failures on the attention list; network problems pass. */
async function failed(deps: SubscriptionDeps, failure: ServiceFailure): Promise<StepResult> {
  const { store, env } = deps;
  deps.failures += 1;
  const now = env.clock.now();
  const wait_ms = backoffMs(deps.failures, FAILURE_LIMITS, env.random());
  const http_status = 'status' in failure ? failure.status : null;
  env.log('subscription_failed', { failure: failure.class, http_status, wait_ms });
  if (failure.class === 'refused' || failure.class === 'stopped') {
    await raise(store, now, {
      reason: 'subscription_failed',
      what:
        `The service refuses to send webhook events to this clinic (status ${failure.status}). ` +
        'eligd polls for answers instead.',
      next:
        'Run "eligd subscription set" to see what the service says, ' +
        'and ask the calling service.',
    });
  }
  return { did: 0, next_at: now + wait_ms };
}

function raise(store: Store, now: number, entry: Attention): Promise<void> {
  return store.write((tx) => raiseAttention(tx, ABOUT, entry, now));
}
