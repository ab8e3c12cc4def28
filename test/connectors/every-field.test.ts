/**
 * Every field of the record is in every output of eligd: the output changes when the field does, or
 * the connector's page lists the field under "Left out" with the reason.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { batchOf } from '../../connectors/conformance/examples.ts';
import type { Delivery } from '../../connectors/contract.ts';
import { resultCells } from '../../connectors/csv/outbox.ts';
import { answerCommunication, eligibilityResponse } from '../../connectors/fhir/write/resources.ts';
import { hl7ConfigSchema } from '../../connectors/hl7/config.ts';
import { eligibilityOru } from '../../connectors/hl7/out/oru-r01.ts';
import type { Writing } from '../../connectors/hl7/out/outbound.ts';
import { eligibilityPin } from '../../connectors/hl7/out/pin-i07.ts';
import { answerLines } from '../../src/cli/answer-text.ts';
import { deliveryDocument } from '../../src/records/delivery.ts';
import { type EligibilityRecord, eligibilityRecordSchema } from '../../src/records/eligibility.ts';
import { OTHER_PATHS, RECORD_FIELDS } from '../../src/records/fields.ts';
import { judge } from '../../src/records/verdict.ts';
import { CALL_FIELDS } from '../support/call-fields.ts';
import { changed, type JsonSchema, leftOut, pathsOf } from './fields.ts';

const schema = z.toJSONSchema(eligibilityRecordSchema, { unrepresentable: 'any' }) as JsonSchema;
const PATHS = pathsOf(schema);

test('the list of fields in the code matches the schema of the record', () => {
  const listed = [...RECORD_FIELDS.map(([, path]) => path), ...OTHER_PATHS];
  expect(listed.toSorted()).toEqual(PATHS.toSorted());
});

const money = (amount: string) => ({ amount, currency: 'USD' });
const allowance = (amount: string) => ({
  amount: money(`${amount}00.00`),
  used: money(`${amount}1.00`),
  remaining: money(`${amount}2.00`),
});
const benefits = (mark: string) => ({
  is_covered: true,
  is_prior_auth_required: false,
  prior_auth_info: `auth ${mark}`,
  plan_pays_percent: 80,
  patient_pays_percent: 20,
  copay: money('25.00'),
  is_deductible_waived: true,
  frequency_limitations: '1 per lifetime',
  age_limit: 60,
  is_downgraded: false,
  downgraded_info: `downgrade ${mark}`,
  limitations: `limitations ${mark}`,
  more_info: `more ${mark}`,
});

/** A record in which everything has a value. */
function whole(): EligibilityRecord {
  return eligibilityRecordSchema.parse({
    schema: 'eligd.eligibility/1',
    inquiry_id: 'inq-1',
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    outcome: 'successful',
    status: 'SUCCESS',
    completeness: 'complete',
    summary: 'All well.',
    entered_by: 'Kim',
    asked: {
      benefits_query: ['STANDARD'],
      benefits_codes: ['D1110'],
      call_script_id: 'script-1',
    },
    ...CALL_FIELDS,
    plan: {
      answered: true,
      is_active: true,
      plan_type: 'PPO',
      plan_name: 'Plus',
      effective_date: '2020-01-01',
      termination_date: '2030-12-31',
      is_calendar_year_plan: true,
      is_provider_in_network: true,
      is_primary_insurance: true,
      is_provider_pcp: false,
      has_other_insurance: false,
      is_self_funded: true,
      has_out_of_state_coverage: true,
      referral_required: false,
      referral_info: 'none needed',
      out_of_network_benefits: 'the same',
      custom_answers: [{ question: 'Q two', answer: 'A two' }],
    },
    maximums: {
      answered: true,
      name: 'In-network amounts',
      individual_deductible: allowance('1'),
      individual_deductible_resets_each_calendar_year: true,
      family_deductible: allowance('2'),
      coverage_limit: allowance('3'),
      orthodontics_coverage_limit: money('4000.00'),
      individual_out_of_pocket_maximum: allowance('5'),
      family_out_of_pocket_maximum: allowance('6'),
    },
    procedure_classes: {
      answered: true,
      classes: [{ name: 'CROWNS', answered: true, benefits: benefits('c') }],
    },
    procedure_codes: {
      answered: true,
      codes: [
        {
          code: 'D2740',
          said_as: '2740',
          name: 'a crown',
          asked: true,
          answered: true,
          benefits: { ...benefits('p'), copay: null },
          next_eligible: { standing: 'from_date', date: '2026-01-01', counted: ['2020-01-01'] },
        },
      ],
    },
    treatment_history: {
      answered: true,
      treatments: [
        {
          date: '2020-01-01',
          code: 'D1110',
          said_as: '1110',
          teeth: ['3'],
          surfaces: ['M'],
          quadrants: ['1'],
        },
      ],
    },
    clauses: {
      answered: true,
      waiting_periods: 'None',
      missing_tooth_clause: 'applies',
      deductible_applies_to_preventive: false,
      preventive_applies_to_maximum: false,
      has_pending_claims: false,
    },
    earlier: [
      {
        kind: 'code',
        name: 'D2740',
        title: 'a crown',
        benefits: { ...benefits('e'), copay: null },
        said_on: '2026-01-01',
        about: 'patient',
        inquiry_id: 'inq-0',
        representative: 'Sam',
        reference_number: 'REF-0',
      },
    ],
    does_not_apply: ['maximums.family_deductible'],
    unparsed: [{ path: 'results.x', value: 1, why: 'unknown field' }],
  });
}

