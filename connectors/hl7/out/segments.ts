/**
 * The segments that the messages share: PID, PRD, IN1 to IN3, NTE, OBR, and OBX (HL7 v2.5.1,
 * chapters 3, 11, 6, 2, and 7).
 */

import type { Patient } from '../../../src/domain/appointment.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { EligibilityRecord } from '../../../src/records/eligibility.ts';
import type { EligibilitySummary } from '../../../src/records/summary.ts';
import { holdsAt, type Verdict } from '../../../src/records/verdict.ts';
import type { Delivery } from '../../contract.ts';
import { writeInstant } from '../v2/times.ts';
import { rawField, segmentsOf } from './as-written.ts';
import { at, type Field, segment } from './outbound.ts';

/** The coding system of eligd's own codes. */
export const OURS = '99ELIGD';

export function pid(patient: Patient): string {
  const { id, last_name, first_name, birth_date } = patient;
  return segment(
    'PID',
    ...at({
      1: '1',
      3: [id, null, null, null, 'MR'],
      5: [last_name, first_name],
      7: day(birth_date),
    }),
  );
}

export function prd(location: string | null): string {
  const role = ['RT', 'Referred to Provider', 'HL70286'];
  return segment('PRD', role, null, null, [null, null, null, location]);
}

/**
 * Builds IN1, IN2, and IN3. Unknown fields have no value, which changes nothing at the receiver
 * (G8).
 */
export function insurance(
  { appointment, record, verdict }: Delivery,
  summary: EligibilitySummary,
  time_zone: string,
): string[] {
  const { coverage, coverage_rank } = appointment;
  const { subscriber } = coverage;
  const { plan } = record;
  const called = calledAt(summary, time_zone);
  const own = segmentsOf(coverage);
  /** Keeps the PMS's own form: a name in its parts, a code of its own tables. */
  const asWritten = (number: number, otherwise: Field): Field => {
    const raw = rawField(own, 'IN1', number);
    return raw === null ? otherwise : { raw };
  };
  const fields: Record<number, Field> = {
    1: '1',
    2: asWritten(2, [plan?.plan_type ?? null, plan?.plan_name ?? null]),
    3: coverage.payor_id,
    4: coverage.carrier,
    8: coverage.group_id,
    12: day(plan?.effective_date),
    13: day(plan?.termination_date),
    15: plan?.plan_type ?? null,
    16: asWritten(16, subscriber === null ? null : subscriberName(subscriber.name)),
    17: asWritten(17, subscriber === null ? 'SEL' : subscriber.relationship),
    18: asWritten(18, day(subscriber?.birth_date)),
    22: String(coverage_rank),
    25: activeFlag(record, verdict),
    26: called?.slice(0, 8) ?? null,
    29: called,
    30: summary.representative === 'unknown' ? null : [null, summary.representative],
    36: coverage.member_id,
  };
  const reference = summary.reference_number === 'unknown' ? '' : summary.reference_number;
  return [
    segment('IN1', ...at(fields)),
    segment('IN2', ...at({ 61: coverage.member_id })),
    segment('IN3', ...at({ 1: '1', 2: reference, 6: called })),
  ];
}

/** Returns whether the coverage is active at the visit (table 0136); null: unknown. */
export function activeFlag(record: EligibilityRecord, verdict: Verdict): 'Y' | 'N' | null {
  const is_active = holdsAt(record, verdict);
  return is_active === null ? null : is_active ? 'Y' : 'N';
}

/** Returns when the call to the payer ended; null: unknown. */
export function calledAt(
  { call_ended_at }: { call_ended_at: string },
  time_zone: string,
): string | null {
  return call_ended_at === '' || call_ended_at === 'unknown'
    ? null
    : writeInstant(call_ended_at, time_zone);
}

/** A sentence for people. NTE-4 has its topic, for programs. */
export type Note = [code: string, name: string, text: string];

/** Returns one NTE for each sentence that is not empty. */
export function notesOf(notes: readonly Note[]): string[] {
  return notes
    .filter(([, , text]) => text !== '')
    .map(([code, name, text], index) =>
      segment('NTE', String(index + 1), 'L', text, [code, name, OURS]),
    );
}

/** Builds the OBR to which all observations of a message belong. `kind` is OBR-4. */
export function request(
  { key, record }: { key: string; record: { outcome: Outcome } },
  kind: readonly [code: string, name: string],
  called: string | null,
): string {
  return segment(
    'OBR',
    ...at({
      1: '1',
      3: [key, 'ELIGD'],
      4: [...kind, OURS],
      7: called,
      22: called,
      25: record.outcome === 'successful' ? 'F' : 'X',
    }),
  );
}

/** A value for programs. `text` is "unknown" if the payer did not answer the question. */
export type Observation = [code: string, sub_id: string, text: string];

/**
 * Builds one OBX. A question without an answer has the status X and no value; a question that was
 * not asked has no segment (G8).
 */
export function observation([code, sub_id, text]: Observation, index: number): string {
  const is_unknown = text === 'unknown' || text === '';
  return segment(
    'OBX',
    ...at({
      1: String(index + 1),
      2: 'ST',
      3: [code, words(code), OURS],
      4: sub_id,
      5: is_unknown ? null : text,
      11: is_unknown ? 'X' : 'F',
    }),
  );
}

/** Formats `call_summary` as words. */
export const words = (name: string): string => name.replaceAll('_', ' ');

const day = (date: string | null | undefined): string | null => date?.replaceAll('-', '') ?? null;

/** Splits a name whose parts are unknown: the last word is the family name (XPN). */
function subscriberName(name: string): string[] {
  const parts = name.split(' ');
  return [parts.at(-1) ?? '', parts.slice(0, -1).join(' ')];
}
