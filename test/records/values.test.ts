import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  comparableCode,
  readAge,
  readAmount,
  readCoinsurance,
  readCopay,
  readDate,
  readPercent,
  readText,
  readTimestamp,
  readYesNo,
  subtractMoney,
} from '../../src/records/values.ts';

const silent = { is: 'silent' };
const read = (value: unknown) => ({ is: 'read', value });
const usd = (amount: string) => read({ amount, currency: 'USD' });
const words = (text: string) => read({ text });
const doubtful = (text: string, why: string) => ({ is: 'doubtful', value: { text }, why });
const unreadable = (why: string) => ({ is: 'unreadable', why });

const SILENT_VALUES = [undefined, null, '', '  \t'];
const READERS = {
  readAge,
  readAmount,
  readCoinsurance,
  readDate,
  readPercent,
  readText,
  readTimestamp,
  readYesNo,
};

describe.each(Object.entries(READERS))('%s', (_, reader) => {
  it.each(SILENT_VALUES)('%j reads as nothing said', (raw) => expect(reader(raw)).toEqual(silent));

  it('any JSON gives a reading', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (raw) => {
        expect(['silent', 'read', 'doubtful', 'unreadable']).toContain(reader(raw).is);
      }),
      { numRuns: 100 },
    );
  });
});

describe('an amount', () => {
  it.each([
    [1500, usd('1500.00')],
    [0, usd('0.00')],
    [-0, usd('0.00')],
    [0.1, usd('0.10')],
    [1234.56, usd('1234.56')],
    [0.125, usd('0.125')],
    ['1500', usd('1500.00')],
    ['1500.5', usd('1500.50')],
    ['1500.500', usd('1500.50')],
    ['0012.30', usd('12.30')],
    ['.5', usd('0.50')],
    ['$1,500.00', usd('1500.00')],
    ['$ 1,500', usd('1500.00')],
    [' 1,234,567.89 ', usd('1234567.89')],
    ['1500 USD', usd('1500.00')],
    ['USD 1500', usd('1500.00')],
    ['99999999999999999999.99', usd('99999999999999999999.99')],
    ['unlimited', words('unlimited')],
    ['N/A', words('N/A')],
    ['No maximum', words('No maximum')],
    ['none', words('none')],
    ['1.500,00', doubtful('1.500,00', 'not an amount')],
    ['1,50', doubtful('1,50', 'not an amount')],
    ['$1,500 per year', doubtful('$1,500 per year', 'not an amount')],
    ['1e3', doubtful('1e3', 'not an amount')],
    ['-5', doubtful('-5', 'not an amount')],
    ['($5.00)', doubtful('($5.00)', 'not an amount')],
    ['50%', doubtful('50%', 'not an amount')],
    ['€20', doubtful('€20', 'not an amount')],
    ['1000-1500', doubtful('1000-1500', 'not an amount')],
    [-5, unreadable('negative amount')],
    [1e21, unreadable('not an amount')],
    [1e-7, unreadable('not an amount')],
    [0.1 + 0.2, unreadable('not an amount')],
    [true, unreadable('not an amount')],
    [[1500], unreadable('not an amount')],
    [{ amount: 1500 }, unreadable('not an amount')],
  ])('%j reads as %j', (raw, reading) => expect(readAmount(raw)).toEqual(reading));

  it('an amount keeps its cents, as a number and as text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999n }), (cents) => {
        const amount = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
        expect(readAmount(amount)).toEqual(usd(amount));
        expect(readAmount(Number(amount))).toEqual(usd(amount));
      }),
      { numRuns: 200 },
    );
  });
});

