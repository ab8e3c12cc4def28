/** Calls: sent, looked up and reconciled. */
import type { EventDescription } from './description.ts';

export const SUBMIT_EVENTS = {
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
      'Ask the calling service for the inquiry under its external id; eligd explain ' +
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
      'Nothing at first. If it goes on, ask the calling service why its list is short; ' +
      'eligd explain shows the inquiry.',
  },
  reply_mismatch: {
    level: 'error',
    fields: ['inquiry', 'service_id'],
    means:
      'An inquiry that was read is not the one its id was taken for; nothing of it is ' +
      'stored, and the ids of that reply are looked up again.',
    next:
      'Nothing: they are looked for automatically. Tell the calling service that ids ' +
      'of a reply come in another order.',
  },
  duplicate_call_found: {
    level: 'error',
    fields: ['inquiry', 'service_id'],
    means: 'The service holds a second inquiry for the same need: a duplicate call.',
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
      'Nothing at first. If it goes on, tell the calling service that its list cannot ' +
      'be read to the end.',
  },
} as const satisfies Record<string, EventDescription>;
