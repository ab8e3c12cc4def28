/** Reads the appointment of an SIU scheduling message (HL7 v2.5.1, chapter 10). */
import type {
  AppointmentInput,
  AppointmentStatus,
  FieldProblem,
} from '../../../src/domain/appointment.ts';
import { appointmentStateReader } from '../../../src/domain/appointment-states.ts';
import { isNpi } from '../../../src/domain/identifiers.ts';
import { type FieldReader, type Scope, scopeOf } from '../v2/fields.ts';
import type { Segment } from '../v2/message.ts';
import { instantFault, readInstant } from '../v2/times.ts';

/** Events that determine the status alone (table 0003); for others, SCH-25 decides. */
const ENDED_BY_EVENT = new Set(['S15', 'S16', 'S17', 'S26']);

/** Schedules of rooms and equipment, without a patient's appointment. */
export const NO_APPOINTMENT = new Set(['S23', 'S24']);

/**
 * Returns a function that reads the status from the event, or from SCH-25 if the event leaves it
 * open; there, configured words win. An S13 contains the new time of a moved visit (section
 * 10.4.2), so its `Rescheduled` does not mean the old time slot.
 */
export function statusReader(configured: Readonly<Record<string, AppointmentStatus>>) {
  const stateOf = appointmentStateReader(configured);
  const stateAfterMove = appointmentStateReader({ rescheduled: 'booked', ...configured });
  return (event: string, words: readonly string[]): AppointmentStatus => {
    if (ENDED_BY_EVENT.has(event)) return 'cancelled';
    return (event === 'S13' ? stateAfterMove : stateOf)(...words) ?? 'booked';
  };
}

/**
 * CDT, CPT, and HCPCS codes; the same fields contain other coding systems (SNOMED, a vendor's own)
 * that payers do not know.
 */
export const PROCEDURE_CODE = /^(?:D\d{4}|\d{5}|\d{4}[A-Z]|[A-Z]\d{4})$/;
export const DIAGNOSIS_CODE = /^[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?$/;

/** Where the start of a visit belongs, and why it is not there. */
type StartFault = { field: string; fault: string };

/**
 * Everything about the appointment except patient and insurance. `starts_at` is the fault if the
 * field is not a time.
 */
export type ReadVisit = Omit<
  AppointmentInput,
  'patient' | 'coverages' | 'insurance' | 'starts_at'
> & {
  starts_at: string | StartFault;
};

/**
 * Returns the appointment of a message. `scope`: the segments of the appointment and of its
 * patient.
 */
export function visitOf(
  { event, scope }: { event: string; scope: Scope },
  fields: FieldReader,
  statusOf: ReturnType<typeof statusReader>,
  time_zone: string,
): ReadVisit {
  const problems: FieldProblem[] = [];
  const codes = (name: 'procedure_codes' | 'diagnosis_codes', form: RegExp) => {
    const found = fields.all(scope, name).map((code) => code.toUpperCase());
    return [...new Set(found.filter((code) => form.test(code)))];
  };
  return {
    source_id: fields.one(scope, 'appointment_id'),
    starts_at: startOf(scope, fields, time_zone),
    status: statusOf(event, fields.all(scope, 'status')),
    // The same fields contain a vendor's own numbers; only an NPI counts.
    provider: {
      rendering_npi: fields.all(scope, 'rendering_npi').find(isNpi) ?? '',
      billing_npi: '',
      tax_id: '',
      is_specialist: null,
      in_network: null,
    },
    location: fields.one(scope, 'location') || null,
    specialty: null,
    procedure_codes: codes('procedure_codes', PROCEDURE_CODE),
    ...countsOf(scope, fields),
    diagnosis_codes: codes('diagnosis_codes', DIAGNOSIS_CODE),
    problems,
  };
}

/**
 * Returns how often a repeated code is scheduled: two fillings are two AIS segments of one resource
 * group, or two PR1. A code in two groups (RGS) is one service with two resources.
 */
function countsOf(scope: Scope, fields: FieldReader): Pick<AppointmentInput, 'procedure_counts'> {
  const most = new Map<string, number>();
  for (const group of resourceGroups(scope)) {
    for (const [code, count] of fields.counts(group, 'procedure_codes'))
      if (count > (most.get(code) ?? 1) && PROCEDURE_CODE.test(code)) most.set(code, count);
  }
  return most.size === 0 ? {} : { procedure_counts: Object.fromEntries(most) };
}

/** Splits a scope into the segments before the first RGS, and each RGS with those after it. */
function resourceGroups({ segments }: Scope): Scope[] {
  const groups: Segment[][] = [[]];
  for (const segment of segments) {
    if (segment.name === 'RGS') groups.push([]);
    groups.at(-1)?.push(segment);
  }
  return groups.map(scopeOf);
}

/**
 * Returns the first value that is a time, because some senders put only a day in one of the fields.
 */
function startOf(scope: Scope, fields: FieldReader, time_zone: string): ReadVisit['starts_at'] {
  for (const value of fields.all(scope, 'starts_at')) {
    const read = readInstant(value, time_zone);
    if (typeof read === 'string') return read;
  }
  return startFault(scope, fields);
}

/** Returns whether a value is a time. Computes no instant, which takes longer. */
export const hasStart = (scope: Scope, fields: FieldReader): boolean =>
  fields.some(scope, 'starts_at', (value) => instantFault(value) === null);

/** Returns why a visit has no time. */
export function startFault(scope: Scope, fields: FieldReader): StartFault {
  const { value, at } = fields.first(scope, 'starts_at');
  return {
    field: at,
    fault: value === '' ? 'empty' : (instantFault(value)?.fault ?? 'not a time'),
  };
}
