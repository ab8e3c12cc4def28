/**
 * Builds PIN^I07, unsolicited insurance information (HL7 v2.5.1, chapter 11): an answer about
 * eligibility or a claim, as sentences (NTE) and as rows (the Z-segments).
 */

import { absenceSentences, type FieldKey, readFields } from '../../../src/records/fields.ts';
import { type EligibilitySummary, summarizeEligibility } from '../../../src/records/summary.ts';
import { verdictLines } from '../../../src/records/verdict/text.ts';
import type { ClaimDelivery, Delivery } from '../../contract.ts';
import { writeInstant } from '../v2/times.ts';
import { claimValues } from './claim-values.ts';
import { at, compose, type Outgoing, segment, type Writing } from './outbound.ts';
import { insurance, type Note, notesOf, pid, prd, words } from './segments.ts';
import { claimRowsOf, rowsOf } from './z-segments.ts';

const FORM = { type: 'PIN', trigger: 'I07', structure: 'RQI_I01' };

export function eligibilityPin(writing: Writing, delivery: Delivery): Outgoing {
  const { appointment, record, verdict } = delivery;
  const summary = summarizeEligibility(record, verdict);
  return compose(writing, FORM, delivery, [
    prd(appointment.location),
    pid(appointment.patient),
    ...insurance(delivery, summary, writing.time_zone),
    ...notesOf(sentences(delivery, summary, writing.time_zone)),
    ...rowsOf(delivery),
  ]);
}

export function claimPin(writing: Writing, delivery: ClaimDelivery): Outgoing {
  const { claim } = delivery;
  const notes = claimValues(delivery, writing.time_zone).map(
    ([name, , text]): Note => [name.toUpperCase(), words(name), text],
  );
  return compose(writing, FORM, delivery, [
    prd(claim.location),
    pid(claim.patient),
    claimInsurance(delivery),
    ...notesOf(notes),
    ...claimRowsOf(delivery),
  ]);
}

function sentences(delivery: Delivery, summary: EligibilitySummary, time_zone: string): Note[] {
  const { appointment, record, revision, notes, verdict } = delivery;
  return [
    ['APPT', 'Appointment', appointment.source_id],
    ['START', 'Start of the appointment', writeInstant(appointment.starts_at, time_zone)],
    ...verdictLines(verdict).map((text): Note => ['VERDICT', 'Verdict', text]),
    ['STATUS', 'Outcome of the inquiry', `${summary.status}, ${summary.completeness}`],
    ['INQUIRY', 'Inquiry', record.inquiry_id],
    ['REVISION', 'Revision', String(revision)],
    ['OUTCOME', 'How the call ended', summary.outcome],
    ['SPECIALTY', 'Specialty', record.specialty],
    ['QUESTIONS', 'What was asked', summary.questions],
    ['SCRIPT', 'Call script', summary.call_script],
    ['ASKED', 'When it was asked', instantText(record.inquiry_created_at ?? '', time_zone)],
    ...readFields(record)
      .filter(({ absence }) => absence === null || absence === 'not_answered')
      .map(({ key, label, text }): Note => [NOTE_CODES[key] ?? key.toUpperCase(), label, text]),
    ['CALLREF', 'Reference number of the call', summary.reference_number],
    ['REP', 'Representative', summary.representative],
    ['CALLED', 'End of the call', instantText(summary.call_ended_at, time_zone)],
    ['RECORDINGS', 'Recordings', summary.recordings],
    ['TRANSCRIPTS', 'Transcripts', summary.transcripts],
    ['SUMMARY', 'Summary of the call', summary.call_summary],
    ['CONFIDENCE', 'Confidence by the checks of the call', summary.confidence],
    ...[...notes, ...summary.notes].map((note): Note => ['NOTE', 'Note', note]),
    ...absenceSentences(record).map((text): Note => ['NOT_KNOWN', 'Not known', text]),
  ];
}

const instantText = (at: string, time_zone: string) =>
  at === '' || at === 'unknown' ? at : writeInstant(at, time_zone);

/** Codes that are older than the keys of these fields. */
const NOTE_CODES: Readonly<Partial<Record<FieldKey, string>>> = {
  in_network: 'NETWORK',
  pays_first: 'PRIMARY',
  referral_required: 'REFERRAL',
  provider_is_pcp: 'PCP',
};

function claimInsurance({ claim }: ClaimDelivery): string {
  const { payor_id, carrier, group_id, member_id } = claim.coverage;
  return segment(
    'IN1',
    ...at({
      1: '1',
      3: payor_id,
      4: carrier,
      8: group_id,
      22: String(claim.coverage_rank),
      36: member_id,
    }),
  );
}
