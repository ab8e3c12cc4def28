/**
 * The tables of the service's specification (0.1.0), row by row: eligd sends each field of a
 * request, the record has each field of an answer, and fields without a place in it are kept. The
 * names are those of the specification.
 */
import { describe, expect, test } from 'vitest';
import type { InquiryDraft } from '../../src/domain/inquiry.ts';
import { finalOutcome } from '../../src/domain/outcome.ts';
import type { Specialty } from '../../src/domain/specialty.ts';
import { normalizeClaim } from '../../src/records/claim-normalize.ts';
import { normalizeEligibility } from '../../src/records/normalize.ts';
import { creationResult } from '../../src/service/creates.ts';
import { inquiryRequest } from '../../src/service/request.ts';
import {
  parseInquiry,
  parseValidationItems,
  subscriptionSchema,
  tokenReplySchema,
  verificationReplySchema,
  webhookMessageSchema,
} from '../../src/service/wire.ts';

type Raw = Record<string, unknown>;

function at(node: unknown, path: string): unknown {
  return path
    .split('.')
    .filter((key) => key !== '')
    .reduce<unknown>((value, key) => (value as Raw | undefined)?.[key], node);
}

const DRAFT: InquiryDraft = {
  specialty: 'medical',
  patient_name: 'Ada Example',
  dob: '1980-03-04',
  member_id: 'W1',
  group_id: 'G1',
  tax_id: '123456789',
  billing_npi: '1234567893',
  rendering_npi: '1245319599',
  insurance: 'AETNA',
  insurance_payor_id: '60054',
  insurance_in_network: true,
  is_specialist: true,
  practice_billing_address: '100 Main Street',
  diagnosis_codes: ['J02.0'],
  benefits_query: ['CODE_LOOKUP_BENEFITS', 'MY_OWN'],
  benefits_codes: ['99213'],
  call_script_id: 'script-1',
  additional_info: 'Subscriber: Bob Example.',
  desired_completion_date: '2026-11-20',
  place_of_service: '11',
  billed_amount: '180.50',
  benefits_form_name: 'form-1',
  insurance_phone_number: '800-555-0100',
};

const CLAIM: InquiryDraft = {
  ...DRAFT,
  claim: { claim_number: 'C1', date_of_service: '2026-10-01', beneficiary: 'PRIMARY' },
};

describe('Inquiry request', () => {
  test.each<[row: string, sent: unknown, draft?: InquiryDraft]>([
    ['type', 'BENEFITS'],
    ['type', 'CLAIMS_STATUS', CLAIM],
    ['desired_completion_date', '11-20-2026'],
    ['patient_name', 'Ada Example'],
    ['dob', '03-04-1980'],
    ['member_id', 'W1'],
    ['tax_id', '123456789'],
    ['group_id', 'G1'],
    ['insurance_in_network', true],
    ['billing_npi', '1234567893'],
    ['rendering_npi', '1245319599'],
    ['external_id', 'A-1'],
    ['practice_billing_address', '100 Main Street'],
    ['diagnosis_codes', ['J02.0']],
    ['claims_date_of_service', '10-01-2026', CLAIM],
    ['claim_number', 'C1', CLAIM],
    ['additional_info', 'Subscriber: Bob Example.'],
    ['call_script_id', 'script-1'],
    ['insurance', 'AETNA'],
    ['benefits_query', ['CODE_LOOKUP_BENEFITS', 'MY_OWN']],
    ['benefits_codes', ['99213']],
    ['is_specialist', true],
    ['insurance_payor_id', '60054'],
    // Additional fields in medical and mental_health requests, and in medical requests only.
    ['benefits_form_name', 'form-1'],
    ['place_of_service', '11'],
    ['billed_amount', 180.5],
    ['insurance_phone_number', '800-555-0100'],
    ['beneficiary', 'PRIMARY', CLAIM],
  ])('the request has %s', (row, sent, draft = DRAFT) => {
    expect(inquiryRequest(draft, 'A-1')[row]).toEqual(sent);
  });

  test('npi is not sent, because billing_npi and rendering_npi replace it', () => {
    expect(inquiryRequest(DRAFT, 'A-1')).not.toHaveProperty('npi');
  });

  test('claims_date_of_service, claim_number, beneficiary are only for claims', () => {
    const request = inquiryRequest(DRAFT, 'A-1');
    for (const field of ['claims_date_of_service', 'claim_number', 'beneficiary'])
      expect(request).not.toHaveProperty(field);
  });

  test('insurance_in_network is left out when the network status is unknown', () => {
    expect(inquiryRequest({ ...DRAFT, insurance_in_network: null }, 'A-1')).not.toHaveProperty(
      'insurance_in_network',
    );
  });
});

