import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeEligibility } from '../../src/records/normalize.ts';
import { dollarWords, scheduleLine } from '../../src/records/schedule-line.ts';
import { summarizeEligibility } from '../../src/records/summary.ts';
import { coverageAttention, verdictAttention } from '../../src/records/verdict/attention.ts';
import {
  deductibleLeftText,
  dollarText,
  maximumLeftText,
  verdictInOneLine,
  verdictLines,
  whatToDo,
} from '../../src/records/verdict/text.ts';
import { judge, type Verdict } from '../../src/records/verdict.ts';
import { answerTree, inputOf, materialize, recordOf, specialtyAndAsked } from './answers.ts';
import { FURTHER_CASES } from './further-cases.ts';
import {
  CASES,
  conclusion,
  differencesOf,
  judged,
  type VerdictCase,
  verdictOf,
} from './verdict-cases.ts';

describe('the cases', () => {
  const all = [...CASES, ...FURTHER_CASES];
  test.each(all.map((one) => [one.id, one.about, one] as const))('%s: %s', (_, __, one) => {
    expect(differencesOf(conclusion(verdictOf(one)), one)).toEqual([]);
  });
});

/** The first case, with parts of the answer changed; `undefined` removes a field. */
type Change = {
  plan?: object;
  maximums?: object;
  rule?: object;
  clauses?: object;
  history?: object | null;
  pairs?: unknown[];
  codes?: string[];
  fees?: Record<string, string>;
  dob?: string;
};

function changed(change: Change): VerdictCase {
  const [first] = CASES;
  const one = structuredClone(first!);
  const results = one.answer.results as Record<string, Record<string, unknown>>;
  Object.assign(results.plan_information!, change.plan);
  Object.assign(results.maximums!, change.maximums);
  Object.assign(results.extra_info!, change.clauses);
  const code = change.codes?.[0] ?? 'D1110';
  const rule = { is_covered: true, coverage_percentage: 100, is_prior_auth_required: false };
  Object.assign(results, {
    procedure_codes: change.pairs ?? [[{ procedure_code: code }, { ...rule, ...change.rule }]],
    treatment_history: change.history === undefined ? {} : change.history,
  });
  Object.assign(one.appointment, {
    codes: change.codes ?? ['D1110'],
    fees: change.fees ?? { [code]: '100.00' },
    dob: change.dob ?? '1980-04-02',
  });
  return one;
}

const cleaning = { procedure_code: '1110', tooth_numbers: [], surfaces: [], quadrant_numbers: [] };
const pair = (procedure_code: string, rule: object) => [
  { procedure_code },
  { is_covered: true, is_prior_auth_required: false, ...rule },
];

const VISIT_OF_CASES = {
  date: '2026-11-23',
  birth_date: '1980-04-02',
  procedure_codes: ['D1110'],
};

