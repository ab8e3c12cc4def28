import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { instantText } from '../../../connectors/csv/instants.ts';
import * as values from '../../../connectors/csv/values.ts';
import { splitName } from '../../../connectors/csv/words.ts';

const ZONE = 'America/Chicago';

function day(text: string, order: values.DateOrder = 'mdy') {
  const { value, fault } = values.readDateParts(text, order, true);
  return value === null ? fault : values.isoDate(value);
}

function instant(date: string, time: string) {
  const { value } = values.readDateParts(date, 'mdy', true);
  const clock = values.readTime(time);
  return value === null || clock === null ? null : instantText(value, clock, ZONE);
}

describe('dates', () => {
  it.each([
    ['2026-11-23', 'mdy', '2026-11-23'],
    ['2026/11/23', 'dmy', '2026-11-23'],
    ['20261123', 'dmy', '2026-11-23'],
    ['11/23/2026', 'mdy', '2026-11-23'],
    ['3.4.2026', 'dmy', '2026-04-03'],
    ['3/4/2026', 'mdy', '2026-03-04'],
    ['11-23-26', 'mdy', '2026-11-23'],
    ['Nov 23, 2026', 'mdy', '2026-11-23'],
    ['Monday, November 23rd, 2026', 'mdy', '2026-11-23'],
    ['23-Nov-2026', 'mdy', '2026-11-23'],
    ['23. November 2026', 'ymd', '2026-11-23'],
  ] as const)('the date %s is read in the order %s', (text, order, expected) => {
    expect(day(text, order)).toBe(expected);
  });

  it.each([
    ['1987-02-30', 'impossible date'],
    ['2/29/2026', 'impossible date'],
    ['23/11/2026', 'impossible date'],
    ['0087-01-02', 'impossible date'],
    ['11/24/2926', 'impossible date'],
    ['soon', 'not a date'],
    ['46350', 'not a date'],
    ['1/2/3/2026', 'not a date'],
  ])('the date %s has the fault %s', (text, fault) => {
    expect(day(text)).toBe(fault);
  });

  it('a leap day is read', () => expect(day('2/29/2028')).toBe('2028-02-29'));

  it('dates are never read in another order than the configured one', () => {
    expect(day('13/04/2026', 'mdy')).toBe('impossible date');
    expect(day('04/13/2026', 'ymd')).toBe('not a date in the configured order');
  });

  it.each([
    '0001-01-01',
    '0001-01-01 00:00:00',
    '01/01/0001',
    '0000-00-00',
    '1753-01-01',
    '12/31/9999',
    '2999-12-31',
    '',
  ])('%s reads as an empty cell', (text) => {
    expect(day(text)).toBeNull();
  });

  it('the century of a birth date is never guessed', () => {
    expect(values.readDateParts('1/2/24', 'mdy', false)).toEqual({
      value: null,
      fault: 'two-digit year',
    });
  });
});

describe('times', () => {
  it.each([
    ['2:30 PM', 14, 30],
    ['02:30pm', 14, 30],
    ['2:30 p.m.', 14, 30],
    ['2 PM', 14, 0],
    ['12:00 AM', 0, 0],
    ['12:15 PM', 12, 15],
    ['14:30', 14, 30],
    ['14:30:59', 14, 30],
    ['08.05', 8, 5],
    ['1430', 14, 30],
    ['930', 9, 30],
    ['143000', 14, 30],
  ])('the time %s is read', (text, hour, minute) => {
    expect(values.readTime(text)).toMatchObject({ hour, minute, offset_minutes: null });
  });

  it.each(['25:00', '13:00 PM', '0 AM', '9', 'noon', '9:7', '14:60'])(
    'the time %s is not read',
    (text) => {
      expect(values.readTime(text)).toBeNull();
    },
  );

  it('a time’s offset counts', () => {
    expect(instant('2026-11-23', '09:30:00-06:00')).toBe('2026-11-23T15:30:00.000Z');
    expect(instant('2026-11-23', '09:30:00.250+0530')).toBe('2026-11-23T04:00:00.250Z');
    expect(instant('2026-11-23', '23:30Z')).toBe('2026-11-23T23:30:00.000Z');
  });

  it('a wall time is the clinic’s', () => {
    expect(instant('2026-11-23', '9:30 AM')).toBe('2026-11-23T15:30:00.000Z');
    expect(instant('2026-07-01', '9:30 AM')).toBe('2026-07-01T14:30:00.000Z');
  });

  it('a skipped wall time moves forward, and of two equal ones the first counts', () => {
    expect(instant('2026-03-08', '02:30')).toBe('2026-03-08T08:30:00.000Z');
    expect(instant('2026-11-01', '01:30')).toBe('2026-11-01T06:30:00.000Z');
  });
});

