/**
 * Reads one message: whether it can be accepted, from the fields that decide it, and on request its
 * content for eligd. Pure; the same message gives the same result.
 */
import type { AppointmentInput, Patient } from '../../../src/domain/appointment.ts';
import type { PatientUpdate } from '../../../src/domain/patient-update.ts';
import { isSomebodyElse } from '../../../src/domain/person.ts';
import type { RejectedItem } from '../../contract.ts';
import { FieldReader, type Scope, scopeOf } from '../v2/fields.ts';
import type { Message } from '../v2/message.ts';
import {
  hasStart,
  NO_APPOINTMENT,
  type ReadVisit,
  startFault,
  statusReader,
  visitOf,
} from './appointments.ts';
import { claimOf, isOfPatientAlone } from './charges.ts';
import { HEADER_FIELD_CHARS_MAX, longHeaderField } from './header-length.ts';
import { patientGroups } from './patient-groups.ts';
import { coveragesOf, patientAsWritten, patientOf } from './patients.ts';
import { identified, readDeletions, readMerges, readPatient, sharedIds } from './registrations.ts';
import {
  type Content,
  faulty,
  NOTHING,
  type Reading,
  type ReadingSettings,
  refused,
} from './result.ts';

const DESCRIBES_PATIENT = new Set(['A04', 'A05', 'A08', 'A28', 'A31']);
/** Charges posted, in the original or the newer form. */
const POSTS_CHARGES = new Set(['P03', 'P11']);
const MERGES_PATIENTS = new Set(['A40', 'A34']);
const DELETES_PATIENT = 'A29';
/**
 * Far more than any group visit or bill has. Each patient is read with all segments that apply to
 * everyone, so the work grows with both numbers.
 */
const PATIENTS_MAX = 100;
const SEGMENTS_MAX = 5_000;

/** Returns the function that reads each message. */
export function messageReader(settings: ReadingSettings): (message: Message) => Reading {
  const fields = new FieldReader(settings.fields);
  const statusOf = statusReader(settings.statuses);
  return (message) => {
    const { type, event } = message;
    if (message.control_id.trim() === '')
      return refused(101, 'MSH-10', 'MSH-10, the control id, is empty');
    const long = longHeaderField(message);
    if (long !== null) return withLongField(long);
    if (type === 'ACK' || type === 'MCF') return { kind: 'ignored' };
    if (type !== 'SIU' && type !== 'DFT' && type !== 'ADT')
      return refused(200, 'MSH-9', 'only SIU, ADT and DFT messages are read here');
    if (!isRead(type, event)) return { kind: 'ignored' };
    const limit = limitBroken(message);
    if (limit !== null) return withTooMuch(limit);
    if (type === 'SIU') return readSchedule(message, fields, statusOf, settings);
    if (type === 'DFT') return readCharges(message, fields, settings);
    if (DESCRIBES_PATIENT.has(event)) return readPatient(message, fields, settings);
    if (MERGES_PATIENTS.has(event)) return readMerges(message, fields, settings);
    return readDeletions(message, fields);
  };
}

function isRead(type: 'SIU' | 'DFT' | 'ADT', event: string): boolean {
  if (type === 'SIU') return !NO_APPOINTMENT.has(event);
  if (type === 'DFT') return POSTS_CHARGES.has(event);
  return DESCRIBES_PATIENT.has(event) || MERGES_PATIENTS.has(event) || event === DELETES_PATIENT;
}

/** Returns the limit that a message exceeds; null: none. */
function limitBroken(message: Message): string | null {
  if (message.segments.length > SEGMENTS_MAX) return `more than ${SEGMENTS_MAX} segments`;
  if (MERGES_PATIENTS.has(message.event) || message.all('PID').length <= PATIENTS_MAX) return null;
  return `more than ${PATIENTS_MAX} PID segments`;
}

function withLongField(field: string): Reading {
  return faulty(
    { code: 102, at: field, what: `${field} is longer than ${HEADER_FIELD_CHARS_MAX} characters` },
    {
      field,
      value_class: 'too long',
      remedy: 'Nothing of the message was taken. Have the sender shorten the field.',
    },
  );
}

function withTooMuch(limit: string): Reading {
  return faulty(
    { code: 207, at: 'MSH-9', what: `the message has ${limit}` },
    {
      field: 'message',
      value_class: limit,
      remedy: 'Nothing of it was taken. Have the sender split it into several messages.',
    },
  );
}

function readSchedule(
  message: Message,
  fields: FieldReader,
  statusOf: ReturnType<typeof statusReader>,
  settings: ReadingSettings,
): Reading {
  const groups = patientGroups(message);
  const [first = message] = groups;
  const source_id = fields.one(first, 'appointment_id');
  if (source_id === '') {
    const remedy =
      'Have the sender fill SCH-2 or SCH-1, or set "fields: appointment_id:" to the field ' +
      'with the ID.';
    return faulty(
      { code: 101, at: 'SCH-2', what: 'the appointment has no ID' },
      { field: 'SCH-2', value_class: 'empty', remedy },
    );
  }
  // For a canceled visit, the other fields do not matter.
  const is_cancelled = () => statusOf(message.event, fields.all(first, 'status')) === 'cancelled';
  if (!hasStart(first, fields) && !is_cancelled())
    return withoutStart(source_id, startFault(first, fields));
  return {
    kind: 'content',
    content: () => {
      const about = { event: message.event, scope: first };
      const visit = visitOf(about, fields, statusOf, settings.time_zone);
      return scheduleOf(visit, groups, fields, settings);
    },
  };
}

