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
  // Nearly all: what is short as a whole has no part that is too long.
  if (JSON.stringify(input).length <= Math.min(FIELD_LENGTH_MAX, LIST_LENGTH_MAX)) return null;
  for (const name in input) {
    const value: unknown = input[name as keyof typeof input];
    if (name === OWN_TEXT) continue;
    if (typeof value === 'string' && value.length > FIELD_LENGTH_MAX) return name;
    if (typeof value !== 'object' || value === null) continue;
    if (lengthOf(value) > LIST_LENGTH_MAX) return name;
    const inner = tooLongField(value);
    if (inner !== null) return `${name}.${inner}`;
  }
  return null;
}

const lengthOf = (value: object): number =>
  Array.isArray(value) ? value.length : Object.keys(value).length;
