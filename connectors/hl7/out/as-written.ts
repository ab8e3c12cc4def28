/**
 * The PMS's own segments, given back with what eligd has to say in them. Every field that is not
 * named keeps its bytes: a receiver of an ADT^A08 takes what is there for the truth.
 */
import type { CoverageInput } from '../../../src/domain/appointment.ts';

/** The segments of `as_written`, in their order; empty when the PMS's text is not known. */
export const segmentsOf = ({ as_written }: { as_written?: string }): string[] =>
  as_written === undefined ? [] : as_written.split('\r');

/** A field of the first of the segments with this name, as it is there; null: not valued. */
export function rawField(segments: readonly string[], name: string, number: number): string | null {
  const found = segments.find((segment) => segment.startsWith(`${name}|`));
  return found?.split('|')[number] || null;
}

/** The segment with these fields, already encoded, in place of its own; null keeps its own. */
export function withFields(
  segment: string,
  fields: Readonly<Record<number, string | null>>,
): string {
  const own = segment.split('|');
  for (const [number, text] of Object.entries(fields)) {
    if (text === null) continue;
    while (own.length <= Number(number)) own.push('');
    own[Number(number)] = text;
  }
  return own.join('|');
}

/**
 * IN1-1 of each coverage, in the order given: the PMS's own, when each has one and no two are the
 * same; otherwise their places.
 */
export function setIds(coverages: readonly CoverageInput[]): string[] {
  const own = coverages.flatMap((each) => rawField(segmentsOf(each), 'IN1', 1) ?? []);
  return own.length === coverages.length && new Set(own).size === own.length
    ? own
    : coverages.map((_, index) => String(index + 1));
}
