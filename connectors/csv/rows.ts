/**
 * From the cells of a row to an appointment. Made once per file, so that whatever depends on the
 * header is looked up once.
 */
import type {
  AppointmentInput,
  AppointmentStatus,
  CoverageInput,
  FieldProblem,
  Subscriber,
} from '../../src/domain/appointment.ts';
import { appointmentStateReader } from '../../src/domain/appointment-states.ts';
import { coveragePeriod } from '../../src/domain/coverage-period.ts';
import { readAmount } from '../../src/records/values.ts';
import type { RejectedItem } from '../contract.ts';
import {
  type CanonicalColumn,
  COVERAGE_COLUMNS,
  type ColumnPlan,
  type CoverageColumn,
} from './columns.ts';
import type { CsvConfig } from './config.ts';
import type { Row, RowFault } from './records.ts';
import type { Read, TimeParts } from './values.ts';
import * as values from './values.ts';
import { isSelf, type PersonName, splitName } from './words.ts';

export type MappedRow = { appointment: AppointmentInput } | { rejected: RejectedItem };
export type RowMapper = (row: Row) => MappedRow;

export type Settings = Pick<CsvConfig, 'date_order' | 'name_order' | 'statuses'> & {
  time_zone: string;
};

/** What the functions below share for one file. */
export type Sheet = {
  settings: Settings;
  columns: ColumnPlan;
  statusOf: (text: string) => AppointmentStatus | null;
  startOf: (text: string) => Read<string>;
  dateOf: (text: string) => Read<string>;
  has_second_coverage: boolean;
};

const ROW_REMEDIES: Record<RowFault, string> = {
  'stray quotation mark':
    'Take the quotation mark out of this row, or export again with text in quotation marks.',
  'unclear quotation mark':
    'A quotation mark that is open here may belong to this row or to another one, so none of ' +
    'these rows was used. Take the mark out, or export again with every cell in quotation marks.',
  'line break in a cell':
    'A name, date or number of this row goes over two lines. Take the line break out in the ' +
    'practice management system.',
  'too long': 'Look at this row in the export; it is longer than any appointment can be.',
  'too few cells':
    'The row has fewer cells than the header, so nobody can say which is which. Export ' +
    'again, or fix this row.',
  'too many cells':
    'The row has more cells than the header: usually a separator inside a name or note. ' +
    'Export with text in quotation marks, or fix this row.',
};

const DATE_REMEDIES: Record<string, string> = {
  'impossible date':
    'There is no such day. Correct it in the practice management system; if day and month ' +
    'are swapped everywhere, set "date_order:".',
  'two-digit year': 'Export years with four digits; 24 may be 1924 or 2024.',
  'not a date':
    'Correct the date in the practice management system, or export dates as YYYY-MM-DD.',
  'not a date in the configured order':
    'Export dates as YYYY-MM-DD, or set "date_order:" to mdy or dmy.',
  'no time of day': 'Export the time of the appointment as well.',
  'not a time': 'Correct the time in the practice management system, or export it as HH:MM.',
};

/**
 * Distinct values of dates and times in a file are few; a file of a million different ones must not
 * fill the memory.
 */
const MEMO_MAX = 20_000;

function memoized<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= MEMO_MAX) known.clear();
    const value = read(text);
    known.set(text, value);
    return value;
  };
}

export function rowMapper(columns: ColumnPlan, settings: Settings): RowMapper {
  const sheet = sheetOf(columns, settings);
  return (row) =>
    'fault' in row
      ? { rejected: rejectedRow(row.number, row.fault) }
      : mapRow(sheet, row.number, row.cells);
}

export function sheetOf(columns: ColumnPlan, settings: Settings): Sheet {
  const stateOf = appointmentStateReader(settings.statuses);
  return {
    settings,
    columns,
    statusOf: memoized((text) => (text === '' ? 'booked' : stateOf(text))),
    startOf: memoized((text) => readStart(text, settings)),
    dateOf: memoized((text) => readDate(text, settings)),
    has_second_coverage: [
      'carrier_2',
      'payor_id_2',
      'member_id_2',
      'group_id_2',
      'subscriber_name_2',
      'subscriber_last_name_2',
    ].some((column) => columns.index[column as CanonicalColumn] !== -1),
  };
}

/** A row that is none. */
export function rejectedRow(number: number, fault: RowFault): RejectedItem {
  return {
    position: `row ${number}`,
    field: 'row',
    value_class: fault,
    remedy: ROW_REMEDIES[fault],
  };
}

/** Cells of one row by canonical column, and the list of what is wrong with them. */
export class Cells {
  readonly problems: FieldProblem[] = [];
  private readonly sheet: Sheet;
  private readonly cells: readonly string[];

  constructor(sheet: Sheet, cells: readonly string[]) {
    this.sheet = sheet;
    this.cells = cells;
  }

