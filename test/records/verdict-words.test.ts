/** Words instead of a yes, a number, or a date: never taken as "no problem" (G8). */
import { describe, expect, test } from 'vitest';
import { judge } from '../../src/records/verdict.ts';
import { recordOf } from './answers.ts';
import { one } from './cases/build.ts';
import { judged } from './verdict-cases.ts';

type Given = Parameters<typeof one>[2];

const FILLING = { coverage_percentage: 80 };

/** A filling for $100, with $50 of the deductible left. */
function conclude(given: Partial<Given>) {
  const [code = ''] = Object.keys(given.rules ?? { D2392: {} });
  const wanted = { verdict: '', of: { [code]: ['', ''] as [string, string] } };
  const all = { rules: { D2392: FILLING }, fees: { [code]: '100.00' }, dob: '2015-05-05' };
  const { record, verdict } = judged(one('D', '', { ...all, ...given }, wanted));
  const [procedure] = verdict.procedures;
  const reasons = [...verdict.reasons, ...(procedure?.reasons ?? [])];
  return {
    record,
    verdict: verdict.standing,
    standing: procedure?.standing,
    reasons: [...new Set(reasons.map(({ code: reason }) => reason))].join(' '),
    texts: reasons.map(({ text }) => text).join(' '),
    pays: `${procedure?.patient_pays?.low} ${procedure?.patient_pays?.high}`,
  };
}

describe('a yes or no in words', () => {
  test.each([
    ['Out of network', 'not_payable'],
    ['OON', 'not_payable'],
    ['Non-par', 'not_payable'],
    ['No, out of network', 'not_payable'],
    ['Depends on the location', 'unknown'],
    [0, 'unknown'],
  ])('is_provider_in_network: %s', (is_provider_in_network, standing) => {
    const plan = { is_provider_in_network, out_of_network_benefits: 'None' };
    const found = conclude({ plan });
    expect([found.verdict, found.standing, found.reasons]).toEqual([
      ...['attention', standing, 'out_of_network'],
    ]);
    if (standing === 'unknown')
      expect([found.texts.includes(`"${is_provider_in_network}"`), found.pays]).toEqual([
        ...[true, '0.00 100.00'],
      ]);
    const kept = found.record.unparsed.map(({ value }) => value);
    expect(kept).toEqual([is_provider_in_network]);
  });

  test.each([
    { is_provider_in_network: 'In network' },
    { is_provider_in_network: 'Participating' },
    { is_provider_in_network: 'Unknown' },
    { referral_required: 'Not required' },
    { referral_required: 'None' },
    { referral_required: 'N/A' },
    { is_primary_insurance: 'Primary' },
    { is_primary_insurance: 'Not provided' },
    { is_active: 'Active' },
  ])('words that plainly say no problem raise none: %o', (plan) => {
    const found = conclude({ plan });
    expect([found.verdict, found.reasons]).toEqual(['eligible', '']);
  });

  test.each([
    [{ referral_required: 'Yes, from the PCP' }, 'referral_required'],
    [{ referral_required: 'Required' }, 'referral_required'],
    [{ referral_required: 'For specialists' }, 'referral_required'],
    [{ is_primary_insurance: 'Secondary' }, 'not_primary'],
    [{ is_primary_insurance: 'Depends on the birthday rule' }, 'not_primary'],
  ])('words ask for attention: %o', (plan, reason) => {
    const found = conclude({ plan });
    expect([found.verdict, found.standing, found.reasons]).toEqual([
      ...['attention', 'payable', reason],
    ]);
    expect(found.texts).toContain(`"${Object.values(plan)[0]}"`);
  });

  test.each([
    ['Inactive', 'not_eligible', 'plan_inactive'],
    ['Terminated', 'not_eligible', 'plan_inactive'],
    ['Pending', 'incomplete', 'plan_unknown'],
    ['Active until Friday', 'incomplete', 'plan_unknown'],
  ])('is_active: %s', (is_active, verdict, reason) => {
    const found = conclude({ plan: { is_active } });
    expect([found.verdict, found.reasons]).toEqual([verdict, reason]);
    expect(found.texts).toContain(`"${is_active}"`);
  });

  test.each([
    ['Waived', '20.00 60.00'],
    ['Applies once', '20.00 60.00'],
    [false, '60.00 60.00'],
    ['Unknown', '60.00 60.00'],
  ])('is_deductible_waived: %s', (is_deductible_waived, pays) => {
    const found = conclude({ rules: { D2392: { ...FILLING, is_deductible_waived } } });
    expect([found.standing, found.pays]).toEqual(['payable', pays]);
  });
});

