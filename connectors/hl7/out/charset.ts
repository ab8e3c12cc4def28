/** From text to the bytes of the receiver's character set (HL7 v2.5.1, table 0211). */

/** What `header.character_set` may be, as it is in MSH-18; the last code point of each. */
const LAST_CODE_POINT = { 'UNICODE UTF-8': 0x10ffff, '8859/1': 0xff, ASCII: 0x7f } as const;

export type CharacterSet = keyof typeof LAST_CODE_POINT;

export const CHARACTER_SETS = Object.keys(LAST_CODE_POINT) as [CharacterSet, ...CharacterSet[]];

/** Typography that says the same in plain characters. Letters, which names hold, never change. */
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
 * The bytes of a message; null when it holds a character that the set does not have, because a
 * substitute would change what it says.
 */
export function encodeMessage(text: string, character_set: CharacterSet): Buffer | null {
  if (character_set === 'UNICODE UTF-8') return Buffer.from(text, 'utf8');
  // An accent of its own after a letter (macOS writes so) is the letter that the sets have.
  const plain = text
    .normalize('NFC')
    .replaceAll(/[‘’“”–—…•\u00a0\u2009\u202f]/g, (found) => PLAIN[found] ?? found);
  const last = LAST_CODE_POINT[character_set];
  for (const character of plain) if ((character.codePointAt(0) ?? 0) > last) return null;
  return Buffer.from(plain, 'latin1');
}
