/**
 * Scans JSON of any size byte by byte, and returns only the parts that the visitor selects. It
 * holds at most one such part in memory, regardless of what lies between them: 240 MB of text in
 * one field or 100,000 brackets need no memory. Made for lists (`list-body.ts`): the parsers on the
 * registry keep each text in full, or create an object for each token, which takes ten times as
 * long.
 *
 * The frame (the containers that are entered) is checked strictly. In skipped values, only
 * quotation marks and brackets are checked; in returned parts, `JSON.parse` checks the rest.
 */

import { VALUES_MAX } from '../domain/json-limits.ts';

/** What to do with a value when it begins: enter it, return it, or skip it. */
export type Choice = 'enter' | 'take' | 'pass';
type ValueKind = 'object' | 'array' | 'other';

export type Visitor = {
  /**
   * `key`: the name of the field, or null for an element of an array. `depth`: 0 for the whole
   * text.
   */
  onValue(at: Position): Choice;
  /**
   * Receives the text of a value chosen by `take`; null when it is too long, too deep, or has too
   * many values.
   */
  onTaken(text: string | null, at: Position): void;
  /** Called when an entered container ends. */
  onLeft(depth: number): void;
};

export type Position = { kind: ValueKind; key: string | null; depth: number };

/** A selected value that is nested more deeply than this counts as unreadable. */
const DEPTH_MAX = 100;
/** The maximum nesting of brackets; text beyond it is rejected as not JSON. */
const NESTING_MAX = 4 * 1024 * 1024;
const KEY_BYTES_MAX = 4096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const VALUE_BEGINS = new Set(Buffer.from('{["-0123456789tfn'));
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

type Expected = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'comma_or_end' | 'end';
type Frame = { closes: number; expected: Expected; key: string | null };

/** The text is not JSON. Gives no details, because a quotation might contain patient data. */
export class NotJson extends Error {
  override name = 'NotJson';
}

/** Collects the bytes of one value up to a limit; beyond it, records only that there were more. */
class Taken {
  readonly #max: number;
  #parts: Buffer[] = [];
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(bytes: Buffer): void {
    this.#size += bytes.length;
    // Copied, so that a small part does not keep the whole piece in memory.
    if (this.#size <= this.#max) this.#parts.push(Buffer.from(bytes));
    else this.#parts = [];
  }

  text(): string | null {
    return this.#size > this.#max ? null : Buffer.concat(this.#parts).toString('utf8');
  }
}

/** Scans one JSON text, piece by piece. */
export class JsonScanner {
  readonly #visitor: Visitor;
  readonly #bytes_max: number;
  /** The entered containers, outermost first. */
  readonly #frames: Frame[] = [{ closes: 0, expected: 'value', key: null }];
  /** The open brackets within the current value. */
  #open = new Uint8Array(256);
  #open_count = 0;
  #mode: 'frame' | 'value' | 'key' = 'frame';
  #is_scalar = false;
  #in_text = false;
  #is_escaped = false;
  #is_too_deep = false;
  /** The number of values within the current one. */
  #values = 0;
  #taken: Taken | null = null;
  #at: Position = { kind: 'other', key: null, depth: 0 };
  #marks_left = BYTE_ORDER_MARK;

  /** `bytes_max`: a longer value is not returned. */
  constructor(visitor: Visitor, bytes_max: number) {
    this.#visitor = visitor;
    this.#bytes_max = bytes_max;
  }

  /** True if only blanks have been read. */
  get is_empty(): boolean {
    return this.#frames.length === 1 && this.#mode === 'frame' && this.#frame.expected === 'value';
  }

