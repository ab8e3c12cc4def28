/**
 * Limits the length of values from the practice management system. Names, IDs, and codes need a few
 * dozen characters; a value of a million would be copied into every statement, request, and page.
 */
export const FIELD_LENGTH_MAX = 1_000;
/** How many codes, coverages, and problems one visit may have. */
const LIST_LENGTH_MAX = 1_000;
/** The PMS's own text, whose size the connector limits together with its message. */
const OWN_TEXT = 'as_written';

/**
 * Returns the first field that is too long in an appointment, a claim, or a patient that a
 * connector read, such as `patient.last_name`; null: none.
 */
export function tooLongField(input: object): string | null {
  if (Array.isArray(input)) {
    for (let at = 0; at < input.length; at += 1) {
      const found = tooLongWithin(String(at), input[at]);
      if (found !== null) return found;
    }
    return null;
  }
  for (const name in input) {
    const found = tooLongWithin(name, input[name as keyof typeof input]);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the field if it, or a part of it, is too long. */
function tooLongWithin(name: string, value: unknown): string | null {
  if (name === OWN_TEXT) return null;
  if (typeof value === 'string') return value.length > FIELD_LENGTH_MAX ? name : null;
  if (typeof value !== 'object' || value === null) return null;
  if (lengthOf(value) > LIST_LENGTH_MAX) return name;
  const inner = tooLongField(value);
  return inner === null ? null : `${name}.${inner}`;
}

/** Counts without a list of the names: this runs several times for each row of an export. */
function lengthOf(value: object): number {
  if (Array.isArray(value)) return value.length;
  let length = 0;
  for (const _ in value) length += 1;
  return length;
}
