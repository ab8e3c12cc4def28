import { describe, expect, it, test } from 'vitest';
import { type AgeRule, readAgeWords } from '../../src/records/ages.ts';
import { useOf } from '../../src/records/frequency/history.ts';
import {
  type Frequency,
  type FrequencyLimit,
  readFrequency,
} from '../../src/records/frequency/read.ts';
import { readWaitingPeriods } from '../../src/records/frequency/waiting.ts';
import { networkBenefits } from '../../src/records/verdict/network.ts';
import { recordOf } from './answers.ts';
import { AGES, NETWORKS, SERVICES, WAITS, WORDINGS } from './frequency-wordings.ts';

function limitMeans({ count, period, place, shared, is_shared_in_words, of }: FrequencyLimit) {
  const span =
    period.kind === 'months'
      ? `${period.months}mo`
      : period.kind === 'days'
        ? `${period.days}d`
        : period.kind;
  return [
    `${count} ${span}`,
    ...(place === null ? [] : [`@${place}`]),
    ...(shared.length === 0 ? [] : [`shared ${shared.join(' ')}`]),
    ...(is_shared_in_words ? ['shared words'] : []),
    ...(of === null ? [] : [`of ${of.join(' ')}`]),
  ].join(' ');
}

function ageMeans({ sure, possible }: AgeRule): string {
  const below = possible.from < sure.from ? ` (${possible.from})` : '';
  const above = possible.to > sure.to ? `..${possible.to}` : '';
  return `${sure.from}-${sure.to}${above}${below}`;
}

function means(frequency: Frequency | null): string {
  if (frequency === null) return 'words';
  const { limits, age } = frequency;
  if (limits.length === 0 && age === null) return 'unlimited';
  const ages = age === null ? [] : [`age ${ageMeans(age)}`];
  return [...(limits.length === 0 ? [] : [limits.map(limitMeans).join(' + ')]), ...ages].join(' ');
}

describe('a frequency limit in words', () => {
  test('eligd reads at least 120 wordings', () => {
    expect(WORDINGS.length).toBeGreaterThanOrEqual(120);
    expect(new Set(WORDINGS.map(([said]) => said)).size).toBe(WORDINGS.length);
  });

  test.each(WORDINGS)('"%s" means %s', (said, expected) => {
    expect(means(readFrequency(said))).toBe(expected);
  });

  test.each(WORDINGS)('"%s" means the same in capitals and with spaces', (said, expected) => {
    expect(means(readFrequency(`  ${said.toUpperCase().replaceAll(' ', '  ')} `))).toBe(expected);
  });

  test('a long text is read in linear time, and is not a limit', () => {
    const before = performance.now();
    for (const piece of ['1 per ', '((((', 'and ', 'not within ', '1 1 1 ', 'shared with a '])
      expect(readFrequency(piece.repeat(100_000))).toBeNull();
    expect(performance.now() - before).toBeLessThan(1_000);
    const spaces = `1 per 6 months${' '.repeat(200)}x`;
    expect(readFrequency(spaces)).toBeNull();
  });
});

test.each(SERVICES)('of %s, "%s" means %s', (code, said, expected) => {
  expect(means(readFrequency(said, code))).toBe(expected);
});

test.each(AGES)('the age "%s" means %s', (said, expected) => {
  const rule = readAgeWords(said);
  expect(rule === null ? 'words' : rule === 'none' ? 'none' : ageMeans(rule)).toBe(expected);
});

test.each(WAITS)('the waiting period "%s" means %s', (said, expected) => {
  const read = readWaitingPeriods(said);
  const span =
    read.kind === 'lasts' ? (read.months > 0 ? `${read.months}mo` : `${read.days}d`) : read.kind;
  expect(span).toBe(expected);
});

test.each(NETWORKS)('out of network, "%s" means %s', (said, expected) => {
  expect(networkBenefits(said)).toBe(expected);
});

