/** Verdicts on the very day on which something begins, ends, or changes. */
import { expect, test } from 'vitest';
import { CLEANING, CROWN, MET, one } from './cases/build.ts';
import { judged } from './verdict-cases.ts';

const DAY = '2026-11-23';

function conclude(given: Partial<Parameters<typeof one>[2]>): string[] {
  const [code = ''] = Object.keys(given.rules ?? {});
  const wanted = { verdict: '', of: { [code]: ['', ''] as [string, string] } };
  const { verdict } = judged(one('D', '', { rules: {}, ...given }, wanted), DAY);
  const [procedure] = verdict.procedures;
  return [
    verdict.standing,
    procedure?.standing ?? '',
    ...(procedure?.reasons.map(({ code: reason }) => reason) ?? []),
  ];
}

test.each([
  ['2007-11-22', 18, 'not_payable'],
  ['2007-11-23', 18, 'not_payable'],
  // Eighteen until tomorrow: the limit itself is still covered.
  ['2007-11-24', 18, 'payable'],
  ['2007-11-24', 'under 19', 'payable'],
  ['2007-11-23', 'under 19', 'not_payable'],
  ['2007-11-23', 'until the 19th birthday', 'not_payable'],
  ['2008-02-29', 18, 'payable'],
])('born %s, with the age limit %j, fluoride is %s', (dob, age_limit, standing) => {
  const found = conclude({ rules: { D1206: { ...CLEANING, age_limit } }, dob });
  expect(found[1]).toBe(standing);
});

test.each([
  ['11-23-2025', '12 months', 'payable'],
  ['11-24-2025', '12 months', 'unknown'],
  ['05-23-2026', '6 months for basic services', 'payable'],
  ['05-24-2026', '6 months for basic services', 'unknown'],
  ['08-25-2026', '90 days', 'payable'],
  ['08-26-2026', '90 days', 'unknown'],
  ['2025-11-23', '1 year on major', 'payable'],
])('covered since %s, with a wait of "%s", a crown is %s', (effective_date, words, standing) => {
  const plan = { effective_date };
  const clauses = { waiting_periods: words };
  const found = conclude({ rules: { D2740: CROWN }, plan, clauses, maximums: MET });
  expect(found.slice(1)).toEqual(
    standing === 'payable' ? [standing] : [standing, 'waiting_period'],
  );
});

test.each([
  [{ effective_date: '11-23-2026' }, ['eligible', 'payable']],
  [{ effective_date: '11-24-2026' }, ['not_eligible', 'not_payable', 'plan_not_begun']],
  [{ termination_date: '11-23-2026' }, ['eligible', 'payable']],
  [{ termination_date: '11/22/2026' }, ['not_eligible', 'not_payable', 'plan_ended']],
  [{ termination_date: '' }, ['eligible', 'payable']],
])('a plan with %j', (plan, expected) => {
  expect(conclude({ rules: { D1110: CLEANING }, plan })).toEqual(expected);
});
