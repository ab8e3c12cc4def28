/**
 * Reads one message: its content for eligd, and whether it can be accepted. Pure; the same message
 * gives the same result.
 */
import type {
  AppointmentInput,
  AppointmentStatus,
  Patient,
} from '../../../src/domain/appointment.ts';
import type { ClaimInput } from '../../../src/domain/claim.ts';
import type { IdentifiedPatient, PatientUpdate } from '../../../src/domain/patient-update.ts';
import { idsOfSeveral, isSomebodyElse } from '../../../src/domain/person.ts';
import type { RejectedItem } from '../../contract.ts';
import { type FieldOverrides, FieldReader, type Scope, scopeOf } from '../v2/fields.ts';
import type { Message, Segment } from '../v2/message.ts';
import { NO_APPOINTMENT, statusReader, visitOf } from './appointments.ts';
import { claimOf, isOfPatientAlone } from './charges.ts';
import { HEADER_FIELD_CHARS_MAX, longHeaderField } from './header-length.ts';
import { patientGroups } from './patient-groups.ts';
import { coveragesOf, patientAsWritten, patientOf } from './patients.ts';

/** The content of a message, in the contract's types. */
export type Content = {
  appointments: AppointmentInput[];
  claims: ClaimInput[];
  patients: PatientUpdate[];
  cancelled_ids: string[];
  rejected: RejectedItem[];
};

/** What is wrong with a message. `code`: from table 0357; `at`: the field. */
export type Fault = { code: 100 | 101 | 102 | 200 | 205 | 207; at: string; what: string };

export type Reading =
  | { kind: 'content'; content: Content }
  /** Contains nothing for eligd: acknowledged, so that the feed continues. */
  | { kind: 'ignored' }
  /**
   * The content has a problem (AE) that someone has to fix. `content` puts it on the attention
   * list.
   */
  | { kind: 'faulty'; content: Content; fault: Fault }
  /** Not a message for eligd (AR): the sender is misconfigured. Nothing is kept. */
  | { kind: 'refused'; fault: Fault };

export type ReadingSettings = {
  fields: FieldOverrides;
  statuses: Readonly<Record<string, AppointmentStatus>>;
  /** The meaning of an ADT without IN1. */
  without_insurance: 'unknown' | 'self_pay';
  time_zone: string;
  /** Whether to keep the segments of patient and insurance for returning them. Undefined: no. */
  keeps_segments?: boolean;
};

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

/** Returns a reading with a fault: for the attention list, and for the sender. */
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

function withoutPatientId(rest: Partial<Content>): Reading {
  const remedy =
    'Have the sender fill PID-3, or set "fields: patient_id:" to the field with the ID.';
  return faulty(
    { code: 101, at: 'PID-3', what: 'the patient has no ID' },
    { field: 'PID-3', value_class: 'empty', remedy },
    rest,
  );
}

function readSchedule(
  message: Message,
  fields: FieldReader,
  statusOf: ReturnType<typeof statusReader>,
  settings: ReadingSettings,
): Reading {
  const groups = patientGroups(message);
  const [first = message, ...others] = groups;
  const about = { event: message.event, scope: first };
  const visit = visitOf(about, fields, statusOf, settings.time_zone);
  if (visit.source_id === '') {
    const remedy =
      'Have the sender fill SCH-2 or SCH-1, or set "fields: appointment_id:" to the field ' +
      'with the ID.';
    return faulty(
      { code: 101, at: 'SCH-2', what: 'the appointment has no ID' },
      { field: 'SCH-2', value_class: 'empty', remedy },
    );
  }
  const { patient, problems } = patientOf(first, fields);
  const has_patient = patient.id !== null || patient.last_name !== '';
  // For a canceled visit, the other fields do not matter.
  if (visit.status === 'cancelled' && (typeof visit.starts_at !== 'string' || !has_patient))
    return { kind: 'content', content: { ...NOTHING, cancelled_ids: [visit.source_id] } };
  if (typeof visit.starts_at !== 'string') return withoutStart(visit.source_id, visit.starts_at);
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
    kind: 'content',
    content: {
      ...NOTHING,
      appointments: [appointment],
      patients: groups
        .flatMap((group) => patientOfVisit(group, fields, settings))
        .filter(({ patient: { id } }) => !shared.has(id)),
      rejected:
        visit.status === 'booked' ? otherPatients(others, patient, visit.source_id, fields) : [],
    },
  };
}

