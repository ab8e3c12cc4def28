/**
 * Every field of a claim record is in every output of eligd, or the connector's page lists it under
 * "Left out of claims" with the reason.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { claimBatchOf } from '../../connectors/conformance/examples.ts';
import type { ClaimDelivery } from '../../connectors/contract.ts';
import { claimCells } from '../../connectors/csv/outbox.ts';
import { claimCommunication, claimResponse } from '../../connectors/fhir/write/claim-response.ts';
import { hl7ConfigSchema } from '../../connectors/hl7/config.ts';
import { claimOru } from '../../connectors/hl7/out/oru-r01.ts';
import type { Writing } from '../../connectors/hl7/out/outbound.ts';
import { claimPin } from '../../connectors/hl7/out/pin-i07.ts';
import { answerLines } from '../../src/cli/answer-text.ts';
import { CLAIM_PATHS } from '../../src/records/claim-fields.ts';
import { type ClaimStatusRecord, claimStatusRecordSchema } from '../../src/records/claim-status.ts';
import { CALL_FIELDS } from '../support/call-fields.ts';
import { changed, type JsonSchema, leftOut, pathsOf } from './fields.ts';

const schema = z.toJSONSchema(claimStatusRecordSchema, { unrepresentable: 'any' }) as JsonSchema;
const PATHS = pathsOf(schema);

test('the list of fields in the code matches the schema of the record', () => {
  expect(CLAIM_PATHS.toSorted()).toEqual(PATHS.toSorted());
});

const money = (amount: string) => ({ amount, currency: 'USD' });

/** A record in which everything has a value. */
function whole(): ClaimStatusRecord {
  return claimStatusRecordSchema.parse({
    schema: 'eligd.claim/1',
    inquiry_id: 'inq-1',
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    outcome: 'successful',
    status: 'SUCCESS',
    completeness: 'complete',
    summary: 'All well.',
    asked: {
      claim_number: 'OURS-1',
      date_of_service: '2026-01-01',
      procedure_codes: ['D2740'],
      billed_amount: money('1200.00'),
    },
    ...CALL_FIELDS,
    claim: {
      answered: true,
      status: 'paid',
      said_status: 'PAID',
      number: 'THEIRS-1',
      received_on: '2026-01-01',
      processed_on: '2026-01-01',
      paid_on: '2026-01-01',
      processed_up_to: '2026-01-01',
      turnaround: '30 days',
      codes: [
        {
          code: 'D2740',
          said_as: '2740',
          asked: true,
          answered: true,
          paid: money('500.00'),
          patient_responsibility: money('100.00'),
          applied_to_deductible: money('50.00'),
          adjustment: 'contract',
          denial_reason: 'none',
          appeal_info: 'by mail',
        },
      ],
    },
    unparsed: [{ path: 'results.x', value: 1, why: 'unknown field' }],
  });
}

const time_zone = 'America/Chicago';
const written_at = '2026-11-23T18:00:00.000Z';
const WRITING: Writing = {
  config: hl7ConfigSchema.parse({ listen: '127.0.0.1:1', write_back: 'none' }),
  time_zone,
  written_at,
};
const reference = (name: string) => ({ reference: name }) as never;
const ABOUT = {
  identifier: { system: 'urn:x', value: 'C' },
  patient: reference('Patient/1'),
  coverage: reference('Coverage/1'),
  insurer: reference('Organization/1'),
  subject: reference('Claim/1'),
  batch_created_at: written_at,
  time_zone,
};
/** The Claim on the server, with the code that was answered. */
const CLAIM = {
  resourceType: 'Claim',
  item: [{ sequence: 1, productOrService: { coding: [{ code: 'D2740' }] } }],
};

function deliveryOf(record: ClaimStatusRecord): ClaimDelivery {
  const [delivery] = claimBatchOf(1, [1]).deliveries;
  if (delivery === undefined) throw new Error('There is no example.');
  return { ...delivery, record, notes: [] };
}

const FORMS: [name: string, page: string, write: (delivery: ClaimDelivery) => string][] = [
  ['CSV', 'docs/csv.md', (each) => JSON.stringify(claimCells(each, { written_at, time_zone }))],
  ['PIN^I07', 'docs/hl7.md', (each) => claimPin(WRITING, each).text],
  ['ORU^R01', 'docs/hl7.md', (each) => claimOru(WRITING, each).text],
  [
    'FHIR',
    'docs/fhir.md',
    (delivery) => JSON.stringify(claimResponse({ delivery, about: ABOUT }, CLAIM)),
  ],
  [
    'FHIR Communication',
    'docs/fhir.md',
    (delivery) => JSON.stringify(claimCommunication({ delivery, about: ABOUT })),
  ],
  ['show', 'docs/verdicts.md', ({ record }) => answerLines(record, [], time_zone).join('\n')],
];

const HEADING = 'Left out of claims';

describe.each(FORMS)('%s', (_name, page, write) => {
  const left_out = leftOut(page, HEADING);

  test.each(PATHS.filter((path) => path !== 'schema'))(
    '%s is written, or its omission has a reason',
    (path) => {
      const is_placed = write(deliveryOf(changed(whole(), path))) !== write(deliveryOf(whole()));
      const entry = left_out.find((each) => each.path === path);
      expect(is_placed || (entry?.why ?? '') !== '', `${path} is neither placed nor left out`).toBe(
        true,
      );
    },
  );
});

test('the pages list only names of fields', () => {
  for (const page of new Set(FORMS.map(([, each]) => each))) {
    expect(leftOut(page, HEADING), page).not.toEqual([]);
    for (const { path } of leftOut(page, HEADING)) expect(PATHS).toContain(path);
  }
});
