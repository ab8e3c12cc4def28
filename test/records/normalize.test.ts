import { describe, expect, it } from 'vitest';
import type { Specialty } from '../../src/domain/specialty.ts';
import { eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { recordOf } from './answers.ts';

const usd = (amount: string) => ({ amount, currency: 'USD' });
const asked = (benefits_query: string[], benefits_codes: string[] = []) => ({
  benefits_query,
  benefits_codes,
});

const DENTAL_ANSWER = {
  call_details: [
    {
      call_end_time: '2026-11-20T15:30:00Z',
      representative_name: 'Dana',
      reference_number: 'R-77',
      call_transcript: 'Hello …',
      custom_answers: { 'Is there a rollover?': 'Yes, 250' },
    },
  ],
  plan_information: {
    is_active: true,
    plan_type: 'PPO',
    plan_name: 'Gold',
    effective_date: '01-01-2026',
    is_provider_in_network: false,
  },
  maximums: {
    individual_deductible: '50.00',
    individual_deductible_used: '12.50',
    individual_deductible_resets_each_calendar_year: true,
    coverage_limit: '1500.00',
    coverage_limit_remaining: '1200.10',
    orthodontics_coverage_limit: 'N/A',
  },
  treatment_history: {
    '06-01-2025': [{ procedure_code: '0120' }],
    '01-15-2025': [
      {
        procedure_code: 'D2740',
        tooth_numbers: [14, '15'],
        surfaces: ['M', 'O'],
        quadrant_numbers: [1],
      },
    ],
  },
  procedure_classes: {
    DIAGNOSTIC: { is_covered: true, coverage_percentage: 100 },
    IMPLANTS: { is_covered: false },
  },
  procedure_codes: [
    [
      { procedure_code: '1110', procedure_name: 'Prophylaxis' },
      {
        is_covered: true,
        coverage_percentage: 80,
        frequency_limitations: '2 per year',
        age_limit: 18,
      },
    ],
  ],
  extra_info: { missing_tooth_clause: 'none', preventative_applies_to_maximum: false },
};

const ALL_DENTAL = asked(
  ['STANDARD', 'CODE_LOOKUP_BENEFITS', 'TREATMENT_HISTORY', 'DEDUCTIBLES_AND_MAXIMUMS'],
  ['D1110', '2740'],
);

describe('the record of a dental answer', () => {
  const record = recordOf(DENTAL_ANSWER, {
    asked: ALL_DENTAL,
    inquiry: { summary: 'Active PPO.' },
  });

  it('the record of a dental answer is valid and names its source', () => {
    expect(eligibilityRecordSchema.parse(record)).toEqual(record);
    expect(record).toMatchObject({
      schema: 'eligd.eligibility/1',
      inquiry_id: '7b0f8d8e-58a4-4d2c-9f0e-4f4f3f0e9a11',
      inquiry_created_at: '2026-11-20T15:00:00.000Z',
      specialty: 'dental',
      status: 'SUCCESS',
      summary: 'Active PPO.',
      asked: ALL_DENTAL,
      verification: null,
      unparsed: [],
    });
    expect(record.calls).toEqual([
      {
        ended_at: '2026-11-20T15:30:00.000Z',
        representative: 'Dana',
        reference_number: 'R-77',
        recording_url: null,
        transcript_url: null,
        has_transcript: true,
        custom_answers: [{ question: 'Is there a rollover?', answer: 'Yes, 250' }],
      },
    ]);
    expect(JSON.stringify(record)).not.toContain('Hello');
  });

  it('the plan is in the record, with null for what the payer left out', () => {
    expect(record.plan).toMatchObject({
      answered: true,
      is_active: true,
      plan_name: 'Gold',
      effective_date: '2026-01-01',
      termination_date: null,
      is_provider_in_network: false,
      is_primary_insurance: null,
    });
    expect(record.plan).not.toHaveProperty('custom_answers');
  });

  it('the record computes the remaining amount, or the amount used', () => {
    expect(record.maximums).toEqual({
      answered: true,
      name: null,
      individual_deductible: { amount: usd('50.00'), used: usd('12.50'), remaining: usd('37.50') },
      individual_deductible_resets_each_calendar_year: true,
      coverage_limit: { amount: usd('1500.00'), used: usd('299.90'), remaining: usd('1200.10') },
      orthodontics_coverage_limit: { text: 'N/A' },
    });
  });

  it('the record has the benefits by class', () => {
    expect(
      record.procedure_classes?.classes.map(({ name, benefits }) => [
        name,
        benefits.is_covered,
        benefits.plan_pays_percent,
      ]),
    ).toEqual([
      ['DIAGNOSTIC', true, 100],
      ['IMPLANTS', false, null],
    ]);
  });

  it('the record has the benefits by code, with unanswered codes as unknown', () => {
    expect(record.completeness).toBe('partial');
    expect(record.procedure_codes).toMatchObject({
      answered: true,
      codes: [
        {
          code: 'D1110',
          said_as: '1110',
          name: 'Prophylaxis',
          asked: true,
          answered: true,
          benefits: {
            is_covered: true,
            plan_pays_percent: 80,
            frequency_limitations: '2 per year',
            age_limit: 18,
            is_downgraded: null,
          },
        },
        {
          code: 'D2740',
          name: null,
          asked: true,
          answered: false,
          benefits: { is_covered: null, plan_pays_percent: null },
        },
      ],
    });
  });

  it('the record has the treatment history by date', () => {
    expect(record.treatment_history).toEqual({
      answered: true,
      treatments: [
        {
          date: '2025-01-15',
          code: 'D2740',
          teeth: ['14', '15'],
          surfaces: ['M', 'O'],
          quadrants: ['1'],
        },
        {
          date: '2025-06-01',
          code: 'D0120',
          said_as: '0120',
          teeth: null,
          surfaces: null,
          quadrants: null,
        },
      ],
    });
  });

  it('the record says what is missing because it does not apply', () => {
    // Family amounts of an individual plan, and clauses that the plan does not have.
    expect(record.does_not_apply).toEqual([
      'maximums.family_deductible',
      'clauses.waiting_periods',
      'clauses.deductible_applies_to_preventive',
      'clauses.has_pending_claims',
    ]);
    const empty = recordOf(
      { maximums: { individual_deductible: 50, family_deductible: '' } },
      { asked: asked(['DEDUCTIBLES_AND_MAXIMUMS']) },
    );
    expect(empty.does_not_apply).toBe(undefined);
    expect(empty.maximums?.family_deductible).toEqual({
      amount: null,
      used: null,
      remaining: null,
    });
  });

  it('the record has the clauses under their own names', () => {
    expect(record.clauses).toEqual({
      answered: true,
      missing_tooth_clause: 'none',
      preventive_applies_to_maximum: false,
    });
  });
});

describe('what was not asked', () => {
  it('a value that eligd did not ask for is absent, and an unanswered one is null', () => {
    const record = recordOf({ call_details: [] }, { asked: asked(['DEDUCTIBLES_AND_MAXIMUMS']) });
    expect(record.maximums).toMatchObject({
      answered: false,
      individual_deductible: { amount: null, used: null, remaining: null },
    });
    expect(Object.keys(record)).not.toEqual(expect.arrayContaining(['procedure_codes']));
    expect(record).not.toHaveProperty('treatment_history');
    expect(record).not.toHaveProperty('clauses');
  });

  it('a value that eligd did not ask for is present if the payer gave it', () => {
    const record = recordOf({
      extra_info: { waiting_periods: '6 months' },
      maximums: { family_deductible: 100 },
    });
    expect(record.clauses).toEqual({ answered: true, waiting_periods: '6 months' });
    expect(record.maximums).toEqual({
      answered: true,
      family_deductible: { amount: usd('100.00'), used: null, remaining: null },
    });
  });

  it.each<[Specialty, string, string[]]>([
    ['dental', 'coverage_limit', ['individual_out_of_pocket_maximum']],
    [
      'medical',
      'individual_out_of_pocket_maximum',
      ['coverage_limit', 'orthodontics_coverage_limit'],
    ],
    ['mental_health', 'family_out_of_pocket_maximum', ['coverage_limit']],
  ])('maximums that do not exist in %s are absent', (specialty, there, absent) => {
    const record = recordOf(null, { specialty, asked: asked(['DEDUCTIBLES_AND_MAXIMUMS']) });
    expect(record.maximums).toHaveProperty(there);
    for (const name of absent) expect(record.maximums).not.toHaveProperty(name);
  });

  it.each([
    [
      'CODE_LOOKUP_PRIOR_AUTH',
      { is_prior_auth_required: null, prior_auth_info: null, more_info: null },
    ],
    ['CODE_LOOKUP_FREQUENCIES', { frequency_limitations: null, more_info: null }],
    [
      'CODE_LOOKUP_BENEFITS',
      {
        is_covered: null,
        copay: null,
        patient_pays_percent: null,
        is_deductible_waived: null,
        more_info: null,
      },
    ],
  ])('a medical code leaves out the benefits that %s does not ask about', (query, benefits) => {
    const record = recordOf(null, { specialty: 'medical', asked: asked([query], ['99213']) });
    expect(record.procedure_codes?.codes).toEqual([
      { code: '99213', name: null, asked: true, answered: false, benefits },
    ]);
  });

  it('codes sent with a call script or a custom query count as fully asked', () => {
    const script = recordOf(null, {
      asked: asked([], ['1110']),
      inquiry: { request: { call_script_id: 's-1' } },
    });
    const custom = recordOf(null, { asked: asked(['OUR_OWN'], ['1110']) });
    for (const record of [script, custom])
      expect(record.procedure_codes?.codes[0]).toMatchObject({
        code: 'D1110',
        benefits: { is_covered: null },
      });
    expect(script.asked.call_script_id).toBe('s-1');
  });

  it('a text that is longer than any payer speaks is kept as it is and not read', () => {
    const [long, longest] = ['x'.repeat(20_000), 'x'.repeat(20_001)];
    const record = recordOf({
      plan_information: { is_active: true, plan_name: longest, plan_type: long },
    });
    // Compared as true or false, so that a failure does not print the text.
    expect(record.plan?.plan_name).toBeNull();
    expect(record.plan?.plan_type === long).toBe(true);
    const [entry] = record.unparsed ?? [];
    expect(entry).toMatchObject({ path: 'results.plan_information.plan_name', why: 'too long' });
    expect(entry?.value === longest).toBe(true);
  });

  it('a claims inquiry leaves out all benefits', () => {
    expect(
      recordOf(null, {
        asked: asked(['STANDARD']),
        inquiry: { request: { type: 'CLAIMS_STATUS' } },
      }),
    ).not.toHaveProperty('plan');
  });
});

describe('an answer without results', () => {
  it.each(['SUCCESS', 'UNSUCCESSFUL', 'CANCELLED'])(
    'an answer without results keeps status %s and the summary, and is unknown',
    (status) => {
      const record = recordOf(null, {
        asked: ALL_DENTAL,
        inquiry: { status, summary: 'Nobody answered.' },
      });
      expect(record).toMatchObject({
        status,
        summary: 'Nobody answered.',
        completeness: 'none',
        calls: [],
        unparsed: [],
      });
      expect(record.plan).toMatchObject({ answered: false, is_active: null });
      expect(record.treatment_history).toEqual({ answered: false, treatments: [] });
      expect(record.procedure_codes?.codes.map(({ code, answered }) => [code, answered])).toEqual([
        ['D1110', false],
        ['D2740', false],
      ]);
    },
  );

  it('an answer keeps a status outside the specification, and flags it', () => {
    const record = recordOf(null, { inquiry: { status: 'Completed' } });
    expect([record.status, record.outcome]).toEqual(['Completed', 'unknown']);
    expect(record.unparsed).toEqual([
      { path: 'status', value: 'Completed', why: 'unknown status' },
    ]);
  });
});

describe('completeness', () => {
  it('a record is complete when every requested part and code has an answer', () => {
    const results = {
      plan_information: { is_active: true },
      procedure_codes: [[{ procedure_code: '1110' }, { is_covered: false }]],
    };
    expect(
      recordOf(results, { asked: asked(['CODE_LOOKUP_BENEFITS'], ['D1110']) }).completeness,
    ).toBe('complete');
    expect(
      recordOf(results, { asked: asked(['CODE_LOOKUP_BENEFITS'], ['D1110', 'D0120']) })
        .completeness,
    ).toBe('partial');
    // eligd asked about no code, so none is missing.
    expect(
      recordOf(
        { plan_information: { is_active: true } },
        { asked: asked(['CODE_LOOKUP_BENEFITS'], []) },
      ).completeness,
    ).toBe('complete');
    // An empty history is an answer; an absent one is not.
    const whole = { ...results, treatment_history: {} };
    expect(
      recordOf(whole, { asked: asked(['CODE_LOOKUP_BENEFITS', 'TREATMENT_HISTORY'], ['D1110']) })
        .completeness,
    ).toBe('complete');
    // Only the name of the amounts, or a maximum without an amount.
    const amounts = asked(['DEDUCTIBLES_AND_MAXIMUMS']);
    const plan = { plan_information: { is_active: true } };
    const of = (maximums: unknown) =>
      recordOf({ ...plan, maximums }, { asked: amounts }).completeness;
    expect(of({ name: 'In-network' })).toBe('partial');
    expect(of({ coverage_limit: '1500' })).toBe('partial');
    expect(of({ coverage_limit: '1500', coverage_limit_remaining: '200' })).toBe('complete');
    expect(of({ coverage_limit: 'unlimited', individual_deductible: '0' })).toBe('complete');
    // Covered without a share, or benefits without saying whether the plan is active.
    const no_share = [[{ procedure_code: 'D1110' }, { is_covered: true, age_limit: 18 }]];
    for (const half of [
      { ...results, procedure_codes: no_share },
      { ...results, plan_information: { plan_name: 'Choice' } },
    ])
      expect(
        recordOf(half, { asked: asked(['CODE_LOOKUP_BENEFITS'], ['D1110']) }).completeness,
      ).toBe('partial');
    expect(
      recordOf(results, { asked: asked(['CODE_LOOKUP_BENEFITS', 'TREATMENT_HISTORY'], ['D1110']) })
        .completeness,
    ).toBe('partial');
  });
});

describe('what was not understood', () => {
  it.each<[string, unknown, { path: string; value: unknown; why: string }[]]>([
    ['results that are text', 'n/a', [{ path: 'results', value: 'n/a', why: 'not an object' }]],
    [
      'a part that is text',
      { maximums: 'see booklet' },
      [{ path: 'results.maximums', value: 'see booklet', why: 'not an object' }],
    ],
    [
      'an unknown field',
      { plan_information: { network_tier: 2 } },
      [{ path: 'results.plan_information.network_tier', value: 2, why: 'unknown field' }],
    ],
    [
      'a transcript that is no text',
      { call_details: [{ call_transcript: ['Hello'] }] },
      [{ path: 'results.call_details[0].call_transcript', value: ['Hello'], why: 'not text' }],
    ],
    [
      'an impossible date',
      { plan_information: { effective_date: '02-30-2026' } },
      [
        {
          path: 'results.plan_information.effective_date',
          value: '02-30-2026',
          why: 'impossible date',
        },
      ],
    ],
    [
      'an amount in sentences',
      { maximums: { family_deductible: '300 per year' } },
      [{ path: 'results.maximums.family_deductible', value: '300 per year', why: 'not an amount' }],
    ],
    [
      'more used than there is',
      { maximums: { individual_deductible: 50, individual_deductible_used: 60 } },
      [
        {
          path: 'results.maximums.individual_deductible_used',
          value: 60,
          why: 'more than the whole',
        },
      ],
    ],
    [
      'treatments on no date',
      { treatment_history: { '13-13-2020': [{ procedure_code: 'D1110' }] } },
      [
        {
          path: 'results.treatment_history["13-13-2020"]',
          value: [{ procedure_code: 'D1110' }],
          why: 'impossible date',
        },
      ],
    ],
    [
      'an odd tooth',
      { treatment_history: { '01-02-2020': [{ tooth_numbers: [1, {}] }] } },
      [
        {
          path: 'results.treatment_history["01-02-2020"][0].tooth_numbers[1]',
          value: {},
          why: 'not text',
        },
      ],
    ],
    [
      'an object in place of a pair',
      { procedure_codes: [{ procedure_code: 'D1110', is_covered: true }] },
      [
        {
          path: 'results.procedure_codes[0]',
          value: { procedure_code: 'D1110', is_covered: true },
          why: 'not a pair',
        },
      ],
    ],
    [
      'a pair without a code',
      { procedure_codes: [[{ procedure_name: 'Crown' }, { is_covered: true }]] },
      [
        {
          path: 'results.procedure_codes[0]',
          value: [{ procedure_name: 'Crown' }, { is_covered: true }],
          why: 'no procedure code',
        },
      ],
    ],
    [
      'a pair of three',
      { procedure_codes: [[{ procedure_code: 'D1110' }, { is_covered: true }, 'see above']] },
      [{ path: 'results.procedure_codes[0][2]', value: 'see above', why: 'not a pair' }],
    ],
    [
      'a class in words',
      { procedure_classes: { 'MAJOR WORK': 'covered' } },
      [{ path: 'results.procedure_classes["MAJOR WORK"]', value: 'covered', why: 'not an object' }],
    ],
  ])('a value that eligd cannot read is under unparsed with its path: %s', (_, results, unparsed) =>
    expect(recordOf(results).unparsed).toEqual(unparsed),
  );

  it('a value without a question is null in its field', () => {
    const { procedure_classes } = recordOf({
      procedure_classes: { IMPLANTS: { is_covered: 'it depends' } },
    });
    expect(procedure_classes).toEqual({
      answered: false,
      classes: [{ name: 'IMPLANTS', answered: false, benefits: { is_covered: null } }],
    });
  });

  it('words stay words where a number belongs', () => {
    const results = {
      maximums: { coverage_limit: 'unlimited', coverage_limit_remaining: 'about 500' },
      procedure_classes: {
        X: {
          coverage_percentage: 'half',
          coinsurance_percentage: '80',
          copay_amount: '$25 or 20%',
        },
      },
    };
    const record = recordOf(results);
    expect(record.maximums?.coverage_limit).toEqual({
      amount: { text: 'unlimited' },
      used: null,
      remaining: { text: 'about 500' },
    });
    expect(record.procedure_classes?.classes[0]?.benefits).toEqual({
      plan_pays_percent: { text: 'half' },
      // By the specification the patient's share, however high; flagged all the same.
      patient_pays_percent: 80,
      copay: { text: '$25 or 20%' },
    });
    expect(record.unparsed.map(({ why }) => why)).toEqual([
      'not an amount',
      'not a percentage',
      "may be the plan's share",
      'not an amount',
    ]);
  });
});

describe('odd shapes that are understood', () => {
  it('a single call instead of a list is read, and so is another transcript name', () => {
    const { calls, unparsed } = recordOf({
      call_details: { reference_number: 'R-1', transcript: 'Hello' },
    });
    expect(calls).toMatchObject([{ reference_number: 'R-1', has_transcript: true }]);
    expect(unparsed).toEqual([]);
  });

  it('a code without benefits stays unanswered', () => {
    const { procedure_codes, unparsed } = recordOf(
      { procedure_codes: [[{ procedure_code: '1110' }]] },
      { asked: asked(['CODE_LOOKUP_BENEFITS'], ['1110']) },
    );
    expect(procedure_codes).toMatchObject({
      answered: false,
      codes: [{ code: 'D1110', asked: true, answered: false }],
    });
    expect(unparsed).toMatchObject([{ path: 'results.procedure_codes[0]', why: 'not a pair' }]);
  });

  it('two answers about a code are both kept and flagged', () => {
    const pair = (is_covered: boolean) => [{ procedure_code: 'D1110' }, { is_covered }];
    const { procedure_codes, unparsed } = recordOf({ procedure_codes: [pair(true), pair(false)] });
    expect(procedure_codes?.codes.map(({ benefits }) => benefits.is_covered)).toEqual([
      true,
      false,
    ]);
    expect(unparsed).toEqual([
      {
        path: 'results.procedure_codes[1]',
        value: pair(false),
        why: 'code answered more than once',
      },
    ]);
  });

  it('custom answers that are not text are read', () => {
    const { plan, unparsed } = recordOf({
      plan_information: { custom_answers: { a: 'x', b: 2, c: true, d: null, e: ['y'] } },
    });
    expect(plan?.custom_answers).toEqual([
      { question: 'a', answer: 'x' },
      { question: 'b', answer: '2' },
      { question: 'c', answer: 'true' },
      { question: 'd', answer: null },
      { question: 'e', answer: null },
    ]);
    expect(unparsed).toEqual([
      { path: 'results.plan_information.custom_answers.e', value: ['y'], why: 'not text' },
    ]);
  });

  it('names that an object inherits are read as plain names', () => {
    const results: unknown = JSON.parse(
      '{"procedure_classes":{"__proto__":{"is_covered":true}},' +
        '"__proto__":{"maximums":{"name":"x"}}}',
    );
    const record = recordOf(results);
    expect(record.procedure_classes?.classes).toMatchObject([
      { name: '__proto__', benefits: { is_covered: true } },
    ]);
    expect(record.unparsed).toEqual([
      { path: 'results.__proto__', value: { maximums: { name: 'x' } }, why: 'unknown field' },
    ]);
    expect(record).not.toHaveProperty('maximums');
  });
});
