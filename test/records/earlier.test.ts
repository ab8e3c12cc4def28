/** Terms from an earlier call are marked as such, and used only for the very same plan. */
import { describe, expect, test } from 'vitest';
import type { EligibilityRecord } from '../../src/records/eligibility.ts';
import {
  contradict,
  isAdult,
  knownTerms,
  type OwnAnswer,
  planMark,
  sharedTerms,
  withEarlier,
} from '../../src/records/plan-terms.ts';
import { summarizeEligibility } from '../../src/records/summary.ts';
import { judge } from '../../src/records/verdict.ts';
import { recordOf } from './answers.ts';

const PLAN = {
  is_active: true,
  plan_name: 'Choice PPO 100',
  plan_type: 'PPO',
  is_calendar_year_plan: true,
  is_provider_in_network: true,
  effective_date: '01-01-2024',
};
const AMOUNTS = {
  individual_deductible: '50.00',
  individual_deductible_used: '50.00',
  coverage_limit: '1500.00',
  coverage_limit_remaining: '900.00',
};
const CROWN = { is_covered: true, coverage_percentage: 50, is_prior_auth_required: false };
const NOTHING_ON_FILE = {};
const EXTRA = { waiting_periods: 'None.' };

type Said = { plan?: object; amounts?: object; rule?: object; asked?: string[] };

/** The answer to everything, in March. */
function full({ plan, amounts, rule }: Said = {}): OwnAnswer {
  const record = recordOf(
    {
      call_details: [
        {
          representative_name: 'Sam',
          reference_number: 'R-MARCH',
          call_end_time: '2026-03-02T15:00:00Z',
        },
      ],
      plan_information: { ...PLAN, ...plan },
      maximums: { ...AMOUNTS, ...amounts },
      procedure_codes: [
        [
          { procedure_code: 'D2740', procedure_name: 'crown' },
          { ...CROWN, ...rule },
        ],
      ],
      treatment_history: NOTHING_ON_FILE,
      extra_info: EXTRA,
    },
    {
      asked: {
        benefits_query: ['STANDARD', 'CODE_LOOKUP_BENEFITS', 'TREATMENT_HISTORY'],
        benefits_codes: ['D2740'],
      },
      inquiry: { id: 'inq-march' },
    },
  );
  return { record, said_on: '2026-03-02' };
}

/** The cheap answer in September. */
function short({ plan, amounts }: Said = {}): EligibilityRecord {
  return recordOf(
    {
      call_details: [{ representative_name: 'Pat', reference_number: 'R-SEPTEMBER' }],
      plan_information: { ...PLAN, ...plan },
      maximums: { ...AMOUNTS, coverage_limit_remaining: '100.00', ...amounts },
      extra_info: EXTRA,
    },
    { asked: { benefits_query: ['STANDARD'], benefits_codes: [] } },
  );
}

const VISIT = {
  date: '2026-09-10',
  birth_date: '1980-05-05',
  procedure_codes: ['D2740'],
  fees: { D2740: '1000.00' },
};

describe('a term from an earlier call', () => {
  test('an earlier term has its own day and source, and is not an answer of this call', () => {
    const record = withEarlier(short(), [full()], []);
    expect(record.procedure_codes).toBeUndefined();
    expect(record.earlier).toMatchObject([
      {
        kind: 'code',
        name: 'D2740',
        benefits: { is_covered: true, plan_pays_percent: 50 },
        said_on: '2026-03-02',
        about: 'patient',
        inquiry_id: 'inq-march',
        representative: 'Sam',
        reference_number: 'R-MARCH',
      },
    ]);
    expect(summarizeEligibility(record).notes).toContainEqual(
      expect.stringMatching(/^Said on 03\/02\/2026, about this patient .*R-MARCH.*D2740.*50%/),
    );
  });

  test('an earlier term counts with today’s remaining amounts, and the reason dates it', () => {
    const [crown] = judge(withEarlier(short(), [full()], []), VISIT).procedures;
    // Half of $1,000 would be $500; the plan has $100 left.
    expect(crown).toMatchObject({
      standing: 'payable',
      patient_pays: { low: '900.00', high: '900.00' },
    });
    expect(crown?.reasons.map(({ code, text }) => [code, text])).toEqual([
      ['said_earlier', 'The benefit for D2740 is from the call on 03/02/2026.'],
    ]);
  });

  test('an earlier term leaves open how much of a limit is used', () => {
    const limited = full({ rule: { frequency_limitations: '1 per 60 months' } });
    const [crown] = judge(withEarlier(short(), [limited], []), VISIT).procedures;
    expect(crown?.standing).toBe('unknown');
    expect(crown?.reasons.map(({ code }) => code)).toEqual(['said_earlier', 'frequency']);
  });

  test.each([
    ['another name of the plan', { plan: { plan_name: 'Choice PPO 200' } }],
    ['another yearly maximum', { amounts: { coverage_limit: '2000.00' } }],
    ['another deductible', { amounts: { individual_deductible: '100.00' } }],
    ['another network status', { plan: { is_provider_in_network: false } }],
    ['a coverage that has begun since', { plan: { effective_date: '07-01-2026' } }],
    ['a plan year with an unknown end', { plan: { is_calendar_year_plan: false } }],
    ['a plan that is not active', { plan: { is_active: false } }],
    ['no name for the plan', { plan: { plan_name: '' } }],
  ])('an earlier term is not used with %s', (_, said) => {
    expect(withEarlier(short(said), [full()], []).earlier).toBeUndefined();
  });

  test('this call’s answer about a code replaces an earlier term', () => {
    const now = full({ rule: { coverage_percentage: 60 } }).record;
    const record = withEarlier(now, [full()], []);
    expect(record.earlier).toBeUndefined();
  });

  test('an earlier term without the plan’s share is not carried over', () => {
    const vague = full({ rule: { coverage_percentage: '' } });
    expect(withEarlier(short(), [vague], []).earlier).toBeUndefined();
  });
});

