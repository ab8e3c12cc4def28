/**
 * Returns the PMS's own segments with eligd's values in them. Every other field keeps its bytes,
 * because the receiver of an ADT^A08 accepts the content as the truth.
 */
import type { CoverageInput } from '../../../src/domain/appointment.ts';

/** Returns the segments of `as_written`, in order; empty if the PMS's text is unknown. */
export const segmentsOf = ({ as_written }: { as_written?: string }): string[] =>
  as_written === undefined ? [] : as_written.split('\r');

/** Returns a raw field of the first segment with this name; null: no value. */
export function rawField(segments: readonly string[], name: string, number: number): string | null {
  const found = segments.find((segment) => segment.startsWith(`${name}|`));
  return found?.split('|')[number] || null;
}

/** Returns the segment with these encoded fields replaced; null keeps a field. */
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
 * Returns IN1-1 of each coverage in the given order: the PMS's own values if all have one and they
 * differ; otherwise their positions.
 */
export function setIds(coverages: readonly CoverageInput[]): string[] {
  const own = coverages.flatMap((each) => rawField(segmentsOf(each), 'IN1', 1) ?? []);
  return own.length === coverages.length && new Set(own).size === own.length
    ? own
    : coverages.map((_, index) => String(index + 1));
}
