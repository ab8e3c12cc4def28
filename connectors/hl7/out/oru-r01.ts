/**
 * ORU^R01, unsolicited observations (HL7 v2.5.1, chapter 7): an answer about eligibility or a
 * claim, one OBX a value.
 */

import {
  type EligibilitySummary,
  summarizeClaim,
  summarizeEligibility,
} from '../../../src/records/summary.ts';
import { verdictLines } from '../../../src/records/verdict/text.ts';
import type { ClaimDelivery, Delivery } from '../../contract.ts';
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
    ...values(delivery, summary)
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
    ...[...claimValues(delivery, writing.time_zone), ...codes].map(observation),
  ]);
}

function values(delivery: Delivery, summary: EligibilitySummary): Observation[] {
  const { appointment, notes, verdict } = delivery;
  return [
    ['appointment_id', '', appointment.source_id],
    ['coverage', '', String(appointment.coverage_rank)],
    ...SCALARS.map((name): Observation => [name, '', String(summary[name])]),
    ...summary.procedure_codes.map(({ code, line }): Observation => ['procedure_code', code, line]),
    ...summary.procedure_classes.map(
      ({ name, line }): Observation => ['procedure_class', name, line],
    ),
    ...(delivery.record.treatment_history?.treatments ?? []).map(
      ({ date, code }): Observation => ['treatment', date, code ?? 'unknown'],
    ),
    ...verdictLines(verdict).map(
      (text, index): Observation => ['verdict', String(index + 1), text],
    ),
    ...[...notes, ...summary.notes].map(
      (note, index): Observation => ['note', String(index + 1), note],
    ),
  ];
}

const SCALARS = [
  'status',
  'completeness',
  'active',
  'in_network',
  'plan_name',
  'plan_type',
  'effective_date',
  'termination_date',
  'individual_deductible',
  'individual_deductible_remaining',
  'family_deductible',
  'family_deductible_remaining',
  'annual_maximum',
  'annual_maximum_remaining',
  'individual_out_of_pocket_maximum',
  'individual_out_of_pocket_remaining',
  'family_out_of_pocket_maximum',
  'family_out_of_pocket_remaining',
  'pays_first',
  'referral_required',
  'provider_is_pcp',
  'confidence',
  'reference_number',
  'representative',
  'call_ended_at',
  'call_summary',
] as const satisfies readonly (keyof EligibilitySummary)[];
