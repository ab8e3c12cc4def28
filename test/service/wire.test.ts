import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parseHttpDate,
  parseRetryAfter,
  parseWireTimestamp,
  toWireDate,
} from '../../src/service/dates.ts';
import { sign, verifySignature } from '../../src/service/signature.ts';
import {
  inquiryRequestSchema,
  parseInquiry,
  webhookMessageSchema,
} from '../../src/service/wire.ts';
import { aReadForm, aRequest } from './harness.ts';

test('a date is written for the wire', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('1900-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
      (date) => {
        const iso = date.toISOString().slice(0, 10);
        expect(toWireDate(iso)).toBe(`${iso.slice(5)}-${iso.slice(0, 4)}`);
      },
    ),
    { numRuns: 50 },
  );
  expect(() => toWireDate('2026-02-30')).toThrow(RangeError);
});

test.each<[string, string | null]>([
  ['2026-11-20T12:00:00Z', '2026-11-20T12:00:00.000Z'],
  ['2026-11-20T12:00:00.123456', '2026-11-20T12:00:00.123Z'],
  ['2026-11-20T12:00:00.5-06:00', '2026-11-20T18:00:00.500Z'],
  ['2026-11-20 12:00+0130', '2026-11-20T10:30:00.000Z'],
  ['2026-11-20T25:00:00Z', null],
  ['2026-02-30T12:00:00Z', null],
  ['2026-11-20', null],
  ['', null],
])('The timestamp %j is read as %j', (text, expected) => {
  const parsed_ms = parseWireTimestamp(text);
  expect(parsed_ms === null ? null : new Date(parsed_ms).toISOString()).toBe(expected);
});

test('a status of a million characters keeps only its beginning and ends nothing', () => {
  const inquiry = parseInquiry({ id: 'i', status: 'S'.repeat(1_000_000), request: {} });
  expect(inquiry?.status).toBe('S'.repeat(200));
  expect(parseInquiry({ id: 'i', status: 'SUCCESS', request: {} })?.status).toBe('SUCCESS');
});

test('all three forms of an HTTP date are read, and nothing else', () => {
  const expected_ms = Date.UTC(1994, 10, 6, 8, 49, 37);
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ]) {
    expect(parseHttpDate(text)).toBe(expected_ms);
  }
  for (const text of ['', '120', '1994-11-06', 'Sun, 06 Nov 1994 08:49:37 CET'])
    expect(parseHttpDate(text)).toBeNull();
});

test('a Retry-After is never negative and never longer than a day', () => {
  expect(parseRetryAfter('99999999', undefined, 0)).toBe(86_400_000);
  expect(parseRetryAfter('0', undefined, 0)).toBe(0);
  expect(parseRetryAfter('-5', undefined, 0)).toBeNull();
  expect(parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', undefined, Date.UTC(2026, 0))).toBe(0);
  expect(
    parseRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', undefined, Date.UTC(1994, 10, 6, 8, 49, 30)),
  ).toBe(7000);
});

test('a signature fits exactly these bytes and one of the secrets', () => {
  const body = Buffer.from('{"message_hash":"é"}');
  const signature = sign(body, 'new');
  expect(signature).toMatch(/^[0-9a-f]{64}$/);
  expect(sign(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843', // RFC 4231, test case 2
  );
  expect(verifySignature({ body, signature, secrets: ['old', 'new'] })).toBe(true);
  expect(verifySignature({ body, signature: signature.toUpperCase(), secrets: ['new'] })).toBe(
    false,
  );
  expect(verifySignature({ body, signature, secrets: ['old'] })).toBe(false);
  expect(verifySignature({ body: Buffer.from('{}'), signature, secrets: ['new'] })).toBe(false);
  expect(verifySignature({ body, signature: undefined, secrets: ['new'] })).toBe(false);
  expect(verifySignature({ body, signature: 'zz', secrets: ['new'] })).toBe(false);
  expect(verifySignature({ body, signature: sign(body, ''), secrets: [''] })).toBe(false);
});

test('schemas keep unknown fields', () => {
  const request = { ...aRequest(), brand_new: { a: 1 }, call_script_id: null };
  expect(inquiryRequestSchema.parse(request)).toEqual(request);
  const message = {
    subscription_id: 's',
    inquiries: [aReadForm('a')],
    message_hash: 'h',
    extra: 1,
  };
  expect(webhookMessageSchema.parse(message)).toEqual(message);
});

test('the reader of read forms accepts any JSON without throwing, and keeps everything', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const inquiry = parseInquiry(value);
      if (inquiry !== null) expect(inquiry.raw).toBe(value);
    }),
    { numRuns: 200 },
  );
});
