import { describe, expect, test } from 'vitest';
import { coveragePeriod, inForce, inForceOn } from '../../src/domain/coverage-period.ts';
import { aCoverage } from './examples.ts';

const ZONE = 'America/Chicago';

describe('the period of a coverage', () => {
  test('a coverage begins and ends at midnight in the clinic’s zone', () => {
    expect(coveragePeriod('2026-01-01', '2026-06-30', ZONE)).toEqual({
      from: '2026-01-01T06:00:00.000Z',
      until: '2026-07-01T05:00:00.000Z',
    });
  });

  test.each([
    [null, null],
    ['', '9999-12-31'],
    ['2026-02-31', null],
  ])('from %s to %s is not a period', (first, last) => {
    expect(coveragePeriod(first, last, ZONE)).toBeUndefined();
  });
});

describe('coverages in force', () => {
  const of = (name: string, first: string | null, last: string | null) => {
    const period = coveragePeriod(first, last, ZONE);
    return aCoverage({ member_id: name, ...(period === undefined ? {} : { period }) });
  };
  const ended = of('ENDED', null, '2026-11-23');
  const holds = of('HOLDS', '2026-11-24', '2026-11-24');
  const later = of('LATER', '2026-11-25', null);
  const always = of('ALWAYS', null, null);
  const names = (coverages: ReturnType<typeof inForce>) =>
    coverages.map(({ member_id }) => member_id);

  test.each([
    // The last evening of the day before, and of the day, in the clinic's zone.
    ['2026-11-24T05:59:59.999Z', ['ENDED', 'ALWAYS']],
    ['2026-11-24T06:00:00.000Z', ['HOLDS', 'ALWAYS']],
    ['2026-11-25T05:59:59.999Z', ['HOLDS', 'ALWAYS']],
    ['2026-11-25T06:00:00.000Z', ['LATER', 'ALWAYS']],
  ])('the coverages in force at %s are %j', (at, expected) => {
    expect(names(inForce([ended, holds, later, always], at))).toEqual(expected);
  });

  test('if no coverage is in force, all count, because the payer knows best', () => {
    expect(names(inForce([later, ended], '2026-11-24T15:00:00.000Z'))).toEqual(['LATER', 'ENDED']);
    expect(inForce([], '2026-11-24T15:00:00.000Z')).toEqual([]);
  });

  test('a claim’s coverages are those in force on its date of service', () => {
    expect(names(inForceOn([ended, holds], '2026-11-24'))).toEqual(['HOLDS']);
    expect(names(inForceOn([ended, holds], '2026-11-23'))).toEqual(['ENDED']);
    expect(names(inForceOn([ended, holds], null))).toEqual(['ENDED', 'HOLDS']);
  });
});
