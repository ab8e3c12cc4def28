import { expect, test } from 'vitest';
import { hasTooManyValues, isTooDeep, shallow } from '../../src/domain/json-limits.ts';

const nested = (levels: number): unknown =>
  JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);

test('JSON nested a hundred levels deep can be used, and deeper JSON cannot', () => {
  expect([1, 100, 101, 9_000, 200_000].map((levels) => isTooDeep(nested(levels)))).toEqual([
    false,
    false,
    true,
    true,
    true,
  ]);
  expect([null, 1, 'x', [], {}, { a: [{ b: 1 }] }].some(isTooDeep)).toBe(false);
});

test('an inquiry whose results are too deep keeps the fields that identify it', () => {
  const request = { external_id: '7' };
  expect(shallow({ id: 'i-1', status: 'SUCCESS', request, results: nested(9_000) })).toEqual({
    id: 'i-1',
    status: 'SUCCESS',
    request,
  });
  expect(shallow({ id: 'i-1', status: nested(9_000), request })).toBeNull();
});

test('characters inside texts do not count as values', () => {
  const count = (value: unknown, max: number) =>
    hasTooManyValues(Buffer.from(JSON.stringify(value)), max);
  expect(count({ said: ',,[{'.repeat(100), 'a "quoted", \\': 'x\\' }, 4)).toBe(false);
  expect(count(Array(10).fill({}), 21)).toBe(false);
  expect(count(Array(10).fill({}), 20)).toBe(true);
  expect(count(Array(10).fill(1), 10)).toBe(true);
  expect(hasTooManyValues(Buffer.from('"no end, [{'), 1)).toBe(false);
});
