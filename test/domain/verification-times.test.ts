import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { askAgainAt, usuallyThereAt } from '../../src/domain/verification-times.ts';

const AT = Date.parse('2026-11-20T15:00:00Z');
const minutes = (...values: number[]) => values.map((value) => value * MINUTE_MS);

test('eligd asks for checks ten minutes after the call until it knows the delays', () => {
  expect(usuallyThereAt(AT, [])).toBe(AT + 10 * MINUTE_MS);
});

test('eligd asks for checks when nine in ten of the last ones existed', () => {
  const delays = minutes(3, 4, 3, 5, 3, 4, 3, 3, 4, 600);
  expect(usuallyThereAt(AT, delays)).toBe(AT + 5 * MINUTE_MS + 30_000);
  expect(usuallyThereAt(AT, minutes(3))).toBe(AT + 3 * MINUTE_MS + 30_000);
});

test('eligd asks for missing checks ever more rarely, and once at the end', () => {
  const until = AT + 48 * HOUR_MS;
  const asked = [AT];
  for (let at = askAgainAt(AT, AT, until); at !== null; at = askAgainAt(at, AT, until))
    asked.push(at);
  const hours = asked.map((at) => Math.round(((at - AT) / HOUR_MS) * 10) / 10);
  expect(hours).toEqual([0, 0.2, 0.5, 1.5, 4.5, 13.5, 25.5, 37.5, 48]);
});
