/**
 * Every event that eligd can log, with its level and its meaning. The catalogue is the only source of event names: a call
 * with another name does not compile, and a name that nobody logs is found by a test.
 */
export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

export type EventDescription = { level: EventLevel; means: string; next?: string };

export const EVENTS = {
  daemon_started: { level: 'info', means: 'The daemon is up; the line holds version and effective settings.' },
  daemon_stopping: { level: 'info', means: 'A stop was asked for; each stage finishes the step in hand.' },
  daemon_stopped: { level: 'info', means: 'Everything is closed.' },
  webhook_not_served: {
    level: 'warn',
    means: 'The configuration has a part "webhook", but this version has no receiver yet; answers come by polling only.',
  },
  service_logged_in: { level: 'info', means: 'A new access token of the inquiry service is in use.' },
  service_asked_to_wait: {
    level: 'warn',
    means: 'The service answered 429, or 5xx with Retry-After; all requests to it wait that long.',
  },
  service_bookkeeping_failed: {
    level: 'error',
    means: 'After a request, its slot, a pause or the clock check could not be noted. The outcome of the request is kept.',
    next: 'Look at the database: disk space and permissions. The rate limit may be stricter or looser than configured until it works again.',
  },
  service_page_link_refused: {
    level: 'warn',
    means:
      'A list of the service points to another host for its next page. Credentials are not sent there, so the list counts as incomplete.',
    next: 'Compare service.base_url with the address that the service calls itself.',
  },
  csv_file_read: {
    level: 'info',
    means: 'A file of the drop folder was read to its end and moved to processed/, or to rejected/ when no row could be used.',
  },
  csv_file_repeated: {
    level: 'info',
    means: 'A file with the content of one that was read before was moved to processed/ without reading it again.',
  },
  csv_file_rejected: {
    level: 'warn',
    means: 'A file could not be understood as a whole and was moved to rejected/; the line holds the class of the fault.',
    next: 'Read the .reasons.csv beside it.',
  },
  csv_file_changed: {
    level: 'warn',
    means: 'A file was written to while it was read; it went back to inbox/ and is read again when it is still.',
    next: 'If it happens often, raise stable_seconds, or let the export write to a temporary name first.',
  },
  csv_file_unusable: {
    level: 'warn',
    means: 'A file of the drop folder could not be read or moved. The others go on; it is tried again at every look.',
    next: 'Check permissions and disk; eligd check counts such files.',
  },
  csv_file_ignored: { level: 'info', means: 'Files in inbox/ are neither .csv, .txt nor .tsv; they stay where they are.' },
  csv_claims_file_waits: { level: 'info', means: 'Files claims-*.csv wait in inbox/ for a version that reads claims.' },
} as const satisfies Record<string, EventDescription>;

export type EventName = keyof typeof EVENTS;
