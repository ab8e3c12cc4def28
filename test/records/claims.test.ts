import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NormalizeClaimInput, normalizeClaim } from '../../src/records/claim-normalize.ts';
import { claimJsonSchema, claimStatusRecordSchema } from '../../src/records/claim-status.ts';
import { claimStatusOf, isFinalWord } from '../../src/records/claim-verdict.ts';
import { summarizeClaim } from '../../src/records/summary.ts';
import { inputOf } from './answers.ts';
import { differences, type Key, odd, pathsOf, replaced, textsOf } from './oddities.ts';

const ASKED = {
  claim_number: 'C-1',
  date_of_service: '2026-10-01',
  procedure_codes: ['99213', '87880'],
  billed_amount: '180.00',
};
const usd = (amount: string) => ({ amount, currency: 'USD' });

function inputWith(results: unknown, more: Partial<NormalizeClaimInput> = {}): NormalizeClaimInput {
  return { inquiry: inputOf(results).inquiry, specialty: 'medical', asked: ASKED, ...more };
}

function recordOf(results: unknown, more: Partial<NormalizeClaimInput> = {}) {
  return claimStatusRecordSchema.parse(normalizeClaim(inputWith(results, more)));
}

const whole = {
  call_details: [
    { call_end_time: '2026-11-20T16:00:00Z', representative_name: 'Grace', reference_number: 'R1' },
  ],
  status: 'APPROVED',
  number: 'CLM9',
  timeline: { date_received: '10-05-2026', date_processed: '10-12-2026', date_paid: '10-15-2026' },
  unprocessed_claim_info: { date_processed_up_to: '10-20-2026', turnaround_time: '30 days' },
  code_details: [
    {
      procedure_code: '99213',
      amound_paid: 80.5,
      patient_responsibility: '20.00',
      patient_applied_to_deductible: 0,
      adjustment_details: 'Contractual.',
      claim_denial_reason: null,
      appeal_or_correction_info: null,
    },
    {
      procedure_code: '87880',
      amound_paid: 0,
      patient_responsibility: 12,
      patient_applied_to_deductible: 12,
      claim_denial_reason: 'Not covered.',
      appeal_or_correction_info: 'In writing within 180 days.',
    },
  ],
};