describe('wall times', () => {
  it.each([
    ['America/Chicago', ['2026-03-07', '2026-03-08', '2026-11-01', '2026-11-02']],
    ['America/Havana', ['2026-03-08', '2026-11-01']],
    ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']],
    ['Africa/Casablanca', ['2026-02-15', '2026-03-22']],
  ])('wall times of %s are instants as in Temporal, also at clock changes', (zone, days) => {
    for (const day of days) {
      const date = Temporal.PlainDate.from(day);
      for (let minutes = 0; minutes < 24 * 60; minutes += 15) {
        const time = { hour: Math.floor(minutes / 60), minute: minutes % 60 };
        const parts = { ...time, second: 30, millisecond: 0, offset_minutes: null };
        const wall = date.toPlainDateTime({ ...time, second: 30 });
        const { year, month, day: of_month } = date;
        expect(instantText({ year, month, day: of_month, rest: '' }, parts, zone)).toBe(
          new Date(wall.toZonedDateTime(zone).epochMilliseconds).toISOString(),
        );
      }
    }
  });
});

describe('cells', () => {
  it.each([
    ['="00123"', '00123'],
    ["'00123", '00123'],
    ["'=1+1", '=1+1'],
    ["'t Hooft", "'t Hooft"],
    ['\u00a0 00123 ', '00123'],
    ['="a""b"', 'a"b'],
  ])('the cell %s is unwrapped', (cell, expected) => {
    expect(values.cleanCell(cell)).toBe(expected);
  });

  it('the word NULL is empty, but not in a name', () => {
    expect(values.plainCell('NULL')).toBe('');
    expect(values.cleanCell('Null')).toBe('Null');
    expect(values.plainCell('Null')).toBe('Null');
  });

  it('a number that a spreadsheet has rounded is noticed', () => {
    expect(values.isScientific('1.23457E+11')).toBe(true);
    expect(values.isScientific('E100200')).toBe(false);
    expect(values.isScientific('W12E5')).toBe(false);
  });
});

describe('codes', () => {
  it.each([
    ['D1120,D0120', ['D1120', 'D0120']],
    ['D1120 D0120', ['D1120', 'D0120']],
    ['d1120; D1120 ;d0120', ['D1120', 'D0120']],
    ['D0120 - Periodic exam, D1110 (x2)', ['D0120', 'D1110']],
    ['99213-25|J1030', ['99213', 'J1030']],
    ['99213-25, 99213-59, D0140.LTD', ['99213', 'D0140']],
    ['N-12', ['N-12']],
    ['CONSULT', ['CONSULT']],
    ['', []],
  ])('the codes of %s are found', (text, codes) => {
    expect(values.readProcedureCodes(text)).toEqual({ codes, lost: false });
  });

  it('a code that is scheduled more than once counts, and its fees add up', () => {
    expect(values.readProcedureCounts('D2392;D2392;D1110')).toEqual({ D2392: 2 });
    expect(values.readProcedureCounts('97110-GP, 97110-59, 97110')).toEqual({ '97110': 3 });
    expect(values.readProcedureCounts('D2392;D1110')).toBeNull();
    expect(values.readProcedureFees('D2392;D2392;D1110', '200.00;210.50;98')).toEqual({
      ...{ D2392: '410.50', D1110: '98.00' },
    });
    // One of the two fees is unknown, so the sum is unknown.
    expect(values.readProcedureFees('D2392;D2392;D1110', '200.00;;98')).toEqual({ D1110: '98.00' });
  });

  it('a cell without codes is reported', () => {
    expect(values.readProcedureCodes('Crown upper left')).toEqual({ codes: [], lost: true });
  });

  it('diagnosis codes are found', () => {
    expect(values.readDiagnosisCodes('f41.1, Z00.00 general exam').codes).toEqual([
      'F41.1',
      'Z00.00',
    ]);
  });
});

describe('words', () => {
  it('words for specialties are read', () => {
    const words = [
      'Dental',
      'Orthodontics',
      'Orthopedics',
      'MENTAL_HEALTH',
      'Psychiatry',
      'Endodontics',
      'Endocrinology',
      'Family Medicine',
    ];
    expect(words.map((word) => values.readSpecialty(word).value)).toEqual([
      'dental', 'dental', 'medical', 'mental_health', 'mental_health', 'dental', 'medical',
      'medical',
    ]); // biome-ignore format: side by side
    expect(values.readSpecialty('Podiatry')).toEqual({ value: null, fault: 'unknown word' });
  });

  it.each([
    ["O'Brien, Noah", 'auto', 'Noah', "O'Brien"],
    ['Johnson Jr., Tom', 'auto', 'Tom', 'Johnson Jr.'],
    ['Smith, Tom, Jr.', 'auto', 'Tom', 'Smith Jr.'],
    ['Tom Johnson Jr.', 'auto', 'Tom', 'Johnson Jr.'],
    ['Tom Smith, Jr.', 'auto', 'Tom', 'Smith Jr.'],
    ['Mary Ann van der Berg', 'auto', 'Mary Ann', 'van der Berg'],
    ['Zoë St. Clair', 'auto', 'Zoë', 'St. Clair'],
    ['Smith Mary Ann', 'last_first', 'Mary Ann', 'Smith'],
    ['Cher', 'auto', '', 'Cher'],
    ['', 'auto', '', ''],
  ] as const)('splits %s under %s', (text, order, first_name, last_name) => {
    expect(splitName(text, order)).toEqual({ first_name, last_name });
  });
});
