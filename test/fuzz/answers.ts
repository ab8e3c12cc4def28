/**
 * Replies of the service, through the real client over a socket: nothing throws, a create is sent
 * once, a create that may have been accepted is never called unsent (G1), and every reading becomes
 * a valid record (G8).
 */
import { inquiryId } from '../../src/domain/ids.ts';
import { realClock } from '../../src/ops/env.ts';
import { normalizeClaim } from '../../src/records/claim-normalize.ts';
import { claimStatusRecordSchema } from '../../src/records/claim-status.ts';
import { eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { type NormalizeInput, normalizeEligibility } from '../../src/records/normalize.ts';
import type { Inquiry, InquiryRequest, ServiceFailure } from '../../src/service/api.ts';
import { bareService } from './bare-service.ts';
import { must, type Target } from './target.ts';

const ID = '7b0f8d8e-58a4-4d2c-9f0e-4f4f3f0e9a11';
const REQUEST: InquiryRequest = {
  type: 'BENEFITS',
  desired_completion_date: '01-06-2031',
  patient_name: 'Ann Doe',
  dob: '02-03-1980',
  member_id: 'W1',
  tax_id: '123456789',
  external_id: 'A1',
};
/** The first byte of an input chooses the status, so that the corpus has both. */
// biome-ignore format: a list of numbers
const STATUSES = [
  200, 200, 200, 200, 201, 202, 204, 301, 302, 400, 401, 402, 403, 404, 405, 407, 408, 409, 413,
  422, 422, 429, 500, 501, 502, 503, 504,
];
/**
 * Only then was a single create provably not accepted (docs/design.md "Failures are classified
 * where they happen").
 */
const UNSENT = new Set([401, 429]);
const UNSENT_BULK = new Set([...UNSENT, 404, 405, 413, 422, 501]);

/**
 * Hundreds of kilobytes in each request, on a machine under load; the square of that would take
 * minutes.
 */
const SLOW_MS = 20_000;

const results = {
  call_details: [
    {
      representative_name: 'R',
      reference_number: 'N',
      call_end_time: '2026-11-20T10:00:00Z',
      call_transcript: 't',
    },
  ],
  plan_information: {
    is_active: true,
    plan_name: 'P',
    effective_date: '01-01-2026',
    custom_answers: { q: 'a' },
  },
  maximums: {
    individual_deductible: '$1,500.00',
    coverage_limit: 1000,
    coverage_limit_remaining: 'N/A',
  },
  treatment_history: {
    '01-02-2026': [
      { procedure_code: 'D1110', tooth_numbers: [3, '4'], surfaces: ['M'], quadrant_numbers: [1] },
    ],
  },
  procedure_classes: { IMPLANTS: { is_covered: false } },
  procedure_codes: [
    [
      { procedure_code: '1110' },
      { is_covered: true, coverage_percentage: 80, frequency_limitations: '2 per year' },
    ],
  ],
  extra_info: { waiting_periods: 'none', has_pending_claims: false },
};
const inquiry = {
  id: ID,
  status: 'SUCCESS',
  creation_ts: '2026-11-20T09:00:00Z',
  summary: 's',
  results,
  request: REQUEST,
};
const claim = {
  ...inquiry,
  results: {
    status: 'APPROVED',
    number: '77',
    timeline: { date_received: '11-01-2026', date_processed: '11-02-2026', date_paid: '' },
    code_details: [
      {
        procedure_code: '99213',
        amound_paid: 10.5,
        patient_responsibility: 0,
        claim_denial_reason: null,
      },
    ],
  },
};

export async function answersTarget(): Promise<Target> {
  const env = { clock: realClock, random: Math.random, log: () => {} };
  const service = await bareService(env);
  const { client } = service;

  const checkCreates = async (status: number): Promise<string[]> => {
    service.takeCreates();
    const one = await client.create('dental', REQUEST);
    must(service.takeCreates() === 1, 'A create left more than once.');
    const words = [`create ${outcomeOf(one)}`];
    if (one.ok) must(one.value.inquiry_id.trim() !== '', 'A create gave an empty id.');
    else mustBeUnsentOnly(one.failure, status, UNSENT);
    const bulk = await client.createBulk(
      'dental',
      [REQUEST, { ...REQUEST, external_id: 'A2' }],
      'array',
    );
    must(service.takeCreates() === 1, 'A bulk left more than once.');
    if (!bulk.ok) {
      mustBeUnsentOnly(bulk.failure, status, UNSENT_BULK);
      return [...words, `bulk ${outcomeOf(bulk)}`];
    }
    must(bulk.items.length === 2, 'A bulk has another number of outcomes than items.');
    const ids = bulk.items.flatMap((item) => (item.outcome === 'created' ? [item.inquiry_id] : []));
    must(new Set(ids).size === ids.length, 'Two items of a bulk got the same id.');
    return [...words, `bulk ${bulk.items.map(({ outcome }) => outcome).join('+')}`];
  };

  const check = async (input: Buffer): Promise<string> => {
    const began = performance.now();
    const outcome = await outcomes(input);
    must(performance.now() - began < SLOW_MS, 'An answer keeps eligd busy for too long.');
    return outcome;
  };

  const outcomes = async (input: Buffer): Promise<string> => {
    const status = STATUSES[(input[0] ?? 0) % STATUSES.length] ?? 200;
    const body = status === 204 ? Buffer.alloc(0) : input.subarray(1);
    const headers: Record<string, string> =
      status === 301 || status === 302 ? { location: 'http://127.0.0.1:1/' } : {};
    service.answerWith({ status, headers, body });
    const words = [`${status}`, ...(await checkCreates(status))];
    const list = await client.list('dental', { external_id: 'A1' }, { keep: () => true });
    words.push(`list ${outcomeOf(list)}`);
    if (list.ok)
      for (const { full } of list.value.inquiries)
        if (full !== null) words.push(...normalized(full));
    const read = await client.read('dental', inquiryId(ID));
    words.push(`read ${outcomeOf(read)}`);
    if (read.ok && read.value !== null) {
      must(read.value.id === ID, 'A read gave another inquiry.');
      words.push(...normalized(read.value));
    }
    words.push(`verifications ${outcomeOf(await client.verifications(inquiryId(ID)))}`);
    words.push(`subscription ${outcomeOf(await client.getSubscription())}`);
    return [...new Set(words)].join(', ');
  };
  const text = (value: unknown) => `\0${JSON.stringify(value)}`;
  const long = (said: string) => ({
    ...inquiry,
    results: {
      ...results,
      procedure_codes: [[{ procedure_code: '1110' }, { frequency_limitations: said }]],
      maximums: { individual_deductible: said, coverage_limit: `$1.${said}` },
    },
  });
  const deep = `${'{"a":['.repeat(4_500)}${']}'.repeat(4_500)}`;
  return {
    name: 'answers',
    seeds: [
      text(inquiry),
      text(claim),
      text([
        inquiry,
        { ...inquiry, id: `${ID}2`, status: 'IN_PROGRESS', results: null, summary: '' },
      ]),
      text({ items: [inquiry], total: 1 }),
      text(long(`1 per year${'.'.repeat(600_000)}x`)),
      text(long(`${'0'.repeat(300_000)}x`)),
      text({ ...inquiry, results: 'deep' }).replace('"deep"', deep),
      text([{ ...inquiry, results: 'deep' }]).replace('"deep"', deep),
      text({ success: true, inquiry_id: ID }),
      text([
        { success: true, inquiry_id: ID },
        { success: false, detail: [] },
      ]),
      text({ success: true, inquiry_ids: [ID, `${ID}2`] }),
      text({
        success: true,
        count: 1,
        verifications: [
          { id: 'v', inquiry_id: ID, verification_items: [{ name: 'n', status: 'MET' }] },
        ],
      }),
      text({ callback_url: 'https://clinic.example/hook', update_frequency_min: 5 }),
      `\x13${JSON.stringify({ detail: [{ loc: ['body', 1, 'dob'], msg: 'm', type: 't' }] })}`,
      '\x18<html><body>Bad gateway</body></html>',
    ],
    // biome-ignore format: a list of words
    telling: [
      '{', '}', '[', ']', ',', ':', 'null', 'true', 'false', '""', '"', '-1', '1e999', '0', '"N/A"',
      '"unlimited"', '"13-45-2026"', '"__proto__"', '{"a":{}}', '[[]]', '\\u0000', '\\ud800',
      '\ufeff', '\xff', ID,
    ],
    check,
    close: service.close,
  };
}

function outcomeOf(result: { ok: true } | { ok: false; failure: ServiceFailure }): string {
  if (result.ok) return 'ok';
  const { failure } = result;
  return 'cause' in failure ? `${failure.class} ${failure.cause}` : failure.class;
}

function mustBeUnsentOnly(
  failure: ServiceFailure,
  status: number,
  provable: ReadonlySet<number>,
): void {
  if (failure.class === 'unsent')
    must(provable.has(status), `A create that was answered ${status} is called unsent.`);
}

function normalized(read: Inquiry): string[] {
  const about = { inquiry: read as NormalizeInput['inquiry'], specialty: 'dental' as const };
  const asked = { benefits_query: ['STANDARD'], benefits_codes: ['D1110'], call_script_id: null };
  const record = normalizeEligibility({ ...about, asked });
  eligibilityRecordSchema.parse(record);
  const of_claim = {
    claim_number: '77',
    date_of_service: '2026-10-01',
    procedure_codes: ['99213'],
    billed_amount: '10.00',
  };
  const claim_record = normalizeClaim({ ...about, specialty: 'medical', asked: of_claim });
  claimStatusRecordSchema.parse(claim_record);
  return [
    `${record.completeness} ${claim_record.claim.status} unparsed ` +
      `${Math.min(3, record.unparsed.length)}`,
  ];
}
