/** What the daemon says of itself and of this installation. */
import type { EventDescription } from './description.ts';

export const DAEMON_EVENTS = {
  daemon_started: {
    level: 'info',
    fields: [
      'version', 'node', 'pid', 'host', 'path', 'connectors', 'webhook', 'mode', 'size', 'limit',
      'settle_seconds', 'timeout_seconds', 'look_ahead_days', 'reverify_after_days', 'attempts',
      'calls_per_day', 'calls_per_month', 'dollars_per_day', 'dollars_per_month', 'poll_minutes',
    ], // biome-ignore format: a list of words reads better in lines than in a column
    means:
      'The daemon is up; the line holds version and effective settings: batch size, requests ' +
      'a minute (limit), policy.',
  },
  daemon_stopping: {
    level: 'info',
    fields: [],
    means: 'A stop was asked for; each stage finishes the step in hand.',
  },
  daemon_stopped: { level: 'info', fields: [], means: 'Everything is closed.' },
  http_listening: {
    level: 'info',
    fields: ['host', 'port'],
    means: 'The local HTTP server takes connections.',
  },
  http_failed: {
    level: 'error',
    fields: ['error_code', 'error_name', 'http_status'],
    means:
      'A request to the local HTTP server failed because of a bug in eligd; it was answered with ' +
      'http_status.',
    next: 'It is a bug worth reporting.',
  },
  sign_on_failed: {
    level: 'warn',
    fields: ['reason'],
    means: 'Somebody could not log in to the office’s page with the account of the group.',
    next:
      'Check office.single_sign_on and ELIGD_OFFICE_CLIENT_SECRET against what the provider has, ' +
      'and whether this computer reaches it.',
  },
  report_failed: {
    level: 'warn',
    fields: ['reason'],
    means: 'schedule.html could not be written; eligd tries again.',
    next: 'Check that report.folder and the drop folder are there and that eligd may write there.',
  },
  payers_changed: {
    level: 'info',
    fields: [],
    means: 'payers.csv was changed; eligd read it again and plans every open visit again.',
  },
  payers_unreadable: {
    level: 'warn',
    fields: [],
    means: 'payers.csv was changed and has an error; eligd uses the payer map it had before.',
    next: 'Run "eligd check", which names the lines, and correct them.',
  },
  fees_changed: {
    level: 'info',
    fields: [],
    means: 'fees.csv was changed; eligd read it again, and the next results use it.',
  },
  fees_unreadable: {
    level: 'warn',
    fields: [],
    means: 'fees.csv was changed and has an error; eligd uses the fees it had before.',
    next: 'Run "eligd check", which names the lines, and correct them.',
  },
  webhook_exposed: {
    level: 'warn',
    fields: [],
    means: 'webhook.listen is an address that other machines can reach, without encryption.',
    next:
      'Write 127.0.0.1 and put a reverse proxy in front, unless the proxy is another machine ' +
      'of the same network.',
  },
  certificates_unchecked: {
    level: 'warn',
    fields: [],
    means:
      'NODE_TLS_REJECT_UNAUTHORIZED=0 and service.allow_insecure: true together turn off the ' +
      'checking of certificates; anyone on the network can read and change patient data.',
    next:
      'Delete NODE_TLS_REJECT_UNAUTHORIZED from the environment, unless this is a test without ' +
      'patient data.',
  },
  stage_failed: {
    level: 'error',
    fields: ['error_code', 'error_name', 'reason', 'stage', 'wait_ms'],
    means: 'A step of a stage failed; it is tried again after wait_ms. The others go on.',
    next:
      'If it goes on: SQLITE_FULL or ENOSPC means that the disk is full; anything else is a ' +
      'defect worth reporting.',
  },
  stage_hangs: {
    level: 'error',
    fields: ['duration_ms', 'stage'],
    means:
      'A step of a stage gives no sign of life for duration_ms. Under systemd the daemon is ' +
      'started again; nothing is lost by it.',
    next:
      'If it happens again, report it with the lines before it. A network share that does not ' +
      'answer is a common cause.',
  },
  reload_applied: {
    level: 'info',
    fields: [],
    means:
      'A reload was asked for (SIGHUP), and the files are in order: the daemon starts again with ' +
      'them in the same process.',
  },
  reload_refused: {
    level: 'error',
    fields: ['reason'],
    means: 'A reload was asked for (SIGHUP), and a file has errors: the old ones stay in force.',
    next: 'Do what reason says, run "eligd check", then reload again (systemctl reload eligd).',
  },
  port_taken: {
    level: 'error',
    fields: ['host', 'port', 'reason', 'wait_ms'],
    means:
      'eligd cannot listen at an address for webhook events or monitoring. Everything else runs, ' +
      'and it tries again.',
    next: 'End the program that listens there, or change the port in the configuration.',
  },
  database_gone: {
    level: 'error',
    fields: ['path'],
    means:
      'The file of the database was deleted or replaced while eligd ran. eligd makes no more ' +
      'calls and ends; what it knew was saved next to it (.rescued.db).',
    next: 'Stop eligd, then run "eligd restore" with that file or the newest backup.',
  },
  clock_wrong: {
    level: 'error',
    fields: ['skew_ms'],
    means:
      'The clock of this computer and the service’s differ by more than ten minutes; no ' +
      'visit counts as past until they agree.',
    next: 'Set the clock (timedatectl set-ntp true).',
  },
  clock_right: { level: 'info', fields: ['skew_ms'], means: 'The clocks agree again.' },
  purged: {
    level: 'info',
    fields: ['appointments', 'inquiries', 'answers', 'copies', 'files', 'log_entries'],
    means:
      'What is older than the clinic keeps (retention:) was deleted for good: appointments, ' +
      'inquiries with their answers, older parts of answers, copies of the database that ' +
      'upgrades and restores had left, files of drop folders, and entries of the logs.',
  },
  audit_head: {
    level: 'info',
    fields: ['audit_head', 'access_head'],
    means:
      'Where the audit trail and the access log end, once a day: the number of the last entry ' +
      'and its hash (null: the log is empty). "eligd audit verify --head" checks that the entry ' +
      'is still there, and with it everything before it.',
  },
  backup_written: {
    level: 'info',
    fields: ['appointments', 'deleted_copies'],
    means:
      'A copy of the database was written, opened and checked; appointments is how ' +
      'many it holds, deleted_copies how many old copies were deleted.',
  },
  backup_failed: {
    level: 'error',
    fields: ['error_code', 'error_name', 'reason'],
    means: 'No copy of the database could be written. The daemon goes on without.',
    next: 'Check the space and the permissions of backup.folder, then run "eligd backup".',
  },
  daily_summary: {
    level: 'info',
    fields: [
      'appointments', 'waiting', 'planned', 'asking', 'answered', 'delivered', 'attention',
      'closed', 'uncertain', 'overdue', 'parked', 'oldest_since', 'calls_yesterday',
      'cents_yesterday', 'calls_this_month', 'cents_this_month', 'unpriced_this_month',
      'calls_left', 'cents_left',
    ], // biome-ignore format: a list of words reads better in lines than in a column
    means:
      'Where every appointment is, once a day, with the inquiries that are looked for or ' +
      'late, deliveries that wait for you, since when the oldest appointment waits, what ' +
      'the calls of yesterday and of this month cost (US cents; those of unknown price are ' +
      'counted apart), and what the budgets leave (null: no limit).',
  },
  alert_began: {
    level: 'warn',
    fields: ['alert', 'reason', 'connector'],
    means: 'Something is wrong; the targets of alerts are told (docs/alerts.md says of what).',
    next: 'Run "eligd status", and do what it says.',
  },
  alert_ended: {
    level: 'info',
    fields: ['alert', 'reason', 'connector'],
    means: 'What was wrong is over; the targets of alerts are told.',
  },
  alert_unsent: {
    level: 'warn',
    fields: ['to', 'alert', 'reason'],
    means: 'An alert could not be sent to one of its targets; eligd tries again.',
    next: 'Run "eligd alert test", which says what is wrong with the target.',
  },
  event_unknown: {
    level: 'warn',
    fields: ['connector', 'event_name'],
    means:
      'A connector logged an event that it does not declare, so the line was left out. The ' +
      'connector goes on.',
    next: 'Have the author of the connector add the event to the "events" of the connector.',
  },
} as const satisfies Record<string, EventDescription>;