function scheduleOf(
  visit: ReadVisit,
  groups: readonly Scope[],
  fields: FieldReader,
  settings: ReadingSettings,
): Content {
  const [first = scopeOf([]), ...others] = groups;
  const { patient, problems } = patientOf(first, fields);
  const has_patient = patient.id !== null || patient.last_name !== '';
  if (typeof visit.starts_at !== 'string' || (visit.status === 'cancelled' && !has_patient))
    return { ...NOTHING, cancelled_ids: [visit.source_id] };
  const insurance = coveragesOf(first, fields, settings);
  const appointment: AppointmentInput = {
    ...visit,
    starts_at: visit.starts_at,
    patient: settings.keeps_segments ? { ...patient, ...patientAsWritten(first) } : patient,
    coverages: [],
    problems: [...problems, ...insurance.problems],
  };
  // Insurance belongs to the patient, in any message: the newest data applies. Without a patient ID
  // of its own, it can only belong to this visit.
  const shared = sharedIds(groups, fields);
  if ((patient.id === null || shared.has(patient.id)) && insurance.coverages !== null)
    appointment.coverages = insurance.coverages;
  else appointment.insurance = 'of_patient';
  return {
    ...NOTHING,
    appointments: [appointment],
    patients: groups
      .flatMap((group) => patientOfVisit(group, fields, settings))
      .filter(({ patient: { id } }) => !shared.has(id)),
    rejected:
      visit.status === 'booked' ? otherPatients(others, patient, visit.source_id, fields) : [],
  };
}

function withoutStart(source_id: string, { field, fault }: ReturnType<typeof startFault>): Reading {
  return faulty(
    {
      code: fault === 'empty' ? 101 : 102,
      at: field,
      what: `the start of the appointment is ${fault}`,
    },
    {
      source_id,
      field,
      value_class: fault,
      remedy: 'Correct the time in the practice management system.',
    },
  );
}

/**
 * Returns the data in a visit's patient group that also applies to the patient's other visits:
 * insurance, if it has an IN1, and that the patient has died.
 */
function patientOfVisit(
  group: Scope,
  fields: FieldReader,
  settings: ReadingSettings,
): Extract<PatientUpdate, { kind: 'described' }>[] {
  const patient = identified(group, fields, settings);
  const { coverages } = coveragesOf(group, fields, settings);
  const is_news = coverages !== null || patient?.is_deceased === true;
  return patient === null || !is_news ? [] : [{ kind: 'described', patient, coverages }];
}

/**
 * Returns attention items for a group visit: eligd asks only about the first patient, so the other
 * ones are listed.
 */
function otherPatients(
  groups: readonly Scope[],
  first: Patient,
  source_id: string,
  fields: FieldReader,
): RejectedItem[] {
  return groups.flatMap((group, index) => {
    const { patient } = patientOf(group, fields);
    if (patient.id !== null && patient.id === first.id && !isSomebodyElse(first, patient))
      return [];
    return {
      position: `message, patient ${index + 2}`,
      // One entry for the visit, however many messages about it arrive.
      source_id: `${source_id}, patient ${index + 2}`,
      field: 'PID',
      value_class: `another patient of appointment ${source_id}`,
      remedy:
        'eligd asks only about the first patient of a visit. Call the insurance companies of the ' +
        'others yourself, or schedule them separately.',
    };
  });
}

/** Returns one claim for each patient group with charges. */
function readCharges(
  message: Message,
  fields: FieldReader,
  { time_zone }: ReadingSettings,
): Reading {
  if (message.all('FT1').length === 0) return { kind: 'ignored' };
  const groups = patientGroups(message);
  const posted = groups.filter((group) => group.all('FT1').length > 0);
  const ids = posted
    .filter((group) => !isOfPatientAlone(group))
    .map((group) => ({ group, source_id: fields.one(group, 'claim_id') }));
  const own = ids.filter(
    ({ source_id }, at) =>
      source_id !== '' && ids.findIndex((each) => each.source_id === source_id) === at,
  );
  const content = () => ({
    ...NOTHING,
    claims: own.map(({ group }) => claimOf(group, fields, time_zone)),
  });
  const placed = posted.reduce((sum, group) => sum + group.all('FT1').length, 0);
  if (placed < message.all('FT1').length) {
    const remedy = 'Have the sender put each FT1 after the PID of its patient.';
    return faulty(
      { code: 100, at: 'FT1', what: 'there are charges before the first patient' },
      { field: 'FT1', value_class: 'before the first PID of several', remedy },
      content,
    );
  }
  if (own.length === ids.length) return { kind: 'content', content };
  const is_nameless = ids.some(({ source_id }) => source_id === '');
  const remedy = is_nameless
    ? 'Have the sender fill FT1-34 or PV1-19, or set "fields: claim_id:" to the field with ' +
      "the claim's ID."
    : "Have the sender give each patient's charges a separate claim ID.";
  const value_class = is_nameless ? 'empty' : 'the same for several patients';
  const what = is_nameless
    ? 'the charges have no claim ID'
    : 'the charges of several patients have the same claim ID';
  return faulty(
    { code: 101, at: 'PV1-19', what },
    { field: 'PV1-19', value_class, remedy },
    content,
  );
}
