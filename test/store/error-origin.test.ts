import { expect, test } from 'vitest';
import { EligdError } from '../../src/domain/errors.ts';
import { isOfContent, mayBeOfFewRows } from '../../src/store/engine/error-origin.ts';

const coded = (code: string) => Object.assign(new Error('It failed.'), { code });

test.each([
  'SQLITE_FULL',
  'SQLITE_BUSY',
  'SQLITE_BUSY_SNAPSHOT',
  'SQLITE_LOCKED',
  'SQLITE_IOERR',
  'SQLITE_IOERR_WRITE',
  'SQLITE_CORRUPT',
  'SQLITE_CORRUPT_INDEX',
  'SQLITE_NOTADB',
  'SQLITE_READONLY_DBMOVED',
  'SQLITE_NOMEM',
  'SQLITE_INTERRUPT',
  'ENOSPC',
  'EIO',
])('%s is an error of the database, and may pass', (code) => {
  expect(isOfContent(coded(code))).toBe(false);
});

test.each(['SQLITE_CONSTRAINT_NOTNULL', 'SQLITE_TOOBIG', 'SQLITE_ERROR', 'ERR_OUT_OF_RANGE'])(
  '%s is an error of what was to be stored',
  (code) => {
    expect(isOfContent(coded(code))).toBe(true);
  },
);

test('an error without a code is of the content, and a replaced database is not', () => {
  const gone = { what: 'The database is gone.', why: 'Someone replaced it.', next: 'Restart.' };
  expect(isOfContent(new RangeError('Invalid time value'))).toBe(true);
  expect(isOfContent(new EligdError('failed', gone))).toBe(false);
});

test('only errors of what is read may be about a few rows', () => {
  const of_rows = ['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_IOERR_READ'];
  const of_all = [
    'SQLITE_FULL',
    'SQLITE_BUSY_SNAPSHOT',
    'SQLITE_IOERR_WRITE',
    'SQLITE_NOMEM',
    'SQLITE_READONLY_DBMOVED',
    'ENOSPC',
  ];
  expect(of_rows.filter((code) => !mayBeOfFewRows(coded(code)))).toEqual([]);
  expect(of_all.filter((code) => mayBeOfFewRows(coded(code)))).toEqual([]);
  expect(mayBeOfFewRows(new RangeError('Invalid time value'))).toBe(false);
});
