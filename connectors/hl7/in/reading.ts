/**
 * One message: what is in it for eligd, and whether it can be taken. Pure; the same message reads
 * the same.
 */
import type { AppointmentInput, AppointmentStatus } from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';
import type { IdentifiedPatient, PatientUpdate } from '../../../src/domain/patient-update.ts';
import type { RejectedItem } from '../../contract.ts';
import { type FieldOverrides, FieldReader, type Scope, scopeOf } from '../v2/fields.ts';
import type { Message, Segment } from '../v2/message.ts';
import { NO_APPOINTMENT, statusReader, visitOf } from './appointments.ts';
import { claimOf, isOfPatientAlone } from './charges.ts';
import { coveragesOf, patientOf } from './patients.ts';

/** What a message holds, in the words of the contract. */
export type Content = {
  appointments: AppointmentInput[];
  claims: ClaimInput[];
  patients: PatientUpdate[];
  cancelled_ids: string[];
  rejected: RejectedItem[];
};

/** Table 0357. */
export type Fault = { code: 100 | 101 | 102 | 200 | 207; at: string; what: string };

export type Reading =
  | { kind: 'content'; content: Content }
  /** Nothing in it is for eligd: acknowledged, so that the feed goes on. */
  | { kind: 'ignored' }
  /**
   * What is wrong is in the content (AE): a person has to mend it. `content` puts it on the
   * attention list.
   */
  | { kind: 'faulty'; content: Content; fault: Fault }
  /** Not a message for this place at all (AR): the sender is set up wrongly. Nothing is kept. */
  | { kind: 'refused'; fault: Fault };

export type ReadingSettings = {
  fields: FieldOverrides;
  statuses: Readonly<Record<string, AppointmentStatus>>;
  /** What an ADT without IN1 means. */
  without_insurance: 'unknown' | 'self_pay';
  time_zone: string;
};

const DESCRIBES_PATIENT = new Set(['A04', 'A05', 'A08', 'A28', 'A31']);
/** Charges posted, as they were or in the newer form. */
const POSTS_CHARGES = new Set(['P03', 'P11']);
const MERGES_PATIENTS = new Set(['A40', 'A34']);
const DELETES_PATIENT = 'A29';

export function messageReader(settings: ReadingSettings): (message: Message) => Reading {
  const fields = new FieldReader(settings.fields);
  const statusOf = statusReader(settings.statuses);
  return (message) => {
    const { type, event } = message;
    if (message.control_id.trim() === '')
      return refused(101, 'MSH-10', 'MSH-10, the control id, is empty');
    if (type === 'ACK' || type === 'MCF') return { kind: 'ignored' };
    if (type === 'SIU') {
      return NO_APPOINTMENT.has(event)
        ? { kind: 'ignored' }
        : readSchedule(message, fields, statusOf, settings);
    }
    if (type === 'DFT')
      return POSTS_CHARGES.has(event) ? readCharges(message, fields) : { kind: 'ignored' };
    if (type !== 'ADT')
      return refused(200, 'MSH-9', 'only SIU, ADT and DFT messages are read here');
    if (DESCRIBES_PATIENT.has(event)) return readPatient(message, fields, settings);
    if (MERGES_PATIENTS.has(event)) return readMerges(message, fields);
    if (event !== DELETES_PATIENT) return { kind: 'ignored' };
    const { patient } = patientOf(message, fields);
    if (patient.id === null) return withoutPatientId();
    return {
      kind: 'content',
      content: { ...NOTHING, patients: [{ kind: 'deleted', patient_id: patient.id }] },
    };
  };
}

const NOTHING: Content = {
  appointments: [],
  claims: [],
  patients: [],
  cancelled_ids: [],
  rejected: [],
};

function refused(code: Fault['code'], at: string, what: string): Reading {
  return { kind: 'refused', fault: { code, at, what } };
}

/** On the attention list, and told to the sender. */
function faulty(
  fault: Fault,
  item: Omit<RejectedItem, 'position'>,
  rest: Partial<Content> = {},
): Reading {
  return {
    kind: 'faulty',
    fault,
    content: { ...NOTHING, ...rest, rejected: [{ position: 'message', ...item }] },
  };
}

function withoutPatientId(): Reading {
  const remedy = 'Have the sender fill PID-3, or say in "fields: patient_id:" where the id stands.';
  return faulty(
    { code: 101, at: 'PID-3', what: 'the patient has no id' },
    { field: 'PID-3', value_class: 'empty', remedy },
  );
}

