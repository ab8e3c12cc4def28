/** Converts text to the receiver's character set (HL7 v2.5.1, table 0211). */

/** The values of `header.character_set`, as in MSH-18; the last code point of each. */
const LAST_CODE_POINT = { 'UNICODE UTF-8': 0x10ffff, '8859/1': 0xff, ASCII: 0x7f } as const;

export type CharacterSet = keyof typeof LAST_CODE_POINT;

export const CHARACTER_SETS = Object.keys(LAST_CODE_POINT) as [CharacterSet, ...CharacterSet[]];

/** Typographic characters with plain equivalents. Letters, which occur in names, never change. */
const PLAIN: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '…': '...',
  '•': '*',
  '\u00a0': ' ',
  '\u2009': ' ',
  '\u202f': ' ',
};

/**
 * Returns the bytes of a message; null if it contains a character that the set lacks, because a
 * substitute would change its meaning.
 */
export function encodeMessage(text: string, character_set: CharacterSet): Buffer | null {
  if (character_set === 'UNICODE UTF-8') return Buffer.from(text, 'utf8');
  // A combining accent after a letter (macOS writes these) becomes the letter of the character set.
  const plain = text
    .normalize('NFC')
    .replaceAll(/[‘’“”–—…•\u00a0\u2009\u202f]/g, (found) => PLAIN[found] ?? found);
  const last = LAST_CODE_POINT[character_set];
  for (const character of plain) if ((character.codePointAt(0) ?? 0) > last) return null;
  return Buffer.from(plain, 'latin1');
}
