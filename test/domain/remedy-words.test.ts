/** Remedies of commands as an office reads them in a file or in its PMS. */
import { expect, test } from 'vitest';
import { withoutTerminal } from '../../src/domain/remedy-words.ts';

test.each([
  [
    'Ask the calling service to correct its answer, then run "eligd retry" with the ID of the ' +
      'appointment. If the visit is close, call the insurance company yourself.',
    'Ask the calling service to correct its answer, then ask IT to try it again. If the visit is ' +
      'close, call the insurance company yourself.',
  ],
  [
    'Run "eligd retry" with the ID of the appointment: eligd prepares the call again.',
    'Ask IT to try it again: eligd prepares the call again.',
  ],
  [
    'Call Aetna yourself: "eligd list --attention --patients" shows the IDs. Ask: (1) …',
    'Call Aetna yourself. The schedule has the member ID. Ask: (1) …',
  ],
  [
    'Call the insurance company yourself, or order a call with "eligd ask 9001".',
    'Call the insurance company yourself, or ask IT to order a call.',
  ],
  [
    'Have its interface corrected, then run "eligd retry"; or enter the answer by hand ' +
      '("eligd show" has it).',
    'Have its interface corrected, then ask IT to try it again; or ask IT for the answer.',
  ],
  [
    'See "eligd explain", and call the insurance company yourself if necessary.',
    'Ask IT what happened, and call the insurance company yourself if necessary.',
  ],
  ['Fix the cause, then run "eligd release submission".', /then ask IT to resume the calls\.$/],
  ['On hold (eligd hold). Run "eligd release" to resume.', 'On hold. Ask IT to release it.'],
  [
    'Check the proxy and "eligd check". eligd tries again automatically.',
    'Tell IT: Check the proxy and "eligd check". eligd tries again automatically.',
  ],
  [
    'Stop eligd, then run "eligd restore" with that file or the newest backup.',
    'Tell IT: Stop eligd, then run "eligd restore" with that file or the newest backup.',
  ],
])('%s', (said, expected) => {
  expect(withoutTerminal(said)).toEqual(
    typeof expected === 'string' ? expected : expect.stringMatching(expected),
  );
});

test.each([
  'Ask IT to run "eligd payers": it shows the closest known names and how to map one.',
  'Call the insurance company yourself. The insurance company said: "Run to the desk (today)".',
  'Enter the member ID in your practice software.',
])('%s stays', (said) => {
  expect(withoutTerminal(said)).toBe(said);
});
