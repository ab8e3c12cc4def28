/** The connector's log events. `npm run schemas` writes them to docs/events.md. */
import type { ConnectorEnv, ConnectorEvents } from '../contract.ts';

export const EVENTS = {
  hl7_listening: {
    level: 'info',
    fields: ['connector', 'host', 'port'],
    means: 'HL7 senders can connect now.',
  },
  hl7_connection_refused: {
    level: 'warn',
    fields: ['connector', 'host'],
    means:
      'A sender that is not on the list "allow", or that failed the TLS handshake, tried to ' +
      'connect.',
    next: 'If it is one of your systems, add its address to "allow:", or check its certificate.',
  },
  hl7_connections_full: {
    level: 'warn',
    fields: ['connector', 'limit'],
    means: 'A connection was rejected, because max_connections was reached.',
    next:
      'Check whether a sender opens connections and never closes them. If not, raise ' +
      'max_connections:.',
  },
  hl7_connection_ended: {
    level: 'debug',
    fields: ['connector', 'junk_bytes', 'messages'],
    means:
      'An HL7 connection was closed; messages is how many arrived, junk_bytes how many bytes ' +
      'were outside of frames.',
  },
  hl7_message_refused: {
    level: 'warn',
    fields: ['connector', 'messages', 'reason'],
    means:
      'Messages were answered with AR or CR and not kept: eligd does not read this type, or ' +
      'they are not HL7. Logged once a minute for each reason; messages is how many arrived.',
    next: 'Set the sender’s interface to send only SIU, ADT, and DFT to this connector.',
  },
  hl7_message_faulty: {
    level: 'warn',
    fields: ['connector', 'field'],
    means:
      'A message was answered with AE, because something in it cannot be read; it is on the ' +
      'attention list.',
    next:
      'Follow the attention list (eligd list --attention); have the sender fix the field and ' +
      'send again.',
  },
  hl7_not_stored: {
    level: 'error',
    fields: ['connector'],
    means:
      'Messages could not be stored, so eligd did not acknowledge them and closed the ' +
      'connection; the sender sends them again.',
    next: 'Check disk space and permissions of the database.',
  },
  hl7_file_read: {
    level: 'info',
    fields: ['connector', 'messages', 'size'],
    means: 'A file of HL7 messages was read; messages is how many it contained.',
  },
  hl7_file_rejected: {
    level: 'warn',
    fields: ['connector', 'messages', 'size'],
    means: 'A file without a readable HL7 message was moved to rejected/.',
    next: 'Check the file in rejected/, and have the sender write HL7 v2 messages to inbox/.',
  },
  hl7_file_unusable: {
    level: 'warn',
    fields: ['cause', 'connector'],
    means:
      'A file in inbox/ could not be read or moved. eligd reads the others and tries this one ' +
      'again in each pass.',
    next: 'Check the permissions and the disk.',
  },
  hl7_answer_unmatched: {
    level: 'warn',
    fields: ['connector'],
    means:
      'The receiver acknowledged a message that was no longer waiting, for example after a ' +
      'timeout. eligd ignores it.',
    next:
      'No action needed while it is rare. Otherwise, raise the timeout of this connector, or ' +
      'find out why the receiver is slow.',
  },
  hl7_writes_registrations: {
    level: 'warn',
    fields: ['connector'],
    means:
      'Answers are written back as ADT^A08, which may change the registration of patients in ' +
      'the receiving system.',
    next: 'Use write_back: pin_i07 or oru_r01, unless the vendor of the receiver asked for A08.',
  },
} as const satisfies ConnectorEvents;

export type Hl7Env = ConnectorEnv<typeof EVENTS>;
