/** Events about the calling service: its webhook events, its subscription, its login. */
import type { EventDescription } from './description.ts';

export const SERVICE_EVENTS = {
  webhook_heard: {
    level: 'info',
    fields: [],
    means:
      'Webhook events arrive and agree with what polling finds; eligd polls less often from ' +
      'now on.',
  },
  webhook_believed: {
    level: 'info',
    fields: [],
    means:
      'A webhook event contained the same answer as the poll after it; from now on eligd ' +
      'takes complete answers from webhook events.',
  },
  webhook_contradicted: {
    level: 'warn',
    fields: ['inquiry'],
    means:
      'A webhook event contained a different answer than the poll after it. eligd uses the ' +
      'answer from the poll, and for a week it takes no answer from an event without polling.',
    next:
      'No action needed. If it happens again, tell the calling service; "eligd show inquiry:N" ' +
      'shows the inquiry.',
  },
  webhook_silent: {
    level: 'warn',
    fields: ['missed_answers'],
    means:
      'Polling found answers that no webhook event had reported (missed_answers); eligd goes ' +
      'back to polling. Logged once until webhook events arrive again.',
    next:
      '"eligd check" tests the whole path from outside; "eligd subscription show" shows where ' +
      'the service sends events.',
  },
  webhook_unreadable: {
    level: 'warn',
    fields: ['messages'],
    means:
      'Webhook events with a valid signature held something other than inquiries. eligd dropped ' +
      'them; it finds any changes by polling.',
    next:
      'No action needed. If it continues, someone else may be signing with this key, or the ' +
      'service has changed its messages; report it.',
  },
  webhook_strangers: {
    level: 'info',
    fields: ['unknown_inquiries'],
    means: 'Webhook events were about inquiries that this installation does not know.',
  },
  subscription_set: {
    level: 'info',
    fields: ['host', 'reason'],
    means:
      'The service sends webhook events to this installation from now on; reason says why ' +
      'eligd set the subscription.',
  },
  subscription_elsewhere: {
    level: 'error',
    fields: ['host'],
    means:
      'The account’s webhook subscription points to another address (host); eligd leaves it ' +
      'alone and polls for answers.',
    next: 'If no other system needs that address, set webhook.take_over: true.',
  },
  subscription_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'reason', 'wait_ms'],
    means:
      'The webhook subscription could not be read or set, or the service stored something ' +
      'else; eligd tries again.',
    next:
      'No action needed while it is rare: polling finds the answers. Otherwise "eligd ' +
      'subscription show" shows what the service has.',
  },
  webhook_refused: {
    level: 'warn',
    fields: ['error_code', 'http_status', 'reason', 'refusals'],
    means:
      'eligd refused a request to the webhook; reason says why, and refusals is how many there ' +
      'have been since the start. Logged once a minute for each reason.',
    next:
      'bad_signature: compare ELIGD_WEBHOOK_SECRET with the secret from the calling service; ' +
      'no_commit: check the disk.',
  },
  service_logged_in: {
    level: 'info',
    fields: [],
    means: 'eligd logged in to the calling service and uses a new access token.',
  },
  service_asked_to_wait: {
    level: 'warn',
    fields: ['http_status', 'retry_after_ms'],
    means: 'The service answered 429, or 5xx with Retry-After; all requests to it wait that long.',
    next:
      'No action needed. If calls go out too late because of it, ask the calling service for a ' +
      'higher limit.',
  },
  service_bookkeeping_failed: {
    level: 'error',
    fields: ['error_name', 'reason'],
    means:
      'After a request, eligd could not store its rate-limit slot, a pause, or the clock ' +
      'check. The outcome of the request is kept.',
    next:
      'Check disk space and permissions of the database. Until this works again, the rate ' +
      'limit may be stricter or looser than configured.',
  },
  service_page_link_refused: {
    level: 'warn',
    fields: ['specialty'],
    means:
      'The next page of a service list is on another host. eligd does not send its credentials ' +
      'there, so the list counts as incomplete.',
    next: 'Compare service.base_url with the address that the service uses for itself.',
  },
} as const satisfies Record<string, EventDescription>;