/** One procedure: its standing, reasons, and what the patient pays. */
const CHANGES: [about: string, Change, standing: string, reasons: string, pays: string][] = [
  ['ends on the day', { plan: { termination_date: '{visit}' } }, 'payable', '', '0.00 0.00'],
  ['begins on the day', { plan: { effective_date: '{visit}' } }, 'payable', '', '0.00 0.00'],
  [
    'ended a day before',
    { plan: { termination_date: '{visit-1}' } },
    'not_payable',
    'plan_ended',
    '100.00 100.00',
  ],
  [
    'the payer did not say that it is active',
    { plan: { is_active: null } },
    'unknown',
    'plan_unknown',
    '0.00 100.00',
  ],
  [
    'covered, no share',
    { rule: { coverage_percentage: undefined } },
    'unknown',
    'not_answered',
    '0.00 100.00',
  ],
  ['no coverage', { rule: { is_covered: undefined } }, 'unknown', 'not_answered', '0.00 100.00'],
  ['under 14', { rule: { age_limit: 'under 14' } }, 'not_payable', 'age_limit', '100.00 100.00'],
  ['children', { rule: { age_limit: 'children' } }, 'unknown', 'age_limit', '0.00 100.00'],
  [
    'dependents',
    { rule: { age_limit: 'dependents to age 26' } },
    'unknown',
    'age_limit',
    '0.00 100.00',
  ],
  ['no age limit', { rule: { age_limit: 'none' } }, 'payable', '', '0.00 0.00'],
  [
    'to age 19, and 19',
    { rule: { age_limit: 'to age 19' }, dob: '2007-04-02' },
    'unknown',
    'age_limit',
    '0.00 100.00',
  ],
  [
    'the day before the birthday that is one too many',
    { rule: { age_limit: 18 }, dob: '2007-11-24' },
    'payable',
    '',
    '0.00 0.00',
  ],
  [
    'the birthday that is one too many',
    { rule: { age_limit: 18 }, dob: '2007-11-23' },
    'not_payable',
    'age_limit',
    '100.00 100.00',
  ],
  ['the limit itself', { rule: { age_limit: 19 }, dob: '2007-04-02' }, 'payable', '', '0.00 0.00'],
  [
    '6 months to the day',
    { rule: { frequency_limitations: '1 per 6 months' }, history: { '05-23-2026': [cleaning] } },
    'payable',
    '',
    '0.00 0.00',
  ],
  [
    '6 months less a day',
    { rule: { frequency_limitations: '1 per 6 months' }, history: { '05-24-2026': [cleaning] } },
    'not_payable',
    'frequency',
    '100.00 100.00',
  ],
  [
    'per tooth, one on file',
    {
      rule: { frequency_limitations: '1 per tooth per 36 months' },
      history: { '05-24-2026': [cleaning] },
    },
    'unknown',
    'frequency',
    '0.00 100.00',
  ],
  [
    'another code',
    {
      rule: { frequency_limitations: '1 per 6 months' },
      history: { '05-24-2026': [{ ...cleaning, procedure_code: 'D0120' }] },
    },
    'payable',
    '',
    '0.00 0.00',
  ],
  [
    'waits, still',
    { clauses: { waiting_periods: '12 months' }, plan: { effective_date: '{visit-364}' } },
    'unknown',
    'waiting_period',
    '0.00 100.00',
  ],
  [
    'waited',
    { clauses: { waiting_periods: '12 months' }, plan: { effective_date: '{visit-365}' } },
    'payable',
    '',
    '0.00 0.00',
  ],
  [
    'waits, words',
    { clauses: { waiting_periods: 'applies to major' } },
    'unknown',
    'waiting_period',
    '0.00 100.00',
  ],
  [
    'authorization not answered',
    { rule: { is_prior_auth_required: null } },
    'unknown',
    'not_answered',
    '0.00 100.00',
  ],
  [
    'authorization',
    { rule: { is_prior_auth_required: true } },
    'needs_authorization',
    'prior_authorization',
    '0.00 100.00',
  ],
  ['downgraded', { rule: { is_downgraded: true } }, 'payable', 'downgrade', '0.00 100.00'],
  [
    'not covered twice',
    { pairs: [pair('D1110', { is_covered: false }), pair('1110', { is_covered: false })] },
    'not_payable',
    'not_covered',
    '100.00 100.00',
  ],
  [
    'covered and not',
    { pairs: [pair('D1110', { coverage_percentage: 80 }), pair('1110', { is_covered: false })] },
    'unknown',
    'conflicting',
    '0.00 100.00',
  ],
  [
    'two shares',
    {
      pairs: [
        pair('D1110', { coverage_percentage: 80 }),
        pair('1110', { coverage_percentage: 50 }),
      ],
    },
    'unknown',
    'conflicting',
    '0.00 100.00',
  ],
  [
    'the same twice',
    {
      pairs: [
        pair('D1110', { coverage_percentage: 80 }),
        pair('1110', { coverage_percentage: 80 }),
      ],
    },
    'payable',
    '',
    '20.00 20.00',
  ],
  [
    'maximum used up, exempt unknown',
    {
      maximums: { coverage_limit_remaining: '0' },
      clauses: { preventative_applies_to_maximum: undefined },
    },
    'unknown',
    'maximum_used_up',
    '0.00 100.00',
  ],
  [
    'maximum partly left',
    { maximums: { coverage_limit_remaining: '30' } },
    'payable',
    '',
    '70.00 70.00',
  ],
  [
    'maximum unlimited',
    { maximums: { coverage_limit: 'Unlimited', coverage_limit_remaining: undefined } },
    'payable',
    '',
    '0.00 0.00',
  ],
  [
    'maximum N/A',
    { maximums: { coverage_limit: 'N/A', coverage_limit_remaining: undefined } },
    'payable',
    '',
    '0.00 100.00',
  ],
  [
    'a crown, no deductible',
    {
      codes: ['D2740'],
      rule: { coverage_percentage: 50 },
      maximums: { individual_deductible: 'None', individual_deductible_used: undefined },
    },
    'payable',
    '',
    '50.00 50.00',
  ],
  [
    'a crown, N/A deductible',
    {
      codes: ['D2740'],
      rule: { coverage_percentage: 50 },
      maximums: { individual_deductible: 'N/A', individual_deductible_used: undefined },
    },
    'payable',
    '',
    '50.00 100.00',
  ],
  [
    'a crown, family nearly met',
    {
      codes: ['D2740'],
      rule: { coverage_percentage: 50 },
      maximums: { family_deductible_used: '130' },
    },
    'payable',
    '',
    '60.00 60.00',
  ],
  [
    'a crown, individual plan',
    {
      codes: ['D2740'],
      rule: { coverage_percentage: 50 },
      maximums: { family_deductible: undefined, family_deductible_used: undefined },
    },
    'payable',
    '',
    '75.00 75.00',
  ],
  [
    'an exam: the deductible is open',
    { codes: ['D0120'], rule: { coverage_percentage: 80 } },
    'payable',
    '',
    '20.00 60.00',
  ],
];