describe('a day of the coverage in words', () => {
  test.each([
    ...['No end date', 'Open-ended', 'Does not end', 'Still active today', 'Ongoing', 'None'],
    ...['N/A', 'No termination date on file', '9999-99-99'],
  ])('an end "%s" is not a known end', (termination_date) => {
    expect(conclude({ plan: { termination_date } }).verdict).toBe('eligible');
  });

  test.each([
    { termination_date: 'Terminated' },
    { termination_date: 'Cancelled' },
    { termination_date: 'Lapsed' },
    { termination_date: 'Retro termed' },
    { termination_date: 'end of the month' },
    { effective_date: 'Not yet effective' },
    { effective_date: 'Future' },
  ])('the visit may be outside the coverage: %o', (plan) => {
    const found = conclude({ plan });
    expect([found.verdict, found.standing, found.reasons]).toEqual([
      ...['incomplete', 'unknown', 'plan_unknown'],
    ]);
    expect(found.texts).toContain(`"${Object.values(plan)[0]}"`);
  });

  test.each(['Already effective', 'Currently in effect', 'Unknown', 'some time in 2019'])(
    'a beginning "%s" raises no problem',
    (effective_date) => {
      expect(conclude({ plan: { effective_date } }).verdict).toBe('eligible');
    },
  );
});

describe('a maximum in words', () => {
  test.each(['exhausted', 'Maxed out', '$0 left', '$1,500, all used'])(
    'a maximum that may be used up leaves it open: %s',
    (coverage_limit) => {
      const found = conclude({ maximums: { coverage_limit, coverage_limit_remaining: null } });
      expect([found.verdict, found.standing, found.reasons]).toEqual([
        ...['incomplete', 'unknown', 'maximum_used_up'],
      ]);
      expect(found.texts).toContain(`"${coverage_limit}"`);
    },
  );

  test.each(['$1,500 per calendar year', 'Unlimited', 'N/A'])(
    'a maximum that names something to pay from leaves it payable: %s',
    (coverage_limit) => {
      const found = conclude({ maximums: { coverage_limit, coverage_limit_remaining: null } });
      expect([found.standing, found.reasons]).toEqual(['payable', '']);
    },
  );

  test.each(['Used up', 'Exhausted', 'Not covered', 'No ortho coverage'])(
    'an orthodontics maximum in words leaves it open: %s',
    (orthodontics_coverage_limit) => {
      const rules = { D8080: FILLING };
      const found = conclude({ rules, maximums: { orthodontics_coverage_limit } });
      expect([found.verdict, found.standing, found.reasons]).toEqual([
        ...['incomplete', 'unknown', 'maximum_used_up'],
      ]);
      expect(found.texts).toContain(`"${orthodontics_coverage_limit}"`);
    },
  );

  test('an orthodontics maximum with an amount leaves it payable', () => {
    const maximums = { orthodontics_coverage_limit: '$1,500 lifetime' };
    expect(conclude({ rules: { D8080: FILLING }, maximums }).standing).toBe('payable');
  });
});

describe('benefits out of network', () => {
  const standingOf = (out_of_network_benefits: string) =>
    conclude({ plan: { is_provider_in_network: false, out_of_network_benefits } }).standing;

  test.each([
    ...['In-network 80%, OON 0', 'In network: 100%, 80%, 50%. Out of network: 0'],
    ...['80% network / 0 OON', '80% in network', '10% discount off the fee', '50% for ER'],
    ...['80% for accidents', '100% of the cost', 'family pays 50%', '$30 per visit'],
    ...['Same deductible', 'Lose 50%', '80% in network, out of network denied'],
  ])('out-of-network benefits are open: %s', (words) => {
    expect(standingOf(words)).toBe('unknown');
  });

  test.each([
    ...['Plan pays 60% of UCR', 'Percentages are 20 points lower than in network.', '50% OON'],
    ...['80% of UCR, same as in network', '100% of UCR', 'Same as in-network', 'Plan pays $30'],
    ...['In network 80%, out of network 60%', '80% in network, 60% OON'],
  ])('out-of-network benefits pay something: %s', (words) => {
    expect(standingOf(words)).toBe('payable');
  });
});