const READ_FORM = {
  id: 'i-1',
  status: 'SUCCESS',
  creation_ts: '2026-11-20T15:00:00Z',
  summary: 'All well.',
  results: { plan_information: { is_active: true } },
  request: { type: 'BENEFITS', member_id: 'W1', zz: 1 },
};

function recordOf(
  results: Raw,
  specialty: Specialty = 'dental',
  more: { read_form?: Raw; verifications?: unknown } = {},
) {
  const inquiry = parseInquiry({ ...READ_FORM, ...more.read_form, results });
  if (inquiry === null) throw new Error('The read form was not read.');
  return normalizeEligibility({
    inquiry: { ...inquiry, creation_ts: inquiry.creation_ts ?? '' },
    specialty,
    asked: { benefits_query: [], benefits_codes: [] },
    ...(more.verifications === undefined ? {} : { verifications: more.verifications }),
  });
}

describe('Inquiry (read form)', () => {
  test.each([
    ['id', 'inquiry_id', 'i-1'],
    ['status', 'status', 'SUCCESS'],
    ['creation_ts', 'inquiry_created_at', '2026-11-20T15:00:00.000Z'],
    ['summary', 'summary', 'All well.'],
    ['results', 'plan.is_active', true],
  ])('%s is in the record', (_, path, value) => {
    expect(at(recordOf(READ_FORM.results), path)).toEqual(value);
  });

  test('request is kept as received, with unknown fields', () => {
    expect(parseInquiry(READ_FORM)?.raw).toEqual(READ_FORM);
  });
});

test.each([
  ['SCHEDULED', null],
  ['IN_PROGRESS', null],
  ['SUCCESS', 'successful'],
  ['UNSUCCESSFUL', 'unsuccessful'],
  ['CANCELLED', 'cancelled'],
  ['UNKNOWN', null],
])('States: %s is known, and whether it ends an inquiry: %s', (status, final) => {
  expect(finalOutcome(status)).toBe(final);
  const record = recordOf({}, 'dental', { read_form: { status } });
  expect([record.status, record.unparsed]).toEqual([status, []]);
});

test('Authentication token: access_token and token_type are read', () => {
  const reply = { access_token: 't-1', token_type: 'bearer' };
  expect(tokenReplySchema.parse(reply)).toMatchObject(reply);
});

test('Creation response: success and inquiry_id are read', () => {
  expect(creationResult({ success: true, inquiry_id: 'i-1' })).toEqual({
    said: 'id',
    inquiry_id: 'i-1',
  });
});

const usd = (amount: string) => ({ amount, currency: 'USD' });

/** [row, the answer, its place in the record, its value there] */
type Row = [row: string, said: unknown, path: string, value: unknown];

function rowsOf(
  table: string,
  rows: Row[],
  wrap: (field: Raw) => Raw,
  specialty: Specialty = 'dental',
) {
  describe(table, () => {
    test.each(rows)('%s is in the record, and in no other place', (row, said, path, value) => {
      const record = recordOf(wrap({ [row]: said }), specialty);
      expect(at(record, path)).toEqual(value);
      expect(record.unparsed).toEqual([]);
    });
  });
}

