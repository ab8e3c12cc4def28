/**
 * Adapts the command line's sentences to people at the page: a button's name replaces a command,
 * and all dollar amounts have one format.
 */
import { type Cents, dollars } from '../domain/price.ts';

const RETRY = 'choose “Try again now”';

/** In order: first what has a button, then what IT has to do. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\bRun "eligd retry[^"]*"(?: with the ID of the appointment)?/g, 'Choose “Try again now”'],
  [/\brun "eligd retry[^"]*"(?: with the ID of the appointment)?/g, RETRY],
  [/ with "eligd ask [^"]*"/g, ' here'],
  [/\b([Oo]n hold) \(eligd hold\)/g, '$1'],
  [/ \("eligd (?:hold|done)"\)/g, ''],
  [/\bRun "eligd release" to resume/g, 'Choose “Release the call” to resume'],
  [/until "eligd release"/g, 'until you choose “Release the call”'],
  [/\bRun "eligd release submission"/g, 'Choose “Resume calls” under “Needs you”'],
  [/\brun "eligd release submission"/g, 'choose “Resume calls” under “Needs you”'],
  [/\bsee "eligd list --attention"/g, 'see “Needs you”'],
  [/: "eligd list --attention --patients" shows the IDs\./g, '; the call sheet has the IDs.'],
  [/See it with "eligd show" and enter it by hand/g, 'Enter it by hand'],
  [/See "eligd explain", and call/g, 'See below what happened, and call'],
  [/You withdrew it \(eligd withdraw\)/g, 'The office withdrew it'],
  [/that policy\.\w+ allow/g, 'that the budget allow'],
  [/Read the summary in the record/g, 'Read the summary of the call'],
  [/; more calls follow policy\.attempts/g, ''],
  [/\bpractice management system\b/g, 'practice software'],
  [/ \((?:policy|prices|verification)\.[\w.]+\)/g, ''],
  [/(?<!\b(?:to|IT) )\bRun "eligd/g, 'Ask IT to run "eligd'],
  [/(?<!\b(?:to|IT) )\brun "eligd/g, 'ask IT to run "eligd'],
];

/** Returns the text for a reader who has the page and no terminal. */
export function officeWords(text: string): string {
  return moneyWords(REPLACED.reduce((said, [from, to]) => said.replaceAll(from, to), text));
}

/** Gives every amount in a text one format: `$1,200`, `$45.50`. */
export function moneyWords(text: string): string {
  return text.replaceAll(
    /\$(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{2}))?(?!,?\d)/g,
    (whole, digits: string, cents: string | undefined) => {
      const amount = Number(digits.replaceAll(',', ''));
      if (!Number.isSafeInteger(amount)) return whole;
      const rest = cents === undefined || cents === '00' ? '' : `.${cents}`;
      return `$${amount.toLocaleString('en-US')}${rest}`;
    },
  );
}

/** Formats the price of a call. */
export const priceText = (cents: Cents): string => moneyWords(dollars(cents));
