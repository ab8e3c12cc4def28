import { describe, expect, it } from 'vitest';
import { bench, request } from './harness.ts';

const WRONG: [string, Record<string, unknown>, (string | number)[]][] = [
  ['no type', { type: undefined }, ['type']],
  ['an unknown type', { type: 'QUOTE' }, ['type']],
  ['no desired completion date', { desired_completion_date: null }, ['desired_completion_date']],
  ['an ISO date', { desired_completion_date: '2030-01-10' }, ['desired_completion_date']],
  ['no name', { patient_name: undefined }, ['patient_name']],
  ['an empty name', { patient_name: ' ' }, ['patient_name']],
  ['a name that is no text', { patient_name: 7 }, ['patient_name']],
  ['no birth date', { dob: undefined }, ['dob']],
  ['a day that does not exist', { dob: '02-30-1980' }, ['dob']],
  ['a birth date in the future', { dob: '03-04-2031' }, ['dob']],
  ['no member id', { member_id: undefined }, ['member_id']],
  ['a member id that begins with REJECT', { member_id: 'REJECT1' }, ['member_id']],
  ['no tax id', { tax_id: undefined }, ['tax_id']],
  ['a tax id of eight digits', { tax_id: '12345678' }, ['tax_id']],
  ['a tax id with a hyphen', { tax_id: '12-3456789' }, ['tax_id']],
  ['an NPI of nine digits', { npi: '123456789' }, ['npi']],
  ['an empty billing NPI', { billing_npi: '' }, ['billing_npi']],
  ['letters in the rendering NPI', { rendering_npi: 'ABCDEFGHIJ' }, ['rendering_npi']],
  ['a text for a flag', { is_specialist: 'yes' }, ['is_specialist']],
  ['a number for the network', { insurance_in_network: 1 }, ['insurance_in_network']],
  ['a carrier in words', { insurance: 'Delta Dental' }, ['insurance']],
  ['an unknown question', { benefits_query: ['STANDARD', 'EVERYTHING'] }, ['benefits_query', 1]],
  ['a question that is no list', { benefits_query: 'STANDARD' }, ['benefits_query']],
  ['no question and no script', { benefits_query: [] }, ['benefits_query']],
  ['a script that is not the team’s', { call_script_id: 'mine' }, ['call_script_id']],
  ['a code that is not CDT', { benefits_codes: ['D0120', '99213'] }, ['benefits_codes', 1]],
  ['a wrong date of service', { claims_date_of_service: '13-01-2029' }, ['claims_date_of_service']],
  ['diagnosis codes that are no list', { diagnosis_codes: 'K02.9' }, ['diagnosis_codes']],
];

describe('a creation', () => {
  it('a creation is refused with a 422 that names the field', async () => {
    const { call, list } = await bench();
    for (const [what, fields, loc] of WRONG) {
      const { status, body } = await call('POST', '/api/v0/dental/inquiries', request(fields));
      expect([what, status]).toEqual([what, 422]);
      expect(body.detail).toContainEqual({
        loc: ['body', ...loc],
        msg: expect.any(String),
        type: expect.any(String),
      });
    }
    expect(await list('dental')).toEqual([]);
  });

  it('a creation is refused with every problem at once', async () => {
    const { call } = await bench();
    const { body } = await call('POST', '/api/v0/dental/inquiries', {});
    const fields = body.detail.map(({ loc }: { loc: string[] }) => loc[1]);
    expect(fields).toEqual([
      'type',
      'desired_completion_date',
      'patient_name',
      'dob',
      'member_id',
      'tax_id',
    ]);
  });

  it.each(['{"type":', '', '[]', '"text"', 'null'])(
    'a creation with the body %j is refused at the body',
    async (text) => {
      const { call } = await bench();
      const { status, body } = await call('POST', '/api/v0/dental/inquiries', text, {
        'content-type': 'application/json',
      });
      expect([status, body.detail[0].loc]).toEqual([422, ['body']]);
    },
  );

  it.each([
    [
      'dental',
      {
        insurance: 'UNKNOWN',
        benefits_codes: ['0120', 'd1110'],
        benefits_query: ['CODE_LOOKUP_BENEFITS'],
      },
    ],
    [
      'dental',
      { benefits_query: ['CUSTOM_SEDATION'], insurance_in_network: '', npi: '1234567893' },
    ],
    ['dental', { benefits_query: null, call_script_id: 'script-7' }],
    ['dental', { type: 'UNKNOWN', benefits_query: undefined, group_id: null }],
    [
      'medical',
      {
        insurance: 'Blue Cross of somewhere',
        benefits_query: ['our own question'],
        billed_amount: 12.5,
      },
    ],
    [
      'medical',
      {
        type: 'CLAIMS_STATUS',
        benefits_query: undefined,
        claim_number: 'C1',
        beneficiary: 'PRIMARY',
      },
    ],
    [
      'mental_health',
      { benefits_query: ['PSYCHOTHERAPY'], place_of_service: '11', unheard_of: { a: 1 } },
    ],
  ])('a creation in %s of %j is accepted', async (specialty, fields) => {
    const { create } = await bench();
    await create(specialty, fields);
  });

  it('an error in a batch names the item by its place', async () => {
    const { call, list } = await bench();
    const items = [request(), request({ dob: 'x' }), 7];
    const { status, body } = await call('POST', '/api/v0/dental/batch_inquiries', items);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: unknown[] }) => loc)).toEqual([
      ['body', 1, 'dob'],
      ['body', 2],
    ]);
    expect(await list('dental')).toEqual([]);
  });
});

it('a list refuses paging parameters that are not numbers', async () => {
  const { call } = await bench();
  const { status, body } = await call('GET', '/api/v0/dental/inquiries?limit=many');
  expect([status, body.detail[0].loc]).toEqual([422, ['query', 'limit']]);
});
