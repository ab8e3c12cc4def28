/**
 * The key that encrypts a database, and its printed form for paper: four lines of four groups. The
 * last three characters of each line are a check on that line.
 */
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

export const KEY_BYTES = 32;

/** Crockford's base 32: without I, L, O, and U, which people misread. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MISREAD: Readonly<Record<string, string>> = { I: '1', L: '1', O: '0' };

const LINES = 4;
const LINE_LENGTH = 16;
const CHECK_LENGTH = 3;
const GROUP_LENGTH = 4;

/**
 * An encrypted file begins with this mark and the ID of its key in place of SQLite's header. So
 * eligd can tell a wrong key from a damaged file, and finds the right one of several keys.
 */
const MARK = Buffer.from('eligdAES');
const ID_BYTES = 8;

/** The key of a database. It does not reveal itself when printed or logged. */
export class DatabaseKey {
  readonly #bytes: Buffer;
  /** Identifies the key in 16 hexadecimal digits without revealing it. */
  readonly id: string;

  /** `bytes`: 32 bytes from a cryptographic random source. */
  constructor(bytes: Buffer) {
    if (bytes.length !== KEY_BYTES) throw new TypeError(`A key has ${KEY_BYTES} bytes.`);
    this.#bytes = bytes;
    const digest = createHash('sha256').update('eligd database key').update(bytes).digest();
    this.id = digest.subarray(0, ID_BYTES).toString('hex');
  }

  /** Returns the key as SQLCipher expects it: the raw bytes and the salt that begins the file. */
  forCipher(): Buffer {
    const salt = Buffer.concat([MARK, Buffer.from(this.id, 'hex')]);
    return Buffer.from(`x'${this.#bytes.toString('hex')}${salt.toString('hex')}'`);
  }

  /** Returns the lines to print, which `parseDatabaseKey` reads. */
  reveal(): string[] {
    const letters = lettersOf(this.#bytes);
    const data_length = LINE_LENGTH - CHECK_LENGTH;
    return Array.from({ length: LINES }, (_, line) => {
      const data = letters.slice(line * data_length, (line + 1) * data_length);
      return (data + checkOf(line, data)).match(/.{4}/g)?.join('-') ?? '';
    });
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Why a text is not a key, as a sentence that does not repeat the text. */
type KeyFault = { fault: string };

/**
 * Reads a key as typed: spaces, dashes, line breaks, and lower case do not matter, and letters that
 * look like digits are read as these digits.
 */
export function parseDatabaseKey(text: string): DatabaseKey | KeyFault {
  const typed = text.toUpperCase().replaceAll(/[\s-]/g, '');
  const letters = [...typed].map((letter) => MISREAD[letter] ?? letter);
  const total = LINES * LINE_LENGTH;
  const stranger = letters.findIndex((letter) => !LETTERS.includes(letter));
  if (stranger >= 0) return { fault: `The ${place(stranger)} has a character that no key has.` };
  if (letters.length !== total)
    return { fault: `It has ${letters.length} characters instead of ${total}.` };
  const lines = Array.from({ length: LINES }, (_, line) =>
    letters.slice(line * LINE_LENGTH, (line + 1) * LINE_LENGTH).join(''),
  );
  const data_length = LINE_LENGTH - CHECK_LENGTH;
  const wrong = lines.findIndex(
    (line, index) => checkOf(index, line.slice(0, data_length)) !== line.slice(data_length),
  );
  if (wrong >= 0)
    return { fault: `There is a typing error in ${lineName(wrong)}, or the lines are mixed up.` };
  return new DatabaseKey(bytesOf(lines.map((line) => line.slice(0, data_length)).join('')));
}

function place(index: number): string {
  return `group ${Math.floor(index / GROUP_LENGTH) + 1}`;
}

function lineName(line: number): string {
  const first = (line * LINE_LENGTH) / GROUP_LENGTH + 1;
  return `line ${line + 1} (groups ${first} to ${first + LINE_LENGTH / GROUP_LENGTH - 1})`;
}

/**
 * Returns 15 check bits. One typing error in 32,768 passes the check; that key then fails to open
 * the file.
 */
function checkOf(line: number, data: string): string {
  const digest = createHash('sha256').update(`eligd recovery key ${line} ${data}`).digest();
  return [0, 1, 2].map((at) => LETTERS[(digest[at] ?? 0) % LETTERS.length]).join('');
}

function lettersOf(bytes: Buffer): string {
  // 256 bits fill 51 letters and leave one bit: pad with zeros to five bits for the last letter.
  const bits = [...bytes, 0].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => LETTERS[Number.parseInt(five, 2)]).join('');
}

function bytesOf(letters: string): Buffer {
  const bits = [...letters]
    .map((letter) => LETTERS.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from(
    Array.from({ length: KEY_BYTES }, (_, at) =>
      Number.parseInt(bits.slice(at * 8, at * 8 + 8), 2),
    ),
  );
}

/**
 * Returns the ID of the key from the first bytes of an encrypted file; null when it is not an
 * encrypted eligd database.
 */
export function keyIdOf(head: Buffer): string | null {
  if (head.length < MARK.length + ID_BYTES || !head.subarray(0, MARK.length).equals(MARK))
    return null;
  return head.subarray(MARK.length, MARK.length + ID_BYTES).toString('hex');
}
