import type { Narrative } from '@medplum/fhirtypes';
import type { EligibilityRecord } from '../../../src/records/eligibility.ts';
import { estimateSentences } from '../../../src/records/estimate.ts';
import { type EligibilitySummary, summarizeEligibility } from '../../../src/records/summary.ts';
import type { Delivery } from '../../contract.ts';

/** What a person reads first: in one line, for lists. */
export function disposition(record: EligibilityRecord): string {
  if (record.status !== 'SUCCESS') return `The inquiry ended as ${record.status}; nothing is known about the coverage.`;
  const { active } = summarizeEligibility(record);
  const words: Record<string, string> = { yes: 'Coverage is active.', no: 'Coverage is not active.' };
  const whole = record.completeness === 'complete' ? '' : ' Not everything that was asked was answered.';
  return `${words[active] ?? 'Whether the coverage is active is unknown.'}${whole}`;
}

const LINES: [keyof EligibilitySummary, string][] = [
  ['active', 'Active'],
  ['plan_name', 'Plan'],
  ['plan_type', 'Plan type'],
  ['in_network', 'In network'],
  ['effective_date', 'Effective'],
  ['termination_date', 'Ends'],
  ['annual_maximum', 'Maximum'],
  ['annual_maximum_remaining', 'Maximum remaining'],
  ['individual_deductible', 'Individual deductible'],
  ['individual_deductible_remaining', 'Individual deductible remaining'],
  ['family_deductible', 'Family deductible'],
  ['family_deductible_remaining', 'Family deductible remaining'],
  ['individual_out_of_pocket_maximum', 'Individual out-of-pocket maximum'],
  ['individual_out_of_pocket_remaining', 'Individual out-of-pocket remaining'],
  ['family_out_of_pocket_maximum', 'Family out-of-pocket maximum'],
  ['family_out_of_pocket_remaining', 'Family out-of-pocket remaining'],
  ['pays_first', 'Pays first'],
  ['referral_required', 'Referral required'],
  ['provider_is_pcp', 'Provider is the primary care provider'],
  ['confidence', 'Confidence by the checks of the call'],
  ['call_ended_at', 'Call ended'],
  ['representative', 'Representative'],
  ['reference_number', 'Reference number'],
];

/** The whole record as lines of `name: value`, the way a front desk reads it. `notes` are the core's own remarks. */
export function lines({ record, notes, estimates }: Delivery): string[] {
  const summary = summarizeEligibility(record);
  const named = LINES.flatMap(([key, name]) => (summary[key] === '' ? [] : [`${name}: ${String(summary[key])}`]));
  return [
    disposition(record),
    ...notes,
    ...named,
    ...summary.procedure_classes.map(({ name, line }) => `${name}: ${line}`),
    ...summary.procedure_codes.map(({ code, line }) => `${code}: ${line}`),
    // Several visits may stand on one answer.
    ...estimates.slice(0, 1).map(({ date }) => `For the visit of ${date}:`),
    ...estimateSentences(estimates),
    ...(summary.call_summary === '' ? [] : [`Summary of the call: ${summary.call_summary}`]),
    ...summary.notes,
  ];
}

export function narrative(delivery: Delivery): Narrative {
  const list = lines(delivery).map((line) => `<li>${escapeXml(line)}</li>`);
  return { status: 'generated', div: `<div xmlns="http://www.w3.org/1999/xhtml"><ul>${list.join('')}</ul></div>` };
}

/** XML 1.0 has no place for control characters, whatever the payer's words hold. */
export function escapeXml(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
  );
}
