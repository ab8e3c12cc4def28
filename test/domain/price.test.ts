import { describe, expect, test } from 'vitest';
import {
  chargeOf,
  dollars,
  NO_PRICES,
  type PayerPrices,
  type PriceRules,
  priceAt,
  priceList,
} from '../../src/domain/price.ts';

const NOON_UTC = Date.parse('2026-11-23T18:00:00Z');
const TIME_ZONE = 'America/Chicago';

const RULES: PriceRules = {
  usual: {
    per_inquiry_cents: 1250,
    per_code_cents: 50,
    urgent_factor: 2,
    free_outcomes: ['unsuccessful'],
  },
  specialties: { dental: {}, medical: { per_inquiry_cents: 2000 }, mental_health: {} },
};

const call = (over: object = {}) => ({
  specialty: 'dental' as const,
  insurance: 'CIGNA',
  insurance_payor_id: '62308',
  benefits_codes: ['D0120', 'D1110'],
  desired_completion_date: '2026-11-25',
  ...over,
});

const price = (over: object = {}, rules = RULES, payers: PayerPrices[] = []) =>
  priceAt(
    priceList(rules, () => payers),
    call(over),
    { at: NOON_UTC, time_zone: TIME_ZONE },
  );

describe('the price of a call', () => {
  test('a call costs the inquiry plus its codes, and more on the same day', () => {
    expect(price()).toEqual({ price_cents: 1350, free_outcomes: 'unsuccessful' });
    expect(price({ benefits_codes: [] }).price_cents).toBe(1250);
    expect(price({ desired_completion_date: '2026-11-23' }).price_cents).toBe(2700);
    expect(price({ desired_completion_date: '2026-11-24' }).price_cents).toBe(1350);
    expect(price({ specialty: 'medical' }).price_cents).toBe(2100);
  });

  test('a call about a claim costs no codes, because they identify the claim', () => {
    const claim = { claim_number: 'ICN-1', date_of_service: '2026-10-01', beneficiary: '' };
    expect(price({ claim }).price_cents).toBe(1250);
  });

  test('the price depends on the clinic’s day', () => {
    const late = Date.parse('2026-11-24T04:00:00Z'); // 10 p.m. on November 23 in Chicago
    const list = priceList(RULES, () => []);
    const at = { at: late, time_zone: TIME_ZONE };
    expect(priceAt(list, call({ desired_completion_date: '2026-11-24' }), at).price_cents).toBe(
      1350,
    );
  });

  test('an unset price is unknown, not 0', () => {
    expect(price({}, NO_PRICES).price_cents).toBeNull();
    const codes_only = { ...NO_PRICES, usual: { ...NO_PRICES.usual, per_code_cents: 50 } };
    expect(price({}, codes_only).price_cents).toBeNull();
  });

  test('a price is in whole cents', () => {
    const rules = { ...RULES, usual: { ...RULES.usual, urgent_factor: 1.15 } };
    // 13.50 x 1.15 = 15.525
    expect(price({ desired_completion_date: '2026-11-23' }, rules).price_cents).toBe(1553);
  });

  test.each([
    ['payer ID', { pms_name: 'X', pms_id: '', carrier: '', payor_id: '62308' }],
    ['identifier', { pms_name: 'X', pms_id: '', carrier: 'CIGNA', payor_id: '' }],
    ['name as text', { pms_name: 'Cigna', pms_id: '', carrier: '', payor_id: '' }],
  ])('the payer’s own price is found by its %s', (_, names) => {
    const payers = [{ ...names, prices: { per_inquiry_cents: 1000, urgent_factor: 1 } }];
    expect(price({}, RULES, payers).price_cents).toBe(1100);
    expect(price({ desired_completion_date: '2026-11-23' }, RULES, payers).price_cents).toBe(1100);
    expect(
      price({ insurance: 'AETNA', insurance_payor_id: '60054' }, RULES, payers).price_cents,
    ).toBe(1350);
  });
});

describe('what is charged', () => {
  const stored = { price_cents: 1350, free_outcomes: 'unsuccessful,cancelled' };
  test.each([
    ['SUCCESS', 1350],
    ['UNSUCCESSFUL', 0],
    ['Cancelled', 0],
    ['INPROGRESS', null],
    [null, null],
  ])('after %s, the charge is %s', (status, cents) => {
    expect(chargeOf(stored, status)).toBe(cents);
  });

  test('an unknown price stays unknown, but a free outcome costs nothing', () => {
    expect(chargeOf({ ...stored, price_cents: null }, 'SUCCESS')).toBeNull();
    expect(chargeOf({ ...stored, price_cents: null }, 'UNSUCCESSFUL')).toBe(0);
    expect(chargeOf({ price_cents: 1350, free_outcomes: '' }, 'UNSUCCESSFUL')).toBe(1350);
  });
});

test('amounts read as dollars', () => {
  expect([0, 5, 1250, 123456789].map(dollars)).toEqual([
    '$0.00',
    '$0.05',
    '$12.50',
    '$1,234,567.89',
  ]);
  expect(dollars(null)).toBe('unknown');
});
