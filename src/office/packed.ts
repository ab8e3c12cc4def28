import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** The fastest; the text of a schedule becomes a tenth as long. */
const LEVEL = 1;

/**
 * Text that is kept compressed and read piece by piece: a report states how many visits a day has
 * before it lists them, and a large clinic has megabytes of them.
 */
export class PackedText {
  readonly #pieces: Buffer[] = [];

  add(piece: string): void {
    // A copy, because the result is the beginning of a longer buffer.
    this.#pieces.push(Buffer.from(deflateRawSync(piece, { level: LEVEL })));
  }

  /** Returns the pieces in UTF-8, each as it was added; may be called again. */
  *read(): Generator<Buffer> {
    for (const piece of this.#pieces) yield inflateRawSync(piece);
  }
}
