import { describe, expect, it } from 'vitest';
import { nextEligible, readFrequency } from '../../src/records/frequency.ts';
import { recordOf } from './answers.ts';

const months = (count: number, span: number) => ({ kind: 'months', count, months: span });
const calendar = (count: number) => ({ kind: 'calendar_year', count });
const lifetime = (count: number) => ({ kind: 'lifetime', count });

describe('a frequency text', () => {
  it.each([
    ['1 per 36 months', months(1, 36)],
    ['1 per 12 Months.', months(1, 12)],
    ['2 per calendar year', calendar(2)],
    ['two per calendar year', calendar(2)],
    ['Twice per calendar year', calendar(2)],
    ['once every 6 months', months(1, 6)],
    ['every 6 months', months(1, 6)],
    ['one every six months', months(1, 6)],
    ['1x per 60 months', months(1, 60)],
    ['1x/12 months', months(1, 12)],
    ['1 time in 24 mos', months(1, 24)],
    ['2 times in 12 consecutive months', months(2, 12)],
    ['2 cleanings in any 12 months', months(2, 12)],
    ['one in 5 years', months(1, 60)],
    ['1 per rolling 12 months', months(1, 12)],
    ['1 in 36 months', months(1, 36)],
    ['1x/12mo', months(1, 12)],
    ['1 per 6 mo.', months(1, 6)],
    ['2 in any 12-month period', months(2, 12)],
    ['Two (2) per calendar year', calendar(2)],
    ['1 per lifetime', lifetime(1)],
    ['once per patient lifetime', lifetime(1)],
    ['No limit', { kind: 'unlimited' }],
    ['no frequency limitations', { kind: 'unlimited' }],
  ])('%s is understood', (text, rule) => {
    expect(readFrequency(text, false)).toEqual(rule);
  });

  it.each([
    '2 per year',
    'two (3) per calendar year',
    'once per lifetime per tooth',
    '2 per benefit year, not within 6 months',
    '1 per 12-month benefit period',
    '1 per benefit year',
    '1 per tooth per 36 months',
    '1 per quadrant per 24 months',
    '4 per calendar year, shared with cleanings',
    '1 per 36 months unless medically necessary',
    'As needed',
    'per 6 months',
    '0 per 12 months',
    '1 per 0 months',
    '30 visits per year',
    '1 per day',
    'two',
    '',
    'D1110 and D1120 combined 2 per calendar year',
  ])('"%s" stays a text (G8)', (text) => {
    expect(readFrequency(text, false)).toBeNull();
  });

  it('per benefit year is understood when that year is the calendar’s', () => {
    expect(readFrequency('2 per benefit year', true)).toEqual(calendar(2));
    expect(readFrequency('2 per plan year', true)).toEqual(calendar(2));
  });
});

describe('the next eligible date', () => {
  it.each([
    ['1 per 36 months', ['2024-02-10'], 'from_date', '2027-02-10'],
    ['1 per 6 months', ['2026-01-31', '2026-08-31'], 'from_date', '2027-02-28'],
    ['2 per 12 months', ['2026-01-10', '2026-05-10', '2026-09-10'], 'from_date', '2027-05-10'],
    ['2 per 12 months', ['2026-09-10'], 'open', null],
    ['2 per calendar year', ['2026-02-10', '2026-09-10'], 'from_date', '2027-01-01'],
    ['2 per calendar year', ['2025-09-10', '2026-02-10'], 'open', null],
    ['1 per calendar year', ['2026-02-10'], 'from_date', '2027-01-01'],
    ['1 per lifetime', ['1999-02-10'], 'used_up', null],
    ['1 per lifetime', [], 'open', null],
    ['no limit', ['2026-02-10', '2026-02-11'], 'open', null],
  ])('of "%s" after %j is %s %s', (text, dates, standing, date) => {
    expect(nextEligible(readFrequency(text, false)!, dates)).toMatchObject({ standing, date });
  });
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
  it('says when the next treatment is allowed, counting the treatments of that very code', () => {
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

  it(
    'says nothing when the history was not answered, since an empty one is not known to mean ' +
      'none (G8)',
    () => {
      expect(nextOf('2 per calendar year', {})).toBeUndefined();
      expect(nextOf('2 per calendar year', null)).toBeUndefined();
    },
  );

  it('says nothing when the frequency is another text, or treatments were done to a place', () => {
    expect(nextOf('2 per year', { '09-10-2026': cleaning() })).toBeUndefined();
    expect(nextOf(null, { '09-10-2026': cleaning() })).toBeUndefined();
    expect(
      nextOf('1 per 60 months', { '09-10-2026': cleaning({ tooth_numbers: ['3'] }) }),
    ).toBeUndefined();
  });

  it('keeps the text in any case', () => {
    const record = recordOf(answer('2 per year', { '09-10-2026': cleaning() }), { asked });
    expect(record.procedure_codes?.codes[0]?.benefits.frequency_limitations).toBe('2 per year');
  });
});
