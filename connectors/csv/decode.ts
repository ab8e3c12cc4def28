/**
 * The first pass over a file: its content hash, its encoding, its beginning. It keeps only a few
 * kilobytes in memory.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Why a file cannot be read as text. */
type Undecodable = { value_class: string; remedy: string };

export type Survey = {
  sha256: string;
  encoding: Encoding | Undecodable;
  /** The decoded beginning of the file, without the byte order mark. */
  head: string;
  lines: number;
};

const HEAD_BYTES = 65_536;
/** More than Node's 64 KiB, which means fewer iterations for the same bytes. */
const READ_CHUNK_BYTES = 262_144;

/** The rows of a piece are in memory together: few of them live so long that moving them costs. */
const PIECE_BYTES = 16_384;

const NOT_TEXT: Undecodable = {
  value_class: 'not a text file',
  remedy:
    'Export as CSV (comma-separated values). In a spreadsheet program, use "Save as" and ' +
    'choose CSV.',
};
const WORKBOOK: Undecodable = {
  value_class: 'spreadsheet workbook',
  remedy:
    'Open the file in the spreadsheet program and save it as CSV (comma-separated values). ' +
    'Renaming the file is not enough.',
};

/** Reads the whole file once and returns what it shows. `wanted`: the configured encoding. */
export async function surveyFile(
  path: string,
  wanted: Encoding | 'auto',
  signal: AbortSignal,
): Promise<Survey> {
  const hash = createHash('sha256');
  let head = Buffer.alloc(0);
  let check: TextCheck | null = null;
  let lines = 0;
  for await (const chunk of createReadStream(path, {
    highWaterMark: READ_CHUNK_BYTES,
    signal,
  }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    if (head.length < HEAD_BYTES)
      head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
    check ??= new TextCheck(wanted, chunk);
    check.push(chunk);
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
  }
  const encoding = check === null ? 'utf-8' : check.end();
  return {
    sha256: hash.digest('hex'),
    encoding,
    head: typeof encoding === 'string' ? decodeHead(head, encoding) : '',
    lines,
  };
}

/** Decodes the beginning; leaves out a character that is cut at the end. */
function decodeHead(bytes: Buffer, encoding: Encoding): string {
  return new TextDecoder(encoding).decode(bytes, { stream: true });
}

/** Checks during the pass whether the bytes are text in the assumed encoding. */
class TextCheck {
  private readonly candidate: Encoding;
  private readonly may_fall_back: boolean;
  private decoder: InstanceType<typeof TextDecoder> | null;
  private fault: Undecodable | null = null;
  private is_windows = false;

  constructor(wanted: Encoding | 'auto', first: Buffer) {
    const mark = byteOrderMark(first);
    if (
      first.subarray(0, 4).equals(Buffer.from('PK\x03\x04')) ||
      first.subarray(0, 4).equals(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]))
    ) {
      this.fault = WORKBOOK;
    }
    // A byte order mark comes from the file itself and takes precedence over the configuration.
    this.candidate = mark ?? (wanted === 'auto' ? (guessUtf16(first) ?? 'utf-8') : wanted);
    this.may_fall_back = mark === null && wanted === 'auto' && this.candidate === 'utf-8';
    this.decoder =
      this.candidate === 'windows-1252' ? null : new TextDecoder(this.candidate, { fatal: true });
  }

  push(chunk: Buffer): void {
    if (this.fault !== null) return;
    // Every binary format contains zero bytes; of text, only UTF-16 does.
    if (!this.candidate.startsWith('utf-16') && chunk.includes(0)) this.fault = NOT_TEXT;
    else this.decode(chunk, true);
  }

  end(): Encoding | Undecodable {
    if (this.fault === null) this.decode(Buffer.alloc(0), false);
    return this.fault ?? (this.is_windows ? 'windows-1252' : this.candidate);
  }

  private decode(chunk: Buffer, stream: boolean): void {
    if (this.decoder === null) return;
    try {
      this.decoder.decode(chunk, { stream });
    } catch {
      this.decoder = null;
      if (this.may_fall_back) this.is_windows = true;
      else
        this.fault = {
          value_class: `not valid ${this.candidate.toUpperCase()}`,
          remedy: 'Export the file again, as UTF-8; or name its encoding with "encoding:".',
        };
    }
  }
}

function byteOrderMark(bytes: Buffer): Encoding | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return null;
}

/**
 * Returns the kind of UTF-16 of a text without a mark; null for any other text: a header line is
 * nearly all ASCII, so every other byte is zero.
 */
function guessUtf16(bytes: Buffer): Encoding | null {
  const sample = bytes.subarray(0, 200);
  let even = 0;
  let odd = 0;
  for (const [i, byte] of sample.entries()) {
    if (byte === 0 && i % 2 === 0) even += 1;
    else if (byte === 0) odd += 1;
  }
  const most = sample.length * 0.4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : null;
}

/** The second pass: yields the file's text in pieces. */
export async function* readText(
  path: string,
  encoding: Encoding,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of createReadStream(path, {
    highWaterMark: READ_CHUNK_BYTES,
    signal,
  }) as AsyncIterable<Buffer>) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES)
      yield decoder.decode(chunk.subarray(at, at + PIECE_BYTES), { stream: true });
  }
  yield decoder.decode();
}
