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

test.each(['SCHEDULED', 'in_progress', 'In Progress', 'UNKNOWN'])(
  '"%s" does not end an inquiry',
  (status) => {
    expect([outcomeOf(status), finalOutcome(status), isKnownStatus(status)]).toEqual([
      'unknown',
      null,
      true,
    ]);
  },
);

test.each(['', 'COMPLETED', 'toString', '__proto__', `SUCCESS${'S'.repeat(200)}`])(
  '"%s" is not known, and does not end an inquiry',
  (status) => {
    expect([outcomeOf(status), finalOutcome(status), isKnownStatus(status)]).toEqual([
      'unknown',
      null,
      false,
    ]);
  },
);

test('eligd tells a call that has not begun from one that has', () => {
  expect(['SCHEDULED', 'scheduled', 'IN_PROGRESS', null].map(isScheduled)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
