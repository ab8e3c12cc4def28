/** The resources of an answer: valid R4, and never more than the payer said (G8). */
import type {
  CoverageEligibilityResponse,
  CoverageEligibilityResponseInsuranceItem,
  Resource,
} from '@medplum/fhirtypes';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../../../connectors/conformance/examples.ts';
import { lines } from '../../../connectors/fhir/write/narrative.ts';
import {
  type About,
  answerCommunication,
  documentReference,
  eligibilityRequest,
  eligibilityResponse,
  provenance,
} from '../../../connectors/fhir/write/resources.ts';
import type { EligibilityRecord } from '../../../src/records/eligibility.ts';
import { normalizeEligibility } from '../../../src/records/normalize.ts';
import { judge } from '../../../src/records/verdict.ts';
import {
  answerTree,
  inputOf,
  materialize,
  recordOf,
  specialtyAndAsked,
} from '../../records/answers.ts';
import { faultsOf } from '../../support/fhir/definitions.ts';

const about: About = {
  identifier: { system: 'urn:eligd:inquiry', value: '7b0f8d8e-58a4-4d2c-9f0e-4f4f3f0e9a11' },
  patient: { reference: 'Patient/P-1' },
  coverage: { reference: 'Coverage/C-1' },
  insurer: { display: 'Delta Dental of Illinois' },
  subject: { reference: 'Appointment/A-1' },
  batch_created_at: '2026-11-23T18:00:00.000Z',
  time_zone: 'America/Chicago',
};

function partsOf(record: EligibilityRecord) {
  const [delivery] = batchOf(1, [1]).deliveries;
  if (delivery === undefined) throw new Error('The suite gives a delivery.');
  const { procedure_codes, patient, starts_at } = delivery.appointment;
  const verdict = judge(record, {
    date: starts_at.slice(0, 10),
    birth_date: patient.birth_date,
    procedure_codes,
    fees: {},
  });
  return { delivery: { ...delivery, record, verdict }, about };
}

function resourcesOf(record: EligibilityRecord): Resource[] {
  const parts = partsOf(record);
  const target = { reference: 'CoverageEligibilityResponse/R-1' };
  return [
    eligibilityRequest(parts),
    eligibilityResponse(parts, { reference: 'CoverageEligibilityRequest/Q-1' }),
    eligibilityResponse(parts, null),
    provenance(parts, target),
    documentReference(parts),
    answerCommunication(parts),
  ];
}

const responseOf = (record: EligibilityRecord): CoverageEligibilityResponse =>
  eligibilityResponse(partsOf(record), { reference: 'CoverageEligibilityRequest/Q-1' });
const itemsOf = (record: EligibilityRecord) => responseOf(record).insurance?.[0]?.item ?? [];
const benefit = (item: CoverageEligibilityResponseInsuranceItem | undefined, code: string) =>
  item?.benefit?.find(({ type }) => type?.coding?.[0]?.code === code);

