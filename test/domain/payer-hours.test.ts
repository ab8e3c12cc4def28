import { describe, expect, test } from 'vitest';
import { desiredCompletionDate, nextBusinessDay } from '../../src/domain/business-days.ts';
import {
  afterPayerHours,
  beforePayerHours,
  callBy,
  hoursOf,
  type LeadRules,
  nextOpening,
  type PayerHours,
  payerHoursBetween,
} from '../../src/domain/payer-hours.ts';
import { aPayer, facts, NATIONAL } from './examples.ts';

const at = (text: string) => Date.parse(text);
const iso = (instant: number) => new Date(instant).toISOString();
const CHICAGO: PayerHours = { ...NATIONAL, zones: ['America/Chicago'] };

describe('payer hours', () => {
  test.each([
    // A national payer answers from 08:00 Eastern (13:00Z in winter) to 17:00 Pacific (01:00Z).
    ['a business day', '2026-11-18T05:00:00Z', '2026-11-19T05:00:00Z', 12],
    ['a weekend', '2026-11-21T03:03:00Z', '2026-11-23T13:00:00Z', 0],
    ['Saturday evening to Monday 08:00 in Chicago', '2026-11-22T03:03:00Z', '2026-11-23T14:00Z', 1],
    ['Thanksgiving', '2026-11-26T05:00:00Z', '2026-11-27T05:00:00Z', 0],
    ['a part of a day', '2026-11-18T12:00:00Z', '2026-11-18T14:30:00Z', 1.5],
    ['nothing', '2026-11-18T15:00:00Z', '2026-11-18T15:00:00Z', 0],
    ['backward', '2026-11-19T15:00:00Z', '2026-11-18T15:00:00Z', 0],
    ['a fortnight with a holiday', '2026-11-16T05:00:00Z', '2026-11-30T05:00:00Z', 108],
  ])('the payer hours of %s are counted', (_, from, to, hours) => {
    expect(payerHoursBetween(at(from), at(to), NATIONAL)).toBe(hours);
  });

  test('payer hours follow the payer’s zone and day, through daylight saving', () => {
    const own = hoursOf(
      NATIONAL,
      aPayer({ hours: { opens: 9 * 60, closes: 12 * 60 }, zone: 'America/Chicago' }),
    );
    expect(payerHoursBetween(at('2027-03-12T06:00Z'), at('2027-03-16T06:00Z'), own)).toBe(6);
    expect(nextOpening(at('2027-03-12T20:00Z'), at('2027-03-20T00:00Z'), own)).toEqual({
      from: at('2027-03-15T14:00Z'),
      to: at('2027-03-15T17:00Z'),
    });
    expect(hoursOf(NATIONAL, aPayer())).toEqual(NATIONAL);
  });

  test('hours of a payer that answers around the clock count once in several zones', () => {
    const always: PayerHours = { ...NATIONAL, hours: { opens: 0, closes: 24 * 60 } };
    // Tuesday, 18:00 Eastern, to Thursday, 18:00 Eastern.
    expect(payerHoursBetween(at('2026-11-17T23:00Z'), at('2026-11-19T23:00Z'), always)).toBe(48);
    expect(iso(afterPayerHours(at('2026-11-17T23:00Z'), 48, always))).toBe(
      '2026-11-19T23:00:00.000Z',
    );
  });

  test('payer hours leave out configured holidays', () => {
    const day_after = { ...NATIONAL, holidays: new Set(['2026-11-27']) };
    expect(payerHoursBetween(at('2026-11-25T17:00Z'), at('2026-11-30T05:00Z'), day_after)).toBe(8);
  });

  test.each([
    ['2026-11-18T14:00:00Z', 4, '2026-11-18T18:00:00Z'],
    ['2026-11-20T22:00:00Z', 4, '2026-11-23T17:00:00Z'],
    ['2026-11-22T03:03:00Z', 0.5, '2026-11-23T14:30:00Z'],
  ])('after %s, %d payer hours have passed at %s', (from, count, expected) => {
    expect(iso(afterPayerHours(at(from), count, CHICAGO))).toBe(iso(at(expected)));
    expect(iso(beforePayerHours(at(expected), count, CHICAGO)) >= iso(at(from))).toBe(true);
    expect(
      payerHoursBetween(beforePayerHours(at(expected), count, CHICAGO), at(expected), CHICAGO),
    ).toBe(count);
  });

  test('counting payer hours ends even if there is no business day', () => {
    const never = { ...NATIONAL, holidays: { has: () => true } as unknown as Set<string> };
    expect(afterPayerHours(at('2026-11-18T14:00Z'), 1, never)).toBe(Number.MAX_SAFE_INTEGER);
    expect(beforePayerHours(at('2026-11-18T14:00Z'), 1, never)).toBe(0);
    expect(nextOpening(at('2026-11-18T14:00Z'), at('2026-11-20T14:00Z'), never)).toBeNull();
    expect(nextBusinessDay('2026-11-18', never.holidays)).toBe('2027-11-19');
  });
});

