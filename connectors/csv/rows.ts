/**
 * Maps the cells of a row to an appointment. Created once per file, so that the header is looked up
 * only once.
 */
import type {
  AppointmentInput,
  AppointmentStatus,
  CoverageInput,
  Subscriber,
} from '../../src/domain/appointment.ts';
import { coveragePeriod } from '../../src/domain/coverage-period.ts';
import { saysDeceased } from '../../src/domain/person.ts';
import type { RejectedItem } from '../contract.ts';
import {
  type CanonicalColumn,
  type ColumnPlan,
  type CoverageColumns,
  FIRST_COVERAGE,
  SECOND_COVERAGE,
} from './columns.ts';
import type { Row } from './records.ts';
import {
  Cells,
  DATE_REMEDIES,
  rejectedRow,
  type Settings,
  type Sheet,
  sheetOf,
  withSingleSpaces,
} from './sheet.ts';
import type { Read } from './values.ts';
import * as values from './values.ts';
import { isSelf, type PersonName, splitName } from './words.ts';

/** `has_status`: the row itself says whether the visit takes place. */
export type ReadRow = { appointment: AppointmentInput; has_status: boolean };

export type MappedRow = ReadRow | { rejected: RejectedItem };

export type RowMapper = (row: Row) => MappedRow;

/** Returns the function that maps each row of one file. */
export function rowMapper(columns: ColumnPlan, settings: Settings): RowMapper {
  const sheet = sheetOf(columns, settings);
  return (row) =>
    'fault' in row
      ? { rejected: rejectedRow(row.number, row.fault) }
      : mapRow(sheet, row.number, row.cells);
}

function mapRow(sheet: Sheet, number: number, row: readonly string[]): MappedRow {
  const cells = new Cells(sheet, row);
  const reject = (column: CanonicalColumn, value_class: string, remedy: string): MappedRow => ({
    rejected: {
      position: `row ${number}`,
      field: sheet.columns.header[column],
      value_class,
      remedy,
    },
  });
  const source_id = cells.plain('appointment_id');
  if (source_id === '')
    return reject(
      'appointment_id',
      'empty',
      'Add the number of the appointment, or remove the row.',
    );
  // Scientific notation gives many numbers the same text: one appointment would replace another.
  if (values.isScientific(source_id)) {
    return reject(
      'appointment_id',
      'number in scientific notation',
      'Export again without opening the file in a spreadsheet.',
    );
  }
  const start = readRowStart(sheet, cells);
  if (start.value === null) {
    const fault = start.fault ?? 'empty';
    const column = startColumn(sheet, fault);
    return reject(
      column,
      fault,
      DATE_REMEDIES[fault] ?? 'Add the date and time of the appointment.',
    );
  }
  const patient = {
    id: cells.id('patient_id') || null,
    ...patientName(sheet, cells),
    birth_date: cells.date('dob'),
    ...(saysDeceased(cells.plain('deceased')) === true ? { is_deceased: true } : {}),
  };
  const status = readStatus(sheet, cells);
  const place_of_service = cells.name('place_of_service');
  const billed_amount = cells.amount('billed_amount');
  const procedure_fees = cells.fees();
  const procedure_counts = cells.counts();
  const read: Omit<AppointmentInput, 'problems'> = {
    source_id,
    starts_at: start.value,
    status,
    patient,
    coverages: readCoverages(sheet, cells, patient),
    ...readTreatment(cells),
  };
  if (place_of_service !== '') read.place_of_service = place_of_service;
  if (billed_amount !== '') read.billed_amount = billed_amount;
  if (procedure_counts !== null) read.procedure_counts = procedure_counts;
  if (procedure_fees !== null) read.procedure_fees = procedure_fees;
  const has_status = cells.plain('status') !== '';
  return { has_status, appointment: { ...read, problems: cells.problems } };
}

/**
 * Reads the provider, the location, and the procedures: the same columns for a visit and for a
 * claim.
 */
export function readTreatment(
  cells: Cells,
): Pick<
  AppointmentInput,
  'provider' | 'location' | 'specialty' | 'procedure_codes' | 'diagnosis_codes'
> {
  return {
    provider: {
      rendering_npi: cells.id('rendering_npi'),
      billing_npi: cells.id('billing_npi'),
      tax_id: cells.id('tax_id'),
      is_specialist: cells.read('is_specialist', values.readYesNo, 'Use yes or no.'),
      in_network: cells.read('in_network', values.readYesNo, 'Use yes or no.'),
    },
    location: cells.name('location') || null,
    specialty: cells.read(
      'specialty',
      values.readSpecialty,
      'Use dental, medical, or mental_health.',
    ),
    procedure_codes: cells.codes('procedure_codes', cells.sheet.proceduresOf),
    diagnosis_codes: cells.codes('diagnosis_codes', values.readDiagnosisCodes),
  };
}

