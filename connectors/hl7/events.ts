/** What this connector logs. `npm run schemas` puts it on the page docs/events.md. */
import type { ConnectorEnv, ConnectorEvents } from '../contract.ts';

export const EVENTS = {
  hl7_listening: {
    level: 'info',
    fields: ['connector', 'host', 'port'],
    means: 'HL7 senders can connect.',
  },
  hl7_connection_refused: {
    level: 'warn',
    fields: ['connector', 'host'],
    means: 'Somebody connected who is not on the list "allow", or who could not agree on TLS.',
    next:
      'When it is one of your systems, add its address to "allow:", or look at its ' +
      'certificate.',
  },
  hl7_connections_full: {
    level: 'warn',
    fields: ['connector', 'limit'],
    means:
      'Somebody connected when there were as many connections as max_connections allows, and ' +
      'was rejected.',
    next:
      'Look whether a sender opens connections and never closes them; otherwise set ' +
      'max_connections: higher.',
  },
  hl7_connection_ended: {
    level: 'debug',
    fields: ['connector', 'junk_bytes', 'messages'],
    means:
      'An HL7 connection was closed; messages is how many came, junk_bytes how many ' +
      'bytes were outside of frames.',
  },
  hl7_message_refused: {
    level: 'warn',
    fields: ['connector', 'messages', 'reason'],
    means:
      'Messages were answered with AR or CR and not kept: they are none that are read here, ' +
      'or no HL7 at all. It is said once a minute for each reason; messages is how many came.',
    next: 'Have the interface of the sender send SIU, ADT and DFT only, to this connector.',
  },
  hl7_message_faulty: {
    level: 'warn',
    fields: ['connector', 'field'],
    means:
      'A message was answered with AE, because something in it cannot be read; it is on the ' +
      'attention list.',
    next:
      'Do what the attention list says (eligd list --attention); have the sender fix the ' +
      'field and send again.',
  },
  hl7_not_stored: {
    level: 'error',
    fields: ['connector'],
    means:
      'Messages could not be committed, so they were not acknowledged and the connection was ' +
      'ended; the sender sends them again.',
    next: 'Look at disk space and permissions of the database.',
  },
  hl7_message_unstorable: {
    level: 'error',
    fields: ['connector', 'error_code'],
    means:
      'A message could not be committed again and again while others were; it was answered ' +
      'with AE, so that it does not hold up the others.',
    next:
      'It is a bug worth reporting. Enter what the message says by hand; the sender has it ' +
      'under its control id.',
  },
  hl7_file_read: {
    level: 'info',
    fields: ['connector', 'messages', 'size'],
    means: 'A file of HL7 messages was read to its end; messages is how many it held.',
  },
  hl7_file_rejected: {
    level: 'warn',
    fields: ['connector', 'messages', 'size'],
    means: 'A file without a readable HL7 message was moved to rejected/.',
    next: 'Look at the file in rejected/, and have the sender write HL7 v2 messages into inbox/.',
  },
  hl7_file_unusable: {
    level: 'warn',
    fields: ['cause', 'connector'],
    means:
      'A file in inbox/ could not be read or moved. The others go on; it is tried again at ' +
      'every look.',
    next: 'Check permissions and disk.',
  },
  hl7_answer_unmatched: {
    level: 'warn',
    fields: ['connector'],
    means:
      'The receiver acknowledged a message that was not waiting for it, as after a timeout. ' +
      'It counts for nothing.',
    next:
      'Nothing while it is rare. Otherwise raise the timeout of this connector, or look why ' +
      'the receiver is slow.',
  },
  hl7_writes_registrations: {
    level: 'warn',
    fields: ['connector'],
    means:
      'Answers are written back as ADT^A08, which may change the registration of patients in ' +
      'the receiving system.',
    next: 'Use write_back: pin_i07 or oru_r01 unless the receiver’s maker asked for A08.',
  },
} as const satisfies ConnectorEvents;

export type Hl7Env = ConnectorEnv<typeof EVENTS>;
