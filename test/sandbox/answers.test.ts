import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bench, bench, type Loose, request } from './harness.ts';

const DENTAL = [
  'STANDARD',
  'CODE_LOOKUP_BENEFITS',
  'CODE_LOOKUP_FREQUENCIES',
  'TREATMENT_HISTORY',
  'DEDUCTIBLES_AND_MAXIMUMS',
];
const DENTAL_CODES = [
  'D0120',
  'D1110',
  'D1206',
  'D2391',
  'D2740',
  'D4341',
  'D6010',
  'D7140',
  'D8080',
  'D9999',
];
const MEDICAL = [
  'CODE_LOOKUP_BENEFITS',
  'CODE_LOOKUP_PRIOR_AUTH',
  'CODE_LOOKUP_FREQUENCIES',
  'DEDUCTIBLES_AND_MAXIMUMS',
];
const MEDICAL_CODES = ['99213', '97110', '70551', '80053', 'J1100', '27447'];

/** The final forms of inquiries with these fields, one by one. */
async function finals(
  on: Bench,
  specialty: string,
  variants: Record<string, unknown>[],
): Promise<Loose[]> {
  const ids: string[] = [];
  for (const fields of variants)
    ids.push(await on.create(specialty, { desired_completion_date: '01-08-2030', ...fields }));
  await on.advance({ days: 4 });
  const forms: Loose[] = [];
  for (const id of ids) forms.push(await on.read(specialty, id));
  return forms;
}