describe('a limit on the day of a visit', () => {
  const CALENDAR = { is_calendar: true };
  const UNKNOWN = { is_calendar: null };
  test.each([
    ['1 per 6 months', ['2026-05-23'], '2026-11-23', UNKNOWN, 'free', null],
    ['1 per 6 months', ['2026-05-24'], '2026-11-23', UNKNOWN, 'used', '2026-11-24'],
    ['1 per 6 months', ['2026-08-31'], '2027-02-28', UNKNOWN, 'used', '2027-03-01'],
    ['2 per 12 months', ['2026-01-10', '2026-05-10'], '2026-11-23', UNKNOWN, 'used', '2027-01-10'],
    ['2 per calendar year', ['2025-12-31', '2026-01-01'], '2026-11-23', UNKNOWN, 'free', null],
    [
      '2 per calendar year',
      ['2026-01-01', '2026-01-02'],
      '2026-11-23',
      UNKNOWN,
      'used',
      '2027-01-01',
    ],
    [
      '2 per benefit year',
      ['2026-01-01', '2026-01-02'],
      '2026-11-23',
      CALENDAR,
      'used',
      '2027-01-01',
    ],
    ['2 per benefit year', ['2026-01-01', '2026-01-02'], '2026-11-23', UNKNOWN, 'open', null],
    ['2 per benefit year', ['2025-01-01', '2025-01-02'], '2026-11-23', UNKNOWN, 'free', null],
    ['2 per year', ['2026-03-01', '2026-08-02'], '2026-11-23', CALENDAR, 'used', '2027-01-01'],
    ['2 per year', ['2026-03-01', '2026-08-02'], '2026-11-23', UNKNOWN, 'open', null],
    ['2 per year', ['2024-03-01'], '2026-11-23', UNKNOWN, 'free', null],
    ['1 per lifetime', ['1999-02-10'], '2026-11-23', UNKNOWN, 'used', null],
    ['1 per lifetime per tooth', ['1999-02-10'], '2026-11-23', UNKNOWN, 'open', null],
    ['1 per lifetime per tooth', [], '2026-11-23', UNKNOWN, 'free', null],
    [
      '2 per calendar year, 6 months apart',
      ['2026-08-02'],
      '2026-11-23',
      UNKNOWN,
      'used',
      '2027-02-02',
    ],
    ['1 per 6 months', ['2026-11-24'], '2026-11-23', UNKNOWN, 'free', null],
  ] as const)(
    '"%s" after %j is on %s (%j) %s, next %s',
    (said, dates, day, plan, standing, next) => {
      const treatments = dates.map((date) => ({
        date,
        code: 'D1110',
        teeth: [],
        surfaces: [],
        quadrants: [],
      }));
      const use = useOf(readFrequency(said)!, 'D1110', {
        day,
        history: { treatments, is_whole: true },
        plan,
        planned: ['D1110'],
      });
      expect([use.standing, use.next]).toEqual([standing, next]);
    },
  );
});

const asked = {
  benefits_query: ['TREATMENT_HISTORY', 'CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'],
  benefits_codes: ['D1110'],
};

function answer(frequency: unknown, history: unknown) {
  return {
    treatment_history: history,
    procedure_codes: [
      [{ procedure_code: 'D1110' }, { is_covered: true, frequency_limitations: frequency }],
    ],
  };
}

const nextOf = (frequency: unknown, history: unknown) =>
  recordOf(answer(frequency, history), { asked }).procedure_codes?.codes[0]?.next_eligible;

const cleaning = (more: object = {}) => [
  { procedure_code: '1110', tooth_numbers: [], surfaces: [], ...more },
];

describe('a record', () => {
  it('a record says when the next treatment is allowed, by the same code’s history', () => {
    const history = {
      '09-10-2026': cleaning(),
      '02-10-2026': cleaning(),
      '10-01-2026': [{ procedure_code: 'D0120' }],
    };
    expect(nextOf('2 per calendar year', history)).toEqual({
      standing: 'from_date',
      date: '2027-01-01',
      counted: ['2026-02-10', '2026-09-10'],
    });
  });

  it('an empty history is nothing on file, and an absent one no answer (G8)', () => {
    const open = { standing: 'open', date: null, counted: [] };
    expect(nextOf('2 per calendar year', {})).toEqual(open);
    expect(nextOf('2 per calendar year', null)).toBeUndefined();
  });

  it('a record says nothing for an unreadable limit or one per place', () => {
    expect(nextOf('2 per year', { '09-10-2026': cleaning() })).toBeUndefined();
    expect(nextOf(null, { '09-10-2026': cleaning() })).toBeUndefined();
    expect(
      nextOf('1 per 60 months', { '09-10-2026': cleaning({ tooth_numbers: ['3'] }) }),
    ).toBeUndefined();
  });

  it('an unreadable treatment that may count leaves the next date out', () => {
    const unread = { '09-10-2026': [{ tooth_numbers: [], surfaces: [] }] };
    expect(nextOf('1 per 6 months', unread)).toBeUndefined();
    expect(nextOf('1 per 6 months', { 'last fall': cleaning() })).toBeUndefined();
    expect(nextOf('2 per 6 months', unread)).toEqual({ standing: 'open', date: null, counted: [] });
  });

  it('treatments further apart than the limit leave it open', () => {
    const history = { '01-10-2020': cleaning(), '09-10-2026': cleaning() };
    expect(nextOf('2 per 12 months', history)?.standing).toBe('open');
  });

  it('a record always keeps the text', () => {
    const record = recordOf(answer('2 per year', { '09-10-2026': cleaning() }), { asked });
    expect(record.procedure_codes?.codes[0]?.benefits.frequency_limitations).toBe('2 per year');
  });
});
