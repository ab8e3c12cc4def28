/** Decodes and encodes escape sequences (HL7 v2.5.1, section 2.7). */
import { bytesText } from './charset.ts';

/**
 * MSH-1 and MSH-2: the separators of fields, components, repetitions, and subcomponents, and the
 * escape character.
 */
export type Separators = {
  field: string;
  component: string;
  repetition: string;
  escape: string;
  subcomponent: string;
};

export const USUAL: Separators = {
  field: '|',
  component: '^',
  repetition: '~',
  escape: '\\',
  subcomponent: '&',
};

/**
 * Decodes a text. An undefined sequence is unchanged: it may be a Windows path. Highlighting and
 * charset changes have no text and are removed.
 */
export function decode(raw: string, separators: Separators): string {
  const mark = separators.escape;
  if (mark === '' || !raw.includes(mark)) return raw;
  let text = '';
  let at = 0;
  while (at < raw.length) {
    const open = raw.indexOf(mark, at);
    const close = open === -1 ? -1 : raw.indexOf(mark, open + 1);
    if (close === -1) return text + raw.slice(at);
    const meant = meaning(raw.slice(open + 1, close), separators);
    // A sequence may follow an invalid one, so the closing character is tried as an opening one.
    text += raw.slice(at, open) + (meant ?? raw.slice(open, close));
    at = meant === null ? close : close + 1;
  }
  return text;
}

function meaning(code: string, separators: Separators): string | null {
  switch (code) {
    case 'F':
      return separators.field;
    case 'S':
      return separators.component;
    case 'T':
      return separators.subcomponent;
    case 'R':
      return separators.repetition;
    case 'E':
      return separators.escape;
    case 'P':
      return '#';
    case 'H':
    case 'N':
      return '';
    case '.br':
    case '.ce':
      return '\n';
  }
  // Encoded in the message's character set, which in practice is one of these.
  if (/^X(?:[0-9A-F]{2})+$/i.test(code)) return bytesText(Buffer.from(code.slice(1), 'hex'));
  if (/^\.sp[+]?\d{0,3}$/.test(code)) return '\n';
  if (/^(?:\.(?:in|ti)[+-]?\d{0,3}|\.sk ?\d{0,3}|\.fi|\.nf)$/.test(code))
    return code.startsWith('.sk') ? ' ' : '';
  return /^(?:C[0-9A-F]{4}|M[0-9A-F]{4,6})$/i.test(code) ? '' : null;
}

/**
 * Encodes text as a value with the usual separators: it decodes to the same text, with line feeds
 * as line breaks.
 */
export function encode(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be escaped
  return text.replaceAll(/\r\n|[\x00-\x1f\x7f|^~\\&]/g, (found) => ENCODED[found] ?? hex(found));
}

/**
 * Converts a segment to the usual separators; the bytes stay the same if it already uses them.
 * Escapes a line break inside a field, which no message may contain.
 */
export function withUsualSeparators(line: string, separators: Separators): string {
  const same =
    separators === USUAL || MEANINGS.every((meaning) => separators[meaning] === USUAL[meaning]);
  if (same) return line.replaceAll('\n', '\\.br\\');
  let text = '';
  for (const character of line) {
    const meaning = MEANINGS.find((each) => separators[each] === character);
    text += meaning === undefined ? encode(character) : USUAL[meaning];
  }
  return text;
}

const MEANINGS = Object.keys(USUAL) as (keyof Separators)[];

const ENCODED: Readonly<Record<string, string>> = {
  '|': '\\F\\',
  '^': '\\S\\',
  '&': '\\T\\',
  '~': '\\R\\',
  '\\': '\\E\\',
  '\r\n': '\\.br\\',
  '\r': '\\.br\\',
  '\n': '\\.br\\',
};

const hex = (character: string) =>
  `\\X${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}\\`;
