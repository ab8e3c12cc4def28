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
