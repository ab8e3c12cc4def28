/** The calling service: its webhook events, its subscription, its login. */
import type { EventDescription } from './description.ts';

export const SERVICE_EVENTS = {
  webhook_heard: {
    level: 'info',
    fields: [],
    means:
      'Webhook events come, and agree with what eligd finds when it asks; it asks less often ' +
      'from now on.',
  },
  webhook_believed: {
    level: 'info',
    fields: [],
    means:
      'A report held the same answer as the reply to the question after it: from now on ' +
      'whole answers are taken from reports.',
  },
  webhook_contradicted: {
    level: 'warn',
    fields: ['inquiry'],
    means:
      'A report held another answer than the reply to the question after it. The reply ' +
      'counts, and for a week no answer is taken from a report without asking.',
    next:
      'Nothing. If it comes again, tell the calling service; eligd show inquiry:N says ' +
      'which inquiry it was.',
  },
  webhook_silent: {
    level: 'warn',
    fields: ['missed_answers'],
    means:
      'Answers were found by asking that no report has told of (missed_answers); asking takes ' +
      'over. Said once until reports come again.',
    next:
      'eligd check tries the whole way from outside; eligd subscription show says where the ' +
      'service reports to.',
  },
  webhook_unreadable: {
    level: 'warn',
    fields: ['messages'],
    means:
      'Reports that are signed rightly and hold something else than inquiries; they are ' +
      'dropped, and asking finds what they meant.',
    next:
      'Nothing, unless they go on: then somebody else signs with this key, or the service has ' +
      'changed its messages; report it.',
  },
  webhook_strangers: {
    level: 'info',
    fields: ['unknown_inquiries'],
    means: 'Webhook messages referred to inquiries unknown to this installation.',
  },
  subscription_set: {
    level: 'info',
    fields: ['host', 'reason'],
    means: 'The service reports to this installation from now on; reason says why it was set.',
  },
  subscription_elsewhere: {
    level: 'error',
    fields: ['host'],
    means:
      'The subscription of the account points to somebody else (host); it is left alone, and ' +
      'eligd asks for answers.',
    next: 'If nobody needs that address, set webhook.take_over: true.',
  },
  subscription_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'reason', 'wait_ms'],
    means:
      'The subscription could not be read or set, or the service keeps something else; it is ' +
      'tried again.',
    next:
      'Nothing while it is rare: answers come by asking meanwhile. Otherwise eligd ' +
      'subscription show says what the service has.',
  },
  webhook_refused: {
    level: 'warn',
    fields: ['error_code', 'http_status', 'reason', 'refusals'],
    means:
      'A delivery to the webhook was refused; reason says why, and refusals how many ' +
      'there were since the start. Said once a minute for each reason.',
    next:
      'bad_signature: compare ELIGD_WEBHOOK_SECRET with what the calling service gave ' +
      'you; no_commit: look at the disk.',
  },
  service_logged_in: {
    level: 'info',
    fields: [],
    means: 'A new access token of the inquiry service is in use.',
  },
  service_asked_to_wait: {
    level: 'warn',
    fields: ['http_status', 'retry_after_ms'],
    means: 'The service answered 429, or 5xx with Retry-After; all requests to it wait that long.',
    next:
      'Nothing, unless calls come too late by it: then ask the calling service for a ' +
      'higher limit.',
  },
  service_bookkeeping_failed: {
    level: 'error',
    fields: ['error_name', 'reason'],
    means:
      'After a request, its slot, a pause or the clock check could not be noted. The outcome ' +
      'of the request is kept.',
    next:
      'Look at the database: disk space and permissions. The rate limit may be stricter or ' +
      'looser than configured until it works again.',
  },
  service_page_link_refused: {
    level: 'warn',
    fields: ['specialty'],
    means:
      'A list of the service points to another host for its next page. Credentials are not ' +
      'sent there, so the list counts as incomplete.',
    next: 'Compare service.base_url with the address that the service calls itself.',
  },
} as const satisfies Record<string, EventDescription>;
