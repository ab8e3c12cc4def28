import type { FhirConfig } from '../config.ts';

/** Read on every server; `check` reports what a server lacks. */
const READ_TYPES = [
  'Appointment',
  'Patient',
  'RelatedPerson',
  'Coverage',
  'Organization',
  'Practitioner',
  'PractitionerRole',
  'Location',
  'ServiceRequest',
  'Condition',
] as const;

/**
 * Returns the resource types that eligd writes with this configuration. It leaves out fallbacks,
 * because they depend on the server's refusal.
 */
export function writtenTypes(config: FhirConfig): string[] {
  const { write_back, document, attention, claims_days } = config;
  return [
    ...(write_back === 'eligibility'
      ? ['CoverageEligibilityRequest', 'CoverageEligibilityResponse', 'Provenance']
      : []),
    ...(write_back === 'eligibility' && claims_days > 0 ? ['ClaimResponse'] : []),
    ...(write_back === 'document' || (write_back === 'eligibility' && document)
      ? ['DocumentReference']
      : []),
    ...(attention === 'task' ? ['Task'] : []),
    ...(attention === 'communication' ? ['Communication'] : []),
  ];
}

/** Includes claims only if they are read. */
export function readTypes({ claims_days }: FhirConfig): string[] {
  return [...READ_TYPES, ...(claims_days > 0 ? ['Claim', 'ClaimResponse'] : [])];
}

/** SMART App Launch 2: create, read, update, delete, and search as single letters. */
export function scopesV2(config: FhirConfig): string[] {
  return [
    ...readTypes(config).map((type) => `system/${type}.rs`),
    ...writtenTypes(config).map((type) => `system/${type}.crus`),
  ];
}

/** SMART App Launch 1. */
export function scopesV1(config: FhirConfig): string[] {
  return [
    ...readTypes(config).map((type) => `system/${type}.read`),
    ...writtenTypes(config).flatMap((type) => [`system/${type}.read`, `system/${type}.write`]),
  ];
}

/**
 * Returns the resource types for which `granted` allows less than eligd requests, in either version
 * of the notation.
 */
export function missingScopes(config: FhirConfig, granted: readonly string[]): string[] {
  const allows = (type: string, letters: string, v1: string[]) =>
    v1.every((word) =>
      granted.some((scope) => [word, '*'].some((verb) => isScope(scope, type, verb))),
    ) ||
    granted.some((scope) => {
      const verbs = scopeParts(scope, type);
      return verbs !== null && [...letters].every((letter) => verbs.includes(letter));
    });
  const read = readTypes(config).filter((type) => !allows(type, 'rs', ['read']));
  const written = writtenTypes(config).filter((type) => !allows(type, 'crus', ['read', 'write']));
  return [...read, ...written];
}

/**
 * Returns whether the scopes allow creating such a resource; scopes that are not SMART's are
 * ignored.
 */
export function mayCreate(type: string, granted: readonly string[]): boolean {
  const is_smart = granted.some((scope) => /^[a-z]+\/[A-Za-z*]+\.[a-z*]/.test(scope));
  return (
    !is_smart ||
    granted.some(
      (scope) =>
        ['write', '*'].some((verb) => isScope(scope, type, verb)) ||
        scopeParts(scope, type)?.includes('c') === true,
    )
  );
}

/**
 * Returns the letters of a v2 scope for `type` (`system/Patient.rs?…`); null if it is for another
 * type.
 */
function scopeParts(scope: string, type: string): string | null {
  const found = /^[a-z]+\/([A-Za-z*]+)\.([cruds]+)(?:\?.*)?$/.exec(scope);
  return found !== null && (found[1] === type || found[1] === '*') ? (found[2] ?? null) : null;
}

function isScope(scope: string, type: string, verb: string): boolean {
  return [type, '*'].some((name) => scope.endsWith(`/${name}.${verb}`));
}