const time_zone = 'America/Chicago';
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

/** The verdict of the whole record, so a field must be in its own place. */
function deliveryOf(record: EligibilityRecord): Delivery {
  const [delivery] = batchOf(1, [1]).deliveries;
  if (delivery === undefined) throw new Error('There is no example.');
  const codes = { date: '2026-11-24', birth_date: '1970-05-05', procedure_codes: ['D2740'] };
  return { ...delivery, record, verdict: judge(whole(), { ...codes, fees: {} }), notes: [] };
}

const FORMS: [name: string, page: string, write: (delivery: Delivery) => string][] = [
  [
    'CSV',
    'docs/csv.md',
    (each) => JSON.stringify(resultCells(each, { written_at: WRITING.written_at, time_zone })),
  ],
  [
    'JSON',
    'docs/json.md',
    (each) =>
      JSON.stringify(deliveryDocument({ ...each, written_at: '', connector: 'x', starts_at: '' })),
  ],
  ['PIN^I07', 'docs/hl7.md', (each) => eligibilityPin(WRITING, each).text],
  ['ORU^R01', 'docs/hl7.md', (each) => eligibilityOru(WRITING, each).text],
  [
    'FHIR',
    'docs/fhir.md',
    (delivery) => JSON.stringify(eligibilityResponse({ delivery, about: ABOUT }, null)),
  ],
  [
    'FHIR Communication',
    'docs/fhir.md',
    (delivery) => JSON.stringify(answerCommunication({ delivery, about: ABOUT })),
  ],
  [
    'show',
    'docs/verdicts.md',
    ({ record, verdict }) =>
      answerLines(record, [{ appointment: 'V', verdict }], time_zone).join('\n'),
  ],
];

describe.each(FORMS)('%s', (_name, page, write) => {
  const left_out = leftOut(page, 'Left out');

  test.each(PATHS.filter((path) => path !== 'schema'))(
    '%s is written, or its omission has a reason',
    (path) => {
      const record = whole();
      // A value that does not apply is absent from its part.
      if (path === 'does_not_apply[]') delete record.maximums?.family_deductible;
      const is_placed = write(deliveryOf(changed(record, path))) !== write(deliveryOf(record));
      const entry = left_out.find((each) => each.path === path);
      expect(is_placed || (entry?.why ?? '') !== '', `${path} is neither placed nor left out`).toBe(
        true,
      );
    },
  );
});

test('the pages list only names of fields', () => {
  for (const page of new Set(FORMS.map(([, each]) => each)))
    for (const { path } of leftOut(page, 'Left out')) expect(PATHS).toContain(path);
});
