/** Answers: asked for, kept, and written back. */
import type { EventDescription } from './description.ts';

export const COLLECT_EVENTS = {
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
      'After three such answers it is on the attention list; ask the calling service ' +
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
} as const satisfies Record<string, EventDescription>;