rowsOf(
  'Results record (benefits inquiries)',
  [
    ['call_details', [{ reference_number: 'R1' }], 'calls.0.reference_number', 'R1'],
    ['plan_information', { plan_name: 'Gold' }, 'plan.plan_name', 'Gold'],
    ['maximums', { name: 'Dental' }, 'maximums.name', 'Dental'],
    [
      'treatment_history',
      { '03-04-2026': [{ procedure_code: 'D1110' }] },
      'treatment_history.treatments.0.date',
      '2026-03-04',
    ],
    [
      'procedure_classes',
      { DIAGNOSTIC: { is_covered: true } },
      'procedure_classes.classes.0.name',
      'DIAGNOSTIC',
    ],
    [
      'procedure_codes',
      [[{ procedure_code: '1110' }, { is_covered: true }]],
      'procedure_codes.codes.0.code',
      'D1110',
    ],
    ['extra_info', { waiting_periods: 'None.' }, 'clauses.waiting_periods', 'None.'],
  ],
  (field) => field,
);

rowsOf(
  'Call detail record',
  [
    ['call_end_time', '2026-11-20T16:00:00Z', 'calls.0.ended_at', '2026-11-20T16:00:00.000Z'],
    ['representative_name', 'Grace', 'calls.0.representative', 'Grace'],
    ['reference_number', 'R1', 'calls.0.reference_number', 'R1'],
    ['call_recording_url', 'https://x/1', 'calls.0.recording_url', 'https://x/1'],
    ['call_transcript_url', 'https://x/2', 'calls.0.transcript_url', 'https://x/2'],
    ['call_transcript', 'Payer: hello', 'calls.0.has_transcript', true],
    ['transcript', 'Payer: hello', 'calls.0.has_transcript', true],
    ['custom_answers', { Q: 'A' }, 'calls.0.custom_answers', [{ question: 'Q', answer: 'A' }]],
  ],
  (field) => ({ call_details: [field] }),
);

rowsOf(
  'Plan information record',
  [
    ...[
      'is_active',
      'is_calendar_year_plan',
      'is_provider_in_network',
      'is_primary_insurance',
      'is_provider_pcp',
    ].map((row): Row => [row, false, `plan.${row}`, false]),
    ...[
      'has_other_insurance',
      'is_self_funded',
      'has_out_of_state_coverage',
      'referral_required',
    ].map((row): Row => [row, true, `plan.${row}`, true]),
    ...['plan_type', 'plan_name', 'referral_info', 'out_of_network_benefits'].map(
      (row): Row => [row, 'words', `plan.${row}`, 'words'],
    ),
    ['effective_date', '01-01-2026', 'plan.effective_date', '2026-01-01'],
    ['termination_date', '12-31-2026', 'plan.termination_date', '2026-12-31'],
    ['custom_answers', { Q: 'A' }, 'plan.custom_answers', [{ question: 'Q', answer: 'A' }]],
  ],
  (field) => ({ plan_information: field }),
);

const deductibles: Row[] = [
  ['name', 'Plan', 'maximums.name', 'Plan'],
  ['individual_deductible', '50.00', 'maximums.individual_deductible.amount', usd('50.00')],
  ['individual_deductible_used', '20.00', 'maximums.individual_deductible.used', usd('20.00')],
  [
    'individual_deductible_resets_each_calendar_year',
    true,
    'maximums.individual_deductible_resets_each_calendar_year',
    true,
  ],
  ['family_deductible', 150, 'maximums.family_deductible.amount', usd('150.00')],
  ['family_deductible_used', '0', 'maximums.family_deductible.used', usd('0.00')],
];