describe('answers like those of the cases', () => {
  test.each(CHANGES)('%s', (_, change, standing, reasons, pays) => {
    const [procedure] = verdictOf(changed(change)).procedures;
    expect([
      procedure?.standing,
      procedure?.reasons.map(({ code }) => code).join(' '),
      `${procedure?.patient_pays?.low} ${procedure?.patient_pays?.high}`,
    ]).toEqual([standing, reasons, pays]);
  });

  test('a maximum that two procedures share counts once, in any order', () => {
    const one = changed({
      codes: ['D2740', 'D2392'],
      pairs: [
        pair('D2740', { coverage_percentage: 50 }),
        pair('D2392', { coverage_percentage: 80 }),
      ],
      maximums: { coverage_limit_remaining: '100', individual_deductible_used: '50' },
      fees: { D2740: '1000.00', D2392: '200.00' },
    });
    const verdict = verdictOf(one);
    expect(verdict.patient_pays).toMatchObject({ low: '1100.00', high: '1100.00' });
    expect(verdict.procedures.map(({ patient_pays }) => dollarText(patient_pays))).toEqual([
      '$900.00 to $1,000.00',
      '$100.00 to $200.00',
    ]);
    expect(verdict.standing).toBe('eligible');
  });

  test.each([
    ['two, and the limit has one left', ['D1110', 'D1110'], { '01-01-2026': [cleaning] }],
    ['two, and one per visit is the limit', ['D1110', 'D1110'], {}, '1 per visit'],
  ])('a code that is scheduled twice: %s', (_, codes, history, words = '2 per year') => {
    const rule = { frequency_limitations: words };
    const verdict = verdictOf(changed({ codes, history, rule, fees: { D1110: '196.00' } }));
    const [procedure, other] = verdict.procedures;
    expect([verdict.standing, procedure?.standing, other]).toEqual([
      ...['attention', 'unknown', undefined],
    ]);
    expect(procedure?.reasons.map(({ text }) => text)).toEqual([
      `Limit "${words}": the visit has more procedures than the plan pays for.`,
    ]);
    expect(procedure?.patient_pays).toMatchObject({ low: '0.00', high: '196.00' });
    expect(verdictAttention(verdict).map(({ reason, next }) => [reason, next])).toEqual([
      [
        'limit_reached',
        'Tell the patient that the plan pays for only part of the visit, or split the visit.',
      ],
    ]);
  });

  test('a code that is scheduled twice is paid twice if the limit has room', () => {
    const verdict = verdictOf(
      changed({
        codes: ['D2392', 'D2392'],
        rule: { coverage_percentage: 80, frequency_limitations: '1 per tooth per 24 months' },
        fees: { D2392: '400.00' },
      }),
    );
    // 50 of the deductible once, and 20 percent of 350.
    expect([verdict.standing, verdict.patient_pays?.low, verdict.patient_pays?.high]).toEqual([
      ...['eligible', '120.00', '120.00'],
    ]);
  });

  test('a copay of a code that is scheduled twice is due once or twice', () => {
    const asked = { benefits_query: ['CODE_LOOKUP_BENEFITS'], benefits_codes: ['97110'] };
    const rule = { copay_amount: '30.00', is_deductible_waived: true };
    const record = recordOf(
      { plan_information: { is_active: true }, procedure_codes: [pair('97110', rule)] },
      { specialty: 'medical', asked },
    );
    const verdict = judge(record, {
      ...{ date: '2026-11-23', birth_date: '1980-04-02', fees: { '97110': '240.00' } },
      procedure_codes: ['97110', '97110'],
    });
    expect(verdict.procedures.map(({ patient_pays }) => dollarText(patient_pays))).toEqual([
      '$30.00 to $60.00',
    ]);
  });

  test('a code that is not scheduled and was answered twice is judged once', () => {
    const rule = { coverage_percentage: 80 };
    const pairs = [pair('D2740', rule), pair('D2740', rule)];
    expect(verdictOf(changed({ codes: ['D1110'], pairs })).others.map(({ code }) => code)).toEqual([
      'D2740',
    ]);
  });

  test.each<[about: string, Change, next: string | null]>([
    ['in either field', { rule: { limitations: '2 per year' } }, '2027-01-01'],
    ['but never of an inactive plan', { plan: { is_active: false } }, null],
    ['nor where the plan never pays', { rule: { is_covered: false } }, null],
    ['nor after the plan has ended', { plan: { termination_date: '12-31-2026' } }, null],
    ['nor once the patient is too old', { rule: { age_limit: 18 } }, null],
  ])('the verdict says when a used-up limit allows it again, %s', (_, change, next) => {
    const history = { '01-01-2026': [cleaning], '08-02-2026': [cleaning] };
    const rule = { frequency_limitations: '2 per year', ...change.rule };
    const is_other = 'limitations' in rule;
    const one = changed({
      ...{ history, ...change },
      rule: is_other ? { limitations: rule.limitations } : rule,
    });
    // `limitations` is a field of mental health.
    const { record, verdict } = judged(one);
    const benefits = record.procedure_codes?.codes[0]?.benefits;
    if (is_other && benefits !== undefined) benefits.limitations = '2 per year';
    const judged_again = judge(record, { ...VISIT_OF_CASES, fees: {} });
    expect((is_other ? judged_again : verdict).procedures[0]?.next_eligible).toBe(next);
  });

  test('no past day is the next eligible day', () => {
    const history = { '01-05-2026': [cleaning] };
    const one = changed({ rule: { frequency_limitations: '1 per 6 months' }, history });
    const { record, verdict } = judged(one);
    expect(record.procedure_codes?.codes[0]?.next_eligible?.date).toBe('2026-07-05');
    const [line] = summarizeEligibility(record, verdict).procedure_codes;
    expect(line?.line).not.toContain('next eligible');
  });

  test('an orthodontics maximum of 0 says nothing about the yearly maximum', () => {
    const verdict = verdictOf(
      changed({
        codes: ['D8080'],
        rule: { coverage_percentage: 50 },
        maximums: { orthodontics_coverage_limit: '0' },
      }),
    );
    expect(verdict.procedures[0]?.reasons[0]?.text).toBe(
      'Not payable: the orthodontics maximum is $0.',
    );
    expect(whatToDo(verdict)).toEqual([
      'Tell the patient that the maximum is used up and what the visit costs.',
    ]);
  });

  test('the verdict says why in plain words, and what to do', () => {
    const history = { '01-01-2026': [cleaning], '08-02-2026': [cleaning] };
    const rule = { frequency_limitations: '2 per year' };
    const verdict = verdictOf(changed({ rule, history }));
    expect(verdictLines(verdict)).toEqual([
      'Needs attention on 11/23: D1110: NOT payable.',
      'Patient pays: $100.00.',
      'D1110: NOT payable; patient pays $100.00. Not payable on 11/23: 2 per year, both used ' +
        '(01/01/2026, 08/02/2026). Next: 01/01/2027.',
      'From what the insurance company said on the phone; not a guarantee of payment.',
    ]);
    expect(whatToDo(verdict)).toEqual([
      'Tell the patient that the limit is used up, or offer a later visit.',
    ]);
    expect(verdictInOneLine(verdict)).toBe(
      'Needs attention on 11/23: D1110: NOT payable. Not payable on 11/23: 2 per year, both used ' +
        '(01/01/2026, 08/02/2026). Next: 01/01/2027. ' +
        'From what the insurance company said on the phone; not a guarantee of payment.',
    );
  });

  test('the verdict names what needs attention about a payable procedure', () => {
    const downgrade = 'Paid as a metal filling (D2150).';
    const codes = ['D2392'];
    const pairs = [
      pair('D2392', { coverage_percentage: 80, is_downgraded: true, downgraded_info: downgrade }),
    ];
    const verdict = verdictOf(changed({ codes, pairs, fees: {} }));
    const [headline] = verdictLines(verdict);
    expect(verdict.procedures.map(({ standing }) => standing)).toEqual(['payable']);
    for (const line of [headline, verdictInOneLine(verdict)])
      expect(line).toMatch(/^Needs attention on 11\/23: D2392: The plan pays for a cheaper /);
  });

  test('an open limit is never called used up (G8)', () => {
    const verdict = verdictOf(
      changed({
        plan: { is_provider_in_network: false, out_of_network_benefits: 'None' },
        rule: { frequency_limitations: '2 per calendar year', age_limit: 'see the booklet' },
        history: null,
      }),
    );
    expect(verdict.procedures.map(({ standing }) => standing)).toEqual(['not_payable']);
    expect(verdictAttention(verdict).map(({ reason }) => reason)).toEqual(['out_of_network']);
    expect(whatToDo(verdict)).toEqual([
      'Tell the patient that the office is out of network, and what the patient will pay.',
      'Ask the insurance company about the limit, if you need to know it.',
    ]);
  });

  test('no class shows a certain share once the maximum is used up', () => {
    const one = changed({ maximums: { coverage_limit_remaining: '0' } });
    const results = one.answer.results as Record<string, unknown>;
    results.procedure_classes = { RESTORATIVE: { is_covered: true, coverage_percentage: 60 } };
    const { record, verdict } = judged(one);
    const [line] = summarizeEligibility(record, verdict).procedure_classes;
    expect(line?.line).toContain('if it pays as usual');
  });

  test('every list shows the same dollars', () => {
    const maximums = { family_deductible: '150', family_deductible_used: '150' };
    const { record, verdict } = judged(changed({ maximums }));
    const explanation = { why: '', until: null, next: null };
    const line = scheduleLine({
      ...{ situation: 'delivered', closed_reason: null, entries: [], explanation },
      answer: { record, verdict },
    });
    expect(line.deductible_left).toBe(dollarWords(deductibleLeftText(record, verdict)));
    expect(line.deductible_left).toBe('$0');
  });

  test('after a handled item, a visit without an answer no longer waits for one', () => {
    const { record } = judged(changed({}));
    const silent = { ...record, outcome: 'unsuccessful' as const };
    const explanation = { why: 'The newest answer is written.', until: null, next: null };
    const line = scheduleLine({
      ...{ situation: 'delivered', closed_reason: null, entries: [], explanation },
      answer: { record: silent, verdict: judge(silent, { ...VISIT_OF_CASES, fees: {} }) },
    });
    expect([line.word, line.why]).toEqual(['incomplete', 'The insurance company gave no answer.']);
  });

  test.each(['lost_at_service', 'payer_waits', 'answer_missing', 'too_late_to_call'])(
    'the office is asked to call the payer: %s',
    (reason) => {
      const entry = {
        reason,
        what: 'Because.',
        next: 'Call the insurance company yourself. At once.',
      };
      const line = scheduleLine({
        ...{ situation: 'attention', closed_reason: null, entries: [entry], answer: null },
        explanation: { why: '', until: null, next: null },
      });
      expect([line.word, line.why, line.to_do]).toEqual([
        ...['call_yourself', 'Because.', 'Call the insurance company yourself.'],
      ]);
    },
  );

  test('the verdict warns of nothing that the payer did not say', () => {
    const one = structuredClone(CASES.find(({ id }) => id === 'S01')!);
    const verdict = verdictOf({ ...one, answer: { status: 'UNSUCCESSFUL', results: null } });
    expect(verdict.reasons.map(({ code }) => code)).toEqual(['no_answer']);
    expect([...verdictLines(verdict), verdictInOneLine(verdict)].join('\n')).not.toContain(
      'the insurance company said',
    );
  });
});

