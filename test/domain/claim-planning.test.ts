import { describe, expect, it } from 'vitest';
import type { ClaimInput } from '../../src/domain/claim.ts';
import { planClaim } from '../../src/domain/claim-planning.ts';
import type { PlanningFacts } from '../../src/domain/planning.ts';
import { aCoverage, anAppointment, aPayer, facts } from './examples.ts';

/** Seven weeks before the Friday of the examples, 20 November 2026. */
function aClaim(over: Partial<ClaimInput> = {}): ClaimInput {
  const { patient, provider } = anAppointment();
  return {
    source_id: 'C-1',
    status: 'open',
    claim_number: 'ICN-1',
    date_of_service: '2026-10-01',
    billed_amount: '180.00',
    patient,
    coverage: aCoverage(),
    coverage_rank: 1,
    provider,
    location: null,
    place_of_service: '11',
    specialty: 'medical',
    procedure_codes: ['99213'],
    diagnosis_codes: ['J02.0'],
    problems: [],
    ...over,
  };
}

const plan = (
  over: Partial<ClaimInput> = {},
  more: Parameters<typeof facts>[0] = {},
  is_missing = false,
) => planClaim('front-desk|P-1|1980-01-02', aClaim(over), is_missing, facts(more));

function asked(over: Partial<ClaimInput> = {}, more: Parameters<typeof facts>[0] = {}) {
  const decision = plan(over, more);
  if (decision.kind !== 'ask') throw new Error(`Not asked but ${decision.kind}.`);
  return decision.claim;
}

describe('a claim', () => {
  it('eligd asks about a claim with its own fields, within a few business days', () => {
    const { draft, benefit_year, wanted_by } = asked();
    expect(draft).toMatchObject({
      specialty: 'medical',
      member_id: 'W123',
      benefits_query: [],
      benefits_codes: ['99213'],
      diagnosis_codes: ['J02.0'],
      call_script_id: null,
      place_of_service: '11',
      billed_amount: '180.00',
      // Friday and three days.
      desired_completion_date: '2026-11-23',
      claim: { claim_number: 'ICN-1', date_of_service: '2026-10-01', beneficiary: 'PRIMARY' },
    });
    expect([benefit_year, new Date(wanted_by).toISOString()]).toEqual([
      2026,
      '2026-11-30T06:00:00.000Z',
    ]);
  });

  it.each([
    ['before Columbus Day', '2026-10-09T15:00:00Z', '2026-10-13'],
    ['before Thanksgiving', '2026-11-25T15:00:00Z', '2026-11-30'],
    ['on a Saturday', '2026-11-21T15:00:00Z', '2026-11-24'],
  ])('eligd never requests a same-day answer about a claim: %s', (_, now, wanted) => {
    const date_of_service = '2026-09-01';
    expect(asked({ date_of_service }, { now: Date.parse(now) }).draft.desired_completion_date).toBe(
      wanted,
    );
  });

  it('eligd asks about a second coverage without the beneficiary', () => {
    expect(asked({ coverage_rank: 2 }).draft.claim?.beneficiary).toBe('');
  });

  it('with beneficiary none, eligd asks without the beneficiary', () => {
    const { claims } = facts().policy;
    const policy = { claims: { ...claims, beneficiary: 'none' } };
    expect(asked().draft.claim?.beneficiary).toBe('PRIMARY');
    expect(asked({}, { policy }).draft.claim?.beneficiary).toBe('');
  });

  it('claim, coverage, and tax ID make the need, and number and codes do not', () => {
    const base = asked().need_base;
    expect(asked({ claim_number: '', billed_amount: '', procedure_codes: [] }).need_base).toBe(
      base,
    );
    expect(asked({ source_id: 'C-2' }).need_base).not.toBe(base);
    expect(asked({ coverage: aCoverage({ member_id: 'W999' }) }).need_base).not.toBe(base);
    expect(asked({ provider: { ...aClaim().provider, tax_id: '987654321' } }).need_base).not.toBe(
      base,
    );
  });

  it.each<[string, ReturnType<typeof plan>, object]>([
    ['settled in the PMS', plan({ status: 'settled' }), { kind: 'close', reason: 'settled' }],
    ['missing from a full export', plan({}, {}, true), { kind: 'close', reason: 'settled' }],
    [
      'without insurance',
      plan({
        coverage: { carrier: '', payor_id: '', member_id: '', group_id: '', subscriber: null },
      }),
      { kind: 'close', reason: 'no_coverage' },
    ],
    [
      'of a payer that is skipped',
      plan({}, { payer: aPayer({ action: 'skip' }) }),
      { kind: 'close', reason: 'skipped' },
    ],
    [
      'of an old service',
      plan({ date_of_service: '2025-11-01' }),
      { kind: 'close', reason: 'past' },
    ],
    [
      'of an old service, while the clock is in doubt',
      plan({ date_of_service: '2025-11-01' }, { is_clock_trusted: false }),
      { kind: 'wait', reason: 'clock_unproven' },
    ],
    [
      'of a recent service',
      plan({ date_of_service: '2026-11-10' }),
      { kind: 'wait', reason: 'claim_too_young', until: Date.parse('2026-11-24T06:00:00Z') },
    ],
    ['of a service just long enough ago', plan({ date_of_service: '2026-11-06' }), { kind: 'ask' }],
    [
      'of a payer that the office calls',
      plan({}, { payer: aPayer({ action: 'attention' }) }),
      { kind: 'raise' },
    ],
  ])('the decision about a claim: %s', (_, decision, expected) => {
    expect(decision).toMatchObject(expected);
  });

  it.each([
    ['no date of service', { date_of_service: null }, /the date of service/],
    ['no member id', { coverage: aCoverage({ member_id: '' }) }, /the member ID/],
    ['an amount that is not a number', { billed_amount: 'much' }, /billed amount is not an amount/],
    ['no date of birth', { patient: { ...aClaim().patient, birth_date: null } }, /birth date/],
  ] as [string, Partial<ClaimInput>, RegExp][])(
    'a claim with %s waits for you',
    (_, over, what) => {
      const decision = plan(over);
      expect(
        decision.kind === 'raise' && decision.attention.map((entry) => entry.what).join(' '),
      ).toMatch(what);
    },
  );

  it('eligd requires the claim number if the configuration says so', () => {
    const policy: Partial<PlanningFacts['policy']> = {
      claims: { ...facts().policy.claims, required_fields: ['claim_number'] },
    };
    const decision = plan({ claim_number: '' }, { policy });
    expect(decision.kind === 'raise' && decision.attention[0]?.what).toMatch(
      /the insurance company’s claim number/,
    );
  });
});
