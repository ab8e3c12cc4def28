import type { Resource } from '../element.ts';

/** What neither a FHIR string (R4, "Data Types", string) nor XML 1.0 can hold. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/**
 * The resource with a mark in the place of each character that a server may refuse it for, whatever
 * the payer's words hold.
 */
export function printable(resource: Resource): Resource {
  return JSON.parse(JSON.stringify(resource), (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll(UNPRINTABLE, '\ufffd') : value,
  ) as Resource;
}