describe('terms of the same plan from another patient’s call', () => {
  test('another patient’s terms name no patient, inquiry, reference, or personal words', () => {
    const theirs = full({ rule: { more_info: 'She had her last one in 2019.' } });
    const record = withEarlier(short(), [], sharedTerms(theirs));
    expect(record.earlier).toMatchObject([
      { name: 'D2740', about: 'plan', inquiry_id: null, reference_number: null },
    ]);
    expect(JSON.stringify(record.earlier)).not.toMatch(/2019|Sam|R-MARCH|inq-march/);
  });

  test('another patient’s terms are never "not covered", which may be about the person', () => {
    expect(sharedTerms(full({ rule: { is_covered: false } }))).toEqual([]);
  });

  test('another patient’s terms are not used if the payer names another plan of the group', () => {
    const theirs = sharedTerms(full({ plan: { plan_name: 'High option' } }));
    expect(withEarlier(short(), [], theirs).earlier).toBeUndefined();
  });

  test('before the call, another patient’s terms must be in each plan of the group', () => {
    const one = sharedTerms(full());
    const other = sharedTerms(full({ plan: { plan_name: 'High option' } }));
    const filling = other.map((term) => ({ ...term, name: 'D2391' }));
    const known = (...terms: Parameters<typeof knownTerms>[1]) => [
      ...knownTerms([], terms, '').codes,
    ];
    expect(known(...one)).toEqual(['D2740']);
    expect(known(...one, ...other, ...filling)).toEqual(['D2740']);
    expect(known(...one, ...filling)).toEqual([]);
    // The payer named another plan for this patient last year.
    expect([...knownTerms([], one, 'HIGHOPTION').codes]).toEqual([]);
  });

  test.each([
    ['1980-05-05', true],
    ['2007-09-10', true],
    ['2007-09-11', false],
    [null, false],
  ])('another patient’s terms serve adults: born %s', (birth_date, expected) => {
    expect(isAdult(birth_date, '2026-09-10')).toBe(expected);
  });
});

test('two different shares for a code contradict each other; a missing one does not', () => {
  expect(contradict({ plan_pays_percent: 50 }, { plan_pays_percent: 80 })).toBe(true);
  expect(contradict({ plan_pays_percent: 50 }, { plan_pays_percent: null })).toBe(false);
});

test('earlier answers fill in what the newest leaves out about the plan', () => {
  const september = (said: Said): OwnAnswer => ({ record: short(said), said_on: '2026-09-01' });
  const known = (...own: OwnAnswer[]) => [...knownTerms(own, sharedTerms(full()), '').codes];
  expect(known(september({ plan: { plan_name: '' } }), full())).toEqual(['D2740']);
  expect(known(september({ plan: { plan_name: '' } }))).toEqual(['D2740']);
  const less = { plan: { plan_name: '' }, amounts: { coverage_limit: '1000.00' } };
  expect(known(september(less), full())).toEqual([]);
  expect(known(september({ plan: { is_calendar_year_plan: false } }), full())).toEqual([]);
});

test('the newest answer decides which plan it is', () => {
  const september: OwnAnswer = {
    record: short({ plan: { plan_name: 'New plan' } }),
    said_on: '2026-09-01',
  };
  expect(knownTerms([full()], [], '').codes.has('D2740')).toBe(true);
  expect(knownTerms([september, full()], [], '').codes.has('D2740')).toBe(false);
  expect(planMark(full().record)).not.toBe(planMark(september.record));
});
