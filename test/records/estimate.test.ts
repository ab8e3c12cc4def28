import { describe, expect, it } from 'vitest';
import {
  ESTIMATE_TOPICS,
  type EstimateTopic,
  estimateText,
  estimateVisit,
} from '../../src/records/estimate.ts';
import { recordOf } from './answers.ts';

const VISIT = { date: '2026-11-23', procedure_codes: ['D1110'] };
const dentalAsked = {
  benefits_query: [
    'STANDARD',
    'TREATMENT_HISTORY',
    'CODE_LOOKUP_BENEFITS',
    'CODE_LOOKUP_FREQUENCIES',
  ],
  benefits_codes: ['D1110', 'D2740', 'D8080'],
};
const medicalAsked = {
  benefits_query: ['DEDUCTIBLES_AND_MAXIMUMS', 'CODE_LOOKUP_BENEFITS'],
  benefits_codes: ['99213'],
};

/** A dental answer with everything that an estimate of D1110 looks at. */
function dental(rule: object = {}, parts: Record<string, object> = {}) {
  return {
    plan_information: {
      is_active: true,
      effective_date: '01-01-2026',
      is_calendar_year_plan: true,
      ...parts.plan,
    },
    maximums: {
      individual_deductible: '50',
      individual_deductible_used: '20',
      coverage_limit: '1500',
      coverage_limit_remaining: '900',
      orthodontics_coverage_limit: '2000',
      ...parts.maximums,
    },
    treatment_history: { '03-02-2026': [{ procedure_code: 'D1110' }], ...parts.history },
    procedure_codes: [
      [
        { procedure_code: 'D1110' },
        {
          is_covered: true,
          coverage_percentage: 80,
          frequency_limitations: '2 per calendar year',
          is_prior_auth_required: false,
          ...rule,
        },
      ],
    ],
    extra_info: {
      waiting_periods: 'None.',
      deductible_applies_to_preventive: true,
      preventative_applies_to_maximum: true,
      ...parts.clauses,
    },
  };
}

function linesOf(results: unknown, visit = VISIT): Record<string, string> {
  const [estimate] = estimateVisit(recordOf(results, { asked: dentalAsked }), visit);
  return Object.fromEntries((estimate?.lines ?? []).map(({ topic, says }) => [topic, says]));
}

