/**
 * Whatever the payer answers, nothing that eligd writes or shows states a share, a copay or
 * "covered" of a procedure that the plan does not pay. What the plan does not pay is worked out
 * here from the facts of the answer, not by the code under test.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../../connectors/conformance/examples.ts';
import type { Delivery } from '../../connectors/contract.ts';
import { resultCells } from '../../connectors/csv/outbox.ts';
import { eligibilityResponse } from '../../connectors/fhir/write/resources.ts';
import { hl7ConfigSchema } from '../../connectors/hl7/config.ts';
import { eligibilityOru } from '../../connectors/hl7/out/oru-r01.ts';
import type { Writing } from '../../connectors/hl7/out/outbound.ts';
import { eligibilityPin } from '../../connectors/hl7/out/pin-i07.ts';
import { answerLines } from '../../src/cli/answer-text.ts';
import { verdictText } from '../../src/cli/verdicts.ts';
import { deliveryDocument } from '../../src/records/delivery.ts';
import type { EligibilityRecord } from '../../src/records/eligibility.ts';
import { judge } from '../../src/records/verdict.ts';
import { recordOf } from '../records/answers.ts';

const VISIT = '2026-11-24';
const CODES = ['D1110', 'D2740', 'D8080', 'D0120'] as const;
const time_zone = 'America/Chicago';

type Rule = {
  is_covered?: boolean;
  coverage_percentage?: number;
  coinsurance_percentage?: string;
  copay_amount?: string;
  age_limit?: number;
  frequency_limitations?: string;
  is_downgraded?: boolean;
  is_prior_auth_required?: boolean;
};
type Facts = {
  specialty: 'dental' | 'medical';
  is_active: boolean | undefined;
  termination_date: string | undefined;
  effective_date: string | undefined;
  in_network: boolean | undefined;
  out_of_network_benefits: string | undefined;
  remaining: string | undefined;
  out_of_pocket_used: string | undefined;
  is_child: boolean;
  cleanings: number;
  rules: Record<string, Rule>;
};

const some = <Value>(...values: Value[]) => fc.constantFrom(...values);
const rule: fc.Arbitrary<Rule> = fc
  .record({
    is_covered: some(true, true, true, false, undefined),
    coverage_percentage: some(100, 80, 50, undefined),
    coinsurance_percentage: some(undefined, undefined, '20'),
    copay_amount: some(undefined, undefined, '25.00'),
    age_limit: some(undefined, undefined, 18),
    frequency_limitations: some(undefined, '2 per calendar year', 'as the plan allows'),
    is_downgraded: some(undefined, true, false),
    is_prior_auth_required: some(undefined, false, true),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as Rule);
const facts: fc.Arbitrary<Facts> = fc.record({
  specialty: some('dental' as const, 'dental' as const, 'medical' as const),
  is_active: some(true, true, true, true, false, undefined),
  termination_date: some(undefined, undefined, '10-31-2026', '12-31-2026'),
  effective_date: some(undefined, '01-01-2020', '01-01-2027'),
  in_network: some(true, false, undefined),
  out_of_network_benefits: some('None', 'None, except for emergencies', '60% of UCR', undefined),
  remaining: some(undefined, '0', '500.00'),
  out_of_pocket_used: some(undefined, '3000', '10'),
  is_child: fc.boolean(),
  cleanings: some(0, 1, 2),
  rules: fc.record({ D1110: rule, D2740: rule, D8080: rule, D0120: rule }),
});

function recordFor(given: Facts): EligibilityRecord {
  const { is_active, termination_date, effective_date, in_network, cleanings, rules } = given;
  return recordOf(
    {
      call_details: [{ call_end_time: '2026-11-20T15:30:00Z', reference_number: 'R-1' }],
      plan_information: {
        is_active,
        termination_date,
        effective_date,
        is_provider_in_network: in_network,
        out_of_network_benefits: given.out_of_network_benefits,
      },
      maximums: {
        coverage_limit: given.remaining === undefined ? undefined : '1500',
        coverage_limit_remaining: given.remaining,
        individual_out_of_pocket_maximum: given.out_of_pocket_used && '3000',
        individual_out_of_pocket_maximum_used: given.out_of_pocket_used,
      },
      treatment_history: Object.fromEntries(
        ['02-02-2026', '08-03-2026']
          .slice(0, cleanings)
          .map((day) => [day, [{ procedure_code: 'D1110' }]]),
      ),
      procedure_classes: { PREVENTIVE: rules.D1110, CROWNS: rules.D2740 },
      procedure_codes: CODES.map((code) => [{ procedure_code: code }, rules[code]]),
    },
    {
      specialty: given.specialty,
      asked: { benefits_query: ['CODE_LOOKUP_BENEFITS', 'STANDARD'], benefits_codes: [...CODES] },
    },
  );
}

/** What a biller knows without eligd: it is sure that the plan pays nothing for the code. */
function isSurelyUnpaid(given: Facts, code: (typeof CODES)[number]): boolean {
  const { frequency_limitations, is_covered, age_limit } = given.rules[code] ?? {};
  const is_over =
    given.is_active === false ||
    given.termination_date === '10-31-2026' ||
    given.effective_date === '01-01-2027';
  const is_out = given.in_network === false && given.out_of_network_benefits?.startsWith('None');
  if (is_over || is_out || is_covered === false) return true;
  // What else is said counts only when it is covered.
  if (is_covered !== true) return false;
  const is_dental = given.specialty === 'dental';
  return (
    (age_limit === 18 && is_dental && !given.is_child) ||
    (is_dental && given.remaining === '0' && code === 'D2740') ||
    (code === 'D1110' &&
      given.cleanings === 2 &&
      frequency_limitations === '2 per calendar year' &&
      is_dental)
  );
}

