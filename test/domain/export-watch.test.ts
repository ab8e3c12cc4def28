import { describe, expect, test } from 'vitest';
import {
  type Arrival,
  type Book,
  type ExportSettings,
  judgeExports,
} from '../../src/domain/export-watch.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

/** Monday, 7 January 2030, 00:00 in Chicago. */
const MONDAY = Date.parse('2030-01-07T06:00:00Z');
const SETTINGS: ExportSettings = {
  time_zone: 'America/Chicago',
  closed: new Set(),
  expected_by: null,
};

const at = (day: number, hours: number) => MONDAY + day * DAY_MS + hours * HOUR_MS;

/** Exports of 40 rows on these days before Monday, at these hours. */
const weeks = (...hours: number[]): Arrival[] =>
  hours.map((hour, index) => ({ at: at(-7 * (index + 1), hour), rows: 40, source: hour }));

/** eligd knows no visits. */
const NO_BOOK: Book = { visit_days: new Set(), known_later: 0, named_again: 0, has_later: false };

const judge = (
  arrivals: Arrival[],
  now: number,
  { book = {}, ...settings }: Partial<ExportSettings> & { book?: Partial<Book> } = {},
) =>
  judgeExports(arrivals, { ...NO_BOOK, ...book }, { ...SETTINGS, ...settings }, now)?.reason ??
  null;

describe('a missing export', () => {
  test('an export is missing an hour after the latest time of the same weekday', () => {
    const usual = weeks(7, 6.5, 7.25);
    expect(judge(usual, at(0, 8.24))).toBe(null);
    expect(judge(usual, at(0, 8.25))).toBe('export_missing');
    expect(judgeExports(usual, NO_BOOK, SETTINGS, at(0, 9))?.what).toBe(
      'No appointment export arrived today by 08:15.',
    );
  });

  test('no export is missing before three weeks of history', () => {
    expect(judge(weeks(7, 7), at(0, 12))).toBe(null);
  });

  test('with expected_by, an export is missing without any history', () => {
    expect(judge([], at(0, 7.4), { expected_by: '07:30' })).toBe(null);
    expect(judge([], at(0, 7.5), { expected_by: '07:30' })).toBe('export_missing');
  });

  test('no export is missing on a weekday on which none arrives', () => {
    expect(judge([...weeks(7, 7, 7), { at: at(0, 7), rows: 40, source: 1 }], at(1, 12))).toBe(null);
  });

  test('no export is missing on a federal holiday or a closed day', () => {
    // 21 January 2030 is Martin Luther King Day.
    const usual = [-14, -7, 0, 7].map((day) => ({ at: at(day, 7), rows: 40, source: 1 }));
    expect(judge(usual, at(14, 12))).toBe(null);
    expect(judge(weeks(7, 7, 7), at(0, 12), { closed: new Set(['2030-01-07']) })).toBe(null);
  });

  test('an export is missing on Saturday only if exports arrive on Saturdays', () => {
    const saturdays = [-2, -9, -16].map((day) => ({ at: at(day, 7), rows: 40, source: 1 }));
    expect(judge(saturdays, at(5, 12))).toBe('export_missing');
    expect(judge([], at(5, 12), { expected_by: '07:30' })).toBe(null);
  });

  test('an export stays missing on later days until one arrives', () => {
    const usual = weeks(7, 7, 7);
    const friday = [-3, -10, -17].map((day) => ({ at: at(day, 7), rows: 40, source: 1 }));
    const book = { visit_days: new Set(['2030-01-07', '2030-01-08']), has_later: true };
    const before = [...usual, ...friday];
    expect(judge(before, at(0, 7), { book })).toBe(null);
    expect(judge(before, at(1, 1), { book })).toBe('export_missing');
    expect(judge(before, at(5, 1), { book })).toBe('export_missing');
    expect(judgeExports(before, { ...NO_BOOK, ...book }, SETTINGS, at(1, 1))?.what).toBe(
      'No appointment export arrived on 01/07/2030, and none has arrived since.',
    );
    expect(judge([...before, { at: at(1, 6), rows: 40, source: 2 }], at(1, 9), { book })).toBe(
      null,
    );
  });

  test('an export is missing when the office opens again after weeks', () => {
    const usual = weeks(7, 7, 7);
    // Visits begin again on January 28, three weeks after the Monday of the last export.
    const last = { at: at(0, 7), rows: 40, source: 1 };
    const closed = { visit_days: new Set<string>(), has_later: true };
    expect(judge([...usual, last], at(14, 12), { book: closed })).toBe(null);
    const open = { visit_days: new Set(['2030-01-28']), has_later: true };
    expect(judge([...usual, last], at(21, 12), { book: open })).toBe('export_missing');
    expect(judge([...usual, last], at(40, 12), { book: open })).toBe('export_missing');
  });

  test('an export shortly before midnight is not late at midnight', () => {
    const late = weeks(23.8, 23.8, 23.8);
    const before = [...late, { at: at(-1, 7), rows: 40, source: 1 }];
    const book = { visit_days: new Set(['2030-01-07', '2030-01-08']), has_later: true };
    expect(judge(before, at(0, 23.9), { book })).toBe(null);
    expect(judge(before, at(1, 0.1), { book })).toBe(null);
    expect(judge(before, at(1, 1), { book })).toBe('export_missing');
  });

  test('no export is missing on a day without visits, when later days have some', () => {
    expect(judge(weeks(7, 7, 7), at(0, 12), { book: { has_later: true } })).toBe(null);
    const book = { visit_days: new Set(['2030-01-07']), has_later: true };
    expect(judge(weeks(7, 7, 7), at(0, 12), { book })).toBe('export_missing');
  });
});

