import type { Message } from '../v2/message.ts';

/** HL7 allows at most 199 characters in MSH-10, and 227 in the names of programs. */
export const HEADER_FIELD_CHARS_MAX = 1_000;
const HEADER_FIELDS_READ = 18;

/** Returns the first field of MSH that is longer than any program needs; null: there is none. */
export function longHeaderField({ header }: Message): string | null {
  for (let number = 3; number <= HEADER_FIELDS_READ; number += 1)
    if (header.raw(number).length > HEADER_FIELD_CHARS_MAX) return `MSH-${number}`;
  return null;
}
