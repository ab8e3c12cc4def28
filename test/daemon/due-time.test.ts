import { describe, expect, test } from 'vitest';
import { nextDueAt } from '../../src/daemon/due-time.ts';

const ZONE = 'America/Chicago';

/** Chicago is six hours behind UTC in winter, five in summer. */
describe('the due time of a cron line', () => {
  test.each([
    ['30 2 * * *', '2026-11-22T08:29:00Z', '2026-11-22T08:30:00Z'],
    ['30 2 * * *', '2026-11-22T08:30:00Z', '2026-11-23T08:30:00Z'],
    ['30 2 * * *', '2026-07-01T12:00:00Z', '2026-07-02T07:30:00Z'],
    ['*/15 7-8 * * MON', '2026-11-22T08:29:00Z', '2026-11-23T13:00:00Z'],
    ['0 5 1 * *', '2026-11-22T08:29:00Z', '2026-12-01T11:00:00Z'],
    ['0 0 29 2 *', '2026-11-22T08:29:00Z', '2028-02-29T06:00:00Z'],
  ])('the cron line %s after %s is due at %s', (line, after, due) => {
    expect(new Date(nextDueAt(line, ZONE, Date.parse(after))).toISOString()).toBe(
      due.replace('Z', '.000Z'),
    );
  });

  test('a cron line is due an hour later on the night that skips its time, and on no other', () => {
    const before = Date.parse('2026-03-08T06:00:00Z');
    const due = nextDueAt('30 2 * * *', ZONE, before);
    expect(new Date(due).toISOString()).toBe('2026-03-08T08:30:00.000Z');
    expect(new Date(nextDueAt('30 2 * * *', ZONE, due)).toISOString()).toBe(
      '2026-03-09T07:30:00.000Z',
    );
  });

  test('the due time of a cron line is the next one, in whatever order it is computed', () => {
    const first = Date.parse('2026-11-22T08:30:00Z');
    const asked = [first - 1, first, first + 3_600_000, first - 90_000_000, first + 86_399_999];
    expect(asked.map((at) => new Date(nextDueAt('30 2 * * *', ZONE, at)).toISOString())).toEqual([
      '2026-11-22T08:30:00.000Z',
      '2026-11-23T08:30:00.000Z',
      '2026-11-23T08:30:00.000Z',
      '2026-11-21T08:30:00.000Z',
      '2026-11-23T08:30:00.000Z',
    ]);
    expect(nextDueAt('30 2 * * *', 'UTC', first)).toBe(Date.parse('2026-11-23T02:30:00Z'));
  });
});
