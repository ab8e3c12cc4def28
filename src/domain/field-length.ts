/**
 * How long a value of the practice management system may be. Names, ids and codes need a few dozen
 * characters; one of a million would travel through every statement, request and page.
 */
const FIELD_LENGTH_MAX = 1_000;
/** Codes, coverages and problems of one visit. */
const LIST_LENGTH_MAX = 1_000;
/** The PMS's own text, whose size the connector limits by that of the message. */
const OWN_TEXT = 'as_written';

/**
 * The first field of what a connector has read (an appointment, a claim, a patient) that is too
 * long, such as `patient.last_name`; null: none is.
 */
export function tooLongField(input: object): string | null {
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