test('resources pass both validators, whatever the payer said', () => {
  fc.assert(
    fc.property(
      fc.boolean().chain((isClean) => answerTree({ isClean })),
      specialtyAndAsked,
      fc.constantFrom('SUCCESS', 'UNSUCCESSFUL', 'CANCELLED'),
      (tree, { specialty, asked }, status) => {
        const { raw } = materialize(tree);
        const record = normalizeEligibility(
          inputOf(raw, { specialty, asked, inquiry: { status } }),
        );
        expect(resourcesOf(record).flatMap(faultsOf)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

test('resources are the same for the same delivery (G4)', () => {
  const record = recordOf({ plan_information: { is_active: true } });
  expect(resourcesOf(record)).toEqual(resourcesOf(structuredClone(record)));
});

const linesOf = (record: EligibilityRecord) => lines(partsOf(record).delivery, about.time_zone);

/** Every text in a part of a record. */
function textsIn(part: unknown): string[] {
  if (typeof part === 'string') return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(textsIn) : [];
}

test('resources show everything that the payer said, in any part of the answer', () => {
  fc.assert(
    fc.property(answerTree({ isClean: true }), (tree) => {
      const record = normalizeEligibility(inputOf(materialize(tree).raw, {}));
      const text = linesOf(record).join('\n');
      const { plan, maximums, clauses, procedure_codes } = record;
      const treatments = (record.treatment_history?.treatments ?? []).map(
        ({ said_as: _, ...each }) => each,
      );
      const rules = (procedure_codes?.codes ?? []).map(
        ({ code, benefits: { more_info, limitations } }) => [code, more_info, limitations],
      );
      for (const said of textsIn([plan, maximums, clauses, treatments, rules]))
        if (said !== 'USD') expect(text).toContain(said);
    }),
    { numRuns: 100 },
  );
});

test('resources tell an empty history from a missing one (G8)', () => {
  const asked = { benefits_query: ['TREATMENT_HISTORY'], benefits_codes: [] };
  const record = recordOf({ treatment_history: null }, { asked });
  expect(linesOf(record)).toContain('Treatment history: unknown');
  const none = { ...record, treatment_history: { answered: true, treatments: [] } };
  expect(linesOf(none)).toContain('Treatment history: none on file');
  const filling = {
    '03-01-2025': [{ procedure_code: 'D2392', tooth_numbers: ['3'], surfaces: ['M', 'O'] }],
  };
  expect(linesOf(recordOf({ treatment_history: filling }, { asked }))).toContain(
    'Treatment on 2025-03-01: D2392; teeth 3; surfaces M, O',
  );
});

describe('a response', () => {
  const codes = (more: object) => ({ procedure_codes: [[{ procedure_code: 'D1110' }, more]] });
  const asked = { benefits_query: ['CODE_LOOKUP_BENEFITS'], benefits_codes: ['D1110'] };
  const itemOf = (more: object) =>
    itemsOf(recordOf(codes(more), { asked })).find(({ productOrService }) => productOrService);

  test('a response is in force only if the payer said so (G8)', () => {
    const inforce = (is_plan_active: unknown) =>
      responseOf(recordOf({ plan_information: { is_active: is_plan_active, plan_name: 'PPO' } }))
        .insurance?.[0]?.inforce;
    expect([inforce(true), inforce(false), inforce(null)]).toEqual([true, false, undefined]);
  });

  test('a response never says "not covered" without an answer (G8)', () => {
    expect(itemOf({ is_covered: false })?.excluded).toBe(true);
    expect(itemOf({ is_covered: true })?.excluded).toBe(false);
    const unknown = itemOf({ is_covered: null, frequency_limitations: 'twice a year' });
    expect(unknown).not.toHaveProperty('excluded');
    expect(unknown?.description).toContain('coverage unknown');
  });

  test('copay-percent is the patient’s share, in whole numbers only', () => {
    expect(
      benefit(itemOf({ is_covered: true, coverage_percentage: '80' }), 'copay-percent')
        ?.allowedUnsignedInt,
    ).toBe(20);
    expect(
      benefit(itemOf({ is_covered: true, coverage_percentage: '66.5' }), 'copay-percent'),
    ).toBe(undefined);
    expect(itemOf({ is_covered: true, coverage_percentage: '66.5' })?.description).toContain(
      '66.5%',
    );
  });

  test.each([
    [{ is_provider_in_network: false }, 'In-network', 'in'],
    [{ is_provider_in_network: true }, 'Out-of-network', 'out'],
    [{ is_provider_in_network: true }, undefined, 'in'],
    [{ is_provider_in_network: false }, undefined, undefined],
    [{}, 'Calendar year', undefined],
  ])('amounts are marked with their meaning: %j, %s', (plan_information, name, network) => {
    const [plan] = itemsOf(
      recordOf({ plan_information, maximums: { name, coverage_limit: 1500 } }),
    );
    expect(plan?.network?.coding?.[0]?.code).toBe(network);
  });

  test('used is next to the limit, because FHIR has no remaining amount', () => {
    const [plan] = itemsOf(
      recordOf({ maximums: { coverage_limit: '1500', coverage_limit_remaining: '900.50' } }),
    );
    expect(benefit(plan, 'benefit')).toMatchObject({
      allowedMoney: { value: 1500, currency: 'USD' },
      usedMoney: { value: 599.5, currency: 'USD' },
    });
    expect(plan?.category?.coding).toEqual([
      { system: 'https://x12.org/codes/service-type-codes', code: '35', display: 'Dental Care' },
    ]);
  });

  test('the payer’s words stay where FHIR wants a number', () => {
    const [plan] = itemsOf(
      recordOf({ maximums: { coverage_limit: 'unlimited', coverage_limit_remaining: null } }),
    );
    expect(plan?.benefit).toBe(undefined);
    expect(plan?.description).toContain('"unlimited"');
  });

  test('procedure classes have a service type, or the payer’s words', () => {
    const classes = { PREVENTIVE: { is_covered: true }, IMPLANTS: { is_covered: false } };
    const categories = itemsOf(recordOf({ procedure_classes: classes })).map(
      ({ category }) => category,
    );
    const coding = [{ system: 'https://x12.org/codes/service-type-codes', code: '41' }];
    expect(categories).toEqual([{ coding, text: 'PREVENTIVE' }, { text: 'IMPLANTS' }]);
  });

  test('a remaining amount without a limit is in words', () => {
    const [plan] = itemsOf(
      recordOf({ maximums: { coverage_limit: null, coverage_limit_remaining: '900' } }),
    );
    expect(plan?.description).toContain('Maximum remaining 900.00');
    const [braces] = itemsOf(recordOf({ maximums: { orthodontics_coverage_limit: 'no limit' } }));
    expect(braces?.description).toContain('Orthodontics maximum "no limit"');
  });

  test('an unsuccessful call is an error, with nothing about the coverage', () => {
    const response = responseOf(recordOf(null, { inquiry: { status: 'UNSUCCESSFUL' } }));
    expect(response).toMatchObject({
      outcome: 'error',
      error: [{ code: { text: 'The call got no answer.' } }],
    });
    expect(response.insurance).toEqual([{ coverage: about.coverage }]);
  });

  test('no period ends before it begins, and the text has both dates', () => {
    const response = responseOf(
      recordOf({
        plan_information: { effective_date: '06-01-2026', termination_date: '01-01-2026' },
      }),
    );
    expect(response.insurance?.[0]).not.toHaveProperty('benefitPeriod');
    expect(response.text?.div).toMatch(/Effective: 2026-06-01.*Ends: 2026-01-01/);
    const ended = responseOf(
      recordOf({
        plan_information: { effective_date: '01-01-2026', termination_date: '06-01-2026' },
      }),
    );
    expect(ended.insurance?.[0]?.benefitPeriod).toEqual({
      start: '2026-01-01',
      end: '2026-06-01',
    });
  });

  test('an amount that no JSON number holds exactly is in words', () => {
    const [plan] = itemsOf(recordOf({ maximums: { coverage_limit: '1234567890123456.78' } }));
    expect(plan?.description).toContain('Maximum 1234567890123456.78');
    expect(plan).not.toHaveProperty('benefit');
  });

  test('no markup of the payer is kept', () => {
    const said = '<script>alert(1)</script> & "quotes"';
    const { text } = responseOf(recordOf({ plan_information: { plan_name: said } }));
    expect(text?.div).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;');
    expect(text?.div).not.toContain('<script>');
  });
});
