/**
 * Reads a server's JSON. A missing element, or one of another type than FHIR says, reads as empty:
 * servers deviate, and one odd element must not cost the appointment (G7).
 */
export type Json = { readonly [name: string]: unknown };

export type Resource = Json & { resourceType: string; id?: string };

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isResource(value: unknown): value is Resource {
  return (
    isJson(value) &&
    typeof value.resourceType === 'string' &&
    (value.id === undefined || typeof value.id === 'string')
  );
}

/** Returns the value at this path of names; undefined if a part is missing. */
export function at(value: unknown, ...names: string[]): unknown {
  let found = value;
  for (const name of names) found = isJson(found) ? found[name] : undefined;
  return found;
}

/** Returns the objects of a list; a single object counts as a list of one. */
export function listAt(value: unknown, ...names: string[]): Json[] {
  const found = at(value, ...names);
  if (isJson(found)) return [found];
  return Array.isArray(found) ? found.filter(isJson) : [];
}

/** Returns trimmed text; a number as written. Empty if missing. */
export function textAt(value: unknown, ...names: string[]): string {
  const found = at(value, ...names);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' ? found.trim() : '';
}

export function textsAt(value: unknown, ...names: string[]): string[] {
  const found = at(value, ...names);
  const list = Array.isArray(found) ? found : [found];
  return list.flatMap((one) => (typeof one === 'string' && one.trim() !== '' ? [one.trim()] : []));
}

/** Returns the codings of a CodeableConcept, or of a list of them. */
export function codingsAt(value: unknown, ...names: string[]): { system: string; code: string }[] {
  return listAt(value, ...names).flatMap((concept) =>
    listAt(concept, 'coding').map((coding) => ({
      system: textAt(coding, 'system'),
      code: textAt(coding, 'code'),
    })),
  );
}

/**
 * Returns the value of the first identifier that one of `systems` recognizes (a URI, or the code of
 * its type), in the order of `systems`. One that is marked `old` or ended before `today` comes
 * last.
 */
export function identifierOf(resource: unknown, systems: readonly string[], today: string): string {
  const identifiers = listAt(resource, 'identifier').filter(
    (identifier) => textAt(identifier, 'value') !== '',
  );
  const isCurrent = (identifier: Json) => {
    const end = textAt(identifier, 'period', 'end');
    return textAt(identifier, 'use') !== 'old' && (end === '' || end.slice(0, 10) >= today);
  };
  for (const candidates of [identifiers.filter(isCurrent), identifiers]) {
    for (const system of systems) {
      const found = candidates.find(
        (identifier) =>
          textAt(identifier, 'system') === system ||
          codingsAt(identifier, 'type').some(({ code }) => code === system),
      );
      if (found !== undefined) return textAt(found, 'value');
    }
  }
  return '';
}
