import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalExternalId,
  lettersAndDigits,
  type MatchFields,
  matchKey,
  matchKeyOfEcho,
} from '../../src/domain/matching.ts';

const SENT: MatchFields = {
  type: 'BENEFITS',
  member_id: 'W-123 456',
  dob: '01-02-1980',
  tax_id: '123456789',
};

const id = fc
  .stringMatching(/^[A-Za-z0-9 -]{1,12}$/)
  .filter((text) => lettersAndDigits(text) !== '');
const date = fc
  .tuple(
    fc.integer({ min: 1900, max: 2030 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
  )
  .map(([year, month, day]) => ({ year: String(year), month: pad(month), day: pad(day) }));
const taxId = fc.array(fc.nat(9), { minLength: 9, maxLength: 9 }).map((digits) => digits.join(''));
const person = fc.record({ member_id: id, dob: date, tax_id: taxId });

type Person = {
  member_id: string;
  dob: { year: string; month: string; day: string };
  tax_id: string;
};

function pad(number: number): string {
  return String(number).padStart(2, '0');
}

function requestOf({ member_id, dob, tax_id }: Person): MatchFields {
  return { type: 'BENEFITS', member_id, dob: `${dob.month}-${dob.day}-${dob.year}`, tax_id };
}

/**
 * The same request as services return it: other date formats, other case, trimmed, with nulls and
 * defaults for missing values.
 */
function echoesOf({ member_id, dob, tax_id }: Person): Record<string, unknown>[] {
  const { year, month, day } = dob;
  const absent = { claim_number: null, claims_date_of_service: null, group_id: null };
  const defaults = {
    claim_number: '',
    claims_date_of_service: '',
    diagnosis_codes: [],
    is_specialist: false,
  };
  return [
    { type: 'BENEFITS', member_id, dob: `${month}-${day}-${year}`, tax_id },
    {
      type: 'benefits',
      member_id: member_id.toLowerCase(),
      dob: `${year}-${month}-${day}`,
      tax_id,
      ...absent,
    },
    {
      type: ' Benefits ',
      member_id: ` ${member_id.toUpperCase()} `,
      dob: `${month}/${day}/${year}`,
      tax_id,
      ...defaults,
    },
    {
      type: 'BENEFITS',
      member_id: member_id.replaceAll(/[ -]/g, ''),
      dob: `${year}-${month}-${day}T00:00:00Z`,
      tax_id,
    },
    {
      type: 'BENEFITS',
      member_id,
      dob: `${Number(month)}/${Number(day)}/${year}`,
      tax_id: `${tax_id.slice(0, 2)}-${tax_id.slice(2)}`,
    },
  ];
}

describe('the match key', () => {
  test('the match key is the same however a service returns the request', () => {
    fc.assert(
      fc.property(person, (one) => {
        const key = matchKey(requestOf(one));
        expect(new Set(echoesOf(one).map(matchKeyOfEcho))).toEqual(new Set([key]));
      }),
    );
  });

  test('another member ID, birth date, or tax ID makes another match key', () => {
    fc.assert(
      fc.property(person, person, (one, other) => {
        for (const field of ['member_id', 'dob', 'tax_id'] as const) {
          const changed = { ...one, [field]: other[field] };
          const canonical = (each: Person) =>
            field === 'member_id' ? lettersAndDigits(each.member_id) : JSON.stringify(each[field]);
          expect(matchKey(requestOf(one)) === matchKey(requestOf(changed))).toBe(
            canonical(one) === canonical(changed),
          );
        }
      }),
    );
  });

  test.each([
    ['type', { type: 'CLAIMS_STATUS' }],
    ['member id', { member_id: 'W-123 457' }],
    ['birth date', { dob: '01-02-1981' }],
    ['birth date, month and day swapped', { dob: '02-01-1980' }],
    ['tax id', { tax_id: '123456780' }],
    ['claim number', { claim_number: 'C1' }],
    ['service date', { claims_date_of_service: '2026-11-01' }],
  ])('another %s makes another match key', (_, change) => {
    expect(matchKey({ ...SENT, ...change })).not.toBe(matchKey(SENT));
  });

  test('the match key keeps fields apart', () => {
    expect(matchKey({ ...SENT, claim_number: '1' })).not.toBe(
      matchKey({ ...SENT, tax_id: '1234567891' }),
    );
  });

  test('the match key accepts numbers instead of texts', () => {
    const echo = { type: 'BENEFITS', member_id: 123_456, dob: '01-02-1980', tax_id: 123_456_789 };
    expect(matchKeyOfEcho(echo)).toBe(matchKey({ ...SENT, member_id: '123456' }));
  });

  test.each([
    {},
    { type: null, member_id: 'W', dob: '01-02-1980', tax_id: '123456789' },
    { type: 'BENEFITS', member_id: null, dob: '01-02-1980', tax_id: '123456789' },
    { type: 'BENEFITS', member_id: 'W', dob: 19_800_102, tax_id: '123456789' },
    { type: 'BENEFITS', member_id: 'W', dob: '01-02-1980', tax_id: ['123456789'] },
  ])('a reply without the deciding fields has no match key: %o', (echo) => {
    expect(matchKeyOfEcho(echo)).toBeNull();
  });
});

describe('an external ID', () => {
  test('external IDs are compared trimmed and without case', () => {
    expect(canonicalExternalId(' a-1 ')).toBe(canonicalExternalId('A-1'));
    expect(canonicalExternalId('A-1')).not.toBe(canonicalExternalId('A1'));
    expect(canonicalExternalId(17)).toBe('17');
    for (const none of [null, undefined, {}, ['A-1']]) expect(canonicalExternalId(none)).toBe('');
  });
});