function deliveryOf(given: Facts, scheduled: readonly string[]): Delivery {
  const [delivery] = batchOf(1, [1]).deliveries;
  if (delivery === undefined) throw new Error('There is no example.');
  const record = recordFor(given);
  const verdict = judge(record, {
    date: VISIT,
    birth_date: given.is_child ? '2015-05-05' : '1970-05-05',
    procedure_codes: scheduled,
    fees: {},
  });
  const appointment = { ...delivery.appointment, procedure_codes: [...scheduled] };
  return { ...delivery, appointment, record, verdict, notes: [] };
}

const WRITING: Writing = {
  config: hl7ConfigSchema.parse({ listen: '127.0.0.1:1', write_back: 'none' }),
  time_zone,
  written_at: '2026-11-23T18:00:00.000Z',
};
const reference = (name: string) => ({ reference: name }) as never;
const ABOUT = {
  identifier: { system: 'urn:x', value: 'V' },
  patient: reference('Patient/1'),
  coverage: reference('Coverage/1'),
  insurer: reference('Organization/1'),
  subject: reference('Appointment/1'),
  batch_created_at: '2026-11-23T18:00:00.000Z',
  time_zone,
};

/** Everything that is written or shown, in the pieces that a reader takes in at once. */
function pieces(delivery: Delivery): Record<string, string[]> {
  const { record, verdict } = delivery;
  const { procedures } = deliveryDocument({
    ...delivery,
    written_at: '',
    connector: 'x',
    starts_at: '',
  });
  const response = eligibilityResponse({ delivery, about: ABOUT }, null);
  const visit = { appointment: 'V', verdict };
  return {
    csv: resultCells(delivery, { written_at: WRITING.written_at, time_zone }).flatMap((cell) =>
      typeof cell === 'string' ? cell.split(' | ') : [],
    ),
    json: procedures.map(({ code, plan_pays_percent, copay }) =>
      plan_pays_percent === null && copay === null ? code : `${code}: plan pays 1`,
    ),
    pin: eligibilityPin(WRITING, delivery).text.split('\r'),
    oru: eligibilityOru(WRITING, delivery).text.split('\r'),
    fhir: [
      ...(response.text?.div ?? '').split('<li>'),
      ...(response.insurance?.[0]?.item ?? []).map((item) =>
        JSON.stringify(item)
          .replaceAll(/"excluded":false/g, ': covered')
          .replaceAll(/"allowed\w+":/g, 'plan pays 1 '),
      ),
    ].filter((piece) => !piece.includes('"term"')),
    show: [...verdictText(visit, true), ...answerLines(record, [visit], time_zone)],
  };
}

const STATES_PAYMENT =
  /plan pays \d|patient pays \d+(?:\.\d+)?%|copay \$?\d|(?:^|[>:;|"] ?)covered\b/i;

describe('of a procedure that the plan does not pay', () => {
  test('no output states a share, a copay or "covered"', () => {
    fc.assert(
      fc.property(facts, fc.subarray([...CODES]), (given, scheduled) => {
        const unpaid = CODES.filter((code) => isSurelyUnpaid(given, code));
        const found = pieces(deliveryOf(given, scheduled));
        for (const [form, said] of Object.entries(found))
          for (const code of unpaid)
            for (const piece of said.filter((one) => one.includes(code)))
              expect(STATES_PAYMENT.test(piece), `${form}, ${code}: ${piece}`).toBe(false);
        const is_over = [given.is_active === false, given.termination_date === '10-31-2026'];
        if (!is_over.includes(true)) return;
        for (const [form, said] of Object.entries(found))
          for (const piece of said)
            expect(/plan pays \d/i.test(piece), `${form}: ${piece}`).toBe(false);
      }),
      { seed: 19, numRuns: 400 },
    );
  });

  test('and of one that it pays, every form of people states the share', () => {
    const given: Facts = {
      specialty: 'dental',
      is_active: true,
      termination_date: undefined,
      effective_date: undefined,
      in_network: true,
      out_of_network_benefits: undefined,
      remaining: '500.00',
      out_of_pocket_used: undefined,
      is_child: false,
      cleanings: 0,
      rules: Object.fromEntries(
        CODES.map((code) => [
          code,
          { is_covered: true, coverage_percentage: 80, is_prior_auth_required: false },
        ]),
      ),
    };
    const found = pieces(deliveryOf(given, ['D2740']));
    for (const form of ['csv', 'pin', 'oru', 'fhir', 'show'])
      expect(
        found[form]?.some((piece) => /D2740.*plan pays 80%/.test(piece)),
        form,
      ).toBe(true);
  });
});
