/**
 * Words remedies for an office that reads them in a file or in its PMS and has no terminal.
 * `eligd explain` and the log keep the commands, for IT.
 */

/** Replacements, applied in this order; the first word of a sentence keeps its capital letter. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\bRun "eligd retry[^"]*"(?: with the ID of the appointment)?/g, 'Ask IT to try it again'],
  [/\brun "eligd retry[^"]*"(?: with the ID of the appointment)?/g, 'ask IT to try it again'],
  [/\border a call with "eligd ask [^"]*"/g, 'ask IT to order a call'],
  [/On hold \(eligd hold\)/g, 'On hold'],
  [/\bRun "eligd release" to resume/g, 'Ask IT to release it'],
  [/until "eligd release"/g, 'until IT releases it'],
  [/\bRun "eligd release submission"/g, 'Ask IT to resume the calls'],
  [/\brun "eligd release submission"/g, 'ask IT to resume the calls'],
  [/: "eligd list --attention --patients" shows the IDs\./g, '. The schedule has the member ID.'],
  [
    /\bSee it with "eligd show" and enter it by hand, or fix/g,
    'Ask IT for it and enter it by hand, or fix',
  ],
  [/\bSee the answer with "eligd show", and tell/g, 'Ask IT for the answer, and tell'],
  [/\benter the answer by hand \((?:eligd show|"eligd show") has it\)/g, 'ask IT for the answer'],
  [/\(?"?eligd show"? has (?:it|the answer)\)?/g, 'IT has the answer'],
  [/\bSee "eligd explain", and call/g, 'Ask IT what happened, and call'],
  [/You withdrew it \(eligd withdraw\)/g, 'The office withdrew it'],
  [/\bRun "eligd check"(?=[.,;])/g, 'Ask IT to check eligd'],
  [/\brun "eligd check"(?=[.,;])/g, 'ask IT to check eligd'],
  [/ \((?:policy|prices)\.[\w.]+\)/g, ''],
];

const COMMAND = /["(]eligd [a-z]/;
const ASKS_IT = /\bIT\b[^.]*["(]eligd [a-z]/;

/** Returns the remedy without commands. If only IT can do it, it says to ask IT. */
export function withoutTerminal(text: string): string {
  const plain = REPLACED.reduce((said, [from, to]) => said.replaceAll(from, to), text);
  return COMMAND.test(plain) && !ASKS_IT.test(plain) ? `Tell IT: ${plain}` : plain;
}