const VISIT = '2026-11-23';
const CODES = ['D1110', 'D2740', '99213', '90834'];
const FEES = { D1110: '98.00', D2740: '1200.00', '99213': '150.00' };

function expectHonest(verdict: Verdict): void {
  const text = verdictLines(verdict).join('\n');
  expect(verdict.procedures.map(({ code }) => code)).toEqual(CODES);
  for (const {
    code,
    standing,
    plan_pays_percent,
    copay,
    patient_pays,
    fee,
  } of verdict.procedures) {
    const line = text.split('\n').find((each) => each.startsWith(`${code}: `)) ?? '';
    const [own = ''] = line.split('. ');
    if (standing !== 'payable') {
      expect([plan_pays_percent, copay]).toEqual([null, null]);
      expect(own).not.toMatch(/plan pays|copay|covered/);
    }
    if (standing === 'not_payable') expect(patient_pays?.low ?? fee).toBe(fee);
    if (patient_pays !== null) {
      expect(Number(patient_pays.low)).toBeLessThanOrEqual(Number(patient_pays.high));
      expect(Number(patient_pays.high)).toBeLessThanOrEqual(Number(fee));
    }
  }
  const standings = verdict.procedures.map(({ standing }) => standing);
  if (verdict.standing === 'eligible') expect(new Set(standings)).toEqual(new Set(['payable']));
  if (standings.includes('unknown')) expect(verdict.standing).not.toBe('eligible');
}

