/** What this connector logs. `npm run schemas` puts it on the page docs/events.md. */
import type { ConnectorEnv, ConnectorEvents } from '../contract.ts';

export const EVENTS = {
  csv_file_read: {
    level: 'info',
    fields: ['accepted', 'connector', 'duration_ms', 'rejected', 'size'],
    means:
      'A file of the drop folder was read to its end and moved to processed/, or to ' +
      'rejected/ when no row could be used.',
  },
  csv_file_repeated: {
    level: 'info',
    fields: ['connector', 'size'],
    means:
      'A file with the content of the one that was read last was moved to processed/ without ' +
      'reading it again.',
  },
  csv_file_rejected: {
    level: 'warn',
    fields: ['connector', 'reason', 'size'],
    means:
      'A file could not be understood as a whole and was moved to rejected/; the line holds ' +
      'the class of the fault.',
    next: 'Read the .reasons.csv next to it.',
  },
  csv_file_changed: {
    level: 'warn',
    fields: ['connector', 'size'],
    means:
      'A file was written to while it was read; it went back to inbox/ and is read again ' +
      'when it is still.',
    next:
      'If it happens often, raise stable_seconds, or let the export write to a temporary name ' +
      'first.',
  },
  csv_file_unusable: {
    level: 'warn',
    fields: ['cause', 'connector'],
    means:
      'A file of the drop folder could not be read or moved. The others go on; it is tried ' +
      'again at every look.',
    next: 'Check permissions and disk; eligd check counts such files.',
  },
  csv_file_ignored: {
    level: 'info',
    fields: ['connector', 'files'],
    means: 'Files in inbox/ are neither .csv, .txt nor .tsv; they stay where they are.',
  },
} as const satisfies ConnectorEvents;

export type CsvEnv = ConnectorEnv<typeof EVENTS>;
