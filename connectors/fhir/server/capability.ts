import { at, type Json, listAt, textAt, textsAt } from '../element.ts';

/**
 * The server's CapabilityStatement. `null` means that it does not say; then eligd tries, and
 * handles a refusal.
 */
export type Capability = {
  /** False if there is no readable statement. */
  is_known: boolean;
  software: string;
  fhir_version: string;
  interaction: (type: string, code: 'read' | 'search-type' | 'create' | 'update') => boolean | null;
  searchParameter: (type: string, name: string) => boolean | null;
  /** Whether to request `_include=<type>:<name>`; only if the statement lists it. */
  include: (type: string, name: string) => boolean;
  /**
   * Whether the server honors `If-None-Exist`; only if the statement says so, because a server that
   * ignores it would write twice.
   */
  conditionalCreate: (type: string) => boolean;
};

/** Parameters that apply to every type and that many statements omit. */
const COMMON_PARAMETERS = new Set(['_id', '_lastUpdated']);

export function readCapability(statement: unknown): Capability {
  const rest = listAt(statement, 'rest').find((one) => textAt(one, 'mode') !== 'client') ?? {};
  const resources = new Map(
    listAt(rest, 'resource').map((resource) => [textAt(resource, 'type'), resource]),
  );
  const common = namesOf(rest, 'searchParam');
  const ask = (type: string, look: (resource: Json) => boolean | null): boolean | null => {
    if (resources.size === 0) return null;
    const resource = resources.get(type);
    return resource === undefined ? false : look(resource);
  };
  const software = [
    textAt(statement, 'software', 'name'),
    textAt(statement, 'software', 'version'),
  ].filter((text) => text !== '');
  return {
    is_known: resources.size > 0,
    software: software.join(' ') || textAt(statement, 'publisher') || textAt(statement, 'name'),
    fhir_version: textAt(statement, 'fhirVersion'),
    interaction: (type, code) =>
      ask(type, (resource) => {
        const codes = listAt(resource, 'interaction').map((one) => textAt(one, 'code'));
        return codes.length === 0 ? null : codes.includes(code);
      }),
    searchParameter: (type, name) =>
      ask(type, (resource) => {
        const names = namesOf(resource, 'searchParam');
        if (names.size === 0) return null;
        if (names.has(name) || common.has(name)) return true;
        return COMMON_PARAMETERS.has(name) ? null : false;
      }),
    include: (type, name) => {
      const includes = textsAt(resources.get(type), 'searchInclude');
      return (
        includes.includes(`${type}:${name}`) || includes.includes(name) || includes.includes('*')
      );
    },
    conditionalCreate: (type) => at(resources.get(type), 'conditionalCreate') === true,
  };
}

function namesOf(value: Json, list: string): Set<string> {
  return new Set(listAt(value, list).map((one) => textAt(one, 'name')));
}