describe('a difference of amounts', () => {
  const money = (amount: string) => ({ amount, currency: 'USD' });

  it.each([
    ['1500.00', '250.00', '1250.00'],
    ['0.30', '0.10', '0.20'],
    ['0.30', '0.125', '0.175'],
    ['50.00', '50.00', '0.00'],
    ['99999999999999999999.99', '0.99', '99999999999999999999.00'],
  ])('%s less %s is %s', (whole, part, rest) =>
    expect(subtractMoney(money(whole), money(part))).toEqual(money(rest)),
  );

  it('a difference is exact to the cent', () => {
    const amountOf = (cents: bigint) =>
      money(`${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 25n }),
        fc.bigInt({ min: 0n, max: 10n ** 25n }),
        (part, rest) => {
          expect(subtractMoney(amountOf(part + rest), amountOf(part))).toEqual(amountOf(rest));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('a difference is unknown when either side is words or unknown', () => {
    expect(subtractMoney(money('5.00'), null)).toBeNull();
    expect(subtractMoney(null, money('5.00'))).toBeNull();
    expect(subtractMoney({ text: 'unlimited' }, money('5.00'))).toBeNull();
    expect(subtractMoney(money('5.00'), { text: 'none' })).toBeNull();
  });

  it('there is no difference when the part is more than the whole', () => {
    expect(subtractMoney(money('5.00'), money('5.01'))).toBe('overdrawn');
  });
});

describe('a copay', () => {
  it.each([
    ['$25', usd('25.00')],
    [25, usd('25.00')],
    ['$25 copay', usd('25.00')],
    ['25.00 per visit', usd('25.00')],
    ['copay $1,025.50/session', usd('1025.50')],
    ['$25 then 20%', doubtful('$25 then 20%', 'not an amount')],
    ['25 or 50', doubtful('25 or 50', 'not an amount')],
    ['none', words('none')],
    [{}, unreadable('not an amount')],
  ])('%j reads as %j', (raw, reading) => expect(readCopay(raw)).toEqual(reading));
});

describe('a percentage', () => {
  it.each([
    [80, read(80)],
    [0, read(0)],
    [100, read(100)],
    ['80', read(80)],
    ['80%', read(80)],
    ['12.5 %', read(12.5)],
    ['80.00', read(80)],
    ['1%', read(1)],
    [0.8, doubtful('0.8', 'may be a fraction')],
    ['0.8', doubtful('0.8', 'may be a fraction')],
    [1, doubtful('1', 'may be a fraction')],
    [101, doubtful('101', 'not a percentage')],
    [-5, doubtful('-5', 'not a percentage')],
    ['80% after deductible', doubtful('80% after deductible', 'not a percentage')],
    ['80/20', doubtful('80/20', 'not a percentage')],
    ['N/A', words('N/A')],
    [true, unreadable('not a percentage')],
    [[80], unreadable('not a percentage')],
  ])('%j reads as %j', (raw, reading) => expect(readPercent(raw)).toEqual(reading));

  it.each([
    ['20', read({ patient: 20 })],
    ['0', read({ patient: 0 })],
    [50, read({ patient: 50 })],
    ['80', { is: 'doubtful', value: { patient: 80 }, why: "may be the plan's share" }],
    [100, { is: 'doubtful', value: { patient: 100 }, why: "may be the plan's share" }],
    ['80/20', { is: 'doubtful', value: { patient: { text: '80/20' } }, why: 'not a percentage' }],
    ['N/A', read({ patient: { text: 'N/A' } })],
    ['plan pays 80%', read({ plan: 80, patient: 20 })],
    ['80% paid by the plan', read({ plan: 80, patient: 20 })],
    ['The insurance covers 66.7 percent.', read({ plan: 66.7, patient: 33.3 })],
    ['Patient responsibility is 20%', read({ plan: 80, patient: 20 })],
    ['20% patient responsibility', read({ plan: 80, patient: 20 })],
    ['member pays 60%', read({ plan: 40, patient: 60 })],
    [
      'plan pays 120%',
      { is: 'doubtful', value: { patient: { text: 'plan pays 120%' } }, why: 'not a percentage' },
    ],
    ['', { is: 'silent' }],
    [true, unreadable('not a percentage')],
  ])('of coinsurance, %j reads as %j', (raw, reading) =>
    expect(readCoinsurance(raw)).toEqual(reading),
  );
});

describe('an age', () => {
  it.each([
    [18, read(18)],
    ['18', read(18)],
    ['No age limit', words('No age limit')],
    [0, doubtful('0', 'not an age')],
    [18.5, doubtful('18.5', 'not an age')],
    [999, doubtful('999', 'not an age')],
    ['up to 18', doubtful('up to 18', 'not an age')],
    [false, unreadable('not an age')],
  ])('%j reads as %j', (raw, reading) => expect(readAge(raw)).toEqual(reading));
});

describe('a yes or no', () => {
  it.each([
    ...[true, 'true', 'TRUE', 'Yes', 'y', ' Y '].map((raw) => [raw, read(true)] as const),
    ...[false, 'false', 'No', 'N', 'n'].map((raw) => [raw, read(false)] as const),
    ...['N/A', 'none', 'unknown', 'maybe', 0, 1, [], {}].map(
      (raw) => [raw, unreadable('not yes or no')] as const,
    ),
  ])('%j reads as %j', (raw, reading) => expect(readYesNo(raw)).toEqual(reading));
});

describe('a date', () => {
  it.each([
    ['01-31-2026', read('2026-01-31')],
    ['2026-01-31', read('2026-01-31')],
    ['01/31/2026', read('2026-01-31')],
    ['1/5/2026', read('2026-01-05')],
    [' 12-31-9999 ', read('9999-12-31')],
    ['02-29-2024', read('2024-02-29')],
    ['02-29-2026', unreadable('impossible date')],
    ['31-01-2026', unreadable('impossible date')],
    ['00-00-0000', unreadable('impossible date')],
    ['0001-01-01', unreadable('impossible date')],
    ['01-31/2026', unreadable('not a date')],
    ['01-31-26', unreadable('not a date')],
    ['Jan 31, 2026', unreadable('not a date')],
    ['2026-01-31T00:00:00Z', unreadable('not a date')],
    ['N/A', unreadable('not a date')],
    [20260131, unreadable('not a date')],
  ])('%j reads as %j', (raw, reading) => expect(readDate(raw)).toEqual(reading));
});

describe('a timestamp', () => {
  it.each([
    ['2026-11-20T15:30:00Z', read('2026-11-20T15:30:00.000Z')],
    ['2026-11-20T15:30:00.5Z', read('2026-11-20T15:30:00.500Z')],
    ['2026-11-20T23:30:00-06:00', read('2026-11-21T05:30:00.000Z')],
    ['2026-11-20T15:30:00+0530', read('2026-11-20T10:00:00.000Z')],
    ['2026-11-20T15:30:00.123456', read('2026-11-20T15:30:00.123Z')],
    ['2026-11-20 15:30:00', read('2026-11-20T15:30:00.000Z')],
    ['2026-11-20T15:30Z', read('2026-11-20T15:30:00.000Z')],
    ['2026-02-30T15:30:00Z', unreadable('impossible timestamp')],
    ['2026-11-20T25:30:00Z', unreadable('impossible timestamp')],
    ['9999-12-31T23:59:59-10:00', unreadable('impossible timestamp')],
    ['2026-11-20', unreadable('not a timestamp')],
    ['yesterday', unreadable('not a timestamp')],
    [1763652600, unreadable('not a timestamp')],
  ])('%j reads as %j', (raw, reading) => expect(readTimestamp(raw)).toEqual(reading));
});

describe('a procedure code', () => {
  it.each([
    ['1110', true, 'D1110'],
    ['d1110', true, 'D1110'],
    [' D1110 ', true, 'D1110'],
    ['99213', true, '99213'],
    ['1110', false, '1110'],
    ['g0001', false, 'G0001'],
  ])('%j (dental: %j) is compared as %s', (said, isDental, code) =>
    expect(comparableCode(said, isDental)).toBe(code),
  );
});
