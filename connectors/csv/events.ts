/** The connector's log events. `npm run schemas` writes them to docs/events.md. */
import type { ConnectorEnv, ConnectorEvents } from '../contract.ts';

export const EVENTS = {
  csv_file_read: {
    level: 'info',
    fields: ['accepted', 'connector', 'duration_ms', 'rejected', 'size'],
    means:
      'A file in the drop folder was read and moved to processed/, or to rejected/ if no row ' +
      'could be used.',
  },
  csv_file_repeated: {
    level: 'info',
    fields: ['connector', 'size'],
    means:
      'A file with the same content as the previous one was moved to processed/ without ' +
      'reading it again.',
  },
  csv_file_rejected: {
    level: 'warn',
    fields: ['connector', 'reason', 'size'],
    means:
      'A file could not be used at all and was moved to rejected/; reason is the kind of ' +
      'problem.',
    next: 'Read the .reasons.csv next to it.',
  },
  csv_file_changed: {
    level: 'warn',
    fields: ['connector', 'size'],
    means:
      'A file changed while eligd was reading it; it went back to inbox/ and is read again ' +
      'when it stops changing.',
    next:
      'If it happens often, raise stable_seconds, or let the export write to a temporary name ' +
      'first.',
  },
  csv_file_unusable: {
    level: 'warn',
    fields: ['cause', 'connector'],
    means:
      'A file in the drop folder could not be read or moved. eligd reads the others and tries ' +
      'this one again in each pass.',
    next: 'Check the permissions and the disk; "eligd check" counts such files.',
  },
  csv_file_ignored: {
    level: 'info',
    fields: ['connector', 'files'],
    means: 'Some files in inbox/ are not .csv, .txt, or .tsv; they stay there.',
  },
} as const satisfies ConnectorEvents;

export type CsvEnv = ConnectorEnv<typeof EVENTS>;
