/**
 * Returns the values of a payer's answer about a claim, for each message that has a field for them.
 */
import { type ClaimSummary, summarizeClaim } from '../../../src/records/summary.ts';
import type { ClaimDelivery } from '../../contract.ts';
import { writeInstant } from '../v2/times.ts';
import type { Observation } from './segments.ts';

const SCALARS = [
  'claim_status',
  'said_status',
  'received_on',
  'processed_on',
  'paid_on',
  'processed_up_to',
  'turnaround',
  'outcome',
  'status',
  'completeness',
  'questions',
  'confidence',
  'reference_number',
  'representative',
  'call_summary',
  'recordings',
  'transcripts',
] as const satisfies readonly (keyof ClaimSummary)[];

/** A question without an answer is "unknown"; a question that was not asked is "" (G8). */
export function claimValues(
  { claim, record, revision, notes }: ClaimDelivery,
  time_zone: string,
): Observation[] {
  const summary = summarizeClaim(record);
  const ended = summary.call_ended_at;
  return [
    ['claim_id', '', claim.source_id],
    ['date_of_service', '', claim.date_of_service ?? ''],
    ['payer_claim_number', '', summary.claim_number],
    ...SCALARS.map((name): Observation => [name, '', summary[name]]),
    ['called_at', '', instant(ended, time_zone)],
    ['specialty', '', record.specialty],
    ['asked_at', '', instant(record.inquiry_created_at ?? 'unknown', time_zone)],
    ['inquiry', '', record.inquiry_id],
    ['revision', '', String(revision)],
    ...[...notes, ...summary.notes].map(
      (note, index): Observation => ['note', String(index + 1), note],
    ),
  ];
}

const instant = (at: string, time_zone: string) =>
  at === '' || at === 'unknown' ? at : writeInstant(at, time_zone);