/** Reads the start from one column, or from a date and a time column. */
function readRowStart(sheet: Sheet, cells: Cells): Read<string> {
  const at = cells.plain('appointment_at');
  const date = cells.plain('appointment_date');
  const time = cells.plain('appointment_time');
  if (at !== '') {
    const read = sheet.startOf(at);
    // `Start` next to `Date` contains only the time.
    if (read.value !== null || date === '')
      return read.fault === 'no time of day' && time !== ''
        ? sheet.startOf(`${at}\n${time}`)
        : read;
    return sheet.startOf(`${date}\n${at}`);
  }
  return sheet.startOf(time === '' ? date : `${date}\n${time}`);
}

function startColumn(sheet: Sheet, fault: string): CanonicalColumn {
  if (sheet.columns.index.appointment_at !== -1) return 'appointment_at';
  const has_time = sheet.columns.index.appointment_time !== -1;
  return has_time && (fault === 'not a time' || fault === 'no time of day')
    ? 'appointment_time'
    : 'appointment_date';
}

function readStatus(sheet: Sheet, cells: Cells): AppointmentStatus {
  const status = sheet.statusOf(cells.plain('status'));
  if (status !== null) return status;
  cells.report(
    'status',
    'unknown word',
    'Add it to the configuration under "statuses:" as "<word>: booked" or "<word>: cancelled". ' +
      'Until then it counts as booked.',
  );
  return 'booked';
}

/** Returns the patient's name, from two columns or from one. */
export function patientName(sheet: Sheet, cells: Cells): PersonName {
  const last_name = cells.name('last_name');
  const first_name = cells.name('first_name');
  if (last_name !== '' || first_name !== '') return { last_name, first_name };
  return splitName(cells.name('patient_name'), sheet.settings.name_order);
}

type ReadPatient = PersonName & { birth_date: string | null };

function readCoverages(sheet: Sheet, cells: Cells, patient: ReadPatient): CoverageInput[] {
  const first = readCoverage(sheet, cells, patient, FIRST_COVERAGE);
  const second = sheet.has_second_coverage
    ? readCoverage(sheet, cells, patient, SECOND_COVERAGE)
    : null;
  return [first, second].filter((coverage) => coverage !== null);
}

/**
 * Reads a coverage; null if all fields that name a payer or a policy are empty: self-pay, or no
 * second coverage.
 */
export function readCoverage(
  sheet: Sheet,
  cells: Cells,
  patient: ReadPatient,
  named: CoverageColumns,
): CoverageInput | null {
  const before = cells.problems.length;
  const carrier = withSingleSpaces(cells.plain(named.carrier));
  const payor_id = cells.id(named.payor_id);
  const member_id = cells.id(named.member_id);
  const group_id = cells.id(named.group_id);
  // An unreadable value is not a missing one: the coverage stays, with its problem.
  const is_empty =
    carrier === '' &&
    payor_id === '' &&
    member_id === '' &&
    group_id === '' &&
    cells.problems.length === before;
  if (is_empty) return null;
  const first = cells.date(named.coverage_start);
  const last = cells.date(named.coverage_end);
  const period = coveragePeriod(first, last, sheet.settings.time_zone);
  return {
    carrier,
    payor_id,
    member_id,
    group_id,
    ...(period === undefined ? {} : { period }),
    subscriber: readSubscriber(sheet, cells, patient, named),
  };
}

/** Returns the policyholder if that is not the patient. */
function readSubscriber(
  sheet: Sheet,
  cells: Cells,
  patient: ReadPatient,
  named: CoverageColumns,
): Subscriber | null {
  if (!sheet.with_subscriber.has(named)) return null;
  const relationship = cells.plain(named.relationship);
  if (isSelf(relationship)) return null;
  const parts = {
    last_name: cells.name(named.subscriber_last_name),
    first_name: cells.name(named.subscriber_first_name),
  };
  const person =
    parts.last_name === '' && parts.first_name === ''
      ? splitName(cells.name(named.subscriber_name), sheet.settings.name_order)
      : parts;
  const name = fullName(person);
  const birth_date = cells.date(named.subscriber_dob);
  const is_same_person =
    sameWords(name, fullName(patient)) &&
    (birth_date === null || birth_date === patient.birth_date);
  if (is_same_person && relationship === '') return null;
  if (name === '' && relationship === '' && birth_date === null) return null;
  return { name, birth_date, relationship };
}

const fullName = (person: PersonName) => `${person.first_name} ${person.last_name}`.trim();

const sameWords = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