describe('the answer about a claim', () => {
  it('a claim’s answer becomes a record with every field', () => {
    const record = recordOf(whole);
    expect(record.claim).toEqual({
      answered: true,
      status: 'partly_paid',
      said_status: 'APPROVED',
      number: 'CLM9',
      received_on: '2026-10-05',
      processed_on: '2026-10-12',
      paid_on: '2026-10-15',
      processed_up_to: '2026-10-20',
      turnaround: '30 days',
      codes: [
        {
          code: '99213',
          asked: true,
          answered: true,
          paid: usd('80.50'),
          patient_responsibility: usd('20.00'),
          applied_to_deductible: usd('0.00'),
          adjustment: 'Contractual.',
          denial_reason: null,
          appeal_info: null,
        },
        {
          code: '87880',
          asked: true,
          answered: true,
          paid: usd('0.00'),
          patient_responsibility: usd('12.00'),
          applied_to_deductible: usd('12.00'),
          adjustment: null,
          denial_reason: 'Not covered.',
          appeal_info: 'In writing within 180 days.',
        },
      ],
    });
    expect(record.calls[0]?.reference_number).toBe('R1');
    expect(record.asked.billed_amount).toEqual(usd('180.00'));
    expect([record.completeness, record.unparsed]).toEqual(['complete', []]);
  });

  it.each([
    [175, '175.00'],
    [0, '180.00'],
    ['175', '180.00'],
  ])('a call that the service says asked about %j was about %s', (billed_amount, said) => {
    const { inquiry } = inputOf(whole);
    const request = { ...inquiry.request, billed_amount };
    const record = recordOf(whole, { inquiry: { ...inquiry, request } });
    expect(record.asked.billed_amount).toEqual(usd(said));
  });

  it.each([
    [-120, '-120.00'],
    ['-120.5', '-120.50'],
    ['-$1,200', '-1200.00'],
    ['$-12.00', '-12.00'],
    ['(45.10)', '-45.10'],
    ['($45.10)', '-45.10'],
    ['-0', '0.00'],
  ])('%s, which the payer takes back, reads as an amount', (amound_paid, amount) => {
    const code_details = [{ procedure_code: 'D1110', amound_paid }];
    const record = recordOf({ status: 'PAID', code_details });
    expect(record.claim.codes[0]?.paid).toEqual({ amount, currency: 'USD' });
    expect(summarizeClaim(record).codes[0]?.line).toContain(`paid ${amount}`);
  });

  it('a claim’s record has flat texts for a front desk', () => {
    const summary = summarizeClaim(recordOf(whole));
    expect(summary).toMatchObject({
      // One of its two codes is denied.
      claim_status: 'partly_paid',
      said_status: 'APPROVED',
      paid_on: '2026-10-15',
      claim_number: 'CLM9',
    });
    expect(summary.codes[1]).toEqual({
      code: '87880',
      line:
        'paid 0.00; patient owes 12.00; of it deductible 12.00; denied "Not covered."; appeal ' +
        '"In writing within 180 days."',
    });
  });

  it.each([
    ['APPROVED', false, 'approved'],
    ['APPROVED', true, 'paid'],
    ['Paid in full', false, 'paid'],
    ['PARTIALLY_PAID', false, 'partly_paid'],
    ['DENIED', false, 'denied'],
    ['Denied', true, 'denied'],
    ['in process', false, 'pending'],
    ['PENDING', false, 'pending'],
    ['NOT_ON_FILE', false, 'not_on_file'],
    ['Not paid', false, 'unknown'],
    ['UNPAID', true, 'unknown'],
    ['PARTIALLY_DENIED', false, 'partly_paid'],
    ['DENIED - TIMELY FILING', false, 'denied'],
    ['Denied (duplicate)', false, 'denied'],
    ['Claim denied', false, 'denied'],
    ['The claim has been denied - timely filing', false, 'denied'],
    ['Claim was paid', false, 'paid'],
    ['CLAIM STATUS: PENDING', false, 'pending'],
    ['Claim was not paid', false, 'unknown'],
    ['Claim is not on file.', false, 'not_on_file'],
    ['Claim', false, 'unknown'],
    ['PAID - NOT RECEIVED BY PROVIDER', false, 'unknown'],
    ['Approved, not paid', false, 'unknown'],
    ['???', false, 'unknown'],
    [null, true, 'unknown'],
  ])('the status %s (payment day: %s) counts as %s', (said, has_payment_day, status) => {
    expect(claimStatusOf(said, { is_paid_on: has_payment_day, codes: [] })).toBe(status);
  });

  const code = (amount: string | null, denial_reason: string | null = null) => ({
    paid: amount === null ? null : usd(amount),
    denial_reason,
    answered: true,
  });

  it.each([
    ['PROCESSED', true, [code('80.50'), code('0.00')], 'paid'],
    ['FINALIZED', true, [code('80.50')], 'paid'],
    ['PARTIALLY PAID', true, [code('80.50')], 'partly_paid'],
    ['PROCESSED', true, [code('80.50'), code('0.00', 'Not covered.')], 'partly_paid'],
    ['PROCESSED', false, [code('0.00', 'Not covered.'), code(null, 'Duplicate.')], 'denied'],
    // Only amounts: the payer did not say that they were paid out.
    ['AWAITING_COB', false, [code('80.50')], 'unknown'],
  ] as const)(
    'by its evidence, %s (payment day: %s) with %j is %s',
    (said, is_paid_on, codes, status) => {
      expect(claimStatusOf(said, { is_paid_on, codes })).toBe(status);
    },
  );

  it('claim_words apply last', () => {
    const words = { 'Awaiting COB': 'pending', Paid: 'denied' } as const;
    const nothing = { is_paid_on: false, codes: [] };
    expect(claimStatusOf('AWAITING_COB', nothing, words)).toBe('pending');
    expect(claimStatusOf('PAID', nothing, words)).toBe('paid');
  });

  it.each([
    ['FINALIZED', true],
    ['Processed.', true],
    ['Claim finalized', true],
    ['PROCESSING', false],
    [null, false],
  ])('%s is a payer’s final word: %s', (said, is_final) => {
    expect(isFinalWord(said)).toBe(is_final);
  });

  it('an unknown status keeps its word and is listed under unparsed', () => {
    const record = recordOf({ ...whole, timeline: {}, status: 'AWAITING_COB' });
    expect([record.claim.status, record.claim.said_status, record.completeness]).toEqual([
      'unknown',
      'AWAITING_COB',
      'partial',
    ]);
    expect(record.unparsed).toEqual([
      { path: 'results.status', value: 'AWAITING_COB', why: 'unknown status' },
    ]);
  });

  it('a missing code of the claim is unanswered, never 0 (G8)', () => {
    const record = recordOf({ ...whole, code_details: [whole.code_details[0]] });
    expect(record.completeness).toBe('partial');
    expect(record.claim.codes[1]).toMatchObject({
      code: '87880',
      asked: true,
      answered: false,
      paid: null,
    });
    expect(summarizeClaim(record).codes[1]).toEqual({ code: '87880', line: 'unknown' });
  });

  it('a claim that is not on file needs no codes to be complete', () => {
    const record = recordOf({
      status: 'NOT_ON_FILE',
      unprocessed_claim_info: { date_processed_up_to: '10-20-2026', turnaround_time: null },
    });
    expect([record.claim.status, record.completeness]).toEqual(['not_on_file', 'complete']);
    expect(record.claim).not.toHaveProperty('turnaround');
  });

  it.each([[null], [{}], [[]], ['']])(
    'an empty answer (%j) becomes a record that says so',
    (results) => {
      const record = recordOf(results, {
        inquiry: { ...inputOf(results).inquiry, status: 'UNSUCCESSFUL' },
      });
      expect([record.status, record.completeness, record.claim.status]).toEqual([
        'UNSUCCESSFUL',
        'none',
        'unknown',
      ]);
    },
  );

  it('dental codes get their D back', () => {
    const record = recordOf(
      { status: 'PAID', code_details: [{ procedure_code: '1110', amound_paid: 5 }] },
      { specialty: 'dental', asked: { ...ASKED, procedure_codes: ['D1110'] } },
    );
    expect(record.claim.codes).toMatchObject([
      { code: 'D1110', said_as: '1110', asked: true, paid: usd('5.00') },
    ]);
  });
});

