import { expect, test } from 'vitest';
import {
  afterCall,
  isTooLateFor,
  type PayerSilence,
  turnOf,
} from '../../src/domain/payer-silence.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2030-01-07T15:00:00Z');
const failed = { is_answered: false, is_first_attempt: true };

function afterCalls(...calls: { is_answered: boolean; is_first_attempt: boolean }[]) {
  return calls.reduce<PayerSilence | null>(
    (before, call, index) => afterCall(before, call, NOW + index * HOUR),
    null,
  );
}

test('three patients in a row without an answer mean that a payer cannot be reached', () => {
  expect(afterCalls(failed, failed)).toMatchObject({ unsuccessful: 2, next_try_at: null });
  expect(afterCalls(failed, failed, failed)).toMatchObject({
    unsuccessful: 3,
    since: NOW,
    next_try_at: NOW + 22 * HOUR,
  });
});

test('an answer ends the row, and a second attempt for a patient does not count', () => {
  expect(afterCalls(failed, failed, { is_answered: true, is_first_attempt: true })).toBeNull();
  const again = { is_answered: false, is_first_attempt: false };
  expect(afterCalls(failed, again, again, failed)?.next_try_at).toBeNull();
  expect(afterCall(afterCalls(failed, failed), failed, NOW + 20 * 24 * HOUR)).toMatchObject({
    unsuccessful: 1,
  });
});

test('eligd tries one call, and the others wait for the next try', () => {
  const silence = afterCalls(failed, failed, failed);
  const until = NOW + 22 * HOUR;
  expect(turnOf(silence, NOW + 3 * HOUR)).toEqual({ kind: 'wait', until });
  const turn = turnOf(silence, until);
  expect(turn).toMatchObject({ kind: 'call', silence: { next_try_at: until + 20 * HOUR } });
  expect(turnOf(turn.kind === 'call' ? turn.silence : null, until)).toMatchObject({ kind: 'wait' });
  expect(turnOf(null, NOW)).toEqual({ kind: 'call', silence: null });
});

test('a visit within a day of the next try is left to the office', () => {
  expect(isTooLateFor(NOW + 23 * HOUR, NOW)).toBe(true);
  expect(isTooLateFor(NOW + 25 * HOUR, NOW)).toBe(false);
});
