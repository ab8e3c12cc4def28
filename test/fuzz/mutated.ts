/**
 * Inputs near those of a corpus: bytes that are cut, doubled, and swapped, with meaningful texts
 * between them.
 */
import * as fc from 'fast-check';

type Edit = { at: number; length: number; put: Buffer | 'double' | 'cut' };

/**
 * `telling`: texts with a meaning in this format. Shrinks towards an unchanged entry of the corpus.
 */
export function mutated(
  corpus: readonly Buffer[],
  telling: readonly string[],
): fc.Arbitrary<Buffer> {
  const put = fc.oneof(
    { arbitrary: fc.constantFrom(...telling).map((text) => Buffer.from(text)), weight: 4 },
    { arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)), weight: 2 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom(...telling), fc.nat(300))
        .map(([text, times]) => Buffer.from(text.repeat(times))),
      weight: 1,
    },
    { arbitrary: fc.constantFrom('double' as const, 'cut' as const), weight: 1 },
  );
  const place = fc.double({ min: 0, max: 1, noNaN: true });
  const edit = fc.record({
    at: place,
    length: fc.oneof(fc.constant(0), fc.nat(8), fc.nat(200)),
    put,
  });
  const entry = fc.constantFrom(...corpus);
  return fc
    .tuple(entry, entry, place, fc.array(edit, { maxLength: 6 }))
    .map(([one, other, where, edits]) => {
      // Sometimes the tail of another input follows the head of one.
      const crossed =
        where < 0.8
          ? one
          : Buffer.concat([
              one.subarray(0, one.length * where),
              other.subarray(other.length * where),
            ]);
      return edits.reduce(edited, crossed);
    });
}

function edited(bytes: Buffer, { at, length, put }: Edit): Buffer {
  const from = Math.floor(at * bytes.length);
  const to = Math.min(bytes.length, from + length);
  if (put === 'cut') return bytes.subarray(0, from);
  const middle =
    put === 'double' ? Buffer.concat([bytes.subarray(from, to), bytes.subarray(from, to)]) : put;
  return Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)]);
}
