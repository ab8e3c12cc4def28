import { describe, expect, it } from 'vitest';
import { summarizeEligibility } from '../../src/records/summary.ts';
import { recordOf } from './answers.ts';

const summaryOf = (...args: Parameters<typeof recordOf>) => summarizeEligibility(recordOf(...args));
const asked = (benefits_query: string[], benefits_codes: string[] = []) => ({
  benefits_query,
  benefits_codes,
});

describe('the summary of a record', () => {
  it('the summary has the front desk’s values as text', () => {
    const summary = summaryOf(
      {
        call_details: [
          {
            call_end_time: '2026-11-20T15:30:00Z',
            reference_number: 'R-1',
            representative_name: 'Dana',
          },
          {
            call_end_time: '2026-11-20T09:00:00Z',
            reference_number: 'R-2',
            representative_name: 'Dana',
          },
        ],
        plan_information: { is_active: true, is_provider_in_network: 'N', plan_name: 'Gold' },
        maximums: {
          individual_deductible: 50,
          individual_deductible_used: 20,
          coverage_limit: 'unlimited',
        },
      },
      { asked: asked(['DEDUCTIBLES_AND_MAXIMUMS']), inquiry: { summary: 'All well.' } },
    );
    expect(summary).toMatchObject({
      status: 'SUCCESS',
      completeness: 'complete',
      active: 'yes',
      in_network: 'no',
      plan_name: 'Gold',
      individual_deductible: '50.00',
      individual_deductible_remaining: '30.00',
      annual_maximum: 'unlimited',
      reference_number: 'R-1, R-2',
      representative: 'Dana',
      call_ended_at: '2026-11-20T15:30:00.000Z',
      call_summary: 'All well.',
    });
  });

  it('unanswered values are "unknown", and values without a question are empty', () => {
    const summary = summaryOf(null, { asked: asked(['DEDUCTIBLES_AND_MAXIMUMS']) });
    expect(summary).toMatchObject({
      active: 'unknown',
      plan_name: 'unknown',
      individual_deductible_remaining: 'unknown',
      annual_maximum_remaining: 'unknown',
      // Of another specialty.
      individual_out_of_pocket_remaining: 'does not apply',
      reference_number: '',
      call_ended_at: '',
      notes: ['The answer holds nothing that could be read.'],
    });
    expect(summaryOf(null)).toMatchObject({
      individual_deductible_remaining: '',
      annual_maximum: '',
    });
    expect(summaryOf({ call_details: [{}] })).toMatchObject({
      reference_number: 'unknown',
      call_ended_at: 'unknown',
    });
  });

  it('each code has a line, and an unanswered one never reads as not covered', () => {
    const { procedure_codes } = summaryOf(
      {
        procedure_codes: [
          [
            { procedure_code: 'D1110' },
            { is_covered: true, coverage_percentage: '80%', frequency_limitations: '2 per year' },
          ],
          [{ procedure_code: 'D6010' }, { is_covered: false, more_info: 'not before 2027' }],
          [{ procedure_code: 'D2740' }, { is_downgraded: true, downgraded_info: 'to D2751' }],
        ],
      },
      {
        asked: asked(['CODE_LOOKUP_BENEFITS', 'CODE_LOOKUP_FREQUENCIES'], ['1110', '2740', '0120']),
      },
    );
    expect(procedure_codes).toEqual([
      {
        code: 'D1110',
        line: 'covered; plan pays 80%; prior authorization unknown; frequency "2 per year"',
      },
      { code: 'D6010', line: 'not covered; more "not before 2027"' },
      {
        code: 'D2740',
        line:
          'coverage unknown; plan pays unknown; prior authorization unknown; no ' +
          'frequency limit named; downgraded; downgrade "to D2751"',
      },
      { code: 'D0120', line: 'unknown' },
    ]);
  });

  it('words instead of a number are quoted without saying whose share they are', () => {
    const { procedure_classes } = summaryOf(
      {
        procedure_classes: {
          OFFICE: {
            copay_amount: '25',
            coinsurance_percentage: '80/20',
            is_deductible_waived: false,
          },
        },
      },
      { specialty: 'medical' },
    );
    expect(procedure_classes).toEqual([
      { name: 'OFFICE', line: 'coinsurance "80/20"; copay 25.00; deductible applies' },
    ]);
  });

  it('the summary has notes for the office', () => {
    const { notes } = summaryOf(
      {
        plan_information: {
          has_other_insurance: true,
          is_primary_insurance: false,
          network_tier: 'B',
          custom_answers: { Rollover: '250' },
        },
        extra_info: { waiting_periods: '6 months' },
      },
      { inquiry: { status: 'UNSUCCESSFUL' } },
    );
    expect(notes).toEqual([
      'The call got no answer.',
      'The insurance company says that this coverage does not pay first.',
      'The insurance company knows of other insurance.',
      'Waiting periods: 6 months',
      'Rollover: 250',
      'Also said (unknown field): results.plan_information.network_tier = "B"',
    ]);
  });

  it('the summary counts the notes after the twentieth', () => {
    const fields = Object.fromEntries(
      Array.from({ length: 23 }, (_, index) => [`new_${index}`, 'x'.repeat(500)]),
    );
    const { notes } = summaryOf({ plan_information: { ...fields, is_active: true } });
    expect(notes).toHaveLength(21);
    expect(notes[0]!.length).toBeLessThan(320);
    expect(notes.at(-1)).toBe('And 3 more under "unparsed" in the full record.');
  });
});
