/** Events about the daemon and this installation. */
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
      'The daemon is running; the line holds the version and the effective settings: batch ' +
      'size, requests per minute (limit), policy.',
  },
  daemon_stopping: {
    level: 'info',
    fields: [],
    means: 'The daemon was asked to stop; each stage finishes its current step.',
  },
  daemon_stopped: { level: 'info', fields: [], means: 'The daemon has stopped.' },
  http_listening: {
    level: 'info',
    fields: ['host', 'port'],
    means: 'The local HTTP server accepts connections.',
  },
  http_failed: {
    level: 'error',
    fields: ['error_code', 'error_name', 'http_status'],
    means:
      'A request to the local HTTP server failed because of a bug in eligd; the answer was ' +
      'http_status.',
    next: 'Report it.',
  },
  sign_on_failed: {
    level: 'warn',
    fields: ['reason'],
    means: 'A single sign-on login to the office page failed.',
    next:
      'Compare office.single_sign_on and ELIGD_OFFICE_CLIENT_SECRET with the login provider’s ' +
      'settings, and check that this computer can reach the provider.',
  },
  report_failed: {
    level: 'warn',
    fields: ['reason'],
    means: 'schedule.html could not be written; eligd tries again.',
    next: 'Check that report.folder and the drop folder exist and that eligd may write to them.',
  },
  payers_changed: {
    level: 'info',
    fields: [],
    means: 'payers.csv changed; eligd read it again and is planning every open visit again.',
  },
  payers_unreadable: {
    level: 'warn',
    fields: [],
    means: 'payers.csv changed and has an error; eligd keeps using the previous payer map.',
    next: 'Run "eligd check" and correct the lines that it names.',
  },
  fees_changed: {
    level: 'info',
    fields: [],
    means: 'fees.csv changed; eligd read it again and uses it for the next results.',
  },
  fees_unreadable: {
    level: 'warn',
    fields: [],
    means: 'fees.csv changed and has an error; eligd keeps using the previous fees.',
    next: 'Run "eligd check" and correct the lines that it names.',
  },
  webhook_exposed: {
    level: 'warn',
    fields: [],
    means: 'webhook.listen is an address that other machines can reach, without encryption.',
    next:
      'Set it to 127.0.0.1 and put a reverse proxy in front, unless the proxy is another ' +
      'machine on the same network.',
  },
  certificates_unchecked: {
    level: 'warn',
    fields: [],
    means:
      'NODE_TLS_REJECT_UNAUTHORIZED=0 and service.allow_insecure: true together turn off ' +
      'certificate checks; anyone on the network can read and change patient data.',
    next:
      'Remove NODE_TLS_REJECT_UNAUTHORIZED from the environment, unless this is a test without ' +
      'patient data.',
  },
  stage_failed: {
    level: 'error',
    fields: ['error_code', 'error_name', 'reason', 'stage', 'wait_ms'],
    means:
      'A step of a stage failed; eligd tries it again after wait_ms. The other stages continue.',
    next:
      'If it continues: SQLITE_FULL or ENOSPC means that the disk is full; report anything ' +
      'else as a bug.',
  },
  stage_hangs: {
    level: 'error',
    fields: ['duration_ms', 'stage'],
    means:
      'A step of a stage has made no progress for duration_ms. systemd restarts the daemon; ' +
      'nothing is lost.',
    next:
      'If it happens again, report it with the log lines before it. A common cause is a ' +
      'network share that does not respond.',
  },
  reload_applied: {
    level: 'info',
    fields: [],
    means:
      'Reload requested (SIGHUP); the files are valid, and the daemon restarts with them in ' +
      'the same process. Environment variables and credentials of systemd stay as they were.',
  },
  restart_needed: {
    level: 'warn',
    fields: ['reason'],
    means: 'Something changed that a reload cannot apply; eligd goes on without it.',
    next: 'Run "systemctl restart eligd" (eligd finishes its current step first).',
  },
  reload_refused: {
    level: 'error',
    fields: ['reason'],
    means:
      'Reload requested (SIGHUP), but a file has errors or needs a restart; eligd keeps the ' +
      'previous configuration.',
    next:
      'Do what reason says. After an error, run "eligd check", then reload again (systemctl ' +
      'reload eligd).',
  },
  port_taken: {
    level: 'error',
    fields: ['host', 'port', 'reason', 'wait_ms'],
    means:
      'eligd cannot listen on an address for webhook events or monitoring. Everything else ' +
      'runs, and eligd tries again.',
    next: 'Stop the program that is using the port, or change the port in the configuration.',
  },
  database_gone: {
    level: 'error',
    fields: ['path'],
    means:
      'The database file was deleted or replaced while eligd was running. eligd makes no more ' +
      'calls and stops; it saved what it knew next to the file (.rescued.db).',
    next: 'Stop eligd, then run "eligd restore" with that file or the newest backup.',
  },
  clock_wrong: {
    level: 'error',
    fields: ['skew_ms'],
    means:
      'The clocks of this computer and of the service differ by more than ten minutes; eligd ' +
      'treats no visit as past until they agree.',
    next: 'Set the clock (timedatectl set-ntp true).',
  },
  clock_right: { level: 'info', fields: ['skew_ms'], means: 'The clocks agree again.' },
  purged: {
    level: 'info',
    fields: ['appointments', 'inquiries', 'answers', 'copies', 'files', 'log_entries', 'rewritten'],
    means:
      'Data past its retention time (retention:) was deleted: appointments, inquiries with their ' +
      'answers, older parts of answers, database copies left by upgrades and restores, files in ' +
      'drop folders, and log entries. `rewritten` is `done` when the bytes are gone from the ' +
      'database, too (docs/retention.md).',
  },
  audit_head: {
    level: 'info',
    fields: ['audit_head', 'access_head'],
    means:
      'Once a day, the number and hash of the last entry of the audit trail and of the access ' +
      'log (null: the log is empty). "eligd audit verify --head" checks that this entry and ' +
      'everything before it are still there.',
  },
  backup_written: {
    level: 'info',
    fields: ['appointments', 'deleted_copies'],
    means:
      'A backup of the database was written, opened, and checked; appointments is how many it ' +
      'holds, deleted_copies how many old backups were deleted.',
  },
  backup_failed: {
    level: 'error',
    fields: ['error_code', 'error_name', 'reason'],
    means: 'The database could not be backed up. The daemon keeps running.',
    next: 'Check the free space and the permissions of backup.folder, then run "eligd backup".',
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
      'Once a day: how many appointments are in each state, inquiries being looked up or ' +
      'overdue, deliveries that need you, since when the oldest appointment has waited, what ' +
      'the calls of yesterday and of this month cost (US cents; calls of unknown price are ' +
      'counted separately), and what is left of the budgets (null: no limit).',
  },
  alert_began: {
    level: 'warn',
    fields: ['alert', 'reason', 'connector'],
    means:
      'Something is wrong, and the alert targets are notified (docs/alerts.md lists the ' +
      'alerts).',
    next: 'Run "eligd status" and follow its advice.',
  },
  alert_ended: {
    level: 'info',
    fields: ['alert', 'reason', 'connector'],
    means: 'The problem is over, and the alert targets are notified.',
  },
  alert_unsent: {
    level: 'warn',
    fields: ['to', 'alert', 'reason'],
    means: 'An alert could not be sent to one target; eligd tries again.',
    next: 'Run "eligd alert test" to see what is wrong with the target.',
  },
  event_unknown: {
    level: 'warn',
    fields: ['connector', 'event_name'],
    means:
      'A connector logged an event that it does not declare, so the line was dropped. The ' +
      'connector keeps running.',
    next: 'Ask the author of the connector to add the event to its "events".',
  },
} as const satisfies Record<string, EventDescription>;
