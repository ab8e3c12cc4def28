/**
 * Every alert that eligd can raise. The sentences are fixed, so that no patient data can get into a
 * message (G6): a message adds counts, eligd's own IDs, and sentences of `domain/health.ts`.
 */
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS } from '../time.ts';

/** `urgent` is sent at once; `soon` waits for the end of the quiet hours. */
export const ALERT_LEVELS = ['urgent', 'soon'] as const;
export type AlertLevel = (typeof ALERT_LEVELS)[number];

type AlertDescription = {
  level: AlertLevel;
  /** The problem, as worded in a subject line. */
  title: string;
  next: string;
  /** How long the problem must last before eligd sends the alert; shorter ones are routine. */
  after_ms?: number;
  /** How long the problem must be gone before the alert ends. Default: `SETTLED_AFTER_MS`. */
  settled_ms?: number;
  /**
   * While one of these alerts is open for the same connector or for none, this one is its result.
   */
  because_of?: readonly string[];
};

const SOME_MINUTES_MS = 15 * MINUTE_MS;
const RUN_CHECK = 'Run "eligd check" and follow the step after each arrow.';
const SEE_ATTENTION = 'Open the attention list: "eligd list --attention".';

export const ALERTS = {
  daemon_failed: {
    level: 'urgent',
    title: 'eligd cannot run',
    next: 'Read "journalctl -u eligd -p warning -n 50". The last lines say why.',
  },
  daemon_restarted: {
    level: 'soon',
    title: 'eligd hung or crashed and was restarted',
    next: 'Nothing is lost. If it happens again, report it.',
  },
  daemon_hangs: {
    level: 'urgent',
    title: 'a part of eligd makes no progress',
    next: 'Restart eligd: systemctl restart eligd. No data is lost.',
  },
  database_unusable: {
    level: 'urgent',
    title: 'the database cannot be written',
    next: 'Check the free disk space and the permissions of the state folder.',
    because_of: ['database_damaged'],
  },
  database_damaged: {
    level: 'urgent',
    title: 'the database is damaged',
    next: 'Restore the newest backup: stop eligd, then run "eligd restore".',
  },
  database_new: {
    level: 'urgent',
    title: 'the database is new, but there was one before; nothing is sent',
    next:
      'Run "eligd restore". If you meant to start with a new database, run "eligd release ' +
      'submission".',
  },
  disk_low: {
    level: 'soon',
    title: 'the disk of the database is almost full',
    next: 'Free up disk space.',
  },
  clock_wrong: {
    level: 'urgent',
    title: 'the clock of this computer is wrong',
    next: 'Set the clock: timedatectl set-ntp true.',
  },
  credentials_rejected: {
    level: 'urgent',
    title: 'the calling service rejects our login',
    next: 'Correct the credentials (ELIGD_SERVICE_…), then run "eligd check".',
  },
  calls_stopped: {
    level: 'urgent',
    title: 'no calls go out',
    next: RUN_CHECK,
    because_of: ['credentials_rejected', 'database_new'],
  },
  account_shared: {
    level: 'urgent',
    title: 'another program uses the account; no calls go out',
    next: 'Find out who else uses the account, then run "eligd release submission".',
  },
  service_away: {
    level: 'urgent',
    title: 'the calling service cannot be reached',
    next: 'Check the internet connection and the proxy, then run "eligd check".',
    after_ms: SOME_MINUTES_MS,
  },
  connector_cannot_read: {
    level: 'urgent',
    title: 'appointments cannot be read',
    next: RUN_CHECK,
    after_ms: SOME_MINUTES_MS,
  },
  connector_cannot_listen: {
    level: 'urgent',
    title: 'messages of the practice management system cannot be received',
    next: RUN_CHECK,
    after_ms: SOME_MINUTES_MS,
  },
  connector_cannot_write: {
    level: 'urgent',
    title: 'results cannot be written',
    next: RUN_CHECK,
    after_ms: SOME_MINUTES_MS,
    because_of: ['connector_cannot_read'],
  },
  messages_unread: {
    level: 'urgent',
    title: 'messages of the practice management system are received but not read',
    next: SEE_ATTENTION,
    because_of: ['database_damaged', 'database_unusable'],
  },
  export_missing: {
    level: 'urgent',
    title: 'the appointment export did not arrive',
    next: 'Start the export in the practice management system.',
    because_of: ['connector_cannot_read', 'export_rejected'],
  },
  export_empty: {
    level: 'urgent',
    title: 'the last appointment export is empty',
    next: 'Check the export in the practice management system, and run it again.',
  },
  export_small: {
    level: 'urgent',
    title: 'the last appointment export is much smaller than usual',
    next: 'Check the export in the practice management system, and run it again.',
  },
  export_rejected: {
    level: 'urgent',
    title: 'an appointment export could not be used',
    next: SEE_ATTENTION,
  },
  payers_unreadable: {
    level: 'soon',
    title: 'the payer map has an error; eligd keeps using the previous one',
    next: 'Correct payers.csv. "eligd check" names the lines.',
  },
  fees_unreadable: {
    level: 'soon',
    title: 'the fee schedule has an error; eligd keeps using the previous one',
    next: 'Correct fees.csv. "eligd check" names the lines.',
  },
  answers_overdue: {
    level: 'urgent',
    title: 'answers are late for visits that are close',
    next: `Have the office call these payers. ${SEE_ATTENTION}`,
    because_of: [
      'service_away',
      'credentials_rejected',
      'calls_stopped',
      'account_shared',
      'database_new',
      'clock_wrong',
    ],
  },
  payer_unreachable: {
    level: 'soon',
    title: 'a payer cannot be reached; calls to it wait',
    next:
      'No action needed yet: eligd tries one call a day. If a visit is close, call the payer ' +
      'yourself.',
  },
  attention_growing: {
    level: 'soon',
    title: 'the attention list is much longer than usual',
    next: SEE_ATTENTION,
    because_of: ['payer_unreachable', 'export_rejected'],
  },
  budget_low: {
    level: 'soon',
    title: 'the budget for calls is almost used up',
    next: 'Raise the budget in the configuration, or wait until next month.',
    // The amount left is an estimate and varies around the limit: one alert a day is enough.
    settled_ms: DAY_MS,
  },
  duplicate_call: {
    level: 'soon',
    title: 'a duplicate call was found',
    next: SEE_ATTENTION,
  },
  backup_missing: {
    level: 'soon',
    title: 'there has been no backup for two days',
    next: 'Run "eligd backup" to see what is wrong.',
    because_of: ['database_damaged'],
  },
  purge_missing: {
    level: 'soon',
    title: 'old data has not been deleted for two days',
    next: 'Run "eligd purge" to see what is wrong.',
    // Old copies of the database are old data, too.
    because_of: ['backup_missing'],
  },
  certificate_expiring: {
    level: 'soon',
    title: 'a certificate expires within 30 days',
    next: 'Renew it before it expires.',
  },
  port_taken: {
    level: 'soon',
    title: 'eligd cannot listen on a configured address',
    next: RUN_CHECK,
  },
  webhook_silent: {
    level: 'soon',
    title: 'no webhook events arrive; eligd polls instead',
    next: RUN_CHECK,
    // eligd first looks for the cause, which then is the alert.
    after_ms: SOME_MINUTES_MS,
    because_of: [
      'service_away',
      'credentials_rejected',
      'port_taken',
      'subscription_elsewhere',
      'subscription_failed',
    ],
  },
  subscription_elsewhere: {
    level: 'soon',
    title: 'the calling service sends its webhook events to another address',
    next: 'Run "eligd subscription show", then "eligd subscription set".',
  },
  subscription_failed: {
    level: 'soon',
    title: 'the webhook subscription could not be set',
    next: 'Run "eligd subscription show".',
    because_of: ['service_away', 'credentials_rejected'],
  },
  alert_unsent: {
    level: 'soon',
    title: 'alerts cannot be sent to one of the targets',
    next: 'Run "eligd alert test" to see what is wrong.',
  },
} as const satisfies Record<string, AlertDescription>;

export type AlertName = keyof typeof ALERTS;
export const ALERT_NAMES = Object.keys(ALERTS) as AlertName[];

export function describeAlert(name: AlertName): AlertDescription {
  return ALERTS[name];
}

/** A current problem. */
export type AlertCondition = {
  name: AlertName;
  /** The connector or alert target concerned; empty: the installation. */
  about: string;
  since: Instant;
  /** One sentence without patient data; may be empty. */
  detail: string;
};

/** A condition ends only after it was gone this long: a share that comes and goes is one alert. */
export const SETTLED_AFTER_MS = 10 * MINUTE_MS;
export const REMIND_AFTER_MS = DAY_MS;
/** How long a restart after a crash counts as a condition. */
export const RESTART_SHOWN_MS = HOUR_MS;