/** Arrivals of the Mondays to Fridays in the weeks before Monday, at these hours. */
const workdays = (weeks_back: number, hoursOf: (day: number) => number[]): Arrival[] =>
  Array.from({ length: 7 * weeks_back }, (_, index) => index - 7 * weeks_back)
    .filter((day) => ((day % 7) + 7) % 7 < 5)
    .flatMap((day) => hoursOf(day).map((hour) => ({ at: at(day, hour), rows: 40, source: hour })));

describe('one of several exports a day', () => {
  const twice = workdays(5, () => [6, 13]);
  const today = (...hours: number[]) =>
    hours.map((hour) => ({ at: at(0, hour), rows: 40, source: hour }));

  test('the second export is missing an hour after its own usual time', () => {
    expect(judge([...twice, ...today(6)], at(0, 13.99))).toBe(null);
    expect(judge([...twice, ...today(6)], at(0, 14))).toBe('export_missing');
    expect(judgeExports([...twice, ...today(6)], NO_BOOK, SETTINGS, at(0, 15))?.what).toBe(
      'Only 1 of the usual 2 appointment exports arrived today by 14:00.',
    );
    expect(judge([...twice, ...today(6, 13)], at(0, 15))).toBe(null);
  });

  test('the second export stays missing overnight, until an export arrives', () => {
    const book = { visit_days: new Set(['2030-01-07', '2030-01-08']), has_later: true };
    expect(judge([...twice, ...today(6)], at(1, 2), { book })).toBe('export_missing');
    expect(
      judgeExports([...twice, ...today(6)], { ...NO_BOOK, ...book }, SETTINGS, at(1, 2))?.what,
    ).toBe('Only 1 of the usual 2 appointment exports arrived on 01/07/2030 by 14:00.');
    const next = { at: at(1, 6), rows: 40, source: 9 };
    expect(judge([...twice, ...today(6), next], at(1, 7), { book })).toBe(null);
    expect(judge([...twice, ...today(6), next], at(1, 14), { book })).toBe('export_missing');
  });

  test('the second export can be missing when expected_by is set', () => {
    const settings = { expected_by: '07:30' };
    expect(judge([...twice, ...today(6)], at(0, 13), settings)).toBe(null);
    expect(judge([...twice, ...today(6)], at(0, 14), settings)).toBe('export_missing');
    expect(judge(twice, at(0, 7.5), settings)).toBe('export_missing');
  });

  test('an irregular second export is never missing', () => {
    const habit = workdays(5, (day) => (day % 7 === -1 || day % 3 === 0 ? [6] : [6, 13]));
    expect(judge([...habit, ...today(6)], at(0, 23))).toBe(null);
    const whenever = workdays(5, (day) => [6, 11 + (Math.abs(day) % 5)]);
    expect(judge([...whenever, ...today(6)], at(0, 23))).toBe(null);
    const hourly = workdays(5, () => [7, 8, 9, 10, 11, 12, 13, 14]);
    expect(judge([...hourly, ...today(7, 8, 9, 10, 11, 12, 13)], at(0, 23))).toBe(null);
    expect(judge(hourly, at(0, 8))).toBe('export_missing');
  });
});

test('one late day does not make the usual hour late', () => {
  const late = weeks(7, 15, 7, 7.5, 7);
  expect(judge(late, at(0, 8.49))).toBe(null);
  expect(judge(late, at(0, 8.5))).toBe('export_missing');
});