describe('whatever was answered', () => {
  test('no verdict contradicts its record, and unknown never becomes yes', () => {
    fc.assert(
      fc.property(answerTree({ isClean: false }), specialtyAndAsked, (tree, more) => {
        const record = normalizeEligibility(inputOf(materialize(tree).raw, more));
        const verdict = judge(record, {
          date: VISIT,
          birth_date: '1980-04-02',
          procedure_codes: CODES,
          fees: FEES,
        });
        expectHonest(verdict);
        const { plan } = record;
        if (plan?.is_active === false) expect(verdict.standing).toBe('not_eligible');
        if (plan?.is_active == null) expect(verdict.standing).not.toBe('eligible');
        for (const { code, standing, plan_pays_percent, copay } of verdict.procedures) {
          const said = (record.procedure_codes?.codes ?? []).filter((one) => one.code === code);
          const is_yes = standing === 'payable' || standing === 'needs_authorization';
          if (is_yes) {
            expect(said.some(({ benefits }) => benefits.is_covered === true)).toBe(true);
            expect(said.some(({ benefits }) => benefits.is_covered === false)).toBe(false);
          }
          const shares = said.flatMap(({ benefits }) => [
            benefits.plan_pays_percent,
            typeof benefits.patient_pays_percent === 'number'
              ? Math.round((100 - benefits.patient_pays_percent) * 1e6) / 1e6
              : null,
          ]);
          if (plan_pays_percent !== null) expect(shares).toContain(plan_pays_percent);
          const copays = said.map(({ benefits }) => benefits.copay);
          if (copay !== null) expect(copays).toContainEqual({ amount: copay, currency: 'USD' });
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('several coverages that need an action', () => {
  test('the list has one entry for each kind, which names the coverage', () => {
    const visit = { date: '2026-11-23', birth_date: null, procedure_codes: [], fees: {} };
    const inactive = recordOf({ plan_information: { is_active: false } });
    const active = recordOf({ plan_information: { is_active: true, referral_required: true } });
    const verdicts = [
      { rank: 2, verdict: judge(inactive, { ...visit, coverage_rank: 2 }) },
      { rank: 1, verdict: judge(active, visit) },
    ];
    expect(coverageAttention(verdicts).map(({ reason, what }) => [reason, what])).toEqual([
      ['referral_required', 'The plan requires a referral.'],
      ['not_eligible', 'Coverage 2: The plan is NOT ACTIVE.'],
    ]);
  });
});

test('a verdict reads each of thousands of codes only a few times', () => {
  const count = 2_000;
  const pairs = Array.from({ length: count }, (_, index) => [
    { procedure_code: `D${10_000 + index}` },
    { is_covered: true, coverage_percentage: 80 },
  ]);
  const one = changed({ pairs });
  const { record } = judged(one);
  let reads = 0;
  const codes = new Proxy(record.procedure_codes?.codes ?? [], {
    get: (list, key, receiver) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
      return Reflect.get(list, key, receiver) as unknown;
    },
  });
  const counted = { ...record, procedure_codes: { ...record.procedure_codes, codes } };
  const visit = { date: '2026-11-23', birth_date: null, procedure_codes: ['D1110'], fees: {} };
  const { others } = judge(counted as typeof record, visit);
  expect(others).toHaveLength(count);
  expect(reads).toBeLessThan(20 * count);
});

test.each([
  ['60 visits combined PT/OT/ST per calendar year', 'unknown', 'frequency'],
  ['Max of thirty sessions, then review', 'unknown', 'frequency'],
  ['Under age 19', 'not_payable', 'age_limit'],
  ['2 per year, ages 6-15', 'not_payable', 'age_limit'],
  ['No limit', 'payable', ''],
  ['In person or by video.', 'payable', ''],
  ['A treatment plan after 20 visits.', 'payable', ''],
  ['See plan booklet', 'payable', ''],
  ['Prior authorization is not required.', 'payable', ''],
  ['Not covered over age 18', 'unknown', 'frequency'],
  ['Not covered for patients over 18', 'unknown', 'frequency'],
  ['Permanent molars only, through age 15', 'unknown', 'frequency'],
  ['Covered under age 14 on molars', 'unknown', 'frequency'],
  ['Limited to children', 'unknown', 'frequency'],
  ['Once per lifetime per provider', 'unknown', 'frequency'],
  ['Not within 90 days of perio surgery', 'unknown', 'frequency'],
  ['No benefit if done within 30 days of D1110', 'unknown', 'frequency'],
  ['Only after a crown', 'unknown', 'frequency'],
])('the limitation "%s" leaves the procedure %s', (limitations, standing, reasons) => {
  const [procedure] = verdictOf(changed({ rule: { limitations } })).procedures;
  expect([procedure?.standing, procedure?.reasons.map(({ code }) => code).join(' ')]).toEqual([
    ...[standing, reasons],
  ]);
});

test.each([
  ['2 cleanings per calendar year, 1 fluoride per calendar year', 'unknown', 'frequency'],
  ['1 fluoride per calendar year', 'unknown', 'frequency'],
  ['1 cleaning per calendar year', 'not_payable', 'frequency'],
  ['2 per year, dependents to age 26', 'unknown', 'age_limit'],
])('"%s" leaves a cleaning of an adult who had one %s', (words, standing, reasons) => {
  const change = { rule: { frequency_limitations: words }, history: { '03-02-2026': [cleaning] } };
  const [procedure] = verdictOf(changed(change)).procedures;
  expect([procedure?.standing, procedure?.reasons.map(({ code }) => code).join(' ')]).toEqual([
    ...[standing, reasons],
  ]);
});

describe('further words of the payer', () => {
  const remarksOf = (rule: object) => verdictOf(changed({ rule })).procedures[0]?.remarks;

  test('words that no reason quotes are quoted, whatever the flags say', () => {
    const words = { prior_auth_info: 'Recommended over $500.', downgraded_info: 'Amalgam fee.' };
    const of_authorization = 'Also said about prior authorization: "Recommended over $500."';
    const of_downgrade = 'Also said about a downgrade: "Amalgam fee."';
    expect(remarksOf({ ...words, is_prior_auth_required: false, is_downgraded: false })).toEqual([
      of_authorization,
      of_downgrade,
    ]);
    expect(remarksOf({ ...words, is_prior_auth_required: true })).toEqual([]);
    expect(remarksOf({ ...words, is_prior_auth_required: null })).toEqual([]);
  });

  test('words of two answers about a code are both quoted', () => {
    const pairs = ['One.', 'Two.'].map((more_info) =>
      pair('D1110', { coverage_percentage: 100, more_info }),
    );
    const verdict = verdictOf(changed({ pairs }));
    expect(verdict.procedures[0]?.remarks).toEqual(['Also said: "One."', 'Also said: "Two."']);
  });

  test('words about a code that is not covered are quoted as well', () => {
    const rule = { is_covered: false, more_info: 'Cosmetic.', limitations: 'Front teeth.' };
    expect(remarksOf(rule)).toEqual(['Also said: "Front teeth."']);
  });
});

test('an authorization that eligd did not ask about is undecided, never yes (G8)', () => {
  const asked = { benefits_query: ['CODE_LOOKUP_BENEFITS'], benefits_codes: ['99213'] };
  const rule = { is_covered: true, copay_amount: '30.00' };
  const record = recordOf(
    {
      plan_information: { is_active: true },
      procedure_codes: [[{ procedure_code: '99213' }, rule]],
    },
    { specialty: 'medical', asked },
  );
  const visit = { date: '2026-11-23', birth_date: '1980-04-02', fees: {} };
  const verdict = judge(record, { ...visit, procedure_codes: ['99213'] });
  expect(verdict.standing).toBe('incomplete');
  expect(verdict.procedures.map(({ standing, reasons }) => [standing, reasons[0]?.text])).toEqual([
    ['unknown', 'eligd did not ask whether 99213 requires prior authorization.'],
  ]);
});

test('"None" leaves the remaining maximum unknown, and "Unlimited" unlimited', () => {
  const leftOf = (coverage_limit: string) => {
    const maximums = { coverage_limit, coverage_limit_remaining: undefined };
    const { record, verdict } = judged(changed({ maximums }));
    const { annual_maximum, annual_maximum_remaining } = summarizeEligibility(record, verdict);
    return [annual_maximum, annual_maximum_remaining, maximumLeftText(record, verdict)];
  };
  expect(leftOf('None')).toEqual(['None', 'unknown', 'unknown']);
  expect(leftOf('Unlimited')).toEqual(['Unlimited', 'unlimited', 'unlimited']);
});

test('the verdict quotes a plan that ends in words', () => {
  const verdict = verdictOf(changed({ plan: { termination_date: 'end of the month' } }));
  expect(verdict.reasons.map(({ text, facts }) => [text, facts.at(-1)?.value])).toEqual([
    ['Ask whether the plan covers 11/23: it ends "end of the month".', 'end of the month'],
  ]);
});

test('a copay of $0 next to a share is not stated, because the share may count', () => {
  const verdict = verdictOf(changed({ rule: { coverage_percentage: 80, copay_amount: '0' } }));
  expect(verdict.procedures.map(({ copay, patient_pays }) => [copay, patient_pays])).toEqual([
    [null, { low: '0.00', high: '20.00', currency: 'USD' }],
  ]);
});
