/** Reads the patients of ADT messages (HL7 v2.5.1, chapter 3). */
import type { IdentifiedPatient, PatientUpdate } from '../../../src/domain/patient-update.ts';
import { idsOfSeveral } from '../../../src/domain/person.ts';
import { type FieldReader, type Scope, scopeOf } from '../v2/fields.ts';
import type { Message, Segment } from '../v2/message.ts';
import { patientGroups } from './patient-groups.ts';
import { coveragesOf, patientAsWritten, patientOf } from './patients.ts';
import { type Content, faulty, NOTHING, type Reading, type ReadingSettings } from './result.ts';

function withoutPatientId(restOf: () => Partial<Content>): Reading {
  const remedy =
    'Have the sender fill PID-3, or set "fields: patient_id:" to the field with the ID.';
  return faulty(
    { code: 101, at: 'PID-3', what: 'the patient has no ID' },
    { field: 'PID-3', value_class: 'empty', remedy },
    restOf,
  );
}

/**
 * Returns IDs that a message gives to several people, such as a family's number: data stored under
 * such an ID would reach all of them.
 */
export function sharedIds(
  groups: readonly Scope[],
  fields: FieldReader,
): ReadonlySet<string | null> {
  if (groups.length < 2) return NO_IDS;
  return idsOfSeveral(groups.map((group) => patientOf(group, fields).patient));
}

const NO_IDS: ReadonlySet<string | null> = new Set();

/** Reads each patient's current data; a patient without an ID is reported separately (G7). */
export function readPatient(
  message: Message,
  fields: FieldReader,
  settings: ReadingSettings,
): Reading {
  const groups = patientGroups(message);
  const shared = sharedIds(groups, fields);
  const patientsOf = () =>
    groups.flatMap((group): PatientUpdate[] => {
      const patient = identified(group, fields, settings);
      if (patient === null || shared.has(patient.id)) return [];
      const { coverages } = coveragesOf(group, fields, settings);
      const known = coverages ?? (settings.without_insurance === 'self_pay' ? [] : null);
      return [{ kind: 'described', patient, coverages: known }];
    });
  const content = () => ({ ...NOTHING, patients: patientsOf() });
  if (shared.size > 0 && !shared.has(null)) return withSharedId(content);
  return ofPatients(groups, fields, content);
}

function withSharedId(content: () => Content): Reading {
  const remedy =
    'Have the sender give each patient a separate ID in PID-3, or set "fields: ' +
    'patient_id:" to the field with the ID.';
  return faulty(
    { code: 205, at: 'PID-3', what: 'several patients have the same ID' },
    { field: 'PID-3', value_class: 'the same for several patients', remedy },
    content,
  );
}

/** Reads which patients were deleted. */
export function readDeletions(message: Message, fields: FieldReader): Reading {
  const groups = patientGroups(message);
  const patientsOf = () =>
    groups.flatMap((group): PatientUpdate[] => {
      const patient_id = fields.one(group, 'patient_id');
      return patient_id === '' ? [] : [{ kind: 'deleted', patient_id }];
    });
  return ofPatients(groups, fields, () => ({ ...NOTHING, patients: patientsOf() }));
}

function ofPatients(
  groups: readonly Scope[],
  fields: FieldReader,
  content: () => Content,
): Reading {
  const has_ids = groups.every((group) => fields.one(group, 'patient_id') !== '');
  return has_ids ? { kind: 'content', content } : withoutPatientId(content);
}

/** Reads merges. A message may contain several pairs: each MRG belongs to the PID before it. */
export function readMerges(
  message: Message,
  fields: FieldReader,
  settings: ReadingSettings,
): Reading {
  const patients: PatientUpdate[] = [];
  let pid: Segment | null = null;
  for (const segment of message.segments) {
    if (segment.name === 'PID') pid = segment;
    if (segment.name !== 'MRG' || pid === null) continue;
    const into = identified(scopeOf([pid]), fields, settings);
    const from_id = fields.one(scopeOf([segment]), 'prior_patient_id');
    if (into !== null && from_id !== '') patients.push({ kind: 'merged', from_id, into });
  }
  const content = () => ({ ...NOTHING, patients });
  if (patients.length > 0 && patients.length === message.all('MRG').length)
    return { kind: 'content', content };
  const remedy = 'Have the sender fill PID-3 with the remaining ID and MRG-1 with the merged one.';
  return faulty(
    { code: 101, at: 'MRG-1', what: 'it does not name the merged patients' },
    { field: 'MRG-1', value_class: 'empty', remedy },
    content,
  );
}

/** Returns the patient of a scope; null: the patient has no ID. */
export function identified(
  scope: Scope,
  fields: FieldReader,
  { keeps_segments }: ReadingSettings,
): IdentifiedPatient | null {
  const { patient } = patientOf(scope, fields);
  if (patient.id === null) return null;
  return { ...patient, id: patient.id, ...(keeps_segments ? patientAsWritten(scope) : {}) };
}
