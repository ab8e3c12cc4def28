/** Resolves a Reference of the server (FHIR R4, "References between resources"). */
import { at, isResource, type Json, listAt, type Resource, textAt } from '../element.ts';

type Target =
  /** On this server: `type` and `id` without version. */
  | { kind: 'local'; type: string; id: string }
  | { kind: 'contained'; id: string }
  /** `urn:uuid:…` or an address on another server: in the same Bundle, or unavailable. */
  | { kind: 'elsewhere'; url: string }
  /** Only an identifier or a display text. */
  | { kind: 'logical' };

/**
 * Parses a reference: relative, absolute on `base_url`, versioned, contained, or logical.
 * Credentials are sent only to the server itself.
 */
export function targetOf(reference: unknown, base_url: string): Target {
  const url = textAt(reference, 'reference');
  if (url === '') return { kind: 'logical' };
  if (url.startsWith('#')) return { kind: 'contained', id: url.slice(1) };
  const relative = url.startsWith(`${base_url}/`) ? url.slice(base_url.length + 1) : url;
  const parts = /^([A-Z][A-Za-z]+)\/([A-Za-z0-9\-._~]{1,128})(?:\/_history\/[^/]+)?$/.exec(
    relative,
  );
  const [, type, id] = parts ?? [];
  return type === undefined || id === undefined
    ? { kind: 'elsewhere', url }
    : { kind: 'local', type, id };
}

/**
 * Returns the type of the target, from the address or from `Reference.type`; empty if neither has
 * it.
 */
export function targetType(reference: unknown, base_url: string): string {
  const target = targetOf(reference, base_url);
  if (target.kind === 'local') return target.type;
  const absolute =
    target.kind === 'elsewhere'
      ? /(?:^|\/)([A-Z][A-Za-z]+)\/[^/]+(?:\/_history\/[^/]+)?$/.exec(target.url)?.[1]
      : undefined;
  return absolute ?? textAt(reference, 'type');
}

/**
 * Returns a text that is equal for two references to the same resource of the server; empty if the
 * reference names none.
 */
export function nameOfTarget(reference: unknown, base_url: string): string {
  const target = targetOf(reference, base_url);
  return target.kind === 'local' ? `${target.type}/${target.id}` : textAt(reference, 'reference');
}

/**
 * Returns whether a reference may mean the patient with this ID; an identifier or text alone may.
 */
export function isPatient(reference: unknown, patient_id: string, base_url: string): boolean {
  const target = targetOf(reference, base_url);
  if (target.kind === 'local') return target.type === 'Patient' && target.id === patient_id;
  // A server may use another address for itself than base_url.
  if (target.kind === 'elsewhere')
    return /\/Patient\/([^/]+)(?:\/_history\/[^/]+)?$/.exec(target.url)?.[1] === patient_id;
  return target.kind === 'logical';
}

/** Returns the contained resource with this ID; null: none. */
export function containedIn(container: Json, id: string): Resource | null {
  const found = listAt(container, 'contained').find((resource) => textAt(resource, 'id') === id);
  return isResource(found) ? found : null;
}

/** Returns the data of a logical reference in the form of the resource that it replaces. */
export function logicalResource(reference: unknown, type: string): Json {
  const identifier = at(reference, 'identifier');
  const name = textAt(reference, 'display');
  return {
    resourceType: type,
    ...(identifier === undefined ? {} : { identifier: [identifier] }),
    ...(name === '' ? {} : { name }),
  };
}

/**
 * Returns whether an order or a diagnosis of an appointment is about this patient. A group
 * appointment may name those of every participant, so only an explicit reference counts there; with
 * a single patient, everything counts that does not name another one.
 */
export function isAbout(
  resource: Json,
  { patient_id, is_group, base_url }: { patient_id: string; is_group: boolean; base_url: string },
): boolean {
  const target = targetOf(resource.subject, base_url);
  const is_named = target.kind === 'local' || target.kind === 'elsewhere';
  if (is_named && isPatient(resource.subject, patient_id, base_url)) return true;
  return !is_group && !(target.kind === 'local' && target.type === 'Patient');
}
