import {
  type EligibilityRecord,
  eligibilityRecordSchema,
} from '../../../src/records/eligibility.ts';

/** A record with every kind of value: known, words, unknown, and not asked. */
export function fullRecord(): EligibilityRecord {
  return eligibilityRecordSchema.parse({
    schema: 'eligd.eligibility/1',
    inquiry_id: 'inq-1',
    inquiry_created_at: '2026-11-20T15:00:00.000Z',
    specialty: 'dental',
    outcome: 'successful',
    status: 'SUCCESS',
    completeness: 'partial',
    summary: 'All | is ^ well.',
    asked: { benefits_query: ['STANDARD'], benefits_codes: ['D1110', 'D0120'] },
    calls: [
      {
        ended_at: '2026-11-22T15:00:00.000Z',
        representative: 'Pat',
        reference_number: 'REF-1',
        recording_url: null,
        transcript_url: null,
        has_transcript: false,
      },
    ],
    verification: null,
    plan: {
      answered: true,
      is_active: true,
      plan_name: 'PPO Plus',
      plan_type: null,
      is_provider_in_network: null,
    },
    maximums: {
      answered: true,
      individual_deductible: {
        amount: { amount: '50.00', currency: 'USD' },
        used: null,
        remaining: null,
      },
      coverage_limit: { amount: { text: 'unlimited | "none"' }, used: null, remaining: null },
    },
    procedure_classes: {
      answered: true,
      classes: [{ name: 'DIAGNOSTIC', answered: true, benefits: { is_covered: false } }],
    },
    procedure_codes: {
      answered: true,
      codes: [
        {
          code: 'D1110',
          name: null,
          asked: true,
          answered: true,
          benefits: {
            is_covered: true,
            plan_pays_percent: 100,
            frequency_limitations: '2 per year',
          },
        },
        { code: 'D0120', name: null, asked: true, answered: false, benefits: { is_covered: null } },
      ],
    },
    treatment_history: {
      answered: true,
      treatments: [
        { date: '2026-01-05', code: 'D1110', teeth: ['3', '14'], surfaces: null, quadrants: null },
      ],
    },
    unparsed: [],
  });
}
