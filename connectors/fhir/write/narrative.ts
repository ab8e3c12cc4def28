import type { Narrative } from '@medplum/fhirtypes';
import { wallClockText } from '../../../src/domain/time.ts';
import { absenceSentences, readFields } from '../../../src/records/fields.ts';
import { OUTCOME_SENTENCES, summarizeEligibility } from '../../../src/records/summary.ts';
import { verdictLines } from '../../../src/records/verdict/text.ts';
import { holdsAt } from '../../../src/records/verdict.ts';
import type { Delivery } from '../../contract.ts';

/** Returns the first line of the text, for lists. */
export function disposition({ record, verdict }: Delivery): string {
  if (record.outcome !== 'successful')
    return `${OUTCOME_SENTENCES[record.outcome]} Nothing is known about the coverage.`;
  const holds = holdsAt(record, verdict);
  const active =
    holds === null
      ? 'Whether the coverage is active is unknown.'
      : `Coverage is ${holds ? '' : 'not '}active.`;
  const whole = record.completeness === 'complete' ? '' : ' Some questions were not answered.';
  return `${active}${whole}`;
}

type Line = [name: string, value: string];

/**
 * Formats the whole record as lines of `name: value` for a front desk. `notes` are the core's own
 * remarks.
 */
export function lines(delivery: Delivery, time_zone: string): string[] {
  const { record, notes, verdict } = delivery;
  const summary = summarizeEligibility(record, verdict);
  const { call_ended_at, questions, call_script } = summary;
  const calls: Line[] = [
    ['Call ended', wallClockText(call_ended_at, time_zone)],
    ['Representative', summary.representative],
    ['Reference number', summary.reference_number],
    ['Recordings', summary.recordings],
    ['Transcripts', summary.transcripts],
    ['Confidence by the checks of the call', summary.confidence],
    ['Summary of the call', summary.call_summary],
    ['Inquiry', `${record.inquiry_id}, revision ${delivery.revision}`],
    ['Asked', questions],
    ['Call script', call_script],
    ['Asked at', wallClockText(record.inquiry_created_at ?? '', time_zone)],
    ['Status', `${record.status} (${record.specialty})`],
  ];
  const benefits: Line[] = [
    ...readFields(record)
      .filter(({ absence }) => absence === null || absence === 'not_answered')
      .map(({ label, text }): Line => [label, text]),
    ...summary.procedure_classes.map(({ name, line }): Line => [name, line]),
    ...summary.procedure_codes.map(({ code, line }): Line => [code, line]),
    ...summary.treatments.map(
      ({ date, line }): Line => [date === '' ? 'Treatment history' : `Treatment on ${date}`, line],
    ),
  ];
  const written = (named: readonly Line[]) => named.map(([name, value]) => `${name}: ${value}`);
  return [
    ...verdictLines(verdict),
    disposition(delivery),
    ...notes,
    ...written(benefits),
    ...written(calls.filter(([, value]) => value !== '')),
    ...summary.notes,
    ...absenceSentences(record),
  ];
}

export function narrative(delivery: Delivery, time_zone: string): Narrative {
  const list = lines(delivery, time_zone).map((line) => `<li>${escapeXml(line)}</li>`);
  return {
    status: 'generated',
    div: `<div xmlns="http://www.w3.org/1999/xhtml"><ul>${list.join('')}</ul></div>`,
  };
}

function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
