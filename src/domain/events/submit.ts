/** Events about calls: sending them, lookups, and reconciliation. */
import type { EventDescription } from './description.ts';

export const SUBMIT_EVENTS = {
  inquiries_sent: {
    level: 'info',
    fields: ['accepted', 'inquiries', 'shape', 'specialty'],
    means: 'Inquiries were sent to the service; accepted is how many it accepted.',
  },
  inquiry_refused: {
    level: 'warn',
    fields: ['http_status', 'inquiry'],
    means: 'The service rejected the content of an inquiry; its message is on the attention list.',
    next: 'Run "eligd explain" to read the message.',
  },
  inquiry_uncertain: {
    level: 'warn',
    fields: ['inquiry'],
    means:
      'A reply was lost, so eligd does not know whether the service has an inquiry; it does a ' +
      'lookup before it sends anything again.',
    next:
      'No action needed: eligd finds out within minutes, or puts it on the attention list. If ' +
      'there are many, check the network and the service.',
  },
  inquiry_found: {
    level: 'info',
    fields: ['inquiry', 'service_id'],
    means: 'The service has an inquiry whose reply was lost; eligd now waits for its answer.',
  },
  inquiry_absent: {
    level: 'info',
    fields: ['inquiry'],
    means: 'Two lookups showed that the service does not have an inquiry; eligd sends it again.',
  },
  inquiry_undecidable: {
    level: 'error',
    fields: ['inquiry'],
    means:
      'eligd cannot find out whether the service has an inquiry, and does not send it again ' +
      'automatically.',
    next:
      'Ask the calling service about the inquiry by its external ID; ' +
      '"eligd explain" shows the ID.',
  },
  inquiry_adopted: {
    level: 'info',
    fields: ['inquiry', 'service_id'],
    means: 'An inquiry that the service already had covers a need, so no call was made.',
  },
  lookup_inconclusive: {
    level: 'warn',
    fields: ['inquiry', 'reason'],
    means:
      'The service’s list does not prove that an inquiry is absent: it is incomplete, or not ' +
      'known to show our inquiries. eligd does another lookup later.',
    next:
      'No action needed at first. If it continues, ask the calling service why its list is ' +
      'short; "eligd explain" shows the inquiry.',
  },
  reply_mismatch: {
    level: 'error',
    fields: ['inquiry', 'service_id'],
    means:
      'The service returned a different inquiry than eligd expected under this ID; eligd ' +
      'stores nothing from it and looks up the IDs of that reply again.',
    next:
      'No action needed: eligd looks them up automatically. Tell the calling service that the ' +
      'IDs in a reply came in a different order.',
  },
  duplicate_call_found: {
    level: 'error',
    fields: ['inquiry', 'service_id'],
    means: 'The service holds a second inquiry for the same need: a duplicate call.',
    next:
      'Compare with the service’s bill, and find out whether another program uses the account. ' +
      '"eligd show inquiry:N" shows the appointment.',
  },
  unneeded_call_found: {
    level: 'warn',
    fields: ['inquiry', 'service_id'],
    means: 'The service lists a call that eligd did not find in time, and no inquiry needs it now.',
    next:
      'Compare with the service’s bill. If it happens again, raise service.settle_seconds. ' +
      '"eligd show inquiry:N" shows the appointment.',
  },
  doubtful_call_found: {
    level: 'warn',
    fields: ['inquiry', 'unknown_inquiries'],
    means:
      'The account holds calls that may be for the patient of this inquiry, and the service does ' +
      'not say whom they are about. eligd waits for the office before it makes its own call.',
    next:
      'The office asks the calling service whom they are about, and holds eligd’s call or marks ' +
      'the entry as done. "eligd list" shows the entry.',
  },
  submission_stopped: {
    level: 'error',
    fields: ['http_status', 'reason', 'unknown_inquiries'],
    means:
      'The service is rejecting our requests, another installation is using the account, or the ' +
      'database lacks earlier calls. Submission is stopped until this is resolved.',
    next: 'Run "eligd status" to see why, and when eligd tries again.',
  },
  submission_resumed: { level: 'info', fields: [], means: 'The service accepts inquiries again.' },
  bulk_learned: {
    level: 'info',
    fields: ['shape', 'size', 'specialty'],
    means:
      'eligd learned something about the bulk endpoint: its format, its size, or that it does ' +
      'not exist.',
  },
  reconciliation_done: {
    level: 'info',
    fields: ['listed_inquiries', 'specialty', 'unknown_inquiries'],
    means:
      'The service’s list was compared with the database; unknown_inquiries is how many are ' +
      'new to eligd.',
  },
  reconciliation_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'specialty'],
    means:
      'The service’s list could not be read; eligd sends nothing for this specialty until it ' +
      'can. Logged again only after the list was read, or if it fails for another reason.',
    next: 'No action needed at first: eligd tries again. If it continues, run "eligd check".',
  },
  label_check_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'specialty'],
    means:
      'A query by label failed. The calling service’s list may leave out calls, or may show one ' +
      'by now that was not there. A call that must come after the query waits; a call on the ' +
      'attention list stays there.',
    next: 'No action needed at first: eligd tries again. If it continues, run "eligd check".',
  },
  reconciliation_incomplete: {
    level: 'warn',
    fields: ['specialty', 'unreadable_inquiries'],
    means:
      'eligd cannot tell whether the service’s list is complete, so the list does not prove that ' +
      'anything is missing.',
    next:
      'No action needed at first. If it continues, tell the calling service that its list ' +
      'cannot be read to the end.',
  },
} as const satisfies Record<string, EventDescription>;
