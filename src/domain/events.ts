/**
 * Every event that eligd itself can log, with its level and its meaning. The catalogue is the only
 * source of event names: a call with another name does not compile, and a name that nobody logs is
 * found by a test. A connector declares its own events (`connectors/contract.ts`).
 */
export type EventLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * `fields` are those that a line of the event may have (`LogFields` in env.ts); `next` is what to
 * do, which a warning never leaves open.
 */
export type EventDescription = { fields: readonly string[]; means: string } & (
  | { level: 'debug' | 'info'; next?: string }
  | { level: 'warn' | 'error'; next: string }
);

export const EVENTS = {
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
      'A request to the local HTTP server failed by a fault of eligd; it was answered with ' +
      'http_status.',
    next: 'It is a bug worth reporting.',
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
      'Nothing. If it comes again, tell the operator of the service; eligd show inquiry:N says ' +
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
      'bad_signature: compare ELIGD_WEBHOOK_SECRET with what the operator of the service gave ' +
      'you; no_commit: look at the disk.',
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
  batch_accepted: {
    level: 'info',
    fields: ['accepted', 'connector', 'rejected', 'unchanged', 'vanished'],
    means:
      'Appointments of a connector are committed; vanished is how many are missing ' +
      'from a full export.',
  },
  appointment_planned: {
    level: 'info',
    fields: ['appointment', 'connector', 'inquiry'],
    means:
      'An appointment, as a keyed hash of its id in the PMS, stands on an inquiry; further ' +
      'lines name the inquiry.',
  },
  connector_failed: {
    level: 'warn',
    fields: ['connector', 'failure', 'reason'],
    means:
      'A connector could not read or write; the line says why and what to do. It is tried again.',
    next: 'Do what reason says, and run "eligd check".',
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
  connector_recovered: {
    level: 'info',
    fields: ['connector', 'direction', 'failures'],
    means:
      'A connector reads, listens or writes (direction) again after so many failures. Identical ' +
      'ones were counted and not logged.',
  },
  inquiries_sent: {
    level: 'info',
    fields: ['accepted', 'inquiries', 'shape', 'specialty'],
    means: 'Inquiries were sent to the service; accepted is how many it took.',
  },
  inquiry_refused: {
    level: 'warn',
    fields: ['http_status', 'inquiry'],
    means: 'The service refused the content of an inquiry; its words are on the attention list.',
    next: 'eligd explain shows them.',
  },
  inquiry_uncertain: {
    level: 'warn',
    fields: ['inquiry'],
    means:
      'It is not known whether the service has an inquiry; it is looked for before anything ' +
      'is sent again.',
    next:
      'Nothing: it is settled automatically within minutes, or goes on the attention list. ' +
      'Many of them point to the network or to the service.',
  },
  inquiry_found: {
    level: 'info',
    fields: ['inquiry', 'service_id'],
    means: 'An inquiry whose reply was lost is at the service; it goes on as open.',
  },
  inquiry_absent: {
    level: 'info',
    fields: ['inquiry'],
    means: 'Two lookups have shown that the service does not have an inquiry; it is sent again.',
  },
  inquiry_undecidable: {
    level: 'error',
    fields: ['inquiry'],
    means:
      'It cannot be found out whether the service has an inquiry, and it is not sent again ' +
      'automatically.',
    next:
      'Ask the operator of the service for the inquiry under its external id; eligd explain ' +
      'says which.',
  },
  inquiry_adopted: {
    level: 'info',
    fields: ['inquiry', 'service_id'],
    means: 'An inquiry that the service held already serves a need, so no call was made.',
  },
  lookup_inconclusive: {
    level: 'warn',
    fields: ['inquiry', 'reason'],
    means:
      'The list of the service is no proof that an inquiry is absent: incomplete, or not ' +
      'known to show ours. Looked again later.',
    next:
      'Nothing at first. If it goes on, ask the operator of the service why its list is short; ' +
      'eligd explain shows the inquiry.',
  },
  reply_mismatch: {
    level: 'error',
    fields: ['inquiry', 'service_id'],
    means:
      'An inquiry that was read is not the one its id was taken for; nothing of it is ' +
      'stored, and the ids of that reply are looked up again.',
    next:
      'Nothing: they are looked for automatically. Tell the operator of the service that ids ' +
      'of a reply come in another order.',
  },
  duplicate_call_found: {
    level: 'error',
    fields: ['inquiry', 'service_id'],
    means:
      'The service holds an inquiry that stands on the same need as another one: a duplicate call.',
    next:
      'Compare with the bill of the service; eligd show inquiry:N says which appointment it ' +
      'is, if nobody else uses the account.',
  },
  submission_stopped: {
    level: 'error',
    fields: ['http_status', 'reason', 'unknown_inquiries'],
    means:
      'The service turns us away, or somebody else uses the account; nothing is sent until ' +
      'that is fixed.',
    next: 'eligd status says why and when it is tried again.',
  },
  submission_resumed: { level: 'info', fields: [], means: 'The service accepts inquiries again.' },
  bulk_learned: {
    level: 'info',
    fields: ['shape', 'size', 'specialty'],
    means:
      'Something about the bulk endpoint was learned: its shape, its size, or that there is none.',
  },
  reconciliation_done: {
    level: 'info',
    fields: ['listed_inquiries', 'specialty', 'unknown_inquiries'],
    means:
      'The list of the service was compared with the database; unknown_inquiries were ' +
      'not known before.',
  },
  reconciliation_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'specialty'],
    means:
      'The list of the service could not be read; nothing is sent for this specialty until it ' +
      'can. Not logged again until it was read, or fails for another reason.',
    next: 'Nothing at first: eligd tries again. If it goes on, run "eligd check".',
  },
  label_check_failed: {
    level: 'warn',
    fields: ['failure', 'inquiry'],
    means:
      'The list of the calling service has no certain end, and the query by label that precedes ' +
      'a call there has failed. The call waits.',
    next: 'Nothing at first: eligd tries again. If it goes on, run "eligd check".',
  },
  reconciliation_incomplete: {
    level: 'warn',
    fields: ['specialty', 'unreadable_inquiries'],
    means:
      'The list of the service has no certain end, so it proves nothing about what is ' +
      'missing from it.',
    next:
      'Nothing at first. If it goes on, tell the operator of the service that its list cannot ' +
      'be read to the end.',
  },
  inquiry_overdue: {
    level: 'warn',
    fields: ['inquiry', 'until'],
    means: 'The answer to an inquiry is late; until is when the visit begins.',
    next: 'Call the payer yourself if the visit is near; the answer is still taken when it comes.',
  },
  poll_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'inquiry'],
    means:
      'An inquiry could not be asked about; asked again later. While the service is away, this ' +
      'is not logged again.',
    next: 'Nothing at first. If it goes on, run "eligd check".',
  },
  polls_resumed: {
    level: 'info',
    fields: ['failures'],
    means:
      'The calling service answers questions again; failures is how often eligd had tried. ' +
      'Questions that were due meanwhile are asked now.',
  },
  inquiry_unknown_at_service: {
    level: 'warn',
    fields: ['inquiry', 'service_id', 'unknown_replies'],
    means:
      'The service does not know an inquiry that it had accepted; unknown_replies is how often ' +
      'it has said so in a row.',
    next:
      'After three such answers it is on the attention list; ask the operator of the service ' +
      'about service_id.',
  },
  answer_received: {
    level: 'info',
    fields: ['inquiry', 'service_id', 'status'],
    means: 'The service has ended an inquiry; the answer is committed as it came.',
  },
  record_written: {
    level: 'info',
    fields: ['inquiry', 'service_id', 'unparsed_parts'],
    means: 'An answer became a record; unparsed_parts were not understood and are kept verbatim.',
  },
  verification_received: {
    level: 'info',
    fields: ['inquiry', 'verified_calls'],
    means: 'Checks of the transcripts of an inquiry’s calls have come, of verified_calls calls.',
  },
  verification_not_read: {
    level: 'warn',
    fields: ['failure', 'inquiry'],
    means:
      'The transcript verification of an inquiry could not be asked for; it is tried again. ' +
      'The answer does not wait for it.',
    next: 'Nothing.',
  },
  records_delivered: {
    level: 'info',
    fields: ['connector', 'deliveries', 'delivered', 'delivery_batch'],
    means:
      'Records were written into the practice management system; deliveries is how many were ' +
      'tried, delivered how many of them it took.',
  },
  delivery_failed: {
    level: 'warn',
    fields: ['connector', 'deliveries', 'delivery_batch', 'reason', 'wait_ms'],
    means: 'Records could not be written; they are written again later.',
    next: 'Do what reason says, and run "eligd check". Nothing is lost meanwhile.',
  },
  delivery_parked: {
    level: 'error',
    fields: ['connector'],
    means: 'A record was given up on after all attempts; it is on the attention list.',
    next: 'Fix what the attention list says (eligd list --attention), then eligd retry.',
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
    fields: ['appointments', 'inquiries', 'copies'],
    means:
      'What is older than retention.days was deleted for good: appointments, inquiries ' +
      'with their answers, and copies of the database that upgrades and restores ' +
      'had left.',
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
      'Nothing, unless calls come too late by it: then ask the operator of the service for a ' +
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

export type EventName = keyof typeof EVENTS;
