import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import {
  addDays,
  dayOfWeek,
  instantOf,
  localDate,
  localDateTime,
  yearOf,
} from '../../src/domain/time.ts';

const CHICAGO = 'America/Chicago';
const iso = (at: number) => new Date(at).toISOString();

describe('a wall time', () => {
  test('a wall time that daylight saving skips moves forward', () => {
    // 8 March 2026: 02:00 is followed by 03:00.
    expect(iso(instantOf('2026-03-08', 1, CHICAGO))).toBe('2026-03-08T07:00:00.000Z');
    expect(iso(instantOf('2026-03-08', 2, CHICAGO))).toBe('2026-03-08T08:00:00.000Z');
    expect(iso(instantOf('2026-03-08', 3, CHICAGO))).toBe('2026-03-08T08:00:00.000Z');
  });

  test('a wall time that occurs twice is the first one', () => {
    // 1 November 2026: 01:59 daylight time is followed by 01:00 standard time.
    expect(iso(instantOf('2026-11-01', 1, CHICAGO))).toBe('2026-11-01T06:00:00.000Z');
    expect(iso(instantOf('2026-11-01', 2, CHICAGO))).toBe('2026-11-01T08:00:00.000Z');
  });

  test('midnight may be skipped as well', () => {
    // Cuba begins daylight saving at midnight.
    expect(iso(instantOf('2026-03-08', 0, 'America/Havana'))).toBe('2026-03-08T05:00:00.000Z');
  });

  test('without daylight saving, a wall time is the same all year', () => {
    expect(iso(instantOf('2026-01-15', 9, 'America/Phoenix'))).toBe('2026-01-15T16:00:00.000Z');
    expect(iso(instantOf('2026-07-15', 9, 'America/Phoenix'))).toBe('2026-07-15T16:00:00.000Z');
  });
});

describe('the day of an instant', () => {
  test('the day of an instant is the clinic’s, not Greenwich’s', () => {
    const late = Date.parse('2026-11-24T03:30:00Z');
    expect(localDate(late, CHICAGO)).toBe('2026-11-23');
    expect(localDate(late, 'UTC')).toBe('2026-11-24');
    expect(localDateTime(late, CHICAGO)).toBe('2026-11-23T21:30');
  });

  test('the day changes at midnight on both days of daylight saving', () => {
    for (const [before, after] of [
      ['2026-03-08T05:59:59.999Z', '2026-03-08T06:00:00Z'],
      ['2026-03-09T04:59:59.999Z', '2026-03-09T05:00:00Z'],
      ['2026-11-01T04:59:59.999Z', '2026-11-01T05:00:00Z'],
      ['2026-11-02T05:59:59.999Z', '2026-11-02T06:00:00Z'],
    ] as const) {
      expect(localDate(Date.parse(after), CHICAGO)).toBe(
        addDays(localDate(Date.parse(before), CHICAGO), 1),
      );
    }
  });

  test('the day of a wall time is the requested day', () => {
    const day = fc.nat(5000).map((days) => addDays('2024-01-01', days));
    const zone = fc.constantFrom(
      CHICAGO,
      'America/New_York',
      'America/Havana',
      'Pacific/Honolulu',
      'Asia/Kolkata',
    );
    fc.assert(
      fc.property(day, fc.nat(23), zone, (date, hour, time_zone) => {
        expect(localDate(instantOf(date, hour, time_zone), time_zone)).toBe(date);
      }),
    );
  });
});

describe('the clock of a zone', () => {
  // Antarctica/Casey changed at a minute past the hour, Lord Howe changes by half an hour.
  const ZONES = [CHICAGO, 'America/Havana', 'Antarctica/Casey', 'Australia/Lord_Howe', 'UTC'];
  const zoned = (at: number, zone: string) =>
    Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  /** Changes of the clock between 1990 and 2040. */
  const changes = ZONES.flatMap((zone) => {
    const found: { zone: string; at: number }[] = [];
    for (let each = zoned(Date.UTC(1990, 0), zone); each.year < 2040; ) {
      const next = each.getTimeZoneTransition('next');
      if (next === null) break;
      found.push({ zone, at: next.epochMilliseconds });
      each = next;
    }
    return found;
  });

  test('the clock agrees with Temporal around each change and at any time', () => {
    const anytime = fc.record({
      zone: fc.constantFrom(...ZONES),
      at: fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2040, 0) }),
    });
    const near = fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -10_000_000, max: 10_000_000 }))
      .map(([{ zone, at }, by]) => ({ zone, at: at + by }));
    const sharp = changes.flatMap(({ zone, at }) =>
      [-1, 0, 1].map((by) => ({ zone, at: at + by })),
    );
    const check = ({ zone, at }: { zone: string; at: number }) => {
      const wall = zoned(at, zone).toPlainDateTime();
      expect(localDateTime(at, zone)).toBe(wall.toString({ smallestUnit: 'minute' }));
      expect(localDate(at, zone)).toBe(wall.toPlainDate().toString());
      const minute = wall.round({ smallestUnit: 'minute', roundingMode: 'floor' });
      const day = minute.toPlainDate().toString();
      expect(instantOf(day, minute.hour, zone, minute.minute)).toBe(
        minute.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds,
      );
    };
    for (const each of sharp) check(each);
    fc.assert(fc.property(fc.oneof(anytime, near), check), { numRuns: 500 });
  });

  test('an impossible day is an error', () => {
    expect(() => instantOf('2026-02-30', 9, CHICAGO)).toThrow(RangeError);
    expect(() => addDays('2026-02-30', 1)).toThrow(RangeError);
  });
});

describe('counting days', () => {
  test('counting days includes leap days', () => {
    expect(addDays('2028-02-28', 1)).toBe('2028-02-29');
    expect(addDays('2028-02-29', 1)).toBe('2028-03-01');
    expect(addDays('2028-02-29', 365)).toBe('2029-02-28');
    expect(addDays('2027-02-28', 1)).toBe('2027-03-01');
    expect(addDays('2028-03-01', -1)).toBe('2028-02-29');
  });

  test('counting days passes the end of a year', () => {
    expect(addDays('2026-12-31', 1)).toBe('2027-01-01');
    expect([yearOf('2026-12-31'), yearOf('2027-01-01')]).toEqual([2026, 2027]);
  });

  test('a week begins on Monday', () => {
    expect(['2026-11-23', '2026-11-28', '2026-11-29'].map(dayOfWeek)).toEqual([1, 6, 7]);
  });
});
