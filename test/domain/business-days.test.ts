import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { desiredCompletionDate, isBusinessDay } from '../../src/domain/business-days.ts';
import { addDays, dayOfWeek } from '../../src/domain/time.ts';

const NEVER = new Set<string>();

/** Weekdays that are not business days, as published by the Office of Personnel Management. */
const HOLIDAYS: Record<number, string[]> = {
  2026: [
    ...[
      '2026-01-01',
      '2026-01-19',
      '2026-02-16',
      '2026-05-25',
      '2026-06-19',
      '2026-07-03',
      '2026-09-07',
      '2026-10-12',
    ],
    ...['2026-11-11', '2026-11-26', '2026-12-25'],
  ],
  2027: [
    ...[
      '2027-01-01',
      '2027-01-18',
      '2027-02-15',
      '2027-05-31',
      '2027-06-18',
      '2027-07-05',
      '2027-09-06',
      '2027-10-11',
    ],
    ...['2027-11-11', '2027-11-25', '2027-12-24', '2027-12-31'],
  ],
};

function daysOf(year: number): string[] {
  const days: string[] = [];
  for (let day = `${year}-01-01`; day.startsWith(String(year)); day = addDays(day, 1))
    days.push(day);
  return days;
}

describe('a business day', () => {
  test.each([2026, 2027])(
    'every Monday to Friday of %i that is not a federal holiday is a business day',
    (year) => {
      const weekdays = daysOf(year).filter((day) => dayOfWeek(day) <= 5);
      expect(weekdays.filter((day) => !isBusinessDay(day, NEVER))).toEqual(HOLIDAYS[year]);
    },
  );

  test('a Saturday or a Sunday is never a business day', () => {
    const weekend = daysOf(2026).filter((day) => dayOfWeek(day) > 5);
    expect(weekend).toHaveLength(104);
    expect(weekend.some((day) => isBusinessDay(day, NEVER))).toBe(false);
  });

  test('a day on which the clinic is closed is not a business day', () => {
    expect(isBusinessDay('2026-12-24', NEVER)).toBe(true);
    expect(isBusinessDay('2026-12-24', new Set(['2026-12-24']))).toBe(false);
  });
});

describe('the requested completion date', () => {
  test.each([
    ['2026-11-23', '2026-11-20', 'Friday, before a Monday'],
    ['2026-11-24', '2026-11-23', 'the day before, in the middle of a week'],
    ['2026-11-27', '2026-11-25', 'Wednesday, over Thanksgiving'],
    ['2026-11-30', '2026-11-27', 'the Friday after Thanksgiving, which is a business day'],
    ['2026-07-06', '2026-07-02', 'Thursday, as Friday stands in for Saturday 4 July'],
    ['2027-07-06', '2027-07-02', 'Friday, as Monday stands in for Sunday 4 July'],
    ['2028-01-03', '2027-12-30', 'Thursday, as New Year 2028 is kept in 2027'],
    ['2026-09-08', '2026-09-04', 'Friday, over Labor Day'],
    ['2026-11-22', '2026-11-20', 'Friday, before a Sunday'],
  ])('the completion date of a visit on %s is %s: %s', (visit, expected) => {
    expect(desiredCompletionDate(visit, '2026-06-01', NEVER)).toBe(expected);
  });

  test('the completion date is before the days on which the clinic is closed', () => {
    expect(
      desiredCompletionDate('2026-12-28', '2026-12-01', new Set(['2026-12-24', '2026-12-23'])),
    ).toBe('2026-12-22');
  });

  test('if the last business day before the visit has passed, the next one counts', () => {
    expect(desiredCompletionDate('2026-11-23', '2026-11-22', NEVER)).toBe('2026-11-23');
    expect(desiredCompletionDate('2026-11-23', '2026-11-21', NEVER)).toBe('2026-11-23');
    expect(desiredCompletionDate('2026-11-23', '2026-11-23', NEVER)).toBe('2026-11-23');
  });

  test('the completion date is a business day before the visit, and never past', () => {
    const day = fc.nat(5000).map((days) => addDays('2024-01-01', days));
    fc.assert(
      fc.property(
        day,
        fc.nat(40),
        fc.uniqueArray(fc.nat(20), { maxLength: 6 }),
        (today, ahead, closed_ahead) => {
          const visit = addDays(today, ahead);
          const closed = new Set(closed_ahead.map((days) => addDays(today, days)));
          const date = desiredCompletionDate(visit, today, closed);
          expect(date >= today).toBe(true);
          expect(isBusinessDay(date, closed)).toBe(true);
          if (date >= visit) {
            for (let day = today; day < date; day = addDays(day, 1))
              expect(isBusinessDay(day, closed)).toBe(false);
          }
          for (let between = addDays(date, 1); between < visit; between = addDays(between, 1))
            expect(isBusinessDay(between, closed)).toBe(false);
        },
      ),
    );
  });
});
