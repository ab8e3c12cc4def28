import { expect, test } from 'vitest';
import { finalOutcome, isKnownStatus, isScheduled, outcomeOf } from '../../src/domain/outcome.ts';

test.each([
  ['SUCCESS', 'successful'],
  ['success', 'successful'],
  [' Success ', 'successful'],
  ['Successful', 'successful'],
  ['UNSUCCESSFUL', 'unsuccessful'],
  ['Unsuccessful', 'unsuccessful'],
  ['un_successful', 'unsuccessful'],
  ['NOT SUCCESSFUL', 'unsuccessful'],
  ['cancelled', 'cancelled'],
  ['CANCELED', 'cancelled'],
])('"%s" ends an inquiry as %s', (status, outcome) => {
  expect([outcomeOf(status), finalOutcome(status), isKnownStatus(status)]).toEqual([
    outcome,
    outcome,
    true,
  ]);
});

test.each(['SCHEDULED', 'in_progress', 'In Progress', 'UNKNOWN'])('"%s" goes on', (status) => {
  expect([outcomeOf(status), finalOutcome(status), isKnownStatus(status)]).toEqual([
    'unknown',
    null,
    true,
  ]);
});

test.each(['', 'COMPLETED', 'toString', '__proto__', `SUCCESS${'S'.repeat(200)}`])(
  '"%s" is not known, and counts as going on',
  (status) => {
    expect([outcomeOf(status), finalOutcome(status), isKnownStatus(status)]).toEqual([
      'unknown',
      null,
      false,
    ]);
  },
);

test('a call that has not begun is told from one that has', () => {
  expect(['SCHEDULED', 'scheduled', 'IN_PROGRESS', null].map(isScheduled)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