const members = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe('dental answers', () => {
  it.each([
    [
      ['STANDARD'],
      ['call_details', 'extra_info', 'maximums', 'plan_information', 'procedure_classes'],
    ],
    [['DEDUCTIBLES_AND_MAXIMUMS'], ['call_details', 'maximums', 'plan_information']],
    [['TREATMENT_HISTORY'], ['call_details', 'plan_information', 'treatment_history']],
    [['CODE_LOOKUP_BENEFITS'], ['call_details', 'plan_information', 'procedure_codes']],
    [['CUSTOM_SEDATION'], ['call_details', 'plan_information']],
  ])('answers to %j have only the requested parts', async (benefits_query, parts) => {
    const [form] = await finals(await bench(), 'dental', [
      { benefits_query, benefits_codes: ['0120'] },
    ]);
    expect(Object.keys(form.results).sort()).toEqual(parts);
  });

  it('dental answers are consistent', async () => {
    const variants = members(60, 'ACTIVE').map((member_id) => ({
      member_id,
      benefits_query: DENTAL,
      benefits_codes: DENTAL_CODES,
    }));
    for (const { status, results } of await finals(await bench(), 'dental', variants)) {
      expect(status).toBe('SUCCESS');
      const { maximums, procedure_classes, procedure_codes } = results;
      expect(Number(maximums.coverage_limit_remaining)).toBeLessThanOrEqual(
        Number(maximums.coverage_limit),
      );
      expect(Number(maximums.individual_deductible_used)).toBeLessThanOrEqual(
        Number(maximums.individual_deductible),
      );
      if (maximums.family_deductible !== undefined) {
        expect(Number(maximums.family_deductible)).toBeGreaterThanOrEqual(
          Number(maximums.individual_deductible),
        );
        expect(Number(maximums.family_deductible_used)).toBeGreaterThanOrEqual(
          Number(maximums.individual_deductible_used),
        );
      }
      expect(procedure_codes.map(([info]: Loose) => info.procedure_code)).toEqual(DENTAL_CODES);
      const classes = [
        'DIAGNOSTIC',
        'PREVENTIVE',
        'PREVENTIVE',
        'RESTORATIVE',
        'MAJOR_RESTORATIVE',
        'PERIODONTICS',
        'IMPLANTS',
      ];
      for (const [index, name] of classes.entries()) {
        expect(procedure_codes[index][1].coverage_percentage).toBe(
          procedure_classes[name].coverage_percentage,
        );
      }
      const visits = Object.keys(results.treatment_history).map((date) =>
        Date.parse(date.replaceAll('-', '/')),
      );
      for (const visit of visits) expect(visit).toBeLessThan(Date.parse('2030/01/07'));
    }
  });

  it('answers for one member ID agree on the plan', async () => {
    const [exam, child] = await finals(await bench(), 'dental', [
      { benefits_query: ['STANDARD'] },
      { benefits_query: ['STANDARD', 'TREATMENT_HISTORY'], dob: '05-06-2024' },
    ]);
    expect(child.results.plan_information.plan_name).toBe(exam.results.plan_information.plan_name);
    expect(child.results.procedure_classes).toEqual(exam.results.procedure_classes);
    expect(child.results.maximums.individual_deductible).toBe(
      exam.results.maximums.individual_deductible,
    );
    expect(JSON.stringify(child.results.treatment_history)).not.toContain('D1110');
  });

  it('answers of an inactive plan are short, and an empty plan covers nothing', async () => {
    const [inactive, uncovered] = await finals(await bench(), 'dental', [
      { member_id: 'INACTIVE1' },
      {
        member_id: 'NOTCOVERED1',
        benefits_query: ['CODE_LOOKUP_BENEFITS'],
        benefits_codes: DENTAL_CODES,
      },
    ]);
    expect(inactive.results).toEqual({
      call_details: expect.any(Array),
      plan_information: {
        is_active: false,
        termination_date: expect.stringMatching(/^\d\d-\d\d-\d{4}$/),
      },
    });
    for (const [, benefits] of uncovered.results.procedure_codes) {
      expect(benefits).toEqual({ is_covered: false, more_info: expect.any(String) });
    }
  });

  it('answers say that a maximum is used up or a provider is out of network', async () => {
    const [used_up, outside] = await finals(await bench(), 'dental', [
      { member_id: 'USEDUP1', benefits_query: ['STANDARD'] },
      { member_id: 'OUTOFNET1', benefits_query: ['STANDARD'] },
    ]);
    expect(Number(used_up.results.maximums.coverage_limit_remaining)).toBe(0);
    expect(outside.results.plan_information).toMatchObject({
      is_active: true,
      is_provider_in_network: false,
      out_of_network_benefits: 'None, except for emergencies.',
    });
  });

  it('answers of a silent payer lack fields instead of having null', async () => {
    const fields = { benefits_query: ['STANDARD'] };
    const [silent] = await finals(await bench(), 'dental', [{ ...fields, member_id: 'SILENT1' }]);
    expect(silent.results.plan_information.is_active).toBe(true);
    expect(Object.keys(silent.results.maximums).length).toBeLessThan(7);
    expect(JSON.stringify(silent.results)).not.toContain('null');
  });

  it('answers of WEIRD have words for amounts, a bad date, and unknown fields', async () => {
    const [weird] = await finals(await bench(), 'dental', [{ member_id: 'WEIRD1' }]);
    const { maximums, plan_information, payer_portal_note } = weird.results;
    expect(maximums).toMatchObject({
      coverage_limit: 'unlimited',
      individual_deductible: '$1,500.00',
      individual_deductible_used: 'N/A',
    });
    expect(plan_information).toMatchObject({ plan_type: 'hybrid-2', effective_date: '02-30-2024' });
    expect(payer_portal_note).toEqual(expect.any(String));
  });

  it('custom_answers has the answers to custom questions and scripts', async () => {
    const [custom, script] = await finals(await bench(), 'dental', [
      { benefits_query: ['CUSTOM_SEDATION'] },
      { benefits_query: undefined, call_script_id: 'script-1' },
    ]);
    expect(custom.results.call_details[0].custom_answers).toEqual({
      CUSTOM_SEDATION: expect.any(String),
    });
    expect(Object.keys(script.results.call_details[0].custom_answers)).toEqual([
      'SCRIPT_QUESTION_1',
      'SCRIPT_QUESTION_2',
    ]);
  });
});