  raw(column: CanonicalColumn): string {
    const i = this.sheet.columns.index[column];
    return i === -1 ? '' : (this.cells[i] ?? '');
  }

  plain(column: CanonicalColumn): string {
    return values.plainCell(this.raw(column));
  }

  name(column: CanonicalColumn): string {
    return values.cleanCell(this.raw(column)).replaceAll(/\s+/g, ' ');
  }

  /**
   * An identifier, with its leading zeros; empty with a problem when a spreadsheet has rounded it.
   */
  id(column: CanonicalColumn): string {
    const text = this.plain(column);
    if (!values.isScientific(text)) return text;
    this.report(
      column,
      'number in scientific notation',
      'A spreadsheet has rounded this number. Export again without opening the file in a ' +
        'spreadsheet.',
    );
    return '';
  }

  date(column: CanonicalColumn): string | null {
    const { value, fault } = this.sheet.dateOf(this.plain(column));
    if (fault !== null) this.report(column, fault, DATE_REMEDIES[fault] ?? '');
    return value;
  }

  read<T>(column: CanonicalColumn, readCell: (text: string) => Read<T>, remedy: string): T | null {
    const { value, fault } = readCell(this.plain(column));
    if (fault !== null) this.report(column, fault, remedy);
    return value;
  }

  /**
   * Dollars as decimal text; empty when there is none, or, with a problem, when it cannot be read.
   */
  amount(column: CanonicalColumn): string {
    const reading = readAmount(this.plain(column));
    if (reading.is === 'silent') return '';
    if (reading.is === 'read' && 'amount' in reading.value) return reading.value.amount;
    this.report(column, 'not an amount', 'Export the amount as a plain number, such as 120.00.');
    return '';
  }

  codes(
    column: CanonicalColumn,
    readCell: (text: string) => { codes: string[]; lost: boolean },
  ): string[] {
    const { codes, lost } = readCell(this.plain(column));
    if (lost)
      this.report(
        column,
        'no code in it',
        'Export the codes themselves (D1110), separated by commas, not their descriptions.',
      );
    return codes;
  }

  /** What is charged for each code; null when the export says nothing, or nothing readable. */
  fees(): Record<string, string> | null {
    const text = this.plain('procedure_fees');
    if (text === '') return null;
    const fees = values.readProcedureFees(this.plain('procedure_codes'), text);
    if (fees === null)
      this.report(
        'procedure_fees',
        'not a fee for each code',
        'Write one fee for each procedure code, in the same order, separated by semicolons.',
      );
    return fees === null || Object.keys(fees).length === 0 ? null : fees;
  }

  report(column: CanonicalColumn, value_class: string, remedy: string): void {
    const field = column.replace(/_2$/, '');
    const coverage_rank = field === column ? 1 : 2;
    const about = COVERAGE_COLUMNS.has(field) ? { field, coverage_rank } : { field };
    this.problems.push({ field: this.sheet.columns.header[column], value_class, remedy, about });
  }
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
      'Give the appointment its number, or take the row out.',
    );
  // Many numbers become the same one in scientific notation: one appointment would take the place
  // of another.
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
    return reject(column, fault, DATE_REMEDIES[fault] ?? 'Give the appointment its date and time.');
  }
  const patient = {
    id: cells.id('patient_id') || null,
    ...patientName(sheet, cells),
    birth_date: cells.date('dob'),
    ...(values.isDeceased(cells.plain('deceased')) ? { is_deceased: true } : {}),
  };
  const status = readStatus(sheet, cells);
  const place_of_service = cells.name('place_of_service');
  const billed_amount = cells.amount('billed_amount');
  const procedure_fees = cells.fees();
  return {
    appointment: {
      source_id,
      starts_at: start.value,
      status,
      patient,
      coverages: readCoverages(sheet, cells, patient),
      ...readTreatment(cells),
      ...(place_of_service === '' ? {} : { place_of_service }),
      ...(billed_amount === '' ? {} : { billed_amount }),
      ...(procedure_fees === null ? {} : { procedure_fees }),
      problems: cells.problems,
    },
  };
}

/** Who treats, where, and what: the same columns for a visit and for a claim. */
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
      is_specialist: cells.read('is_specialist', values.readYesNo, 'Write yes or no.'),
      in_network: cells.read('in_network', values.readYesNo, 'Write yes or no.'),
    },
    location: cells.name('location') || null,
    specialty: cells.read(
      'specialty',
      values.readSpecialty,
      'Write dental, medical or mental_health.',
    ),
    procedure_codes: cells.codes('procedure_codes', values.readProcedureCodes),
    diagnosis_codes: cells.codes('diagnosis_codes', values.readDiagnosisCodes),
  };
}

