/**
 * Markup that escapes its values. Pages are built with the tag `html`: every value in `${}` becomes
 * text unless the tag itself built it. So text from a practice management system, a payer, or a
 * patient cannot become an element, an attribute, or code.
 */

const MADE = Symbol('made by html');

/** Markup built by the tag `html`; no other code can build one. */
export type Html = { readonly [MADE]: true; readonly text: string };

/** Text and numbers are escaped; null, undefined, and false are left out; lists are joined. */
type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/**
 * Escapes text for use between tags and in a quoted attribute. Control characters become spaces.
 */
function escapeHtml(text: string): string {
  return text
    .replaceAll(/[&<>"'`]/g, (sign) => ESCAPES[sign] ?? sign)
    .replaceAll(/[^\P{Cc}\n\t]/gu, ' ');
}

/**
 * Builds markup. Throws when a value is in an attribute without quotes: a space would end such a
 * value, and escaping does not help.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) {
    if (/=\s*$/.test(strings[index] ?? ''))
      throw new Error('A value in an attribute must be in quotes.');
    text += rendered(value) + (strings[index + 1] ?? '');
  }
  return { [MADE]: true, text };
}

function rendered(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  if (isList(value)) return value.map(rendered).join('');
  // A forged object from parsed JSON has no such key: JSON cannot contain symbols.
  if (value[MADE] !== true) throw new Error('This is not markup.');
  return value.text;
}

const isList = (value: Html | readonly HtmlValue[]): value is readonly HtmlValue[] =>
  Array.isArray(value);

/**
 * Marks text as markup that is part of eligd itself, such as its style sheet; never for outside
 * text.
 */
export function constantHtml(text: string): Html {
  return { [MADE]: true, text };
}

/** A script shows this button; without JavaScript, use the browser's print menu. */
export const PRINT_BUTTON = constantHtml(
  '<button type="button" class="no-print" data-print="yes" hidden>Print</button>',
);

/** Wraps a wide table, so that on a phone a finger or the keyboard scrolls it sideways. */
export const WIDE = constantHtml(
  '<div class="scroll" tabindex="0" role="group" aria-label="Table">',
);
