/**
 * What payers' staff say in place of a value: that there is none, that it does not apply, that
 * nobody knows. One home for these words; each field adds its own ways to say "none".
 */

const DOES_NOT_APPLY = new Set(['n/a', 'na', 'not applicable', 'does not apply']);
const UNKNOWN = new Set([
  ...['unknown', 'not available', 'not provided', 'not disclosed', 'not known'],
]);
const NO_WORDS: ReadonlySet<string> = new Set();

const plain = (text: string) =>
  text.toLowerCase().replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '');

/** "None", alone or as the field says it: `own` has whole texts in lower case. */
export function isNone(text: string, own: ReadonlySet<string> = NO_WORDS): boolean {
  const words = plain(text);
  return words === 'none' || own.has(words);
}

/** "N/A" and the like: there is nothing to say of it. */
export const isInapplicable = (text: string) => DOES_NOT_APPLY.has(plain(text));

/** Words that say that nobody knows, or that it does not apply: nothing was answered. */
export const isUnanswered = (text: string) => isInapplicable(text) || UNKNOWN.has(plain(text));
