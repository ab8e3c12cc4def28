/**
 * Builds ORU^R01, unsolicited observations (HL7 v2.5.1, chapter 7): an answer about eligibility or
 * a claim, with one OBX for each value.
 */

import { absenceSentences, RECORD_FIELDS } from '../../../src/records/fields.ts';
import {
  type EligibilitySummary,
  summarizeClaim,
  summarizeEligibility,
} from '../../../src/records/summary.ts';
import { verdictLines } from '../../../src/records/verdict/text.ts';
import type { ClaimDelivery, Delivery } from '../../contract.ts';
import { writeInstant } from '../v2/times.ts';
import { claimValues } from './claim-values.ts';
import { compose, type Outgoing, type Writing } from './outbound.ts';
import { calledAt, type Observation, observation, pid, request } from './segments.ts';

const FORM = { type: 'ORU', trigger: 'R01', structure: 'ORU_R01' };

export function eligibilityOru(writing: Writing, delivery: Delivery): Outgoing {
  const summary = summarizeEligibility(delivery.record, delivery.verdict);
  const called = calledAt(summary, writing.time_zone);
  return compose(writing, FORM, delivery, [
    pid(delivery.appointment.patient),
    request(delivery, ['ELIGIBILITY', 'Insurance eligibility'], called),
    ...values(delivery, summary, writing.time_zone)
      .filter(([, , text]) => text !== '')
      .map(observation),
  ]);
}

export function claimOru(writing: Writing, delivery: ClaimDelivery): Outgoing {
  const summary = summarizeClaim(delivery.record);
  const codes = summary.codes.map(({ code, line }): Observation => ['procedure_code', code, line]);
  return compose(writing, FORM, delivery, [
    pid(delivery.claim.patient),
    request(delivery, ['CLAIM', 'Claim status'], calledAt(summary, writing.time_zone)),
    ...[...claimValues(delivery, writing.time_zone), ...codes]
      // Questions that were not asked have no segment.
      .filter(([, , text]) => text !== '')
      .map(observation),
  ]);
}

function values(delivery: Delivery, summary: EligibilitySummary, time_zone: string): Observation[] {
  const { appointment, record, revision, notes, verdict } = delivery;
  const time = (at: string | null) =>
    at === null || at === '' || at === 'unknown' ? (at ?? '') : writeInstant(at, time_zone);
  const numbered = (name: string, texts: readonly string[]) =>
    texts.map((text, index): Observation => [name, String(index + 1), text]);
  return [
    ['appointment_id', '', appointment.source_id],
    ['coverage', '', String(appointment.coverage_rank)],
    ...numbered('verdict', verdictLines(verdict)),
    ['inquiry', '', record.inquiry_id],
    ['asked_at', '', time(record.inquiry_created_at)],
    ['revision', '', String(revision)],
    ['specialty', '', record.specialty],
    ...HEAD.map((name): Observation => [name, '', summary[name]]),
    ...RECORD_FIELDS.map(([name]): Observation => [name, '', summary[name]]),
    ...summary.procedure_codes.map(({ code, line }): Observation => ['procedure_code', code, line]),
    ...summary.procedure_classes.map(
      ({ name, line }): Observation => ['procedure_class', name, line],
    ),
    ...summary.treatments.map(({ date, line }): Observation => ['treatment', date, line]),
    ...CALL.map((name): Observation => [name, '', summary[name]]),
    ['call_ended_at', '', time(summary.call_ended_at)],
    ...numbered('note', [...notes, ...summary.notes]),
    ...numbered('not_known', absenceSentences(record)),
  ];
}

const HEAD = [
  'outcome',
  'status',
  'completeness',
  'confidence',
  'questions',
  'call_script',
] as const satisfies readonly (keyof EligibilitySummary)[];
const CALL = [
  'reference_number',
  'representative',
  'recordings',
  'transcripts',
  'call_summary',
] as const satisfies readonly (keyof EligibilitySummary)[];
