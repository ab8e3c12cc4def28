/**
 * Finds the messages in a frame or a file: one or many, in batches or not (HL7 v2.5.1, section
 * 2.10.3).
 */
import { decodeMessage } from './charset.ts';

/** `is_too_large`: the text is only the beginning, enough to identify the message. */
export type FoundMessage = { text: string; is_too_large: boolean };

const HEADER = /^MSH(?![A-Za-z0-9\s])/;
const BATCH = /^(?:[FB]HS|[FB]TS)(?![A-Za-z0-9\s])/;
/** FS ends an MLLP frame; some senders leave it in their files. */
const FRAME_END = '\x1c';
/** VT begins a frame if a header follows, anywhere in a line; otherwise it is text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character of the protocol
const FRAME_BEGIN = /\x0b(?=[\0 \t]*(?:MSH|[FB]HS)[^A-Za-z0-9\s])/;
/** A byte order mark, a VT, and padding before a header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character of the protocol
const BEFORE_LINE = /^(?:\xef\xbb\xbf|\x0b)+|^[\0 \t]+(?=(?:MSH|[FB][HT]S)[^A-Za-z0-9\s])/;

/**
 * Takes text in pieces, with one character for each byte, and returns each message decoded by its
 * own character set. Lines end with CR, LF, or both. It ignores empty lines, the MLLP bytes around
 * a message, and the text between frames.
 */
export class MessageSplitter {
  readonly #bytes_max: number;
  #line = '';
  #lines: string[] = [];
  #size = 0;
  /** The number of messages in the open batch; null: no batch is open. */
  #of_batch: number | null = null;
  /** How the trailers (BTS-1) differ from the received messages; null: they match. */
  batch_fault: string | null = null;

  /** Of a message with more than `bytes_max` bytes, only the beginning is kept. */
  constructor(bytes_max = Number.POSITIVE_INFINITY) {
    this.#bytes_max = bytes_max;
  }

  /** Returns the messages that are complete: a message ends where something else begins. */
  push(text: string): FoundMessage[] {
    const found: FoundMessage[] = [];
    for (const [index, piece] of text.split(FRAME_END).entries()) {
      if (index > 0) this.#endFrame(found);
      const [first = '', ...others] = piece.split(/[\r\n]/);
      this.#append(first);
      for (const line of others) {
        this.#endLine(found);
        this.#append(line);
      }
    }
    return found;
  }

  /** Returns the last message. */
  end(): FoundMessage[] {
    const found: FoundMessage[] = [];
    this.#endFrame(found);
    if (this.#of_batch !== null)
      this.batch_fault ??= 'missing; the end of the file may also be missing';
    return found;
  }

  #append(text: string): void {
    // One character above the limit shows that the limit is exceeded.
    this.#line += text.slice(0, Math.max(0, this.#bytes_max + 1 - this.#line.length));
  }

  #endFrame(found: FoundMessage[]): void {
    this.#endLine(found);
    this.#endMessage(found);
  }

  #endLine(found: FoundMessage[]): void {
    const lines = this.#line.split(FRAME_BEGIN);
    this.#line = '';
    for (const line of lines) this.#takeLine(line.replace(BEFORE_LINE, ''), found);
  }

  #takeLine(line: string, found: FoundMessage[]): void {
    if (line === '') return;
    const is_header = HEADER.test(line);
    const is_of_batch = !is_header && BATCH.test(line);
    if (is_header || is_of_batch) this.#endMessage(found);
    if (is_of_batch) this.#countBatch(line);
    else if (is_header || this.#lines.length > 0) this.#addLine(line);
  }

  #addLine(line: string): void {
    this.#size += line.length + 1;
    if (this.#size <= this.#bytes_max || this.#lines.length === 0) this.#lines.push(line);
  }

  #endMessage(found: FoundMessage[]): void {
    if (this.#lines.length === 0) return;
    const text = decodeMessage(this.#lines.join('\r')).trimEnd();
    found.push({ text, is_too_large: this.#size > this.#bytes_max + 1 });
    if (this.#of_batch !== null) this.#of_batch += 1;
    this.#lines = [];
    this.#size = 0;
  }

  /** A trailer need not contain a count or follow a header. */
  #countBatch(line: string): void {
    if (line.startsWith('BHS')) this.#of_batch = 0;
    if (!line.startsWith('BTS') || this.#of_batch === null) return;
    const said = line.split(line.charAt(3))[1]?.trim() ?? '';
    if (/^\d+$/.test(said) && Number(said) !== this.#of_batch)
      this.batch_fault ??= `${said}, but ${this.#of_batch} came`;
    this.#of_batch = null;
  }
}

/** The characters that only the splitter removes from a message or uses as its end. */
const MORE_THAN_SEGMENTS = /\n|\r(?:\r|MSH|[FB][HT]S|\xef\xbb\xbf)/;

/** Returns the messages of a frame. Ignores text before the first one. */
export function splitMessages(bytes: Buffer): FoundMessage[] {
  const text = bytes.toString('latin1');
  // Nearly every frame is one message with standard line breaks.
  if (HEADER.test(text) && !MORE_THAN_SEGMENTS.test(text))
    return [{ text: decodeMessage(text).trimEnd(), is_too_large: false }];
  const splitter = new MessageSplitter();
  return [...splitter.push(text), ...splitter.end()];
}
