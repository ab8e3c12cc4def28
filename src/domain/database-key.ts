/**
 * The key that a database is encrypted with, and the form in which people keep it on paper: four
 * lines of four groups, the last three characters of each line a check on that line.
 */
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';

export const KEY_BYTES = 32;

/** Without I, L, O and U, which are misread (Crockford's base 32). */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MISREAD: Readonly<Record<string, string>> = { I: '1', L: '1', O: '0' };

const LINES = 4;
const LINE_LENGTH = 16;
const CHECK_LENGTH = 3;
const GROUP_LENGTH = 4;

/**
 * What an encrypted file begins with instead of SQLite's own words: the mark, and the id of its
 * key. So a wrong key is told from a damaged file, and the right one is found among several.
 */
const MARK = Buffer.from('eligdAES');
const ID_BYTES = 8;

/** The key of a database, which does not show itself. */
export class DatabaseKey {
  readonly #bytes: Buffer;
  /** Which key this is, in 16 hexadecimal digits; says nothing of the key itself. */
  readonly id: string;

  /** `bytes`: 32, of a cryptographic source. */
  constructor(bytes: Buffer) {
    if (bytes.length !== KEY_BYTES) throw new TypeError(`A key has ${KEY_BYTES} bytes.`);
    this.#bytes = bytes;
    const digest = createHash('sha256').update('eligd database key').update(bytes).digest();
    this.id = digest.subarray(0, ID_BYTES).toString('hex');
  }

  /** The key as SQLCipher takes it: raw, and the salt, with which the file begins. */
  forCipher(): Buffer {
    const salt = Buffer.concat([MARK, Buffer.from(this.id, 'hex')]);
    return Buffer.from(`x'${this.#bytes.toString('hex')}${salt.toString('hex')}'`);
  }

  /** The lines to keep on paper, which `parseDatabaseKey` reads. */
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

/** What keeps a text from being a key, as a sentence that does not repeat it. */
export type KeyFault = { fault: string };

/**
 * Reads a key as somebody has typed it: blanks, dashes, line ends and small letters do not matter,
 * and letters that look like digits are taken for these.
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

/** Fifteen bits: of 32,768 typing errors one is not seen here, and then the key does not fit. */
function checkOf(line: number, data: string): string {
  const digest = createHash('sha256').update(`eligd recovery key ${line} ${data}`).digest();
  return [0, 1, 2].map((at) => LETTERS[(digest[at] ?? 0) % LETTERS.length]).join('');
}

function lettersOf(bytes: Buffer): string {
  // 256 bits are 51 letters and one bit: zeros follow, and five bits make a letter.
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
 * The id of the key that a file is encrypted with, of what it begins with; null when it is not an
 * encrypted database of eligd.
 */
export function keyIdOf(head: Buffer): string | null {
  if (head.length < MARK.length + ID_BYTES || !head.subarray(0, MARK.length).equals(MARK))
    return null;
  return head.subarray(MARK.length, MARK.length + ID_BYTES).toString('hex');
}
