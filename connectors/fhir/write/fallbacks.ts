/** Chooses what eligd writes if a server does not accept the configured resource. */
import type { FhirConfig } from '../config.ts';
import type { Capability } from '../server/capability.ts';
import { mayCreate } from '../server/scopes.ts';

/** In the order of the attempts (docs/fhir.md). */
const FALLBACKS: Readonly<Record<string, readonly string[]>> = {
  CoverageEligibilityResponse: ['DocumentReference', 'Communication'],
  DocumentReference: ['Communication'],
  Task: ['Communication'],
  Communication: ['Task'],
  // The answer names its request by identifier, and its source in the text.
  CoverageEligibilityRequest: ['CoverageEligibilityResponse', 'DocumentReference', 'Communication'],
  Provenance: ['CoverageEligibilityResponse', 'DocumentReference', 'Communication'],
};

/** Returns the resource type that the server accepts instead of `type`; null: none. */
export function fallbackFor(type: string, capability: Capability): string | null {
  const takes = (other: string) => capability.interaction(other, 'create') !== false;
  return (FALLBACKS[type] ?? []).find(takes) ?? null;
}

/**
 * Returns whether the CapabilityStatement or the `granted` scopes say that an answer cannot be
 * written in any form, so that a call would be wasted. A server that says nothing counts as
 * writable.
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