describe('an amount that is not sure', () => {
  test.each(['Not provided', 'Unknown'])('a copay "%s" leaves the share', (copay_amount) => {
    const found = conclude({ rules: { D2392: { ...FILLING, copay_amount } } });
    expect([found.standing, found.pays]).toEqual(['payable', '60.00 60.00']);
  });

  test.each(['$1.000', '12.500'])('"%s" may be thousands', (coverage_limit) => {
    const record = recordOf({ maximums: { coverage_limit } });
    expect(record.maximums?.coverage_limit?.amount).toEqual({ text: coverage_limit });
    expect(
      judge(record, { date: '2026-11-23', birth_date: null, procedure_codes: [], fees: {} }),
    ).toMatchObject({ standing: 'incomplete' });
  });
});

test('two answers with different limitations contradict each other', () => {
  const rules = {
    D2392: { ...FILLING, limitations: '1 per lifetime' },
    'D2392 again': { ...FILLING, limitations: 'none' },
  };
  const found = conclude({ rules });
  expect([found.standing, found.reasons]).toEqual(['unknown', 'conflicting']);
});

const THERAPY = { '90834': { copay_amount: '25.00', is_deductible_waived: true } };
/** Therapy for $100 with one more answer about it. */
const therapyWith = (more: object, plan: object = {}) => {
  const rules = { '90834': { ...THERAPY['90834'], ...more } };
  const wanted = { verdict: '', of: { '90834': ['', ''] as [string, string] } };
  const given = { rules, plan, fees: { '90834': '100.00' } };
  const { verdict } = judged(one('P', '', given, wanted));
  const [procedure] = verdict.procedures;
  return {
    standing: procedure?.standing,
    reasons: procedure?.reasons.map(({ code }) => code).join(' '),
    remarks: procedure?.remarks ?? [],
  };
};

