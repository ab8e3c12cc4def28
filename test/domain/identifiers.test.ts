import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isNpi, taxIdDigits } from '../../src/domain/identifiers.ts';

/** The nine digits with the one check digit that makes them an NPI. */
function completed(nine: string): string {
  const found = Array.from({ length: 10 }, (_, digit) => `${nine}${digit}`).filter(isNpi);
  expect(found).toHaveLength(1);
  return found[0]!;
}

const nineDigits = fc
  .array(fc.nat(9), { minLength: 9, maxLength: 9 })
  .map((digits) => digits.join(''));

describe('an NPI', () => {
  test.each(['1234567893', '1245319599', '1043300005'.slice(0, 9) + completed('104330000').at(-1)])(
    '%s is an NPI',
    (npi) => {
      expect(isNpi(npi)).toBe(true);
    },
  );

  test.each([
    '',
    '123456789',
    '12345678931',
    '1234567890',
    '123456789X',
    ' 1234567893',
    '1234567893 ',
    '１２３４５６７８９３',
  ])('"%s" is not an NPI', (text) => {
    expect(isNpi(text)).toBe(false);
  });

  test('exactly one check digit makes an NPI valid', () => {
    fc.assert(fc.property(nineDigits, (nine) => void completed(nine)));
  });

  test('an NPI with one wrong digit is not valid', () => {
    fc.assert(
      fc.property(nineDigits, fc.nat(9), fc.integer({ min: 1, max: 9 }), (nine, place, by) => {
        const digits = [...completed(nine)];
        digits[place] = String((Number(digits[place]) + by) % 10);
        expect(isNpi(digits.join(''))).toBe(false);
      }),
    );
  });

  test('an NPI with two swapped digits is not valid, except 0 and 9', () => {
    fc.assert(
      fc.property(nineDigits, fc.nat(8), (nine, place) => {
        const digits = [...completed(nine)];
        const [left = '', right = ''] = digits.slice(place, place + 2);
        fc.pre(left !== right && `${left}${right}` !== '09' && `${left}${right}` !== '90');
        digits.splice(place, 2, right, left);
        expect(isNpi(digits.join(''))).toBe(false);
      }),
    );
  });
});

describe('a tax ID', () => {
  test.each(['123456789', '12-3456789', '123-45-6789', ' 12 3456789 ', '12-345 6789'])(
    '"%s" is a tax ID of nine digits',
    (text) => {
      expect(taxIdDigits(text)).toBe('123456789');
    },
  );

  test.each(['', '12345678', '1234567890', '12345678A', '12.3456789', '000'])(
    '"%s" is not a tax ID',
    (text) => {
      expect(taxIdDigits(text)).toBeNull();
    },
  );

  test('a tax ID keeps its leading zeros', () => {
    expect(taxIdDigits('01-2345678')).toBe('012345678');
  });
});