rowsOf(
  'Maximums record (dental)',
  [
    ...deductibles,
    ['coverage_limit', '1500.00', 'maximums.coverage_limit.amount', usd('1500.00')],
    ['coverage_limit_remaining', '900.00', 'maximums.coverage_limit.remaining', usd('900.00')],
    [
      'orthodontics_coverage_limit',
      '2000.00',
      'maximums.orthodontics_coverage_limit',
      usd('2000.00'),
    ],
  ],
  (field) => ({ maximums: field }),
);

for (const specialty of ['medical', 'mental_health'] as const) {
  const limits = ['individual_out_of_pocket_maximum', 'family_out_of_pocket_maximum'];
  rowsOf(
    `Maximums record (${specialty})`,
    [
      ...deductibles,
      ...limits.flatMap((name): Row[] => [
        [name, '3000.00', `maximums.${name}.amount`, usd('3000.00')],
        [`${name}_used`, '10.00', `maximums.${name}.used`, usd('10.00')],
      ]),
    ],
    (field) => ({ maximums: field }),
    specialty,
  );
}

rowsOf(
  'Treatment history item (dental)',
  [
    ['procedure_code', 'D2391', 'treatment_history.treatments.0.code', 'D2391'],
    ['tooth_numbers', [14, '15'], 'treatment_history.treatments.0.teeth', ['14', '15']],
    ['surfaces', ['M', 'O'], 'treatment_history.treatments.0.surfaces', ['M', 'O']],
    ['quadrant_numbers', [1], 'treatment_history.treatments.0.quadrants', ['1']],
  ],
  (field) => ({ treatment_history: { '03-04-2026': [field] } }),
);

rowsOf(
  'Procedure code info',
  [
    ['procedure_code', '2391', 'procedure_codes.codes.0.code', 'D2391'],
    ['procedure_name', 'filling', 'procedure_codes.codes.0.name', 'filling'],
  ],
  (field) => ({ procedure_codes: [[{ procedure_code: 'D2391', ...field }, {}]] }),
);

/** [row, the answer, its name in the record, its value there] */
const benefits: [string, unknown, string, unknown][] = [
  ['is_covered', false, 'is_covered', false],
  ['is_prior_auth_required', true, 'is_prior_auth_required', true],
  ['prior_auth_info', 'By fax.', 'prior_auth_info', 'By fax.'],
  ['coverage_percentage', 80, 'plan_pays_percent', 80],
  ['frequency_limitations', '2 per year', 'frequency_limitations', '2 per year'],
  ['more_info', 'More.', 'more_info', 'More.'],
  ['age_limit', 18, 'age_limit', 18],
  ['is_downgraded', true, 'is_downgraded', true],
  ['downgraded_info', 'To metal.', 'downgraded_info', 'To metal.'],
  ['is_deductible_waived', true, 'is_deductible_waived', true],
  ['copay_amount', '25.00', 'copay', usd('25.00')],
  ['coinsurance_percentage', '20', 'patient_pays_percent', 20],
  ['limitations', 'In person.', 'limitations', 'In person.'],
];

rowsOf(
  'Benefits object (of a code)',
  benefits.map(
    ([row, said, name, value]): Row => [
      row,
      said,
      `procedure_codes.codes.0.benefits.${name}`,
      value,
    ],
  ),
  (field) => ({ procedure_codes: [[{ procedure_code: '90834' }, field]] }),
  'mental_health',
);

rowsOf(
  'Benefits object (of a class)',
  benefits.map(
    ([row, said, name, value]): Row => [
      row,
      said,
      `procedure_classes.classes.0.benefits.${name}`,
      value,
    ],
  ),
  (field) => ({ procedure_classes: { PHYSICAL_THERAPY: field } }),
  'medical',
);

rowsOf(
  'Extra dental info',
  [
    ['waiting_periods', 'None.', 'clauses.waiting_periods', 'None.'],
    ['deductible_applies_to_preventive', false, 'clauses.deductible_applies_to_preventive', false],
    ['preventative_applies_to_maximum', true, 'clauses.preventive_applies_to_maximum', true],
    ['missing_tooth_clause', 'No clause.', 'clauses.missing_tooth_clause', 'No clause.'],
    ['has_pending_claims', true, 'clauses.has_pending_claims', true],
  ],
  (field) => ({ extra_info: field }),
);