function readSchedule(
  message: Message,
  fields: FieldReader,
  statusOf: ReturnType<typeof statusReader>,
  { time_zone }: ReadingSettings,
): Reading {
  const visit = visitOf(message, fields, statusOf, time_zone);
  if (visit.source_id === '') {
    const remedy =
      'Have the sender fill SCH-2 or SCH-1, or say in "fields: appointment_id:" where the id ' +
      'stands.';
    return faulty(
      { code: 101, at: 'SCH-2', what: 'the appointment has no id' },
      { field: 'SCH-2', value_class: 'empty', remedy },
    );
  }
  const { patient, problems } = patientOf(message, fields);
  const has_patient = patient.id !== null || patient.last_name !== '';
  // Of a visit that does not take place nothing else matters.
  if (visit.status === 'cancelled' && (typeof visit.starts_at !== 'string' || !has_patient))
    return { kind: 'content', content: { ...NOTHING, cancelled_ids: [visit.source_id] } };
  if (typeof visit.starts_at !== 'string') {
    const { field, fault } = visit.starts_at;
    return faulty(
      {
        code: fault === 'empty' ? 101 : 102,
        at: field,
        what: `the start of the appointment is ${fault}`,
      },
      {
        source_id: visit.source_id,
        field,
        value_class: fault,
        remedy: 'Correct the time in the practice management system.',
      },
    );
  }
  const insurance = coveragesOf(message, fields);
  const appointment: AppointmentInput = {
    ...visit,
    starts_at: visit.starts_at,
    patient,
    coverages: [],
    problems: [...problems, ...insurance.problems],
  };
  // Insurance is the patient's, wherever it comes: what came last counts. Without an id it can only
  // be this visit's own.
  if (patient.id === null && insurance.coverages !== null)
    appointment.coverages = insurance.coverages;
  else appointment.insurance = 'of_patient';
  const patients: PatientUpdate[] =
    patient.id !== null && insurance.coverages !== null
      ? [
          {
            kind: 'described',
            patient: { ...patient, id: patient.id },
            coverages: insurance.coverages,
          },
        ]
      : [];
  return {
    kind: 'content',
    content: {
      ...NOTHING,
      appointments: [appointment],
      patients,
      rejected: visit.status === 'cancelled' ? [] : otherPatients(message, visit.source_id),
    },
  };
}

/**
 * A group visit names several patients; the first one is asked about, and a person is told of the
 * others.
 */
function otherPatients(message: Message, source_id: string): RejectedItem[] {
  return message
    .all('PID')
    .slice(1)
    .map((_, index) => ({
      position: `message, patient ${index + 2}`,
      // Once for the visit, however often a message about it comes.
      source_id: `${source_id}, patient ${index + 2}`,
      field: 'PID',
      value_class: `another patient of appointment ${source_id}`,
      remedy:
        'Only the first patient of a visit is asked about. Call the payers of the others ' +
        'yourself, or schedule them apart.',
    }));
}

function readCharges(message: Message, fields: FieldReader): Reading {
  if (message.all('FT1').length === 0) return { kind: 'ignored' };
  if (isOfPatientAlone(message)) return { kind: 'content', content: NOTHING };
  const claim = claimOf(message, fields);
  if (claim.source_id !== '') return { kind: 'content', content: { ...NOTHING, claims: [claim] } };
  const remedy =
    'Have the sender fill FT1-34 or PV1-19, or say in "fields: claim_id:" where the id of ' +
    'the claim stands.';
  return faulty(
    { code: 101, at: 'PV1-19', what: 'the charges have no id of a claim' },
    { field: 'PV1-19', value_class: 'empty', remedy },
  );
}

function readPatient(
  message: Message,
  fields: FieldReader,
  { without_insurance }: ReadingSettings,
): Reading {
  const { patient } = patientOf(message, fields);
  if (patient.id === null) return withoutPatientId();
  const { coverages } = coveragesOf(message, fields);
  const known = coverages ?? (without_insurance === 'self_pay' ? [] : null);
  const update: PatientUpdate = {
    kind: 'described',
    patient: { ...patient, id: patient.id },
    coverages: known,
  };
  return { kind: 'content', content: { ...NOTHING, patients: [update] } };
}

/** A message may merge several pairs: each MRG belongs to the PID before it. */
function readMerges(message: Message, fields: FieldReader): Reading {
  const patients: PatientUpdate[] = [];
  let pid: Segment | null = null;
  for (const segment of message.segments) {
    if (segment.name === 'PID') pid = segment;
    if (segment.name !== 'MRG' || pid === null) continue;
    const into = identified(scopeOf([pid]), fields);
    const from_id = fields.one(scopeOf([segment]), 'prior_patient_id');
    if (into !== null && from_id !== '') patients.push({ kind: 'merged', from_id, into });
  }
  if (patients.length > 0) return { kind: 'content', content: { ...NOTHING, patients } };
  const remedy =
    'Have the sender fill PID-3 with the id that stays and MRG-1 with the one that goes.';
  return faulty(
    { code: 101, at: 'MRG-1', what: 'it does not say who is merged' },
    { field: 'MRG-1', value_class: 'empty', remedy },
  );
}

function identified(scope: Scope, fields: FieldReader): IdentifiedPatient | null {
  const { patient } = patientOf(scope, fields);
  return patient.id === null ? null : { ...patient, id: patient.id };
}