describe('the estimate of a procedure', () => {
  it('has a line for each thing a front desk needs to know', () => {
    const [estimate] = estimateVisit(recordOf(dental(), { asked: dentalAsked }), VISIT);
    expect(estimateText(estimate!)).toBe(
      'D1110: covered; plan pays 80%, patient 20%; deductible remaining 30.00; maximum ' +
        'remaining 900.00; within the frequency; no prior authorization; no waiting period',
    );
    expect(estimate!.lines.map(({ topic }) => topic)).toEqual([...ESTIMATE_TOPICS]);
    expect(estimate!.lines.every(({ is_known }) => is_known)).toBe(true);
  });

  it('names the facts that each line rests on, with the values of the record', () => {
    const record = recordOf(dental(), { asked: dentalAsked });
    const [estimate] = estimateVisit(record, VISIT);
    const facts = estimate!.lines.flatMap((line) => line.facts);
    expect(facts).toContainEqual({
      path: 'maximums.coverage_limit.remaining',
      value: { amount: '900.00', currency: 'USD' },
    });
    expect(facts).toContainEqual({
      path: 'procedure_codes.codes[0].benefits.plan_pays_percent',
      value: 80,
    });
    for (const { path, value } of facts) expect(valueAt(record, path)).toEqual(value);
  });

  it.each<[EstimateTopic, string, object]>([
    ['coverage', 'not covered: the plan is not active', dental({}, { plan: { is_active: false } })],
    [
      'coverage',
      'not covered: the plan ends on 2026-10-31',
      dental({}, { plan: { termination_date: '10-31-2026' } }),
    ],
    [
      'coverage',
      'not covered: the plan begins on 2026-12-01',
      dental({}, { plan: { effective_date: '12-01-2026' } }),
    ],
    ['coverage', 'not covered', dental({ is_covered: false })],
    ['coverage', 'coverage unknown', dental({ is_covered: null })],
    [
      'coverage',
      'covered, if the plan is active, which is unknown',
      dental({}, { plan: { is_active: null } as object }),
    ],
    ['coverage', 'covered, up to the age of 18', dental({ age_limit: 18 })],
    ['coverage', 'covered, age limit "children"', dental({ age_limit: 'children' })],
    ['share', 'share unknown', dental({ coverage_percentage: null })],
    ['share', 'plan pays 80%, patient 20%', dental({ coinsurance_percentage: '20' })],
    [
      'share',
      'share unknown (the payer said that the plan pays 80% and the patient 50%)',
      dental({ coinsurance_percentage: '50' }),
    ],
    [
      'share',
      'share unknown (the payer said "per schedule")',
      dental({ coverage_percentage: 'per schedule' }),
    ],
    [
      'share',
      'plan pays 80%, patient 20%, of a cheaper procedure (downgrade)',
      dental({ is_downgraded: true }),
    ],
    [
      'deductible',
      'deductible met',
      dental({}, { maximums: { individual_deductible_used: '50' } }),
    ],
    [
      'deductible',
      'deductible unknown',
      dental({}, { maximums: { individual_deductible_used: 'unlimited' } }),
    ],
    [
      'deductible',
      'no deductible',
      dental({}, { clauses: { deductible_applies_to_preventive: false } }),
    ],
    [
      'deductible',
      'deductible remaining 30.00, whether it applies is unknown',
      dental({}, { clauses: { deductible_applies_to_preventive: null } as object }),
    ],
    [
      'maximum',
      'maximum used up, whether this counts toward it is unknown',
      dental(
        {},
        {
          maximums: { coverage_limit_remaining: 0 },
          clauses: { preventative_applies_to_maximum: null } as object,
        },
      ),
    ],
    ['maximum', 'maximum used up', dental({}, { maximums: { coverage_limit_remaining: 0 } })],
    ['maximum', 'maximum unknown', dental({}, { maximums: { coverage_limit_remaining: 'N/A' } })],
    [
      'maximum',
      'does not count toward the maximum',
      dental({}, { clauses: { preventative_applies_to_maximum: false } }),
    ],
    [
      'maximum',
      'maximum remaining 900.00 before pending claims',
      dental({}, { clauses: { has_pending_claims: true } }),
    ],
    [
      'frequency',
      'frequency met: next eligible 2027-01-01',
      dental({}, { history: { '09-02-2026': [{ procedure_code: 'D1110' }] } }),
    ],
    [
      'frequency',
      'frequency "2 per year", whether it is met unknown',
      dental({ frequency_limitations: '2 per year' }),
    ],
    ['frequency', 'frequency used up', dental({ frequency_limitations: '1 per lifetime' })],
    ['frequency', 'frequency unknown', dental({ frequency_limitations: null })],
    ['frequency', 'no frequency limit', dental({ frequency_limitations: 'No limit' })],
    [
      'prior_authorization',
      'prior authorization required',
      dental({ is_prior_auth_required: true }),
    ],
    [
      'prior_authorization',
      'prior authorization unknown',
      dental({ is_prior_auth_required: null }),
    ],
    ['waiting_period', 'waiting period unknown', dental({}, { clauses: { waiting_periods: '' } })],
    [
      'waiting_period',
      'waiting periods "12 months for major", whether they are over unknown',
      dental({}, { clauses: { waiting_periods: '12 months for major' } }),
    ],
  ])('%s: %s', (topic, says, results) => {
    expect(linesOf(results)[topic]).toBe(says);
  });

  it('of a code that was answered twice rests on what both answers say', () => {
    const results = dental();
    const twice = [[{ procedure_code: 'D1110' }, { is_covered: true, coverage_percentage: 50 }]];
    const record = recordOf(
      { ...results, procedure_codes: [...results.procedure_codes, ...twice] },
      { asked: dentalAsked },
    );
    const [estimate] = estimateVisit(record, VISIT);
    const [coverage, share] = estimate!.lines;
    expect([coverage?.says, share?.says]).toEqual(['covered', 'share unknown']);
    const percents = share!.facts
      .filter(({ path }) => path.endsWith('plan_pays_percent'))
      .map(({ value }) => value);
    expect(percents).toEqual([80, 50]);
    for (const { path, value } of estimate!.lines.flatMap(({ facts }) => facts))
      expect(valueAt(record, path)).toEqual(value);
  });

  it('of a code that was not answered names no fact of another code', () => {
    const record = recordOf(dental(), { asked: { ...dentalAsked, benefits_codes: ['D1110'] } });
    const [estimate] = estimateVisit(record, { ...VISIT, procedure_codes: ['D2740'] });
    for (const { path, value } of estimate!.lines.flatMap(({ facts }) => facts))
      expect(valueAt(record, path)).toEqual(value);
  });

  it('ends with the coverage where the plan pays nothing', () => {
    expect(Object.keys(linesOf(dental({ is_covered: false })))).toEqual(['coverage']);
  });

  it('takes the limit for braces for their maximum, of which nobody says what is left', () => {
    const says = linesOf(dental(), { ...VISIT, procedure_codes: ['8080'] });
    expect(says.maximum).toBe('orthodontics maximum 2000.00, what is left of it unknown');
  });

  it('of a visit to a doctor has copay, coinsurance and what is left out of pocket', () => {
    const record = recordOf(
      {
        plan_information: { is_active: true },
        maximums: {
          individual_deductible: '1000',
          individual_deductible_used: '1000',
          individual_out_of_pocket_maximum: '3000',
          individual_out_of_pocket_maximum_used: '1250.50',
        },
        procedure_codes: [
          [
            { procedure_code: '99213' },
            { is_covered: true, copay_amount: '$25', coinsurance_percentage: '20' },
          ],
        ],
      },
      { specialty: 'medical', asked: medicalAsked },
    );
    expect(
      estimateVisit(record, { date: '2026-11-23', procedure_codes: ['99213'] }).map(estimateText),
    ).toEqual([
      '99213: covered; copay 25.00, plan pays 80%, patient 20%; deductible met; out of ' +
        'pocket remaining 1749.50; frequency unknown; prior authorization unknown',
    ]);
  });

  it('with a copay and no coinsurance does not say that the plan pays everything', () => {
    const rule = { is_covered: true, copay_amount: '40', coinsurance_percentage: '0' };
    const record = recordOf(
      { procedure_codes: [[{ procedure_code: '99213' }, rule]] },
      { specialty: 'medical', asked: medicalAsked },
    );
    const [estimate] = estimateVisit(record, { date: '2026-11-23', procedure_codes: ['99213'] });
    expect(estimate!.lines.find(({ topic }) => topic === 'share')?.says).toBe(
      'copay 40.00, no coinsurance',
    );
  });

  it('of a code that nobody asked about says unknown on every line, and never no', () => {
    const [estimate] = estimateVisit(recordOf(null, { asked: dentalAsked }), {
      ...VISIT,
      procedure_codes: ['D9999'],
    });
    expect(estimate!.lines).toHaveLength(ESTIMATE_TOPICS.length);
    for (const { says, is_known } of estimate!.lines) {
      expect(says).toContain('unknown');
      expect(is_known).toBe(false);
    }
  });
});

function valueAt(record: unknown, path: string): unknown {
  const value = path
    .split(/[.[\]]+/)
    .filter((key) => key !== '')
    .reduce<unknown>(
      (node, key) => (node as Record<string, unknown> | null | undefined)?.[key],
      record,
    );
  return value ?? null;
}
