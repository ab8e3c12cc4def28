import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = resolve(import.meta.dirname, '../../migrations');
/** Numbers that must never be used: a database with later migrations could no longer be opened. */
const UNUSED = [5, 6];

test('each migration has the next number, and the unused ones stay unused', () => {
  const numbers = readdirSync(FOLDER)
    .flatMap((name) => /^(\d{4})-[a-z-]+\.ts$/.exec(name)?.[1] ?? [])
    .map(Number);
  const last = Math.max(...numbers);
  const expected = Array.from({ length: last }, (_, index) => index + 1).filter(
    (number) => !UNUSED.includes(number),
  );
  expect(numbers.toSorted((a, b) => a - b)).toEqual(expected);
});
