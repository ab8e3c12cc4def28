/**
 * Markup that escapes what it is given. Pages are made with the tag `html`; every value in `${}`
 * becomes text, however it looks, unless it is markup that the tag has made itself. So text of a
 * practice management system, a payer or a patient cannot become an element, an attribute or code.
 */

const MADE = Symbol('made by html');

/** Markup made by the tag `html`; nothing else can make one. */
export type Html = { readonly [MADE]: true; readonly text: string };

/** Text and numbers are escaped; null, undefined and false are left out; lists are joined. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Text as it may be between tags and in a quoted attribute. Control signs become blanks. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll(/[&<>"'`]/g, (sign) => ESCAPES[sign] ?? sign)
    .replaceAll(/[^\P{Cc}\n\t]/gu, ' ');
}

/**
 * Throws when a value stands in an attribute without quotes: there a blank would end the value, and
 * escaping does not help.
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
  // A look-alike from parsed JSON has no such key: symbols cannot be written in JSON.
  if (value[MADE] !== true) throw new Error('This is no markup.');
  return value.text;
}

const isList = (value: Html | readonly HtmlValue[]): value is readonly HtmlValue[] =>
  Array.isArray(value);

/** Markup that is part of eligd itself, such as its style sheet; never anything from outside. */
export function constantHtml(text: string): Html {
  return { [MADE]: true, text };
}

/** JavaScript shows it; without, the browser's own menu prints. */
export const PRINT_BUTTON = constantHtml(
  '<button type="button" class="no-print" data-print="yes" hidden>Print</button>',
);

/** What a wide table lies in: on a phone it is moved sideways, by a finger or the keyboard. */
export const WIDE = constantHtml(
  '<div class="scroll" tabindex="0" role="group" aria-label="Table">',
);