describe('the last time for a call', () => {
  const { policy } = facts();
  const until = (
    starts_at: string,
    rules: Partial<LeadRules> = {},
    turnaround_hours: number | null = null,
  ) => iso(callBy(at(starts_at), { hours: NATIONAL, turnaround_hours }, { ...policy, ...rules }));

  test('the last time for a call is the same-day cutoff of the business day before', () => {
    // Noon in New York; the visits are in Chicago.
    expect(until('2026-11-23T14:00Z')).toBe('2026-11-20T17:00:00.000Z');
    expect(until('2026-11-24T16:00Z')).toBe('2026-11-23T17:00:00.000Z');
    expect(until('2026-11-27T16:00Z')).toBe('2026-11-25T17:00:00.000Z');
  });

  test('without a same-day cutoff, the last time for a call is two business days before', () => {
    expect(until('2026-11-20T16:00Z', { same_day_cutoff: null })).toBe('2026-11-18T16:00:00.000Z');
    expect(until('2026-11-23T16:00Z', { same_day_cutoff: null })).toBe('2026-11-19T16:00:00.000Z');
  });

  test('the last time for a call is the learned turnaround before, in payer hours', () => {
    expect(until('2026-11-20T16:00Z', {}, 5)).toBe('2026-11-19T23:00:00.000Z');
    expect(until('2026-11-20T16:00Z', {}, 30)).toBe('2026-11-17T22:00:00.000Z');
    // The minimum lead always applies.
    expect(until('2026-11-20T19:00Z', {}, 1)).toBe('2026-11-20T15:00:00.000Z');
  });

  test('with late_visits: buy, only the minimum lead limits the last time for a call', () => {
    expect(until('2026-11-20T19:00Z', { late_visits: 'buy' }, 30)).toBe('2026-11-20T15:00:00.000Z');
  });
});

describe('the day a call is wanted by', () => {
  test.each([
    ['2026-11-24', '2026-11-20', '2026-11-23'],
    ['2026-11-23', '2026-11-20', '2026-11-20'],
    ['2026-11-23', '2026-11-21', '2026-11-23'],
    ['2026-11-22', '2026-11-21', '2026-11-23'],
    ['2026-11-27', '2026-11-26', '2026-11-27'],
  ])('the completion date of a visit on %s, on %s, is %s', (visit, today, expected) => {
    expect(desiredCompletionDate(visit, today, new Set())).toBe(expected);
  });

  test('the completion date is never past and never a holiday', () => {
    const closed = new Set(['2026-11-27', '2026-12-24']);
    for (let day = 1; day <= 28; day += 1) {
      for (let ahead = 0; ahead < 12; ahead += 1) {
        const today = `2026-12-${String(day).padStart(2, '0')}`;
        const visit = new Date(at(`${today}T00:00Z`) + ahead * 86_400_000)
          .toISOString()
          .slice(0, 10);
        const wanted = desiredCompletionDate(visit, today, closed);
        expect(wanted >= today).toBe(true);
        expect(nextBusinessDay(wanted, closed)).toBe(wanted);
      }
    }
  });
});