  /** Scans the next piece. Throws `NotJson`. */
  push(piece: Buffer): void {
    let begun = this.#mode === 'frame' ? -1 : 0;
    let at = 0;
    while (at < piece.length) {
      const byte = piece[at] ?? 0;
      if (this.#mode === 'frame') {
        this.#inFrame(byte);
        if (this.#modeNow() !== 'frame') begun = at;
        at += 1;
        continue;
      }
      if (this.#is_scalar && (byte <= 0x20 || byte === COMMA || isClosing(byte))) {
        // The byte belongs to the frame.
        this.#end(piece.subarray(begun, at));
        continue;
      }
      at += 1;
      // Most of a long body is text: skip quickly to the next byte with a meaning.
      if (this.#in_text && !this.#is_escaped && byte !== QUOTE && byte !== BACKSLASH) {
        while (at < piece.length && piece[at] !== QUOTE && piece[at] !== BACKSLASH) at += 1;
        continue;
      }
      if (this.#isEnd(byte)) this.#end(piece.subarray(begun, at));
    }
    if (this.#mode !== 'frame') this.#taken?.add(piece.subarray(begun));
  }

  /** Ends the text. Throws `NotJson` when it is incomplete. */
  finish(): void {
    if (this.#mode === 'value' && this.#is_scalar) this.#end(Buffer.alloc(0));
    if (this.#mode !== 'frame' || this.#frames.length > 1 || this.#frame.expected !== 'end')
      throw new NotJson();
  }

  get #frame(): Frame {
    const frame = this.#frames.at(-1);
    if (frame === undefined) throw new NotJson();
    return frame;
  }

  /** Returns the mode. TypeScript does not see that `#inFrame` changes it. */
  #modeNow(): 'frame' | 'value' | 'key' {
    return this.#mode;
  }

  #inFrame(byte: number): void {
    if (this.#marks_left.length > 0) {
      const [mark, ...rest] = this.#marks_left;
      this.#marks_left = byte === mark ? rest : [];
      if (byte === mark) return;
    }
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return;
    const frame = this.#frame;
    const { expected } = frame;
    if (byte === frame.closes && (expected === 'comma_or_end' || expected.endsWith('_or_end'))) {
      this.#frames.pop();
      this.#frame.expected = this.#frames.length === 1 ? 'end' : 'comma_or_end';
      this.#visitor.onLeft(this.#frames.length - 1);
    } else if (byte === COMMA && expected === 'comma_or_end')
      frame.expected = frame.closes === CLOSE_OBJECT ? 'key' : 'value';
    else if (byte === COLON && expected === 'colon') frame.expected = 'value';
    else if (byte === QUOTE && (expected === 'key' || expected === 'key_or_end')) {
      this.#mode = 'key';
      this.#in_text = true;
      this.#taken = new Taken(KEY_BYTES_MAX);
    } else if (expected === 'value' || expected === 'value_or_end') this.#beginValue(byte);
    else throw new NotJson();
  }

  #beginValue(byte: number): void {
    const frame = this.#frame;
    if (!VALUE_BEGINS.has(byte)) throw new NotJson();
    const kind = byte === OPEN_OBJECT ? 'object' : byte === OPEN_ARRAY ? 'array' : 'other';
    const position = { kind, key: frame.key, depth: this.#frames.length - 1 } as const;
    const choice = this.#visitor.onValue(position);
    if (choice === 'enter' && kind !== 'other') {
      this.#frames.push(
        kind === 'object'
          ? { closes: CLOSE_OBJECT, expected: 'key_or_end', key: null }
          : { closes: CLOSE_ARRAY, expected: 'value_or_end', key: null },
      );
      return;
    }
    this.#mode = 'value';
    this.#at = position;
    this.#taken = choice === 'pass' ? null : new Taken(this.#bytes_max);
    this.#is_scalar = kind === 'other' && byte !== QUOTE;
    this.#in_text = byte === QUOTE;
    this.#is_too_deep = false;
    this.#values = 0;
    if (kind !== 'other') this.#openBracket(byte);
  }

  /** Returns whether `byte` ends the value or the key. */
  #isEnd(byte: number): boolean {
    if (this.#in_text) {
      if (this.#is_escaped) this.#is_escaped = false;
      else if (byte === BACKSLASH) this.#is_escaped = true;
      else if (byte === QUOTE) {
        this.#in_text = false;
        return this.#open_count === 0;
      }
      return false;
    }
    if (byte === QUOTE) {
      if (this.#is_scalar) throw new NotJson();
      this.#in_text = true;
    } else if (byte === COMMA) this.#values += 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#openBracket(byte);
    else if (isClosing(byte)) {
      this.#open_count -= 1;
      if (this.#open[this.#open_count] !== byte) throw new NotJson();
      return this.#open_count === 0;
    }
    return false;
  }

  #openBracket(byte: number): void {
    if (this.#is_scalar || this.#open_count === NESTING_MAX) throw new NotJson();
    if (this.#open_count === this.#open.length) {
      const larger = new Uint8Array(2 * this.#open.length);
      larger.set(this.#open);
      this.#open = larger;
    }
    this.#open[this.#open_count] = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
    this.#open_count += 1;
    this.#values += 1;
    if (this.#open_count > DEPTH_MAX) this.#is_too_deep = true;
  }

  #end(last: Buffer): void {
    this.#taken?.add(last);
    const text = this.#taken?.text() ?? null;
    const is_taken = this.#taken !== null;
    this.#taken = null;
    const frame = this.#frame;
    if (this.#mode === 'key') {
      // A key that is too long matches nothing.
      frame.key = text === null ? '' : String(parse(text));
      frame.expected = 'colon';
    } else {
      frame.expected = this.#frames.length === 1 ? 'end' : 'comma_or_end';
      const is_usable = !this.#is_too_deep && this.#values <= VALUES_MAX;
      if (is_taken) this.#visitor.onTaken(is_usable ? text : null, this.#at);
    }
    this.#mode = 'frame';
    this.#is_scalar = false;
  }
}

function isClosing(byte: number): boolean {
  return byte === CLOSE_ARRAY || byte === CLOSE_OBJECT;
}

/** Runs `JSON.parse` with an error that quotes nothing. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new NotJson();
  }
}
