/**
 * Inputs near those of a corpus: bytes that were cut, doubled, swapped and sprinkled with what
 * means something.
 */
import * as fc from 'fast-check';

type Edit = { at: number; length: number; put: Buffer | 'double' | 'cut' };

/**
 * `telling`: texts that mean something in this format. Shrinks towards an entry of the corpus as it
 * is.
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
      // Now and then the head of one is followed by the tail of another.
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