describe('in a year of an office without a fault', () => {
  /** The begins of troubles, looked at some hours of each day. */
  function troublesOf(hoursOf: (day: number) => number[]): string[] {
    const all = workdays(52, hoursOf);
    const found: string[] = [];
    let before: string | null = null;
    for (let day = -7 * 46; day < 0; day += 1) {
      // Visits on workdays.
      const date = new Date(at(day, 12)).toISOString().slice(0, 10);
      const is_open = ((day % 7) + 7) % 7 < 5;
      const book = { visit_days: new Set(is_open ? [date] : []), has_later: true };
      for (const hour of [6.5, 8, 10, 15, 18, 23]) {
        const now = at(day, hour);
        const known = all.filter((each) => each.at <= now && each.at > now - 49 * DAY_MS);
        const reason = judge(known, now, { book });
        if (reason !== null && reason !== before) found.push(`${date} ${hour}: ${reason}`);
        before = reason;
      }
    }
    return found;
  }
  const chance = (day: number, salt: number) => {
    const wave = Math.sin(day * 12.9898 + salt * 78.233) * 43_758.5453;
    return wave - Math.floor(wave);
  };

  test.each<[name: string, hoursOf: (day: number) => number[]]>([
    ['exports once, within an hour', (day) => [6 + chance(day, 1)]],
    ['exports twice by a job', (day) => [6 + chance(day, 1) / 4, 13 + chance(day, 2) / 2]],
    [
      'exports once, and now and then again by hand',
      (day) => [6 + chance(day, 1), ...(chance(day, 2) < 0.3 ? [10 + 7 * chance(day, 3)] : [])],
    ],
    [
      'exports once, and on most days again by hand',
      (day) => [6 + chance(day, 1), ...(chance(day, 2) < 0.8 ? [10 + 7 * chance(day, 3)] : [])],
    ],
  ])('an office that %s gets at most one alert in a year', (_name, hoursOf) => {
    expect(troublesOf(hoursOf).length).toBeLessThanOrEqual(1);
  });
});

describe('an export that arrived', () => {
  const today = (...rows: number[]) =>
    rows.map((each, index) => ({ at: at(0, 7), rows: each, source: index }));

  test('an export without rows is empty, also the first one', () => {
    expect(judge(today(0), at(0, 8))).toBe('export_empty');
  });

  test('an export with less than half of the usual rows is small', () => {
    expect(judge([...weeks(7, 7, 7), ...today(19)], at(0, 8))).toBe('export_small');
    expect(judge([...weeks(7, 7, 7), ...today(20)], at(0, 8))).toBe(null);
    expect(judge([...weeks(7, 7), ...today(1)], at(0, 8))).toBe(null);
  });

  test('an export with most of the known visits is not small', () => {
    const short = [...weeks(7, 7, 7), ...today(12)];
    const quiet = { known_later: 12, named_again: 10 };
    expect(judge(short, at(0, 8), { book: quiet })).toBe(null);
    expect(judge(short, at(0, 8), { book: { known_later: 36, named_again: 12 } })).toBe(
      'export_small',
    );
    expect(judge(short, at(0, 8), { book: { known_later: 16, named_again: 8 } })).toBe(
      'export_small',
    );
  });

  test('the same small file, or one with the same filter, stays small', () => {
    const again = [12, 12].map((rows, index) => ({ at: at(0, 7 + index), rows, source: 7 }));
    expect(judge([...weeks(7, 7, 7), ...again], at(0, 9))).toBe('export_small');
    const other = [12, 13].map((rows, index) => ({ at: at(0, 7 + index), rows, source: index }));
    expect(judge([...weeks(7, 7, 7), ...other], at(0, 9))).toBe('export_small');
    const whole = [12, 40].map((rows, index) => ({ at: at(0, 7 + index), rows, source: index }));
    expect(judge([...weeks(7, 7, 7), ...whole], at(0, 9))).toBe(null);
  });

  test('an export may be empty on a closed day, or where it always is', () => {
    expect(judge(today(0), at(0, 8), { closed: new Set(['2030-01-07']) })).toBe(null);
    const empty = weeks(7, 7, 7).map((each) => ({ ...each, rows: 0 }));
    expect(judge([...empty, ...today(0)], at(0, 8))).toBe(null);
  });

  test('one of several exports a day is judged with the others', () => {
    const twice = [...weeks(7, 7, 7), ...weeks(8, 8, 8)];
    expect(judge([...twice, ...today(0)], at(0, 8))).toBe(null);
    expect(judge([...twice, ...today(0, 10)], at(0, 8))).toBe('export_small');
    expect(judge([...twice, ...today(0, 80)], at(0, 8))).toBe(null);
  });
});
