/**
 * Where messages begin and end: in a frame or a file there is one, or many, in batches or not (HL7
 * v2.5.1, section 2.10.3).
 */
import { decodeMessage } from './charset.ts';

/**
 * `is_too_large`: the text is only the beginning of what came, enough to say which message it was.
 */
export type FoundMessage = { text: string; is_too_large: boolean };

const HEADER = /^MSH(?![A-Za-z0-9\s])/;
const BATCH = /^(?:[FB]HS|[FB]TS)(?![A-Za-z0-9\s])/;
/** FS ends a frame of MLLP, which some senders leave in their files. */
const FRAME_END = '\x1c';
/** VT begins a frame, wherever in a line a header follows; otherwise it is text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character of the protocol
const FRAME_BEGIN = /\x0b(?=[\0 \t]*(?:MSH|[FB]HS)[^A-Za-z0-9\s])/;
/** A byte order mark, a VT, and what pads a header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is the character of the protocol
const BEFORE_LINE = /^(?:\xef\xbb\xbf|\x0b)+|^[\0 \t]+(?=(?:MSH|[FB][HT]S)[^A-Za-z0-9\s])/;

/**
 * Takes text in pieces, a character for each byte, and gives each message decoded by its own
 * character set. Lines end with CR, LF or both; empty ones count for nothing, and neither do the
 * marks of MLLP around a message, nor what is between its frames.
 */
export class MessageSplitter {
  readonly #bytes_max: number;
  #line = '';
  #lines: string[] = [];
  #size = 0;
  /** Messages of the batch that is open; null: none is. */
  #of_batch: number | null = null;
  /** What the trailers (BTS-1) say otherwise than what came; null: nothing. */
  batch_fault: string | null = null;

  /** Of a message with more than `bytes_max` bytes only what came before is kept. */
  constructor(bytes_max = Number.POSITIVE_INFINITY) {
    this.#bytes_max = bytes_max;
  }

  /** The messages that are whole by now: a message ends where something else begins. */
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

  /** The last message. */
  end(): FoundMessage[] {
    const found: FoundMessage[] = [];
    this.#endFrame(found);
    if (this.#of_batch !== null)
      this.batch_fault ??= 'missing, so that the end of the file may be missing as well';
    return found;
  }

  #append(text: string): void {
    // One character more than is allowed shows that there were too many.
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

  /** A trailer need not count, and need not be preceded by a header. */
  #countBatch(line: string): void {
    if (line.startsWith('BHS')) this.#of_batch = 0;
    if (!line.startsWith('BTS') || this.#of_batch === null) return;
    const said = line.split(line.charAt(3))[1]?.trim() ?? '';
    if (/^\d+$/.test(said) && Number(said) !== this.#of_batch)
      this.batch_fault ??= `${said}, and ${this.#of_batch} came`;
    this.#of_batch = null;
  }
}

/** What only the splitter takes out of a message, or ends it at. */
const MORE_THAN_SEGMENTS = /\n|\r(?:\r|MSH|[FB][HT]S|\xef\xbb\xbf)/;

/** The messages of a frame. What is before the first one is passed over. */
export function splitMessages(bytes: Buffer): FoundMessage[] {
  const text = bytes.toString('latin1');
  // Nearly every frame is one message with lines as the standard has them.
  if (HEADER.test(text) && !MORE_THAN_SEGMENTS.test(text))
    return [{ text: decodeMessage(text).trimEnd(), is_too_large: false }];
  const splitter = new MessageSplitter();
  return [...splitter.push(text), ...splitter.end()];
}
