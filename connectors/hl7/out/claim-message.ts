/**
 * What a payer said about a claim as a message: PIN^I07 with ZCM rows, or ORU^R01 with an OBX a
 * value.
 */
import type { ClaimCode } from '../../../src/records/claim-status.ts';
import type { Money } from '../../../src/records/parts.ts';
import { type ClaimSummary, summarizeClaim } from '../../../src/records/summary.ts';
import type { ClaimDelivery, ConnectorEnv } from '../../contract.ts';
import type { Hl7Config } from '../config.ts';
import { writeInstant } from '../v2/times.ts';
import { at, compose, type Field, segment } from './outbound.ts';
import { OURS, type Outgoing, pidOf } from './write-back.ts';

/**
 * The fields of ZCM in their order, described in README.md. New ones are only ever added at the
 * end.
 */
export const CLAIM_ROW_FIELDS = [
  'set_id',
  'claim_id',
  'delivery_key',
  'code',
  'answered',
  'paid',
  'patient_responsibility',
  'applied_to_deductible',
  'denial_reason',
  'appeal_info',
  'adjustment',
] as const;

/**
 * `written_at`: when the batch was made. The same delivery of the same batch gives the same bytes.
 */
export function claimMessageFor(
  config: Hl7Config,
  env: ConnectorEnv,
  delivery: ClaimDelivery,
  written_at: string,
): Outgoing {
  const values = valuesOf(delivery, env.time_zone);
  const pid = pidOf(delivery.claim.patient);
  if (config.write_back === 'oru_r01') {
    const form = { type: 'ORU', trigger: 'R01', structure: 'ORU_R01' };
    const codes = summarizeClaim(delivery.record).codes.map(
      ({ code, line }): Value => ['procedure_code', code, line],
    );
    const rows = [...values, ...codes].map(observation);
    return compose(config, form, delivery, written_at, env.time_zone, [
      pid,
      order(delivery, env.time_zone),
      ...rows,
    ]);
  }
  const form = { type: 'PIN', trigger: 'I07', structure: 'RQI_I01' };
  const notes = values
    .filter(([, , text]) => text !== '')
    .map(([name, , text], index) =>
      segment('NTE', String(index + 1), 'L', text, [name.toUpperCase(), words(name), OURS]),
    );
  const prd = segment('PRD', ['RT', 'Referred to Provider', 'HL70286'], null, null, [
    null,
    null,
    null,
    delivery.claim.location,
  ]);
  const segments = [prd, pid, insurance(delivery), ...notes, ...codeRows(delivery)];
  return compose(config, form, delivery, written_at, env.time_zone, segments);
}

/** [name, sub-id, text] */
type Value = [name: string, sub_id: string, text: string];

const SCALARS = [
  'claim_status',
  'said_status',
  'received_on',
  'processed_on',
  'paid_on',
  'processed_up_to',
  'turnaround',
  'status',
  'completeness',
  'confidence',
  'reference_number',
  'representative',
  'call_summary',
] as const satisfies readonly (keyof ClaimSummary)[];

function valuesOf({ claim, record, revision, notes }: ClaimDelivery, time_zone: string): Value[] {
  const summary = summarizeClaim(record);
  const ended = summary.call_ended_at;
  return [
    ['claim_id', '', claim.source_id],
    ['date_of_service', '', claim.date_of_service ?? ''],
    ['payer_claim_number', '', summary.claim_number],
    ...SCALARS.map((name): Value => [name, '', summary[name]]),
    ['called_at', '', ended === '' || ended === 'unknown' ? ended : writeInstant(ended, time_zone)],
    ['inquiry', '', record.inquiry_id],
    ['revision', '', String(revision)],
    ...[...notes, ...summary.notes].map((note, index): Value => ['note', String(index + 1), note]),
  ];
}

const words = (name: string) => name.replaceAll('_', ' ');

function order({ key, record }: ClaimDelivery, time_zone: string): string {
  const called = record.calls.at(-1)?.ended_at;
  const when = called == null ? null : writeInstant(called, time_zone);
  const fields = {
    1: '1',
    3: [key, 'ELIGD'],
    4: ['CLAIM', 'Claim status', OURS],
    7: when,
    22: when,
  };
  return segment('OBR', ...at({ ...fields, 25: record.status === 'SUCCESS' ? 'F' : 'X' }));
}

/**
 * What was asked and not answered has the status X and no value; what was not asked has no segment
 * (G8).
 */
function observation([name, sub_id, text]: Value, index: number): string {
  const is_unknown = text === 'unknown' || text === '';
  const fields: Record<number, Field> = {
    1: String(index + 1),
    2: 'ST',
    3: [name, words(name), OURS],
    4: sub_id,
  };
  return segment(
    'OBX',
    ...at({ ...fields, 5: is_unknown ? null : text, 11: is_unknown ? 'X' : 'F' }),
  );
}

function insurance({ claim }: ClaimDelivery): string {
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

function codeRows({ key, claim, record }: ClaimDelivery): string[] {
  return record.claim.codes.map((code, index) => {
    const row: Record<(typeof CLAIM_ROW_FIELDS)[number], Field> = {
      set_id: String(index + 1),
      claim_id: claim.source_id,
      delivery_key: key,
      ...codeFields(code),
    };
    return segment('ZCM', ...CLAIM_ROW_FIELDS.map((name) => row[name]));
  });
}

function codeFields(entry: ClaimCode) {
  const amount = (money: Money | null) =>
    money === null ? 'U' : 'text' in money ? money.text : money.amount;
  return {
    code: entry.code,
    answered: entry.answered ? 'Y' : 'N',
    paid: amount(entry.paid),
    patient_responsibility: amount(entry.patient_responsibility),
    applied_to_deductible: amount(entry.applied_to_deductible),
    denial_reason: entry.denial_reason,
    appeal_info: entry.appeal_info,
    adjustment: entry.adjustment,
  };
}