/** The start out of one column, or of a date and a time column. */
function readRowStart(sheet: Sheet, cells: Cells): Read<string> {
  const at = cells.plain('appointment_at');
  const date = cells.plain('appointment_date');
  const time = cells.plain('appointment_time');
  if (at !== '') {
    const read = sheet.startOf(at);
    // `Start` beside `Date` holds the time only.
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

/** `text`: a date with its time behind it, or date and time with a line break between them. */
function readStart(text: string, settings: Settings): Read<string> {
  const [dateText = '', timeText] = text.split('\n', 2);
  const date = values.readDateParts(dateText, settings.date_order, true);
  if (date.value === null) return { value: null, fault: date.fault };
  const own = timeText ?? date.value.rest;
  if (own === '') return { value: null, fault: 'no time of day' };
  const time = values.readTime(own) ?? timeBehindDate(own, settings);
  if (time === null) return { value: null, fault: 'not a time' };
  return { value: values.instantText(date.value, time, settings.time_zone), fault: null };
}

/** Some databases keep a time as a moment of a day long ago: `1899-12-30 14:30:00`. */
function timeBehindDate(text: string, settings: Settings): TimeParts | null {
  const date = values.readDateParts(text, settings.date_order, true);
  return date.value === null || date.value.rest === '' ? null : values.readTime(date.value.rest);
}

/** A date alone; midnight behind it is let pass. */
function readDate(text: string, settings: Settings): Read<string> {
  const { value, fault } = values.readDateParts(text, settings.date_order, false);
  if (value === null) return { value: null, fault };
  if (value.rest !== '' && values.readTime(value.rest) === null)
    return { value: null, fault: 'not a date' };
  return { value: values.isoDate(value), fault: null };
}

function readStatus(sheet: Sheet, cells: Cells): AppointmentStatus {
  const status = sheet.statusOf(cells.plain('status'));
  if (status !== null) return status;
  cells.report(
    'status',
    'unknown word',
    'Say in the configuration what it means, under "statuses:" as "<word>: booked" or ' +
      '"<word>: cancelled". Until then it counts as booked.',
  );
  return 'booked';
}

export function patientName(sheet: Sheet, cells: Cells): PersonName {
  const last_name = cells.name('last_name');
  const first_name = cells.name('first_name');
  if (last_name !== '' || first_name !== '') return { last_name, first_name };
  return splitName(cells.name('patient_name'), sheet.settings.name_order);
}

type ReadPatient = PersonName & { birth_date: string | null };

function readCoverages(sheet: Sheet, cells: Cells, patient: ReadPatient): CoverageInput[] {
  const first = readCoverage(sheet, cells, patient, (column) => column);
  const second = sheet.has_second_coverage
    ? readCoverage(sheet, cells, patient, (column) => `${column}_2`)
    : null;
  return [first, second].filter((coverage) => coverage !== null);
}

/** Null when all that names a payer or a policy is empty: self-pay, or no second coverage. */
export function readCoverage(
  sheet: Sheet,
  cells: Cells,
  patient: ReadPatient,
  named: (column: CoverageColumn) => CanonicalColumn,
): CoverageInput | null {
  const before = cells.problems.length;
  const carrier = cells.plain(named('carrier')).replaceAll(/\s+/g, ' ');
  const payor_id = cells.id(named('payor_id'));
  const member_id = cells.id(named('member_id'));
  const group_id = cells.id(named('group_id'));
  // A value that could not be read is not an absent one: the coverage stays, with its problem.
  const is_empty =
    carrier === '' &&
    payor_id === '' &&
    member_id === '' &&
    group_id === '' &&
    cells.problems.length === before;
  if (is_empty) return null;
  const first = cells.date(named('coverage_start'));
  const last = cells.date(named('coverage_end'));
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

/** The policy holder, when that is somebody else than the patient. */
function readSubscriber(
  sheet: Sheet,
  cells: Cells,
  patient: ReadPatient,
  named: (column: CoverageColumn) => CanonicalColumn,
): Subscriber | null {
  const relationship = cells.plain(named('relationship'));
  if (isSelf(relationship)) return null;
  const parts = {
    last_name: cells.name(named('subscriber_last_name')),
    first_name: cells.name(named('subscriber_first_name')),
  };
  const person =
    parts.last_name === '' && parts.first_name === ''
      ? splitName(cells.name(named('subscriber_name')), sheet.settings.name_order)
      : parts;
  const name = fullName(person);
  const birth_date = cells.date(named('subscriber_dob'));
  const is_same_person =
    sameWords(name, fullName(patient)) &&
    (birth_date === null || birth_date === patient.birth_date);
  if (is_same_person && relationship === '') return null;
  if (name === '' && relationship === '' && birth_date === null) return null;
  return { name, birth_date, relationship };
}

const fullName = (person: PersonName) => `${person.first_name} ${person.last_name}`.trim();
const sameWords = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();
