/**
 * Reading JSON that a server sent. What is not there, or not of the kind that FHIR says, reads as
 * empty: servers deviate, and one odd element must not cost the appointment (G7).
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

/** What is under these names, one inside the other; undefined when any of them is not there. */
export function at(value: unknown, ...names: string[]): unknown {
  let found = value;
  for (const name of names) found = isJson(found) ? found[name] : undefined;
  return found;
}

/** The objects of a list; a single object where a list should be counts as a list of one. */
export function listAt(value: unknown, ...names: string[]): Json[] {
  const found = at(value, ...names);
  if (isJson(found)) return [found];
  return Array.isArray(found) ? found.filter(isJson) : [];
}

/** Trimmed text; a number is taken as it is written. Empty when there is none. */
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

/** The codings of a CodeableConcept, or of a list of them. */
export function codingsAt(value: unknown, ...names: string[]): { system: string; code: string }[] {
  return listAt(value, ...names).flatMap((concept) =>
    listAt(concept, 'coding').map((coding) => ({
      system: textAt(coding, 'system'),
      code: textAt(coding, 'code'),
    })),
  );
}

/**
 * The value of the first identifier that is recognized by one of `systems` (a URI, or the code of
 * its type), in the order of `systems`. One that is marked `old` or has ended before `today` counts
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
