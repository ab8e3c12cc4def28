/** The line of a visit when the visit itself has changed. */
import { expect, test } from 'vitest';
import { scheduleLine } from '../../src/records/schedule-line.ts';
import { CASES, judged } from './verdict-cases.ts';

test.each(['cancelled', 'replaced'] as const)(
  'a visit that is %s is never red, whatever the payer said',
  (closed_reason) => {
    const answer = CASES.map((one) => judged(one)).find(
      ({ verdict }) => verdict.standing === 'not_eligible',
    );
    if (answer === undefined) throw new Error('No case is not eligible.');
    const why = 'The visit is off the schedule.';
    const line = scheduleLine({
      ...{ situation: 'closed', closed_reason, entries: [], answer },
      explanation: { why, until: null, next: null },
    });
    expect([line.word, line.why, line.to_do]).toEqual(['cancelled', why, '']);
  },
);
