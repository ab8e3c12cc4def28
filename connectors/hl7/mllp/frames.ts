/**
 * MLLP, the minimal lower layer protocol (HL7 v2.5.1, appendix C; MLLP release 1): a message is
 * `<SB> message <EB> <CR>`.
 *
 * The reader is tolerant, because senders vary: frames split anywhere, many in one chunk, any bytes
 * between them, no final carriage return. A frame ends at its EB, because a sender that omits the
 * CR waits for the reply. A header directly after an SB inside a frame shows that the first frame
 * was truncated; it got no reply, so its sender still has it. Any other SB is a vertical tab, as in
 * text pasted from a word processor.
 */
const SB = 0x0b;
const EB = 0x1c;
const CR = 0x0d;
/** The first characters of a message or a batch. */
const HEADERS = ['MSH', 'FHS', 'BHS'];
const HEADER_BYTES = 3;

/** `is_too_large`: the body is only the beginning, enough to identify the message. */
export type Frame = { body: Buffer; is_too_large: boolean };

/** The bytes kept of a frame that is too large. */
const HEAD_BYTES = 4096;

/** Finds the frames in the bytes of one connection. */
export class FrameReader {
  readonly #bytes_max: number;
  /**
   * The part of the frame before this chunk. It grows by doubling, so that a frame that arrives
   * byte by byte takes linear time.
   */
  #held = Buffer.alloc(0);
  #size = 0;
  #is_inside = false;
  /** The end of the last chunk if it may begin another frame: an SB and part of a header. */
  #undecided = Buffer.alloc(0);
  /** Bytes between frames, except line breaks. */
  junk_bytes = 0;

  /** A frame with more than `bytes_max` bytes is skipped and not held in memory. */
  constructor(bytes_max: number) {
    this.#bytes_max = bytes_max;
  }

  /**
   * Returns the frames that end in `piece`, in order. Linear in the bytes, however they are split.
   */
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
    // A new buffer: the previous frame's may not have been read yet.
    this.#held = Buffer.alloc(0);
    this.#size = 0;
    this.#is_inside = true;
  }

  /** Returns the piece, or the part after the beginning of another frame. */
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
    // Of a frame that is too large, only the beginning is kept.
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
    // Most frames arrive in one piece and are not copied.
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
 * Returns the position in `chunk`, from `from` on, of an SB that needs the next chunk to show
 * whether a header follows; otherwise the end.
 */
function decidedLength(chunk: Buffer, from: number): number {
  const begin = chunk.indexOf(SB, Math.max(from, chunk.length - HEADER_BYTES));
  return begin === -1 ? chunk.length : begin;
}

/** Returns one message with the MLLP bytes around it. */
export function frame(body: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(body.length + 3);
  framed[0] = SB;
  body.copy(framed, 1);
  framed[body.length + 1] = EB;
  framed[body.length + 2] = CR;
  return framed;
}

/** Returns the text of one message with the MLLP characters around it. */
export const frameText = (text: string): string => `\x0b${text}\x1c\r`;
