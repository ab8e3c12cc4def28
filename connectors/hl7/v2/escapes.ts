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
 * Encodes text as a value of a message with these separators: it decodes to the same text, with
 * line feeds as line breaks. If the message has no escape character, a space replaces each
 * character that would need one.
 */
export function encode(text: string, separators: Separators = USUAL): string {
  if (separators !== USUAL) return encodedFor(text, separators);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be escaped
  return text.replaceAll(/\r\n|[\x00-\x1f\x7f|^~\\&]/g, (found) => ENCODED[found] ?? hex(found));
}

function encodedFor(text: string, separators: Separators): string {
  const { escape: mark } = separators;
  return [...text.replaceAll('\r\n', '\n')]
    .map((character) => {
      const meaning = meaningOf(character, separators);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be escaped
      if (meaning === undefined && !/[\x00-\x1f\x7f]/.test(character)) return character;
      if (mark === '') return ' ';
      const usual = ENCODED[meaning === undefined ? character : USUAL[meaning]] ?? hex(character);
      return usual.replaceAll(USUAL.escape, mark);
    })
    .join('');
}

const meaningOf = (character: string, separators: Separators) =>
  MEANINGS.find((each) => separators[each] === character);

/**
 * Converts a segment to the usual separators; the bytes stay the same if it already uses them.
 * Otherwise each value keeps its meaning: an escaped character that is no separator here becomes a
 * plain character. Escapes a line break inside a field, which no message may contain.
 */
export function withUsualSeparators(line: string, separators: Separators): string {
  const same =
    separators === USUAL || MEANINGS.every((meaning) => separators[meaning] === USUAL[meaning]);
  if (same) return line.replaceAll('\n', '\\.br\\');
  const { escape: mark } = separators;
  let text = '';
  let plain = 0;
  const addPlain = (end: number) => {
    for (const character of line.slice(plain, end)) {
      const meaning = meaningOf(character, separators);
      const is_between = meaning !== undefined && meaning !== 'escape';
      text += is_between ? USUAL[meaning] : encode(character);
    }
  };
  for (let open = mark === '' ? -1 : line.indexOf(mark); open !== -1; ) {
    const close = line.indexOf(mark, open + 1);
    if (close === -1) break;
    const sequence = escapedHere(line.slice(open + 1, close), separators);
    if (sequence !== null) {
      addPlain(open);
      text += sequence;
      plain = close + 1;
    }
    open = sequence === null ? close : line.indexOf(mark, plain);
  }
  addPlain(line.length);
  return text;
}

/** An escape sequence of the message in the usual separators; null: it is not one. */
function escapedHere(code: string, separators: Separators): string | null {
  // A sequence of the sender's own.
  const is_known = meaning(code, separators) !== null || /^Z[0-9A-Z]{1,20}$/i.test(code);
  if (!is_known) return null;
  return /^[FSTREP]$/.test(code)
    ? encode(meaning(code, separators) ?? '')
    : `${USUAL.escape}${code}${USUAL.escape}`;
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
