/** What this connector logs. `npm run schemas` puts it on the page docs/events.md. */
import type { ConnectorEnv, ConnectorEvents } from '../contract.ts';

export const EVENTS = {
  fhir_capability_unknown: {
    level: 'warn',
    fields: ['connector', 'failure'],
    means:
      'The FHIR server gives no CapabilityStatement that can be read, so nothing is taken ' +
      'for granted: no includes, no conditional create.',
    next: 'Check base_url; eligd check tells what the server lacks.',
  },
  fhir_answer_partial: {
    level: 'warn',
    fields: ['connector'],
    means:
      'The FHIR server said that its list of appointments is not whole. What is in it was ' +
      'taken; nothing missing counts as vanished.',
    next:
      'Nothing at first. If it goes on, ask the operator of the FHIR server what it leaves ' +
      'out.',
  },
  fhir_fallback_used: {
    level: 'warn',
    fields: ['connector', 'from', 'to'],
    means:
      'The FHIR server does not take one kind of resource (from), so answers are written as ' +
      'another (to).',
    next: 'Set write_back: to the one that it takes, or have the server accept the other.',
  },
} as const satisfies ConnectorEvents;

export type FhirEnv = ConnectorEnv<typeof EVENTS>;