describe('limitations with "only" or "not" in them', () => {
  const REMARKS = [
    ...['Not a guarantee of payment.', 'Benefits quoted are not a guarantee of payment'],
    ...['This is only an estimate.', 'For informational purposes only'],
    ...['Only when medically necessary', 'Covered only if medically necessary.'],
    ...['Medically necessary services only', 'Not to exceed UCR'],
    ...['Not to exceed the allowed amount.', 'Covered for adults and children'],
    ...['Visit limits do not apply.', 'This service does not have visit limits'],
    ...['Plan does not require prior authorization or referral', 'Does not need a referral'],
    ...['Only one copay per day applies', 'In-network providers only', 'Deductible does not apply'],
    ...['Group therapy is not covered.', 'No coverage for group psychotherapy'],
    'Not a guarantee of payment. Only when medically necessary.',
  ];
  test.each(REMARKS)('"%s" limits nothing, and is quoted', (limitations) => {
    const found = therapyWith({ limitations });
    expect([found.standing, found.reasons]).toEqual(['payable', '']);
    expect(found.remarks.join()).toContain(limitations);
  });

  test.each([
    ...['Not covered', 'Not a covered benefit', 'Not a guarantee', 'Only one visit'],
    ...['Only when medically necessary and authorized for 10 visits', 'Individual only'],
    ...['Only one copay per day, and only 10 days', 'Out-of-network providers only'],
    ...['Does not require prior authorization for the first 8 visits', 'Adults only'],
    ...['Visit limits do not apply to substance abuse', 'Not covered by telehealth'],
    ...['Group therapy only', 'Deductible does not apply; only 6 visits', 'Licensed MD only'],
    ...['Not for couples', 'Not a guarantee of payment. Not covered.', 'Once deductible is met'],
    ...['This service does not have visit limits for autism only'],
  ])('"%s" may exclude the visit', (limitations) => {
    const found = therapyWith({ limitations });
    expect([found.standing, found.reasons]).toEqual(['unknown', 'frequency']);
  });

  test.each([
    { frequency_limitations: 'No limit', limitations: 'Visit limits do not apply' },
    { age_limit: 18, limitations: 'Age limits do not apply' },
  ])('words that deny the limit in another field leave it open: %j', (said) => {
    const found = conclude({ rules: { D2392: { ...FILLING, ...said } } });
    expect([found.standing, found.reasons]).toEqual(['unknown', 'frequency']);
  });

  test('words that deny the maximum of a dental plan leave it open', () => {
    const rules = { D2392: { ...FILLING, limitations: 'Annual maximum does not apply' } };
    expect(conclude({ rules }).standing).toBe('unknown');
  });

  test('remarks about the network limit the code if the network is unknown', () => {
    const plan = { is_provider_in_network: undefined };
    expect(therapyWith({ limitations: 'In-network providers only' }, plan).standing).toBe(
      'unknown',
    );
  });

  test('"group therapy is not covered" is about the codes of group therapy', () => {
    const rules = { '90853': { ...THERAPY['90834'], limitations: 'Group therapy not covered' } };
    const wanted = { verdict: '', of: { '90853': ['', ''] as [string, string] } };
    const [procedure] = judged(one('P', '', { rules }, wanted)).verdict.procedures;
    expect(procedure?.standing).toBe('unknown');
  });

  test('remarks leave a limit next to them readable, in either field', () => {
    const words = '1 per 6 months. Not a guarantee of payment.';
    for (const name of ['frequency_limitations', 'limitations'] as const) {
      const rules = { D2392: { ...FILLING, [name]: words } };
      const found = conclude({ rules, history: { '{visit-30}': 'D2392' } });
      expect([name, found.standing, found.reasons]).toEqual([name, 'not_payable', 'frequency']);
      expect(conclude({ rules }).standing).toBe('payable');
    }
  });
});

describe('the same meaning in other words', () => {
  test.each([
    [{ frequency_limitations: '2 per calendar year' }, { frequency_limitations: 'Two per cal yr' }],
    [{ frequency_limitations: 'No limit' }, { frequency_limitations: 'unlimited' }],
    [{ limitations: 'In person or by video.' }, { limitations: 'Video visits are fine' }],
    [{ limitations: 'None' }, { limitations: 'See plan booklet' }],
    [{ age_limit: 18 }, { age_limit: 'through age 18' }],
    [{ copay_amount: 'None' }, { copay_amount: 'N/A' }],
  ])('%j and %j do not contradict each other', (first, second) => {
    const rules = { D2392: { ...FILLING, ...first }, 'D2392 again': { ...FILLING, ...second } };
    const found = conclude({ rules });
    expect([found.standing, found.reasons]).toEqual(['payable', '']);
  });

  test.each([
    [
      { frequency_limitations: '2 per calendar year' },
      { frequency_limitations: '2 per 12 months' },
    ],
    [{ limitations: 'Molars only' }, { limitations: 'Premolars only' }],
    [{ limitations: '2 per year' }, { limitations: 'See plan booklet' }],
    [{ age_limit: 18 }, { age_limit: 'under 18' }],
    [{ copay_amount: 'None' }, { copay_amount: '10.00' }],
  ])('%j and %j contradict each other', (first, second) => {
    const rules = { D2392: { ...FILLING, ...first }, 'D2392 again': { ...FILLING, ...second } };
    const found = conclude({ rules });
    expect([found.standing, found.reasons]).toEqual(['unknown', 'conflicting']);
  });

  test('the same limit in both fields gives one reason', () => {
    const twice = { frequency_limitations: '1 per 6 months', limitations: 'Once every six months' };
    const rules = { D2392: { ...FILLING, ...twice } };
    const found = conclude({ rules, history: { '{visit-30}': 'D2392' } });
    expect([found.standing, found.texts.match(/Not payable on/g)]).toEqual([
      ...['not_payable', ['Not payable on']],
    ]);
  });
});

