/** What eligd writes where a server does not take what the configuration asks for. */
import type { FhirConfig } from '../config.ts';
import type { Capability } from '../server/capability.ts';
import { mayCreate } from '../server/scopes.ts';

/** In the order in which they are tried (docs/fhir.md). */
const FALLBACKS: Readonly<Record<string, readonly string[]>> = {
  CoverageEligibilityResponse: ['DocumentReference', 'Communication'],
  DocumentReference: ['Communication'],
  Task: ['Communication'],
  Communication: ['Task'],
  // The answer names its request by identifier, and its source in the text.
  CoverageEligibilityRequest: ['CoverageEligibilityResponse', 'DocumentReference', 'Communication'],
  Provenance: ['CoverageEligibilityResponse', 'DocumentReference', 'Communication'],
};

/** What the server takes in the place of `type`; null when it takes none of it either. */
export function fallbackFor(type: string, capability: Capability): string | null {
  const takes = (other: string) => capability.interaction(other, 'create') !== false;
  return (FALLBACKS[type] ?? []).find(takes) ?? null;
}

/**
 * Whether the server says that an answer cannot be written to it in any form, by its
 * CapabilityStatement or the scopes that it `granted`, so that a call would be paid for nothing. A
 * server that says nothing is believed to take it.
 */
export function isReadOnly(
  { write_back }: FhirConfig,
  capability: Capability,
  granted: readonly string[] | null,
): boolean {
  if (write_back === 'none') return false;
  const type = write_back === 'document' ? 'DocumentReference' : 'CoverageEligibilityResponse';
  return [type, ...(FALLBACKS[type] ?? [])].every(
    (each) =>
      capability.interaction(each, 'create') === false ||
      (granted !== null && !mayCreate(each, granted)),
  );
}
