/** The connector's log events. `npm run schemas` writes them to docs/events.md. */
import type { ConnectorEnv, ConnectorEvents } from '../contract.ts';

export const EVENTS = {
  fhir_capability_unknown: {
    level: 'warn',
    fields: ['connector', 'failure'],
    means:
      'The FHIR server has no readable CapabilityStatement, so eligd assumes the minimum: no ' +
      'includes, no conditional create.',
    next: 'Check base_url; "eligd check" shows what the server lacks.',
  },
  fhir_answer_partial: {
    level: 'warn',
    fields: ['connector'],
    means:
      'The FHIR server said that its appointment list is incomplete. eligd took what is in it; ' +
      'nothing missing counts as vanished.',
    next:
      'No action needed at first. If it continues, ask whoever runs the FHIR server what it ' +
      'leaves out.',
  },
  fhir_fallback_used: {
    level: 'warn',
    fields: ['connector', 'from', 'to'],
    means:
      'The FHIR server does not accept one kind of resource (from), so eligd writes answers as ' +
      'another (to).',
    next: 'Set write_back: to the kind that it accepts, or have the server accept the other.',
  },
} as const satisfies ConnectorEvents;

export type FhirEnv = ConnectorEnv<typeof EVENTS>;