describe('Results record (claims-status inquiries)', () => {
  const code = (field: Raw) => ({ code_details: [{ procedure_code: '99213', ...field }] });
  test.each<[row: string, results: Raw, path: string, value: unknown]>([
    ['status', { status: 'APPROVED' }, 'said_status', 'APPROVED'],
    ['status (normalized)', { status: 'DENIED' }, 'status', 'denied'],
    ['number', { number: 'C9' }, 'number', 'C9'],
    [
      'timeline: date_received',
      { timeline: { date_received: '10-05-2026' } },
      'received_on',
      '2026-10-05',
    ],
    [
      'timeline: date_processed',
      { timeline: { date_processed: '10-12-2026' } },
      'processed_on',
      '2026-10-12',
    ],
    ['timeline: date_paid', { timeline: { date_paid: '10-15-2026' } }, 'paid_on', '2026-10-15'],
    [
      'unprocessed_claim_info: date_processed_up_to',
      { unprocessed_claim_info: { date_processed_up_to: '10-20-2026' } },
      'processed_up_to',
      '2026-10-20',
    ],
    [
      'unprocessed_claim_info: turnaround_time',
      { unprocessed_claim_info: { turnaround_time: '30 days' } },
      'turnaround',
      '30 days',
    ],
    ['code_details: procedure_code', code({}), 'codes.0.code', '99213'],
    ['code_details: amound_paid', code({ amound_paid: 80.5 }), 'codes.0.paid', usd('80.50')],
    [
      'code_details: patient_responsibility',
      code({ patient_responsibility: 20 }),
      'codes.0.patient_responsibility',
      usd('20.00'),
    ],
    [
      'code_details: patient_applied_to_deductible',
      code({ patient_applied_to_deductible: 0 }),
      'codes.0.applied_to_deductible',
      usd('0.00'),
    ],
    [
      'code_details: adjustment_details',
      code({ adjustment_details: 'Contract.' }),
      'codes.0.adjustment',
      'Contract.',
    ],
    [
      'code_details: claim_denial_reason',
      code({ claim_denial_reason: 'Late.' }),
      'codes.0.denial_reason',
      'Late.',
    ],
    [
      'code_details: appeal_or_correction_info',
      code({ appeal_or_correction_info: 'By mail.' }),
      'codes.0.appeal_info',
      'By mail.',
    ],
  ])('%s is in the record', (_, results, path, value) => {
    const { claim, unparsed } = normalizeClaim({
      inquiry: { ...READ_FORM, results },
      specialty: 'medical',
      asked: {
        claim_number: 'C1',
        date_of_service: '2026-10-01',
        procedure_codes: [],
        billed_amount: '',
      },
    });
    expect(at(claim, path)).toEqual(value);
    expect(unparsed).toEqual([]);
  });

  test('call_details is in the record, as in that of benefits', () => {
    const { calls, unparsed } = normalizeClaim({
      inquiry: { ...READ_FORM, results: { call_details: [{ reference_number: 'R1' }] } },
      specialty: 'medical',
      asked: {
        claim_number: 'C1',
        date_of_service: '2026-10-01',
        procedure_codes: [],
        billed_amount: '',
      },
    });
    expect([calls[0]?.reference_number, unparsed]).toEqual(['R1', []]);
  });
});

const ITEM = {
  name: 'n',
  description: 'd',
  status: 'MET',
  evidence: 'e',
  reasoning: 'r',
  validation: { ok: true },
};
const VERIFICATION = {
  id: 'v-1',
  inquiry_id: 'i-1',
  call_log_id: 'call-1',
  verification_items: [ITEM],
  creation_ts: '2026-11-20T16:00:00Z',
};