describe('medical and mental health answers', () => {
  it('medical and mental health answers are consistent', async () => {
    for (const specialty of ['medical', 'mental_health']) {
      const query =
        specialty === 'medical' ? MEDICAL : ['MAXIMUMS', 'PSYCHOTHERAPY', 'CODE_LOOKUP_BENEFITS'];
      const variants = members(60, 'ACTIVE').map((member_id) => ({
        member_id,
        benefits_query: query,
        benefits_codes: MEDICAL_CODES,
      }));
      for (const { results } of await finals(await bench(), specialty, variants)) {
        const { maximums } = results;
        const amount = (name: string) => Number(maximums[name] ?? 'NaN');
        expect(amount('individual_out_of_pocket_maximum_used')).toBeLessThanOrEqual(
          amount('individual_out_of_pocket_maximum'),
        );
        expect(amount('individual_out_of_pocket_maximum_used')).toBeGreaterThanOrEqual(
          amount('individual_deductible_used'),
        );
        if ('family_out_of_pocket_maximum' in maximums) {
          expect(amount('family_out_of_pocket_maximum_used')).toBeLessThanOrEqual(
            amount('family_out_of_pocket_maximum'),
          );
          expect(amount('family_out_of_pocket_maximum_used')).toBeGreaterThanOrEqual(
            amount('family_deductible_used'),
          );
          expect(amount('family_deductible_used')).toBeLessThanOrEqual(amount('family_deductible'));
        }
        for (const [info, benefits] of results.procedure_codes) {
          expect(MEDICAL_CODES).toContain(info.procedure_code);
          expect(benefits.copay_amount ?? benefits.coinsurance_percentage).toEqual(
            expect.stringMatching(/^\d+(\.\d\d)?$/),
          );
        }
      }
    }
  });

  it('answers always have basic plan information, and authorization per code', async () => {
    const [form] = await finals(await bench(), 'medical', [
      {
        benefits_query: ['CODE_LOOKUP_PRIOR_AUTH', 'PULMONARY_REHAB_COVERAGE'],
        benefits_codes: ['70551'],
      },
    ]);
    expect(form.results.maximums).toBeUndefined();
    expect(form.results.plan_information.is_active).toBe(true);
    expect(form.results.procedure_codes[0][1]).toHaveProperty('is_prior_auth_required');
    expect(form.results.procedure_classes.PULMONARY_REHABILITATION.is_covered).toBe(true);
  });

  it('answers about claims split the billed amount, in numbers', async () => {
    const variants = members(40, 'ACTIVE').map((member_id) => ({
      member_id,
      type: 'CLAIMS_STATUS',
      benefits_query: undefined,
      benefits_codes: ['99213', '97110'],
      billed_amount: 300,
      claim_number: 'CLM1',
      claims_date_of_service: '11-05-2029',
    }));
    const seen = new Set<string>();
    for (const { results } of await finals(await bench(), 'medical', variants)) {
      seen.add(results.status);
      expect(results.call_details).toBeUndefined();
      const total = (results.code_details ?? []).reduce(
        (sum: number, code: Loose) => sum + code.amound_paid + code.patient_responsibility,
        0,
      );
      expect(total).toBeLessThanOrEqual(300);
      for (const code of results.code_details ?? []) {
        expect(code.patient_applied_to_deductible).toBeLessThanOrEqual(code.patient_responsibility);
        if (results.status === 'DENIED')
          expect(code).toMatchObject({ amound_paid: 0, claim_denial_reason: expect.any(String) });
      }
      const { date_received, date_processed } = results.timeline ?? {};
      if (date_processed !== undefined) {
        const iso = (date: string) => `${date.slice(6)}-${date.slice(0, 5)}`;
        expect(iso(date_received) <= iso(date_processed)).toBe(true);
      }
    }
    expect([...seen].sort()).toEqual(['APPROVED', 'DENIED', 'NOT_ON_FILE', 'PENDING']);
  });

  it.each([
    ['PAID-1', 'APPROVED', ['date_received', 'date_processed', 'date_paid']],
    ['APPROVED-1', 'APPROVED', ['date_received', 'date_processed']],
    ['denied-1', 'DENIED', ['date_received', 'date_processed']],
    ['PENDING-1', 'PENDING', ['date_received']],
    ['NOTONFILE-1', 'NOT_ON_FILE', []],
    ['ODDSTATUS-1', 'AWAITING_COB', ['date_received', 'date_processed']],
  ])('a claim with the number %s is %s', async (claim_number, status, days) => {
    const fields = {
      type: 'CLAIMS_STATUS',
      benefits_query: undefined,
      claims_date_of_service: '11-05-2029',
    };
    const [form] = await finals(await bench(), 'medical', [
      { ...fields, claim_number, member_id: 'ACTIVE1' },
    ]);
    expect([form.results.status, Object.keys(form.results.timeline ?? {})]).toEqual([status, days]);
  });

  it('the second call settles a claim with a number that begins with PENDING1', async () => {
    const claim = {
      type: 'CLAIMS_STATUS',
      benefits_query: undefined,
      claim_number: 'PENDING1-1',
      member_id: 'ACTIVE1',
    };
    const forms = await finals(await bench(), 'medical', [claim, claim]);
    expect(forms.map(({ results }) => results.status)).toEqual(['PENDING', 'APPROVED']);
  });
});

