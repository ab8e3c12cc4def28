/**
 * MLLP, the minimal lower layer protocol (HL7 v2.5.1, appendix C; MLLP release 1): a message is
 * `<SB> message <EB> <CR>`.
 *
 * Read tolerantly, because senders are: frames cut anywhere, many in one piece, anything between
 * them, no final carriage return. A frame ends at its EB, since a sender that leaves the CR out
 * waits for the answer. A header right behind an SB inside a frame shows that the first was cut
 * short: it was never answered, so its sender has it still. Any other SB is a vertical tab, as text
 * pasted out of a word processor has them.
 */
const SB = 0x0b;
const EB = 0x1c;
const CR = 0x0d;
/** What a message or a batch begins with. */
const HEADERS = ['MSH', 'FHS', 'BHS'];
const HEADER_BYTES = 3;

/**
 * `is_too_large`: the body is only the beginning of what came, enough to say which message it was.
 */
export type Frame = { body: Buffer; is_too_large: boolean };

/** What is kept of a frame that is too large. */
const HEAD_BYTES = 4096;

export class FrameReader {
  readonly #bytes_max: number;
  /**
   * What of the frame came before this chunk. It grows by doubling, so that a frame which comes
   * byte by byte costs its bytes only.
   */
  #held = Buffer.alloc(0);
  #size = 0;
  #is_inside = false;
  /**
   * The end of the last chunk, when it may begin another frame: an SB and what of a header came
   * with it.
   */
  #undecided = Buffer.alloc(0);
  /** Bytes that stood between frames, but for line ends. */
  junk_bytes = 0;

  /** A frame with more than `bytes_max` bytes is passed over, in memory as well. */
  constructor(bytes_max: number) {
    this.#bytes_max = bytes_max;
  }

  /** The frames that end in `piece`, in their order. Linear in the bytes, however they are cut. */
  push(piece: Buffer): Frame[] {
    const frames: Frame[] = [];
    const chunk = this.#undecided.length === 0 ? piece : Buffer.concat([this.#undecided, piece]);
    this.#undecided = Buffer.alloc(0);
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
      if (end === -1) {
        const decided = decidedLength(chunk, at);
        this.#undecided = Buffer.from(chunk.subarray(decided));
        this.#hold(this.#begunAgain(chunk.subarray(at, decided)));
        break;
      }
      frames.push(this.#end(this.#begunAgain(chunk.subarray(at, end))));
      at = end + 1;
    }
    return frames;
  }

  #begin(): void {
    // Never the memory of the frame before, which may not have been read yet.
    this.#held = Buffer.alloc(0);
    this.#size = 0;
    this.#is_inside = true;
  }

  /** The piece, or what of it comes after the beginning of another frame. */
  #begunAgain(piece: Buffer): Buffer {
    for (
      let begin = piece.lastIndexOf(SB);
      begin !== -1;
      begin = begin === 0 ? -1 : piece.lastIndexOf(SB, begin - 1)
    ) {
      if (!HEADERS.includes(piece.toString('latin1', begin + 1, begin + 1 + HEADER_BYTES)))
        continue;
      this.#begin();
      return piece.subarray(begin + 1);
    }
    return piece;
  }

  #hold(piece: Buffer): void {
    const size = this.#size + piece.length;
    // Of what is too large only the beginning is needed.
    const kept = Math.min(size, size > this.#bytes_max ? HEAD_BYTES : size);
    if (kept > this.#held.length) {
      const room = Buffer.alloc(Math.max(kept, 2 * this.#held.length));
      this.#held.copy(room);
      this.#held = room;
    }
    if (this.#size < kept) piece.copy(this.#held, this.#size, 0, kept - this.#size);
    if (size > this.#bytes_max) this.#held = Buffer.from(this.#held.subarray(0, kept));
    this.#size = size;
  }

  #end(piece: Buffer): Frame {
    this.#is_inside = false;
    // Most frames come in one piece, and are read where they are.
    if (this.#size === 0 && piece.length <= this.#bytes_max)
      return { body: piece, is_too_large: false };
    this.#hold(piece);
    const is_too_large = this.#size > this.#bytes_max;
    return { body: this.#held.subarray(0, is_too_large ? HEAD_BYTES : this.#size), is_too_large };
  }

  #countJunk(chunk: Buffer, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const byte = chunk[at];
      if (byte !== CR && byte !== 0x0a) this.junk_bytes += 1;
    }
  }
}

/**
 * Where in `chunk`, at `from` or later, an SB stands of which the next chunk will say whether a
 * header follows; else the end.
 */
function decidedLength(chunk: Buffer, from: number): number {
  const begin = chunk.indexOf(SB, Math.max(from, chunk.length - HEADER_BYTES));
  return begin === -1 ? chunk.length : begin;
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
