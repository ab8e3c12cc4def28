/** Appointments: read from a connector and planned. */
import type { EventDescription } from './description.ts';

export const INTAKE_EVENTS = {
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
      'An appointment, as a keyed hash of its id in the PMS, is served by an inquiry; further ' +
      'lines name the inquiry.',
  },
  connector_failed: {
    level: 'warn',
    fields: ['connector', 'failure', 'reason'],
    means:
      'A connector could not read or write; the line says why and what to do. It is tried again.',
    next: 'Do what reason says, and run "eligd check".',
  },
  connector_recovered: {
    level: 'info',
    fields: ['connector', 'direction', 'failures'],
    means:
      'A connector reads, listens or writes (direction) again after so many failures. Identical ' +
      'ones were counted and not logged.',
  },
} as const satisfies Record<string, EventDescription>;