describe('Transcript verification record', () => {
  const reply = verificationReplySchema.parse({
    success: true,
    count: 1,
    verifications: [VERIFICATION],
  });
  const record = recordOf({}, 'dental', { verifications: reply.verifications });

  test.each([
    ['call_log_id', 'call_log_id', 'call-1'],
    ['creation_ts', 'checked_at', '2026-11-20T16:00:00.000Z'],
    ['verification_items: name', 'name', 'n'],
    ['verification_items: description', 'description', 'd'],
    ['verification_items: status', 'status', 'MET'],
    ['verification_items: evidence', 'evidence', 'e'],
    ['verification_items: reasoning', 'reasoning', 'r'],
    ['verification_items: validation', 'validation', { ok: true }],
  ])('%s is in the record', (_, path, value) => {
    expect(at(record.verification?.checks[0], path)).toEqual(value);
  });

  test("id and inquiry_id are kept as received; the record has the inquiry's own ID", () => {
    expect(reply.verifications).toEqual([VERIFICATION]);
    expect([record.inquiry_id, record.unparsed]).toEqual(['i-1', []]);
  });
});

test('Transcript verifications: success, count and verifications are read', () => {
  const reply = { success: true, count: 1, verifications: [VERIFICATION] };
  expect(verificationReplySchema.parse(reply)).toEqual(reply);
});

test('Carrier: an unmapped dental payer is asked about as UNKNOWN, any other by its name', () => {
  expect(
    inquiryRequest({ ...DRAFT, specialty: 'dental', insurance: 'UNKNOWN' }, 'A-1').insurance,
  ).toBe('UNKNOWN');
  expect(inquiryRequest({ ...DRAFT, insurance: 'Aetna of Ohio' }, 'A-1').insurance).toBe(
    'Aetna of Ohio',
  );
});

test('Subscription: callback_url and update_frequency_min are read, and other fields kept', () => {
  const subscription = {
    callback_url: 'https://clinic.example/hook',
    update_frequency_min: 5,
    id: 's-1',
  };
  expect(subscriptionSchema.parse(subscription)).toEqual(subscription);
});

test('Events: subscription_id, inquiries and message_hash are read', () => {
  const message = { subscription_id: 's-1', inquiries: [READ_FORM], message_hash: 'h-1' };
  expect(webhookMessageSchema.parse(message)).toEqual(message);
});

test('Validation error: loc, msg and type are read', () => {
  const detail = [{ loc: ['body', 0, 'dob'], msg: 'Field required', type: 'missing' }];
  expect(parseValidationItems({ detail })).toEqual(detail);
});

test.each([
  [
    'dental',
    [
      'STANDARD',
      'CODE_LOOKUP_BENEFITS',
      'CODE_LOOKUP_FREQUENCIES',
      'TREATMENT_HISTORY',
      'DEDUCTIBLES_AND_MAXIMUMS',
      'UNKNOWN',
    ],
  ],
  [
    'medical',
    [
      ...[
        'CODE_LOOKUP_BENEFITS',
        'CODE_LOOKUP_PRIOR_AUTH',
        'CODE_LOOKUP_FREQUENCIES',
        'DEDUCTIBLES_AND_MAXIMUMS',
      ],
      'PULMONARY_REHAB_COVERAGE',
    ],
  ],
  [
    'mental_health',
    ['PSYCHOTHERAPY', 'OFFICE_VISIT_NEW_PATIENT', 'PLAN_INFO', 'MAXIMUMS', 'CODE_LOOKUP_BENEFITS'],
  ],
] as const)(
  'Allowed values of benefits_query: those of %s are sent as they are',
  (specialty, benefits_query) => {
    const request = inquiryRequest(
      { ...DRAFT, specialty, benefits_query: [...benefits_query] },
      'A-1',
    );
    expect(request.benefits_query).toEqual(benefits_query);
  },
);
