/**
 * MLLP, the minimal lower layer protocol (HL7 v2.5.1, appendix C; MLLP release 1): a message is `<SB> message <EB> <CR>`.
 *
 * Read tolerantly, because senders are: frames cut anywhere, many in one piece, anything between them, no final carriage return.
 * A frame ends at its EB, since a sender that leaves the CR out waits for the answer. A frame that is begun inside another one
 * shows that the first was cut short: it was never answered, so its sender has it still.
 */
export const SB = 0x0b;
export const EB = 0x1c;
const CR = 0x0d;

/** `is_too_large`: the body is only the beginning of what came, enough to say which message it was. */
export type Frame = { body: Buffer; is_too_large: boolean };

/** What is kept of a frame that is too large. */
const HEAD_BYTES = 4096;

export class FrameReader {
  readonly #bytes_max: number;
  #parts: Buffer[] = [];
  #size = 0;
  #is_inside = false;
  /** Bytes that stood between frames, but for line ends. */
  junk_bytes = 0;

  /** A frame with more than `bytes_max` bytes is passed over, in memory as well. */
  constructor(bytes_max: number) {
    this.#bytes_max = bytes_max;
  }

  /** The frames that end in `chunk`, in their order. Linear in the bytes, however they are cut. */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (!this.#is_inside) {
        const begin = chunk.indexOf(SB, at);
        this.#countJunk(chunk, at, begin === -1 ? chunk.length : begin);
        if (begin === -1) break;
        this.#begin();
        at = begin + 1;
      }
      const end = chunk.indexOf(EB, at);
      this.#add(chunk.subarray(at, end === -1 ? chunk.length : end));
      if (end === -1) break;
      frames.push(this.#end());
      at = end + 1;
    }
    return frames;
  }

  #begin(): void {
    this.#parts = [];
    this.#size = 0;
    this.#is_inside = true;
  }

  #add(piece: Buffer): void {
    const begun_again = piece.lastIndexOf(SB);
    if (begun_again !== -1) this.#begin();
    const part = piece.subarray(begun_again + 1);
    if (part.length === 0) return;
    const room = this.#bytes_max - this.#size;
    this.#size += part.length;
    if (part.length <= room) this.#parts.push(part);
    // Of what is too large only the beginning is needed.
    else if (room >= 0) this.#parts = [Buffer.from(Buffer.concat([...this.#parts, part]).subarray(0, HEAD_BYTES))];
  }

  #end(): Frame {
    const body = this.#parts.length === 1 && this.#parts[0] !== undefined ? this.#parts[0] : Buffer.concat(this.#parts);
    const is_too_large = this.#size > this.#bytes_max;
    this.#parts = [];
    this.#is_inside = false;
    return { body, is_too_large };
  }

  #countJunk(chunk: Buffer, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const byte = chunk[at];
      if (byte !== CR && byte !== 0x0a) this.junk_bytes += 1;
    }
  }
}

/** The bytes that carry one message. */
export function frame(body: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(body.length + 3);
  framed[0] = SB;
  body.copy(framed, 1);
  framed[body.length + 1] = EB;
  framed[body.length + 2] = CR;
  return framed;
}
