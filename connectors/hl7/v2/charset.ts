/** Converts bytes to text. */
import { isUtf8 } from 'node:buffer';

/** The header up to MSH-18 fits into this, even with long application names. */
const HEADER_CHARACTERS = 2000;

/**
 * Table 0211 (HL7 v2.5.1) and other names that senders use, with the labels of the Encoding
 * Standard.
 */
const CHARSETS: Readonly<Record<string, string>> = {
  '8859/1': 'iso-8859-1',
  '8859/2': 'iso-8859-2',
  '8859/3': 'iso-8859-3',
  '8859/4': 'iso-8859-4',
  '8859/5': 'iso-8859-5',
  '8859/6': 'iso-8859-6',
  '8859/7': 'iso-8859-7',
  '8859/8': 'iso-8859-8',
  '8859/9': 'iso-8859-9',
  '8859/15': 'iso-8859-15',
  'ISO IR87': 'iso-2022-jp',
  'ISO IR159': 'iso-2022-jp',
  'GB 18030-2000': 'gb18030',
  'KS X 1001': 'euc-kr',
  'BIG-5': 'big5',
};

/**
 * Decodes a message with one character for each byte: by its MSH-18; without one, or if the bytes
 * do not fit it, as UTF-8, otherwise as Windows-1252. Every sequence of bytes becomes text.
 */
export function decodeMessage(raw: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ESC switches sets in ISO 2022
  if (!/[\x1b\x80-\xff]/.test(raw)) return raw;
  const bytes = Buffer.from(raw, 'latin1');
  const label = declared(raw);
  if (label !== null && label !== 'utf-8') {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      // The message uses another charset than it says, or one that this Node does not support.
    }
  }
  return bytesText(bytes);
}

function declared(raw: string): string | null {
  const header = raw.slice(0, HEADER_CHARACTERS).split('\r', 1)[0] ?? '';
  const fields = header.split(header.charAt(3));
  const [first = ''] = (fields[17] ?? '').split(fields[1]?.charAt(1) || '~', 1);
  const name = first.trim().toUpperCase();
  if (name === '' || name === 'ASCII' || name.startsWith('UNICODE')) return null;
  return (
    CHARSETS[name] ?? CHARSETS[name.replace(/^ISO[- ]?8859[-/]/, '8859/')] ?? name.toLowerCase()
  );
}

/**
 * Decodes bytes of an unknown charset: as UTF-8, or as Windows-1252 if they are not valid UTF-8.
 */
export function bytesText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder('windows-1252').decode(bytes);
}