const PUBLISHED = new URL('../../config/schemas/claim.schema.json', import.meta.url);

describe('the schema of the claim record', () => {
  it('config/schemas has the claim record’s schema as the program has it', () => {
    expect(JSON.parse(readFileSync(PUBLISHED, 'utf8')), 'run "npm run schemas"').toEqual(
      JSON.parse(JSON.stringify(claimJsonSchema())),
    );
  });

  it('the claim record’s schema refuses an unlisted field', () => {
    expect(claimStatusRecordSchema.safeParse({ ...recordOf(whole), extra: 1 }).success).toBe(false);
  });
});

type Node = Record<string, unknown>;

function objectsOf(raw: unknown): Node[] {
  if (Array.isArray(raw)) return raw.flatMap(objectsOf);
  if (typeof raw !== 'object' || raw === null) return [];
  return [raw as Node, ...Object.values(raw).flatMap(objectsOf)];
}

const something = fc
  .jsonValue({ maxDepth: 2 })
  .filter((value) => value !== null && !(typeof value === 'string' && value.trim() === ''));
/** The place of each field of the answer in the record. */
const PLACES: Record<string, RegExp> = {
  status: /^\/claim\/(?:said_)?status$/,
  number: /^\/claim\/number$/,
  timeline: /^\/claim\/(?:received_on|processed_on|paid_on|status)$/,
  date_received: /^\/claim\/received_on$/,
  date_processed: /^\/claim\/processed_on$/,
  date_paid: /^\/claim\/(?:paid_on|status)$/,
  unprocessed_claim_info: /^\/claim\/(?:processed_up_to|turnaround)$/,
  date_processed_up_to: /^\/claim\/processed_up_to$/,
  turnaround_time: /^\/claim\/turnaround$/,
  amound_paid: /\/paid(?:\/|$)/,
  patient_responsibility: /\/patient_responsibility(?:\/|$)/,
  patient_applied_to_deductible: /\/applied_to_deductible(?:\/|$)/,
  adjustment_details: /\/adjustment$/,
  claim_denial_reason: /\/denial_reason$/,
  appeal_or_correction_info: /\/appeal_info$/,
  call_end_time: /^\/calls\/0\/ended_at$/,
  representative_name: /^\/calls\/0\/representative$/,
  reference_number: /^\/calls\/0\/reference_number$/,
};

/** For a field that identifies an element: the whole list. */
const placeOf = (path: readonly Key[]): RegExp =>
  PLACES[String(path.at(-1))] ?? (path[0] === 'call_details' ? /^\/calls\// : /^\/claim\/codes\//);

/** The element of the list, if the place is in one. */
const elementOf = ([part, index]: readonly Key[]) =>
  part === 'code_details' && index !== undefined ? `/claim/codes/${index}/` : '/';

describe('the record of any answer about a claim', () => {
  it('any JSON in the results gives a valid record with a summary', () => {
    const names = [
      'status',
      'number',
      'timeline',
      'unprocessed_claim_info',
      'code_details',
      'call_details',
      '__proto__',
    ];
    const results = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 4 })),
    );
    fc.assert(
      fc.property(results, fc.jsonValue({ maxDepth: 3 }), (any, verifications) => {
        expect(summarizeClaim(recordOf(any, { verifications })).status).toBe('SUCCESS');
      }),
      { numRuns: 300 },
    );
  });

  it('an unknown field anywhere adds only its unparsed entry', () => {
    fc.assert(
      fc.property(fc.nat(), something, (pick, value) => {
        const { unparsed: before, ...record } = recordOf(whole);
        const widened = structuredClone(whole);
        const objects = objectsOf(widened);
        objects[pick % objects.length]!.zz_new = value;
        const { unparsed: after, ...same } = recordOf(widened);
        expect(same).toEqual(record);
        expect(after.filter(({ path }) => !path.endsWith('.zz_new'))).toEqual(before);
        expect(after).toHaveLength(before.length + 1);
      }),
    );
  });

  it('an odd value changes one place of the record, which keeps it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(whole)), odd, (path, value) => {
        const record = recordOf(replaced(whole, path, value));
        const place = placeOf(path);
        const is_field = String(path.at(-1)) in PLACES;
        const isElsewhere = (one: string) =>
          // The evidence of all other fields decides the claim's status.
          one !== '/claim/status' &&
          (!place.test(one) || (is_field && !one.startsWith(elementOf(path))));
        expect(differences(recordOf(whole), record).filter(isElsewhere)).toEqual([]);
        const text = JSON.stringify(record);
        expect(
          textsOf(value).filter((said) => !text.toLowerCase().includes(said.toLowerCase())),
        ).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });
});
