/**
 * Recognizes what payers' staff say in place of a value: there is none, it does not apply, or they
 * do not know. Each field adds its own ways to say "none".
 */

const DOES_NOT_APPLY = new Set(['n/a', 'na', 'not applicable', 'does not apply']);
const UNKNOWN = new Set([
  ...['unknown', 'not available', 'not provided', 'not disclosed', 'not known'],
]);
const NO_WORDS: ReadonlySet<string> = new Set();

const plain = (text: string) =>
  text.toLowerCase().replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');

/** Returns whether the text says "none"; `own`: whole texts of the field, in lower case. */
export function isNone(text: string, own: ReadonlySet<string> = NO_WORDS): boolean {
  const words = plain(text);
  return words === 'none' || own.has(words);
}

/** Returns whether the text says that the field does not apply, such as "N/A". */
export const isInapplicable = (text: string) => DOES_NOT_APPLY.has(plain(text));

/** Returns whether the text answers nothing: the payer does not know, or it does not apply. */
export const isUnanswered = (text: string) => isInapplicable(text) || UNKNOWN.has(plain(text));
