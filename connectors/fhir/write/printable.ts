import type { Resource } from '../element.ts';

/** Characters that neither a FHIR string (R4, "Data Types", string) nor XML 1.0 can contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * Replaces each character that a server may refuse with a mark, whatever the payer's words contain.
 */
export function printable(resource: Resource): Resource {
  return JSON.parse(JSON.stringify(resource), (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll(UNPRINTABLE, '\ufffd') : value,
  ) as Resource;
}
