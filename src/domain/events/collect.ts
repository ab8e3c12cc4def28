/** Events about answers: polling, storing, and delivering them. */
import type { EventDescription } from './description.ts';

export const COLLECT_EVENTS = {
  inquiry_overdue: {
    level: 'warn',
    fields: ['inquiry', 'until'],
    means: 'The answer to an inquiry is late; until is when the visit begins.',
    next:
      'If the visit is close, have the office call the payer. eligd still takes the answer when ' +
      'it arrives.',
  },
  poll_failed: {
    level: 'warn',
    fields: ['failure', 'http_status', 'inquiry'],
    means:
      'The service did not report the status of an inquiry; eligd asks again later. While ' +
      'the service is unavailable, this is not logged again.',
    next: 'No action needed at first. If it continues, run "eligd check".',
  },
  polls_resumed: {
    level: 'info',
    fields: ['failures'],
    means:
      'The calling service answers again; failures is how often eligd had tried. eligd now ' +
      'polls what came due in the meantime.',
  },
  inquiry_unknown_at_service: {
    level: 'warn',
    fields: ['inquiry', 'service_id', 'unknown_replies'],
    means:
      'The service does not know an inquiry that it accepted earlier; unknown_replies is how ' +
      'often it has said so in a row.',
    next:
      'After three such replies the inquiry goes on the attention list. Ask the calling ' +
      'service about service_id.',
  },
  answer_received: {
    level: 'info',
    fields: ['inquiry', 'service_id', 'status'],
    means: 'The service finished an inquiry; its answer is stored unchanged.',
  },
  record_written: {
    level: 'info',
    fields: ['inquiry', 'service_id', 'unparsed_parts'],
    means:
      'An answer became a record; unparsed_parts is how many parts eligd did not understand ' +
      'and kept verbatim.',
  },
  verification_received: {
    level: 'info',
    fields: ['inquiry', 'verified_calls'],
    means:
      'The checks of an inquiry’s call transcripts arrived; verified_calls is how many calls ' +
      'were checked.',
  },
  verification_not_read: {
    level: 'warn',
    fields: ['failure', 'inquiry'],
    means:
      'The transcript checks of an inquiry could not be read; eligd tries again. The answer ' +
      'does not wait for them.',
    next: 'No action needed.',
  },
  records_delivered: {
    level: 'info',
    fields: ['connector', 'deliveries', 'delivered', 'delivery_batch'],
    means:
      'Records were written to the practice management system; deliveries is how many eligd ' +
      'tried, delivered how many it accepted.',
  },
  delivery_failed: {
    level: 'warn',
    fields: ['connector', 'deliveries', 'delivery_batch', 'reason', 'wait_ms'],
    means: 'Records could not be written; eligd tries again later.',
    next: 'Do what reason says, and run "eligd check". Nothing is lost in the meantime.',
  },
  delivery_parked: {
    level: 'error',
    fields: ['connector'],
    means: 'eligd gave up on a record after all attempts; it is on the attention list.',
    next: 'Fix what the attention list names (eligd list --attention), then run "eligd retry".',
  },
} as const satisfies Record<string, EventDescription>;
