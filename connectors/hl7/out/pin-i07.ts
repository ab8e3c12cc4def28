/**
 * PIN^I07, unsolicited insurance information (HL7 v2.5.1, chapter 11): an answer about eligibility
 * or a claim, as sentences (NTE) and as rows (the Z-segments).
 */

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
    ['ACTIVE', 'Coverage active', summary.active],
    ['NETWORK', 'In network', summary.in_network],
    ['CALLREF', 'Reference number of the call', summary.reference_number],
    ['REP', 'Representative', summary.representative],
    ['SUMMARY', 'Summary of the call', summary.call_summary],
    ['PRIMARY', 'Pays first', summary.pays_first],
    ['REFERRAL', 'Referral required', summary.referral_required],
    ['PCP', 'Provider is the primary care provider', summary.provider_is_pcp],
    ['CONFIDENCE', 'Confidence by the checks of the call', summary.confidence],
    ...[...notes, ...summary.notes].map((note): Note => ['NOTE', 'Note', note]),
  ];
}

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
