/** What the calls to a payer teach of how long they take. */
import { expect, test } from 'vitest';
import { HOUR_MS } from '../../src/domain/time.ts';
import { hoursTaken, telling } from '../../src/domain/turnaround.ts';
import { NATIONAL } from './examples.ts';

const at = (text: string) => Date.parse(text);

/** Monday, 09:00 in Chicago. A national payer answers from 13:00Z to 01:00Z, twelve hours a day. */
const SENT = at('2026-11-16T15:00Z');
/** Two business days. */
const USUAL = 24;

test.each([
  // What was wanted the next morning, and came then, took what it took.
  ['2026-11-18T06:00Z', '2026-11-17T16:00Z', 13],
  // What was wanted by Friday could wait until Friday.
  ['2026-11-21T06:00Z', '2026-11-20T16:00Z', 24],
  ['2026-11-21T06:00Z', '2026-11-19T16:00Z', 24],
  // It came at once all the same.
  ['2026-11-21T06:00Z', '2026-11-16T18:00Z', 3],
  // It came on Monday at noon in place of Friday.
  ['2026-11-21T06:00Z', '2026-11-23T18:00Z', 29],
  // Wanted the next day, it came two days later.
  ['2026-11-18T06:00Z', '2026-11-19T16:00Z', 37],
])(
  'an answer that is wanted before %s and comes at %s took %i payer hours',
  (until, end, hours) => {
    const call = { sent_at: SENT, ended_at: at(end), wanted_until: at(until) };
    expect(hoursTaken(call, NATIONAL, USUAL)).toBe(hours);
  },
);

test.each([
  [24, false],
  [13, true],
  [29, true],
])('nine of ten calls within %i hours say something else than what is usual: %s', (hours, is) => {
  const learned = { median_ms: HOUR_MS, p90_ms: hours * HOUR_MS, calls: 9 };
  expect(telling(learned, USUAL)).toBe(is ? learned : null);
  expect(telling(null, USUAL)).toBeNull();
});