describe('a share of nothing', () => {
  test('a share of 0% is no benefit, and the office tells the patient', () => {
    const found = conclude({ rules: { D2392: { coverage_percentage: 0 } } });
    expect([found.verdict, found.standing, found.reasons, found.pays]).toEqual([
      ...['attention', 'not_payable', 'not_covered', '100.00 100.00'],
    ]);
    expect(found.texts).toBe("The plan's share is 0%: the patient pays all of it.");
  });

  test('a coinsurance of 100 is no benefit', () => {
    const found = therapyWith({ copay_amount: undefined, coinsurance_percentage: '100' });
    expect([found.standing, found.reasons]).toEqual(['not_payable', 'not_covered']);
  });

  test.each([
    [
      'a copay takes its place',
      { rules: { D2392: { coverage_percentage: 0, copay_amount: '20' } } },
    ],
    [
      'the stated benefits apply in network only',
      {
        rules: { D2392: { coverage_percentage: 0 } },
        plan: { is_provider_in_network: false, out_of_network_benefits: 'Plan pays 60% of UCR' },
      },
    ],
  ])('a share of 0% is payable when %s', (_, given) => {
    const found = conclude(given);
    expect([found.standing, found.reasons.includes('not_covered')]).toEqual(['payable', false]);
  });

  test.each([
    ['3000', '0.00 0.00', 'payable'],
    ['2950', '50.00 50.00', 'payable'],
    ['1000', '100.00 100.00', 'not_payable'],
  ])('a share of 0% after %s of 3000 out of pocket', (used, pays, standing) => {
    const rules = { '97110': { coinsurance_percentage: '100', is_deductible_waived: true } };
    const wanted = { verdict: '', of: { '97110': ['', ''] as [string, string] } };
    const maximums = { individual_out_of_pocket_maximum_used: used };
    const given = { rules, maximums, fees: { '97110': '100.00' } };
    const [found] = judged(one('M', '', given, wanted)).verdict.procedures;
    expect([found?.standing, `${found?.patient_pays?.low} ${found?.patient_pays?.high}`]).toEqual([
      ...[standing, pays],
    ]);
  });
});

describe('words in place of a flag of one code', () => {
  const OTHER = { bare: true, is_covered: false };
  const WORDS = { is_deductible_waived: 'for members since 2020', is_downgraded: 'depends' };
  const fillingBeside = (other: object, filling: object, extra: unknown[] = []) => {
    const of = { D2740: ['', ''], D2392: ['', ''] } as Record<string, [string, string]>;
    const rules = { D2740: { ...OTHER, ...other }, D2392: { ...FILLING, ...filling } };
    const each = one('D', '', { rules, fees: { D2392: '100.00' } }, { verdict: '', of });
    const { procedure_codes } = each.answer.results as { procedure_codes: unknown[] };
    procedure_codes.unshift(...extra);
    const found = judged(each).verdict.procedures.find(({ code }) => code === 'D2392');
    const { low, high } = found?.patient_pays ?? {};
    return [`${low} ${high}`, found?.reasons.map(({ code }) => code).join(' ')];
  };

  test('words in place of a flag leave other codes unchanged', () => {
    expect(fillingBeside(WORDS, {})).toEqual(['60.00 60.00', '']);
    expect(fillingBeside(WORDS, { is_deductible_waived: true })).toEqual(['20.00 20.00', '']);
  });

  test.each([
    ['', []],
    ['after answers that say nothing', [null, '']],
    ['after answers that name no code', ['x', [{ procedure_code: ' ' }, {}], [null, {}]]],
    ['after an answer with a third part', [[{ procedure_code: 'D0120' }, {}, 'odd']]],
  ])('words in place of a flag leave their own code open: %s', (_, extra) => {
    const { is_deductible_waived, is_downgraded } = WORDS;
    expect(fillingBeside({}, { is_deductible_waived }, extra)).toEqual(['20.00 60.00', '']);
    expect(fillingBeside({}, { is_downgraded }, extra)[1]).toBe('downgrade');
    expect(fillingBeside(WORDS, {}, extra)).toEqual(['60.00 60.00', '']);
  });
});