function withoutStart(source_id: string, start: { field: string; fault: string }): Reading {
  const { field, fault } = start;
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

/**
 * Returns IDs that a message gives to several people, such as a family's number: data stored under
 * such an ID would reach all of them.
 */
function sharedIds(groups: readonly Scope[], fields: FieldReader): Set<string | null> {
  return idsOfSeveral(groups.map((group) => patientOf(group, fields).patient));
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
  const claims = posted
    .filter((group) => !isOfPatientAlone(group))
    .map((group) => claimOf(group, fields, time_zone));
  const own = claims.filter(
    ({ source_id }, at) =>
      source_id !== '' && claims.findIndex((each) => each.source_id === source_id) === at,
  );
  const content = { ...NOTHING, claims: own };
  const placed = posted.reduce((sum, group) => sum + group.all('FT1').length, 0);
  if (placed < message.all('FT1').length) {
    const remedy = 'Have the sender put each FT1 after the PID of its patient.';
    return faulty(
      { code: 100, at: 'FT1', what: 'there are charges before the first patient' },
      { field: 'FT1', value_class: 'before the first PID of several', remedy },
      content,
    );
  }
  if (own.length === claims.length) return { kind: 'content', content };
  const is_nameless = claims.some(({ source_id }) => source_id === '');
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

/** Reads each patient's current data; a patient without an ID is reported separately (G7). */
function readPatient(message: Message, fields: FieldReader, settings: ReadingSettings): Reading {
  const groups = patientGroups(message);
  const shared = sharedIds(groups, fields);
  const patients = groups.flatMap((group): PatientUpdate[] => {
    const patient = identified(group, fields, settings);
    if (patient === null || shared.has(patient.id)) return [];
    const { coverages } = coveragesOf(group, fields, settings);
    const known = coverages ?? (settings.without_insurance === 'self_pay' ? [] : null);
    return [{ kind: 'described', patient, coverages: known }];
  });
  if (shared.size > 0 && !shared.has(null)) return withSharedId(patients);
  return ofPatients(patients, groups.length);
}

function withSharedId(patients: PatientUpdate[]): Reading {
  const remedy =
    'Have the sender give each patient a separate ID in PID-3, or set "fields: ' +
    'patient_id:" to the field with the ID.';
  return faulty(
    { code: 205, at: 'PID-3', what: 'several patients have the same ID' },
    { field: 'PID-3', value_class: 'the same for several patients', remedy },
    { patients },
  );
}

function readDeletions(message: Message, fields: FieldReader): Reading {
  const groups = patientGroups(message);
  const patients = groups.flatMap((group): PatientUpdate[] => {
    const { patient } = patientOf(group, fields);
    return patient.id === null ? [] : [{ kind: 'deleted', patient_id: patient.id }];
  });
  return ofPatients(patients, groups.length);
}

function ofPatients(patients: PatientUpdate[], expected: number): Reading {
  const content = { ...NOTHING, patients };
  return patients.length === expected ? { kind: 'content', content } : withoutPatientId(content);
}

/** Reads merges. A message may contain several pairs: each MRG belongs to the PID before it. */
function readMerges(message: Message, fields: FieldReader, settings: ReadingSettings): Reading {
  const patients: PatientUpdate[] = [];
  let pid: Segment | null = null;
  for (const segment of message.segments) {
    if (segment.name === 'PID') pid = segment;
    if (segment.name !== 'MRG' || pid === null) continue;
    const into = identified(scopeOf([pid]), fields, settings);
    const from_id = fields.one(scopeOf([segment]), 'prior_patient_id');
    if (into !== null && from_id !== '') patients.push({ kind: 'merged', from_id, into });
  }
  const content = { ...NOTHING, patients };
  if (patients.length > 0 && patients.length === message.all('MRG').length)
    return { kind: 'content', content };
  const remedy = 'Have the sender fill PID-3 with the remaining ID and MRG-1 with the merged one.';
  return faulty(
    { code: 101, at: 'MRG-1', what: 'it does not name the merged patients' },
    { field: 'MRG-1', value_class: 'empty', remedy },
    content,
  );
}

function identified(
  scope: Scope,
  fields: FieldReader,
  { keeps_segments }: ReadingSettings,
): IdentifiedPatient | null {
  const { patient } = patientOf(scope, fields);
  if (patient.id === null) return null;
  return { ...patient, id: patient.id, ...(keeps_segments ? patientAsWritten(scope) : {}) };
}
