/**
 * Reads the patient and the insurance from PID, IN1, IN2, IN3, and MRG (HL7 v2.5.1, chapters 3 and
 * 6).
 */
import type {
  CoverageInput,
  FieldProblem,
  Patient,
  Subscriber,
} from '../../../src/domain/appointment.ts';
import { coveragePeriod } from '../../../src/domain/coverage-period.ts';
import { saysDeceased } from '../../../src/domain/person.ts';
import type { FieldReader, Scope } from '../v2/fields.ts';
import { scopeOf } from '../v2/fields.ts';
import type { Segment } from '../v2/message.ts';
import { readDate } from '../v2/times.ts';

type ReadPatient = { patient: Patient; problems: FieldProblem[] };

/** Returns the patient of a scope's PID; a bad birth date is left out and reported. */
export function patientOf(scope: Scope, fields: FieldReader): ReadPatient {
  const born = dateOf(scope, fields, 'birth_date');
  const patient: Patient = {
    id: fields.one(scope, 'patient_id') || null,
    first_name: fields.one(scope, 'first_name'),
    last_name: fields.one(scope, 'last_name'),
    birth_date: born.value,
    ...deceased(fields.one(scope, 'deceased')),
  };
  return { patient, problems: born.problems };
}

/**
 * Returns whether the patient has died, if the message says so. PID-30 is Y or N (table 0136); a
 * sender without it may put the date of death in PID-29.
 */
function deceased(text: string): Pick<Patient, 'is_deceased'> {
  const is_deceased = saysDeceased(text);
  return is_deceased === undefined ? {} : { is_deceased };
}

/** Returns the original PID, to be returned in an ADT^A08. */
export function patientAsWritten(scope: Scope): Pick<Patient, 'as_written'> {
  const [pid] = scope.all('PID');
  return pid === undefined ? {} : { as_written: pid.text };
}

/**
 * Returns the insurance of a scope's patient. Null: without IN1, the message has no insurance data.
 * Empty: the message says that there is no insurance. `keeps_segments`: adds `as_written`.
 */
export function coveragesOf(
  patient: Scope,
  fields: FieldReader,
  { time_zone, keeps_segments = false }: { time_zone: string; keeps_segments?: boolean },
): { coverages: CoverageInput[] | null; problems: FieldProblem[] } {
  const groups = insuranceGroups(patient.segments);
  if (groups.length === 0) return { coverages: null, problems: [] };
  const problems: FieldProblem[] = [];
  const ordered = groups
    .map((segments, index) => {
      const scope = scopeOf(segments);
      const read = coverageOf(scope, fields, time_zone);
      problems.push(...read.problems);
      const as_written = segments.map(({ text }) => text).join('\r');
      return {
        coverage: keeps_segments ? { ...read.coverage, as_written } : read.coverage,
        rank: rankOf(fields.one(scope, 'coverage_order'), index + 1),
      };
    })
    .toSorted((a, b) => a.rank - b.rank);
  return { coverages: ordered.map(({ coverage }) => coverage).filter(hasValue), problems };
}

/** Returns each IN1 with the IN2 and IN3 that follow it. */
function insuranceGroups(segments: readonly Segment[]): Segment[][] {
  const groups: Segment[][] = [];
  for (const segment of segments) {
    if (segment.name === 'IN1') groups.push([segment]);
    else if (segment.name === 'IN2' || segment.name === 'IN3') groups.at(-1)?.push(segment);
  }
  return groups;
}

/** Returns the rank that the message gives, as a number or a word; otherwise the position. */
function rankOf(text: string, position: number): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  const word = text.toUpperCase();
  const found = ['P', 'S', 'T'].findIndex(
    (letter) => word === letter || (word.startsWith(letter) && /^(PRI|SEC|TER)/.test(word)),
  );
  return found === -1 ? position : found + 1;
}

function coverageOf(
  scope: Scope,
  fields: FieldReader,
  time_zone: string,
): { coverage: CoverageInput; problems: FieldProblem[] } {
  const { subscriber, problems } = subscriberOf(scope, fields);
  const first = dateOf(scope, fields, 'coverage_start');
  const last = dateOf(scope, fields, 'coverage_end');
  const period = coveragePeriod(first.value, last.value, time_zone);
  const coverage = {
    carrier: fields.one(scope, 'carrier'),
    payor_id: fields.one(scope, 'payor_id'),
    member_id: fields.one(scope, 'member_id'),
    group_id: fields.one(scope, 'group_id'),
    ...(period === undefined ? {} : { period }),
    subscriber,
  };
  return { coverage, problems: [...problems, ...first.problems, ...last.problems] };
}

const hasValue = ({ carrier, payor_id, member_id, group_id }: CoverageInput) =>
  [carrier, payor_id, member_id, group_id].some((value) => value !== '');

/**
 * Table 0063, and values that X12 and vendors use; IN1-17 is the insured's relationship to the
 * patient.
 */
const SELF = new Set(['SEL', 'SELF', 'S', '18', '01SELF', 'PATIENT', 'INSURED', '1']);
const RELATIONSHIPS: Readonly<Record<string, string>> = {
  SPO: 'spouse',
  SPOUSE: 'spouse',
  '01': 'spouse',
  FTH: 'child',
  MTH: 'child',
  PAR: 'child',
  GRD: 'ward',
  CHD: 'child',
  '19': 'child',
  DOM: 'life partner',
  '53': 'life partner',
};

function subscriberOf(
  scope: Scope,
  fields: FieldReader,
): { subscriber: Subscriber | null; problems: FieldProblem[] } {
  const code = fields.one(scope, 'relationship');
  const name = [
    fields.one(scope, 'subscriber_first_name'),
    fields.one(scope, 'subscriber_last_name'),
  ]
    .join(' ')
    .trim();
  if (SELF.has(code.toUpperCase()) || (name === '' && code === ''))
    return { subscriber: null, problems: [] };
  const born = dateOf(scope, fields, 'subscriber_birth_date');
  const relationship = RELATIONSHIPS[code.toUpperCase()] ?? code;
  return { subscriber: { name, birth_date: born.value, relationship }, problems: born.problems };
}

/** Returns a date; an unreadable one is left out and reported. */
function dateOf(
  scope: Scope,
  fields: FieldReader,
  name: 'birth_date' | 'subscriber_birth_date' | 'coverage_start' | 'coverage_end',
): { value: string | null; problems: FieldProblem[] } {
  const { value, at } = fields.first(scope, name);
  // Databases write zeros for "no day".
  if (/^[0-]*$/.test(value)) return { value: null, problems: [] };
  const read = readDate(value);
  if (typeof read === 'string') return { value: read, problems: [] };
  return {
    value: null,
    problems: [
      {
        field: at,
        value_class: read.fault,
        remedy: 'Correct the date in the practice management system.',
        about: { field: name === 'birth_date' ? 'dob' : name },
      },
    ],
  };
}