it.each([
  ['PRIMARY', true],
  ['SECONDARY', false],
])('for a member ID that begins with %s, the payer says %s', async (member_id, pays_first) => {
  const [form] = await finals(await bench(), 'dental', [
    { member_id, benefits_query: ['STANDARD'] },
  ]);
  expect(form.results.plan_information.is_primary_insurance).toBe(pays_first);
});

it.each([
  ['ACTIVE', []],
  ['NOTMET', ['reference_number_asked']],
])('for %s, the failed checks of a call are %j', async (member_id, not_met) => {
  const on = await bench();
  const [form] = await finals(on, 'dental', [{ member_id }]);
  const { body } = await on.call('GET', `/api/v0/verification?inquiry_id=${form.id}`);
  const items: Loose[] = body.verifications[0].verification_items;
  expect(items.filter(({ status }) => status !== 'MET').map(({ name }) => name)).toEqual(not_met);
});

it('without a prefix, a few inquiries fail, are canceled, or lack answers', async () => {
  const on = await bench();
  const items = members(1500, 'M').map((member_id) =>
    request({ member_id, desired_completion_date: '01-08-2030' }),
  );
  await on.call('POST', '/api/v0/dental/batch_inquiries', items);
  await on.advance({ days: 4 });
  const forms: Loose[] = await on.list('dental');
  const share = (test: (form: Loose) => boolean) => forms.filter(test).length / forms.length;
  expect(share(({ status }) => status === 'UNSUCCESSFUL')).toBeCloseTo(0.03, 1);
  expect(share(({ status }) => status === 'UNSUCCESSFUL')).toBeGreaterThan(0.015);
  expect(share(({ status }) => status === 'CANCELLED')).toBeGreaterThan(0.003);
  expect(share(({ status }) => status === 'CANCELLED')).toBeLessThan(0.02);
  expect(share(({ results }) => results?.plan_information?.is_active === false)).toBeGreaterThan(
    0.02,
  );
  expect(share(({ results }) => results?.plan_information?.is_active === false)).toBeLessThan(0.07);
});

it('any valid request gets a valid answer, quickly', async () => {
  const on = await bench();
  const digits = (length: number) => fc.stringMatching(new RegExp(`^\\d{${length}}$`));
  const date = (min: string, max: string) =>
    fc.date({ min: new Date(min), max: new Date(max), noInvalidDate: true }).map((day) =>
      day
        .toISOString()
        .slice(0, 10)
        .replace(/^(\d{4})-(.*)$/, '$2-$1'),
    );
  const valid = fc
    .record(
      {
        type: fc.constantFrom('BENEFITS', 'CLAIMS_STATUS'),
        desired_completion_date: date('2029-12-01', '2030-06-30'),
        patient_name: fc.string({ minLength: 1 }).map((name) => `${name}.`),
        dob: date('1920-01-01', '2029-12-31'),
        member_id: fc.string({ minLength: 1, unit: 'grapheme' }).map((id) => `M${id}`),
        tax_id: digits(9),
        benefits_query: fc.subarray(DENTAL, { minLength: 1 }),
        benefits_codes: fc.array(fc.stringMatching(/^D?\d{4}$/), { maxLength: 8 }),
        billing_npi: digits(10),
        external_id: fc.string(),
        insurance_in_network: fc.boolean(),
        claims_date_of_service: date('2028-01-01', '2030-12-31'),
      },
      {
        requiredKeys: [
          'type',
          'desired_completion_date',
          'patient_name',
          'dob',
          'member_id',
          'tax_id',
          'benefits_query',
        ],
      },
    )
    .chain((fields) =>
      fc
        .constantFrom('dental', 'medical', 'mental_health')
        .map((specialty) => ({ specialty, fields })),
    );
  await fc.assert(
    fc.asyncProperty(valid, async ({ specialty, fields }) => {
      const started = performance.now();
      const id = await on.create(specialty, fields);
      expect((await on.read(specialty, id)).status).toBe('SCHEDULED');
      await on.advance({ days: 250 });
      const form = await on.read(specialty, id);
      expect(performance.now() - started).toBeLessThan(1000);
      expect(form.request).toEqual(JSON.parse(JSON.stringify({ ...request(), ...fields })));
      expect(['SUCCESS', 'UNSUCCESSFUL', 'CANCELLED']).toContain(form.status);
      expect(form.results === null).toBe(form.status === 'CANCELLED');
      expect(form.summary).not.toBe('');
      for (const field of ['NaN', 'undefined', 'Infinity', 'Invalid'])
        expect(JSON.stringify(form.results)).not.toContain(field);
    }),
    { numRuns: 60 },
  );
});
