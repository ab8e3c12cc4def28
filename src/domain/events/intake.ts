/** Events about reading appointments from a connector and planning them. */
import type { EventDescription } from './description.ts';

export const INTAKE_EVENTS = {
  batch_accepted: {
    level: 'info',
    fields: ['accepted', 'connector', 'rejected', 'unchanged', 'vanished'],
    means:
      'A connector’s appointments were stored; vanished is how many are missing from a full ' +
      'export.',
  },
  message_not_read: {
    level: 'error',
    fields: ['connector', 'error_code'],
    means:
      'A message that was stored and acknowledged could not be read, or the database failed each ' +
      'time (SQLITE…), or eligd ended several times while it read it (then there is no error ' +
      'code). It is on the attention list, its text is kept, and it holds up no other.',
    next:
      'Report it as a bug; with SQLITE…, run "eligd check". The sender can find the message by ' +
      'its control ID; let it send the current state of the visit as a new message. If it is ' +
      'about a visit, have the office call the payer.',
  },
  messages_unread: {
    level: 'error',
    fields: ['connector', 'messages'],
    means: 'Messages were received and acknowledged, but have not been read for minutes.',
    next: 'Follow the attention list (eligd list --attention).',
  },
  appointment_planned: {
    level: 'info',
    fields: ['appointment', 'connector', 'inquiry'],
    means:
      'An appointment (a keyed hash of its PMS ID) is served by an inquiry; later lines name ' +
      'the inquiry.',
  },
  connector_failed: {
    level: 'warn',
    fields: ['connector', 'failure', 'reason'],
    means:
      'A connector could not read or write; the line says why and what to do. eligd tries again.',
    next: 'Do what reason says, and run "eligd check".',
  },
  connector_recovered: {
    level: 'info',
    fields: ['connector', 'direction', 'failures'],
    means:
      'A connector can read, listen, or write (direction) again; failures is how many attempts ' +
      'failed. Identical failures were counted, not logged.',
  },
} as const satisfies Record<string, EventDescription>;
